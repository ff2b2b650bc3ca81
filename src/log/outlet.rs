//! Where lines leave the program: standard error or the journal, and standard output.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    fmt::{Display, Write as _},
    io::{self, Write as _, stderr, stdout},
    panic::PanicHookInfo,
    thread,
    time::Duration,
};

use tracing::Level;
use tracing_subscriber::fmt::{
    format::Writer,
    time::{FormatTime as _, SystemTime},
};

use super::{
    journal::{Fields, Journal, takes},
    queue::Sink,
};
use crate::text::escape::escaped;

/// Bytes that a pipe takes without waiting if it takes any (`PIPE_BUF`, pipe(7)).
const AT_ONCE: usize = 4096;

/// Where the log goes.
#[derive(Debug)]
pub enum Outlet {
    /// Standard error.
    Stderr,
    /// The journal; what it refuses goes to standard error.
    Journal(Journal),
}

/// A line of the log.
#[derive(Debug)]
pub struct Line {
    /// Its level.
    pub level: Level,
    /// As it goes to standard error, with its line break.
    pub text: String,
    /// Its fields in the journal.
    pub(super) fields: Fields,
}

impl Outlet {
    /// Whether it is the journal.
    pub fn is_journal(&self) -> bool {
        matches!(self, Self::Journal(_))
    }

    /// A warning of the log itself.
    pub fn warning(&self, text: &dyn Display) -> Line {
        self.line(Level::WARN, &text.to_string())
    }

    /// What is known of a panic.
    pub fn panicked(&self, panic: &PanicHookInfo<'_>) -> Line {
        let thread = thread::current();
        let name = thread.name().unwrap_or("without a name");
        let what = panic.payload_as_str().unwrap_or("without a message");
        let at = panic
            .location()
            .map_or(String::new(), |at| format!(" at {at}"));
        let mut line = self.line(
            Level::ERROR,
            &format!("the thread {name} panicked{at}: {what}"),
        );
        let calls = Backtrace::capture();
        if calls.status() == BacktraceStatus::Captured {
            line.text.push_str(&calls.to_string());
        }
        line
    }

    fn line(&self, level: Level, text: &str) -> Line {
        let mut line = String::new();
        // The journal has a time and a level of its own. Writing to a string does not fail.
        if !self.is_journal() {
            let _ = SystemTime.format_time(&mut Writer::new(&mut line));
            let _ = write!(line, " {level:>5} ");
        }
        line.push_str(&escaped(text));
        line.push('\n');
        Line {
            level,
            text: line,
            fields: Fields::default(),
        }
    }
}

impl Sink for Outlet {
    type Line = Line;

    fn size(line: &Line) -> usize {
        line.text.len() + line.fields.size()
    }

    fn write(&self, line: &Line, wait: Option<Duration>) -> io::Result<()> {
        if let Self::Journal(journal) = self {
            match journal.send(line.level, &line.text, &line.fields, wait) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
        in_pieces(
            &line.text,
            wait,
            || takes(&stderr(), wait),
            |piece| stderr().write_all(piece),
        )
    }

    fn left_out(&self, lines: u64) -> Line {
        self.warning(&format_args!(
            "{lines} lines were left out here: the log was not read"
        ))
    }
}

/// Standard output, for what a program says while it serves others.
#[derive(Clone, Copy, Debug)]
pub struct Output;

impl Output {
    /// Returns when no one reads the output any more, so that `watch | head` ends when `head` does.
    pub async fn reader_gone() {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd as _;

            use tokio::{io::Interest, net::unix::pipe::Sender};

            // Nothing is written through it: the output stays blocking, because other processes may share it.
            let output = stdout().as_fd().try_clone_to_owned();
            if let Ok(output) = output.and_then(Sender::from_owned_fd_unchecked)
                && output.ready(Interest::ERROR).await.is_ok()
            {
                return;
            }
        }
        // A file: it has no reader that could leave.
        std::future::pending::<()>().await;
    }
}

impl Sink for Output {
    type Line = String;

    fn size(line: &String) -> usize {
        line.len()
    }

    fn write(&self, line: &String, wait: Option<Duration>) -> io::Result<()> {
        let text = format!("{}\n", escaped(line));
        in_pieces(
            &text,
            wait,
            || takes(&stdout(), wait),
            |piece| {
                stdout().write_all(piece)?;
                stdout().flush()
            },
        )
    }

    fn left_out(&self, lines: u64) -> String {
        format!("{lines} lines were left out here: the output was not read")
    }
}

/// Writes a text. With a limited `wait`, it is written in pieces that the reader takes at once, and what the reader does not take
/// of a line that has begun is left out.
fn in_pieces(
    text: &str,
    wait: Option<Duration>,
    takes: impl Fn() -> io::Result<()>,
    write: impl Fn(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    if wait.is_none() {
        return write(text.as_bytes());
    }
    for (number, piece) in text.as_bytes().chunks(AT_ONCE).enumerate() {
        match takes() {
            Err(_) if number > 0 => return Ok(()),
            ready => ready?,
        }
        write(piece)?;
    }
    Ok(())
}
