//! Logging: to standard error, `info` unless `RUST_LOG` says otherwise. Under systemd to the [`journal`], with fields.
//!
//! Input from others reaches the log: so the amount they can cause is bounded ([`budget`]), and what a terminal would
//! interpret is [escaped](crate::text::escape). A reader that does not read holds up nothing ([`queue`]).

pub mod budget;
#[cfg(target_os = "linux")]
pub mod journal;
#[cfg(not(target_os = "linux"))]
#[path = "no_journal.rs"]
pub mod journal;
pub mod outlet;
pub mod queue;

use std::{
    fmt::{self, Debug, Display, Write as _},
    io::{self, IsTerminal, stderr},
    panic,
    time::Instant,
};

use tracing::{Event, Level, Subscriber, field::Field, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter,
    field::MakeExt as _,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Format, Full, Writer, debug_fn},
        time::FormatTime,
    },
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use self::{
    budget::{Budget, Origin, Peers},
    journal::{Fields, Journal, Spans},
    outlet::{Line, Outlet},
    queue::Queue,
};
use crate::text::escape::{Escaping, escaped};

/// The longest line, in bytes: a game of 200 moves fits. At debug level lines are not cut.
pub const MAX_LINE: usize = 4096;

/// The log, until this is dropped: then what waits is written, for a bounded time.
#[derive(Debug)]
pub struct Log(Queue<Outlet>);

impl Log {
    /// A log that has no lines but those given to [`Self::say`].
    pub fn of_words() -> Self {
        Self(Queue::new(Outlet::Stderr))
    }

    /// Writes this line as it is: a message to whoever has started the program.
    pub fn say(&self, line: &str) {
        self.0.push(Line {
            level: Level::ERROR,
            text: format!("{}\n", escaped(line)),
            fields: Fields::default(),
        });
    }

    /// Waits until every line is written, for a bounded time.
    pub fn flush(&self) {
        self.0.flush();
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Starts logging. A second call returns another log, which has no lines but those given to [`Log::say`].
pub fn init() -> Log {
    init_at("info")
}

/// The same, at this level unless `RUST_LOG` says otherwise.
pub fn init_at(level: &str) -> Log {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let outlet = Journal::behind_stderr().map_or(Outlet::Stderr, Outlet::Journal);
    let (subscriber, log) = subscriber(filter, outlet);
    // Logging was already set up, for instance by a test: that setup stays.
    let _ = subscriber.try_init();
    let queue = log.0.clone();
    panic::set_hook(Box::new(move |panic| {
        queue.push(queue.sink().panicked(panic));
    }));
    log
}

/// A subscriber that logs to this journal, and its log.
pub fn to_journal(filter: EnvFilter, journal: Journal) -> (impl Subscriber + Send + Sync, Log) {
    subscriber(filter, Outlet::Journal(journal))
}

fn subscriber(filter: EnvFilter, outlet: Outlet) -> (Box<dyn Subscriber + Send + Sync>, Log) {
    let format = Format::default().with_target(false);
    if outlet.is_journal() {
        // The journal adds the time, and has a field for the level.
        let format = format.without_time().with_level(false);
        let (subscriber, log) = layered(filter, format, false, outlet);
        (Box::new(subscriber), log)
    } else {
        let (subscriber, log) = layered(filter, format, stderr().is_terminal(), outlet);
        (Box::new(subscriber), log)
    }
}

fn layered<T: FormatTime + Send + Sync + 'static>(
    filter: EnvFilter,
    format: Format<Full, T>,
    ansi: bool,
    outlet: Outlet,
) -> (impl Subscriber + Send + Sync, Log) {
    let queue = Queue::new(outlet);
    let lines = Lines {
        format: format.with_ansi(ansi),
        budget: Budget::default(),
        bounded: filter.max_level_hint() <= Some(LevelFilter::INFO),
        queue: queue.clone(),
    };
    let layer = tracing_subscriber::fmt::layer()
        // Lines go to the queue: nothing is written here, and no lock of standard error is taken.
        .with_writer(io::sink)
        .log_internal_errors(false)
        .with_ansi(ansi)
        .fmt_fields(debug_fn(field).delimited(" "))
        .event_format(lines);
    let subscriber = tracing_subscriber::registry()
        .with(filter)
        .with(Peers)
        .with(Spans)
        .with(layer);
    (subscriber, Log(queue))
}

/// Writes one field, with what a terminal would interpret escaped.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{field}=")?;
    }
    write!(Escaping(writer), "{value:?}")
}

/// Log lines, limited by the budget of their origin.
struct Lines<T> {
    format: Format<Full, T>,
    budget: Budget,
    /// Whether lines are limited: at debug level everything is wanted.
    bounded: bool,
    queue: Queue<Outlet>,
}

impl<T> Lines<T> {
    /// Logs a warning of the log itself.
    fn warn(&self, text: &dyn Display) {
        self.queue.push(self.queue.sink().warning(text));
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
        _writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let spans = || context.event_scope().into_iter().flatten();
        let push = |text| {
            self.queue.push(Line {
                level: *event.metadata().level(),
                text,
                fields: if self.queue.sink().is_journal() {
                    Fields::of(event, spans())
                } else {
                    Fields::default()
                },
            });
        };
        let mut line = String::new();
        self.format
            .format_event(context, Writer::new(&mut line), event)?;
        if !self.bounded {
            push(line);
            return Ok(());
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
            self.warn(&left_out);
        }
        if let Some(origin) = verdict.silenced {
            let text = format_args!(
                "too much is logged about {origin}: what follows is left out for a while. RUST_LOG=debug shows everything"
            );
            self.warn(&text);
        }
        if verdict.written {
            push(line);
        }
        Ok(())
    }
}
