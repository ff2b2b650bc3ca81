//! Lines that wait for their reader. A thread of their own writes them, so a reader that has stopped reading (a terminal
//! after Ctrl-S, a full pipe, a journal that takes no more) holds up that thread and nothing else.
//!
//! | the reader | outcome |
//! |---|---|
//! | reads | every line, in order |
//! | does not read | [`MAX_LINES`] lines or [`MAX_BYTES`] wait; later ones are left out and counted |
//! | reads again | the lines that waited, then how many were left out; from there on every line |
//! | does not read when the process ends | the end waits for it for [`LAST_WAIT`] |
//!
//! If no thread can be started, each new line tries again, and what the reader takes at once is written without one.

use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Lines that wait at most: a start with twenty boards logs some hundred.
pub const MAX_LINES: usize = 4096;
/// Bytes of them at most: eight times what one origin may log at once.
pub const MAX_BYTES: usize = 512 * 1024;
/// How long the end of the process waits for the reader. One that reads takes all of it in some milliseconds.
pub const LAST_WAIT: Duration = Duration::from_secs(1);

/// Where lines go.
pub trait Sink: fmt::Debug + Send + Sync + 'static {
    /// A line, with all that belongs to it.
    type Line: fmt::Debug + Send;

    /// The bytes that it takes while it waits.
    fn size(line: &Self::Line) -> usize;

    /// Writes a line as soon as the reader takes it, however long that is with `wait` = `None`.
    ///
    /// # Errors
    /// The reader did not take it, or has gone.
    fn write(&self, line: &Self::Line, wait: Option<Duration>) -> io::Result<()>;

    /// The line that tells how many lines were left out.
    fn left_out(&self, lines: u64) -> Self::Line;
}

/// See the module documentation. Clones are the same queue.
#[derive(Debug)]
pub struct Queue<S: Sink>(Arc<Shared<S>>);

#[derive(Debug)]
struct Shared<S: Sink> {
    sink: S,
    waiting: Mutex<Waiting<S::Line>>,
    /// There is a line, or all is written.
    changed: Condvar,
}

#[derive(Debug)]
struct Waiting<L> {
    lines: VecDeque<L>,
    bytes: usize,
    /// Lines left out since the queue was full. Until that is told, later ones are left out too: the log has one gap, and says
    /// where.
    left_out: u64,
    /// The thread runs.
    has_thread: bool,
    /// A line is being written.
    writing: bool,
}

impl<S: Sink> Clone for Queue<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: Sink> Queue<S> {
    /// An empty queue.
    pub fn new(sink: S) -> Self {
        Self(Arc::new(Shared {
            sink,
            waiting: Mutex::new(Waiting {
                lines: VecDeque::new(),
                bytes: 0,
                left_out: 0,
                has_thread: false,
                writing: false,
            }),
            changed: Condvar::new(),
        }))
    }

    /// Where the lines go.
    pub fn sink(&self) -> &S {
        &self.0.sink
    }

    /// Adds a line. Never waits.
    pub fn push(&self, line: S::Line) {
        let mut waiting = self.0.lock();
        let bytes = waiting.bytes.saturating_add(S::size(&line));
        if waiting.left_out > 0 || waiting.lines.len() >= MAX_LINES || bytes > MAX_BYTES {
            waiting.left_out += 1;
        } else {
            waiting.bytes = bytes;
            waiting.lines.push_back(line);
        }
        self.0.changed.notify_all();
        self.starts(&mut waiting);
        if !waiting.has_thread {
            self.0.write_without_thread(&mut waiting, Instant::now());
        }
    }

    /// Starts the thread, if it does not run.
    fn starts(&self, waiting: &mut Waiting<S::Line>) {
        if !waiting.has_thread {
            let shared = self.0.clone();
            let thread = thread::Builder::new().name("log".to_owned());
            waiting.has_thread = thread.spawn(move || shared.write_all()).is_ok();
        }
    }

    /// Waits until every line is written, for [`LAST_WAIT`] at most.
    pub fn flush(&self) {
        let mut waiting = self.0.lock();
        let until = Instant::now() + LAST_WAIT;
        if !waiting.has_thread {
            self.0.write_without_thread(&mut waiting, until);
            return;
        }
        while waiting.writing || !waiting.lines.is_empty() || waiting.left_out > 0 {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            let woken = self.0.changed.wait_timeout(waiting, rest);
            (waiting, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<L> Waiting<L> {
    /// The next line to write; after the last one, how many were left out.
    fn next<S: Sink<Line = L>>(&mut self, sink: &S) -> Option<L> {
        if let Some(line) = self.lines.pop_front() {
            self.bytes = self.bytes.saturating_sub(S::size(&line));
            return Some(line);
        }
        match std::mem::take(&mut self.left_out) {
            0 => None,
            lines => Some(sink.left_out(lines)),
        }
    }
}

impl<S: Sink> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, Waiting<S::Line>> {
        // A panic while holding the lock leaves nothing half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does.
    fn write_all(&self) {
        let mut waiting = self.lock();
        loop {
            if let Some(line) = waiting.next(&self.sink) {
                waiting.writing = true;
                drop(waiting);
                // Without a reader there is nobody to tell.
                let _ = self.sink.write(&line, None);
                waiting = self.lock();
                waiting.writing = false;
                continue;
            }
            self.changed.notify_all();
            let woken = self.changed.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes what the reader takes until then.
    fn write_without_thread(&self, waiting: &mut Waiting<S::Line>, until: Instant) {
        while let Some(line) = waiting.next(&self.sink) {
            let rest = until.saturating_duration_since(Instant::now());
            match self.sink.write(&line, Some(rest)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    waiting.bytes = waiting.bytes.saturating_add(S::size(&line));
                    waiting.lines.push_front(line);
                    return;
                }
                // Without a reader there is nobody to tell.
                _ => {}
            }
        }
    }
}
