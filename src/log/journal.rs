//! The log as entries of systemd's journal, with fields: `journalctl BOARD=citrine` shows one board,
//! `journalctl CLIENT=192.168.1.20:40110` one program.
//!
//! The protocol is a datagram of lines `FIELD=value` (<https://systemd.io/JOURNAL_NATIVE_PROTOCOL>). The existing `tracing` layer
//! for it renames the fields of spans, escapes nothing and has no budget; so this is our own, with the same lines that go to
//! standard error.

use std::{
    env,
    fmt::{Debug, Write as _},
    io,
    os::{fd::AsFd, unix::net::UnixDatagram},
    path::Path,
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::stat::fstat,
};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_subscriber::{
    layer::{Context, Layer},
    registry::LookupSpan,
};

use crate::text::escape::escaped;

/// Where the journal takes entries.
const SOCKET: &str = "/run/systemd/journal/socket";
/// The name under which `journalctl` shows the entries.
const IDENTIFIER: &str = "boardbridge";

/// A connection to the journal.
#[derive(Debug)]
pub struct Journal(UnixDatagram);

impl Journal {
    /// The journal, if standard error goes there: then `JOURNAL_STREAM` names the device and inode of standard error. It
    /// is inherited by programs whose output goes elsewhere, so the variable alone says nothing.
    pub fn behind_stderr() -> Option<Self> {
        let stream = env::var("JOURNAL_STREAM").ok()?;
        let stderr = fstat(io::stderr()).ok()?;
        if stream != format!("{}:{}", stderr.st_dev, stderr.st_ino) {
            return None;
        }
        Self::at(Path::new(SOCKET)).ok()
    }

    /// A journal that takes entries at this socket.
    ///
    /// # Errors
    /// What the system says.
    pub fn at(socket: &Path) -> io::Result<Self> {
        let journal = UnixDatagram::unbound()?;
        journal.connect(socket)?;
        // Without a thread for the log, a journal that is stuck must not hold up a board.
        journal.set_nonblocking(true)?;
        Ok(Self(journal))
    }

    /// Sends one entry as soon as the journal takes it, however long that is with `wait` = `None`.
    ///
    /// # Errors
    /// What the system says; `WouldBlock` if the journal did not take it.
    pub(super) fn send(
        &self,
        level: Level,
        message: &str,
        fields: &Fields,
        wait: Option<Duration>,
    ) -> io::Result<()> {
        let priority = match level {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            _ => 7,
        };
        // Without line breaks in the values the simple form of the protocol is enough.
        let message = escaped(message.trim_end());
        let mut entry =
            format!("MESSAGE={message}\nPRIORITY={priority}\nSYSLOG_IDENTIFIER={IDENTIFIER}\n");
        for (name, value) in &fields.0 {
            // Writing to a string does not fail.
            let _ = writeln!(entry, "{name}={}", escaped(value));
        }
        loop {
            match self.0.send(entry.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => takes(&self.0, wait)?,
                other => return other.map(drop),
            }
        }
    }
}

/// Returns when something can be written there.
///
/// # Errors
/// `WouldBlock` if nothing can be written within `wait`.
pub(super) fn takes(to: &impl AsFd, wait: Option<Duration>) -> io::Result<()> {
    // Longer waits than it can count do not occur.
    let wait = wait.map_or(PollTimeout::NONE, |wait| {
        PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
    });
    let mut polled = [PollFd::new(to.as_fd(), PollFlags::POLLOUT)];
    match poll(&mut polled, wait) {
        Ok(0) => Err(io::ErrorKind::WouldBlock.into()),
        // After a signal the caller simply tries to write again.
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The fields of an entry besides its message.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// The fields of an event; those that it lacks come from its spans, the inner ones first.
    pub fn of<'a, S: for<'s> LookupSpan<'s> + 'a>(
        event: &Event<'_>,
        spans: impl Iterator<Item = tracing_subscriber::registry::SpanRef<'a, S>>,
    ) -> Self {
        let mut fields = Self::default();
        event.record(&mut Reader {
            fields: &mut fields,
            of_board: false,
        });
        for span in spans {
            if let Some(outer) = span.extensions().get::<Self>() {
                let more: Vec<_> = outer
                    .0
                    .iter()
                    .filter(|(name, _)| !fields.has(name))
                    .cloned()
                    .collect();
                fields.0.extend(more);
            }
        }
        fields
    }

    /// The bytes of the values.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(_, value)| value.len()).sum()
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == name)
    }
}

/// Reads the fields of a span or an event.
struct Reader<'f> {
    fields: &'f mut Fields,
    /// It is the span of a board, which has its name.
    of_board: bool,
}

impl Visit for Reader<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let fields = &mut self.fields.0;
        let value = format!("{value:?}");
        match field.name() {
            "board" => fields.push(("BOARD", value)),
            "name" if self.of_board => fields.push(("BOARD", value)),
            // A link has two; an entry may have a field several times.
            "boards" => {
                let boards = value.split_whitespace();
                fields.extend(boards.map(|board| ("BOARD", board.to_owned())));
            }
            // A connection, or how the app is reached.
            "peer" | "way" => fields.push(("CLIENT", value)),
            _ => {}
        }
    }
}

/// Keeps the fields of each span.
pub(super) struct Spans;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut Reader {
            fields: &mut fields,
            of_board: attributes.metadata().name() == "board",
        });
        if let (false, Some(span)) = (fields.0.is_empty(), context.span(id)) {
            span.extensions_mut().insert(fields);
        }
    }
}
