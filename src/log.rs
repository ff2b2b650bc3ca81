//! Logging: to standard error, `info` unless `RUST_LOG` says otherwise. Under systemd to the [`journal`], with fields.
//!
//! Input from others reaches the log: so the amount they can cause is bounded ([`budget`]), and control characters in
//! it, which a terminal would interpret, are escaped.

pub mod budget;
#[cfg(target_os = "linux")]
pub mod journal;
#[cfg(not(target_os = "linux"))]
#[path = "log/no_journal.rs"]
pub mod journal;

use std::{
    fmt::{self, Debug, Display, Write as _},
    io::{IsTerminal, stderr},
    time::Instant,
};

use tracing::{Event, Level, Subscriber, field::Field, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter,
    field::MakeExt as _,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Format, Full, Writer, debug_fn},
        time::{FormatTime, SystemTime},
    },
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use self::{
    budget::{Budget, Origin, Peers},
    journal::{Fields, Journal, Spans},
};

/// The longest line, in bytes: a game of 200 moves fits. At debug level lines are not cut.
pub const MAX_LINE: usize = 4096;

/// Starts logging. A second call does nothing.
pub fn init() {
    init_at("info");
}

/// The same, at this level unless `RUST_LOG` says otherwise.
pub fn init_at(level: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let ansi = stderr().is_terminal();
    let result = match Journal::behind_stderr() {
        Some(journal) => to_journal(filter, journal).try_init(),
        None => subscriber(filter, Format::default(), SystemTime, ansi, None).try_init(),
    };
    // Logging was already set up, for instance by a test: that setup stays.
    let _ = result;
}

/// A subscriber that writes to this journal; what the journal does not take goes to standard error.
pub fn to_journal(filter: EnvFilter, journal: Journal) -> impl Subscriber + Send + Sync {
    // The journal adds the time, and has a field for the level.
    let format = Format::default().without_time().with_level(false);
    subscriber(filter, format, (), false, Some(journal))
}

/// A subscriber with this line format and this time, which writes to the journal or to standard error.
fn subscriber<T: FormatTime + Send + Sync + 'static>(
    filter: EnvFilter,
    format: Format<Full, T>,
    time: T,
    ansi: bool,
    journal: Option<Journal>,
) -> impl Subscriber + Send + Sync {
    let lines = Lines {
        format: format.with_target(false).with_ansi(ansi),
        time,
        budget: Budget::default(),
        bounded: filter.max_level_hint() <= Some(LevelFilter::INFO),
        journal,
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(stderr)
        .with_ansi(ansi)
        .fmt_fields(debug_fn(field).delimited(" "))
        .event_format(lines);
    tracing_subscriber::registry()
        .with(filter)
        .with(Peers)
        .with(Spans)
        .with(layer)
}

/// Writes one field, with its control characters escaped.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{field}=")?;
    }
    write!(Escaping(writer), "{value:?}")
}

/// Escapes control characters in everything written through it.
pub struct Escaping<'w, W>(pub &'w mut W);

impl<W: fmt::Write> fmt::Write for Escaping<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(char::is_control) {
            let (plain, control) = rest.split_at(at);
            self.0.write_str(plain)?;
            let mut chars = control.chars();
            if let Some(c) = chars.next() {
                write!(self.0, "{}", c.escape_default())?;
            }
            rest = chars.as_str();
        }
        self.0.write_str(rest)
    }
}

/// A text with its control characters escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Writing to a string does not fail.
    let _ = Escaping(&mut escaped).write_str(text);
    escaped
}

/// Log lines, limited by the budget of their origin.
struct Lines<T> {
    format: Format<Full, T>,
    /// The format's time, for our own lines.
    time: T,
    budget: Budget,
    /// No limit at debug level: there, everything is wanted.
    bounded: bool,
    journal: Option<Journal>,
}

impl<T: FormatTime> Lines<T> {
    /// Writes a line to the journal, or to standard error if there is none or it does not take it.
    fn write(
        &self,
        writer: &mut Writer<'_>,
        level: Level,
        line: &str,
        fields: impl FnOnce() -> Fields,
    ) -> fmt::Result {
        if let Some(journal) = &self.journal
            && journal.send(level, line, &fields()).is_ok()
        {
            return Ok(());
        }
        writer.write_str(line)
    }

    /// One of our own lines.
    fn warn(&self, writer: &mut Writer<'_>, text: &dyn Display) -> fmt::Result {
        let mut line = String::new();
        if self.journal.is_none() {
            self.time.format_time(&mut Writer::new(&mut line))?;
            line.push_str("  WARN ");
        }
        writeln!(line, "{}", escaped(&text.to_string()))?;
        self.write(writer, Level::WARN, &line, Fields::default)
    }
}

impl<S, N, T> FormatEvent<S, N> for Lines<T>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    T: FormatTime,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if !self.bounded && self.journal.is_none() {
            return self.format.format_event(context, writer, event);
        }
        let spans = || context.event_scope().into_iter().flatten();
        let fields = || Fields::of(event, spans());
        let level = *event.metadata().level();
        let mut line = String::new();
        self.format
            .format_event(context, Writer::new(&mut line), event)?;
        if !self.bounded {
            return self.write(&mut writer, level, &line, fields);
        }
        if line.len() > MAX_LINE {
            let left_out = line.len() - MAX_LINE;
            line.truncate(line.floor_char_boundary(MAX_LINE));
            writeln!(line, "… ({left_out} bytes more)")?;
        }
        let named = spans().find_map(|span| span.extensions().get::<Origin>().cloned());
        let origin = named.unwrap_or_else(|| budget::place(event));
        let verdict = self.budget.take(Instant::now(), origin, line.len());
        for left_out in verdict.resumed {
            self.warn(&mut writer, &left_out)?;
        }
        if let Some(origin) = verdict.silenced {
            let text = format_args!(
                "too much is logged about {origin}: what follows is left out for a while. RUST_LOG=debug shows everything"
            );
            self.warn(&mut writer, &text)?;
        }
        if verdict.written {
            self.write(&mut writer, level, &line, fields)?;
        }
        Ok(())
    }
}
