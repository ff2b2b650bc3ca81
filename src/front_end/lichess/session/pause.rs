//! The pause that Lichess wants after too many requests.

use std::time::{Duration, Instant};

/// How long nothing is asked after a refusal for too many requests (Lichess API: a full minute).
pub const PAUSE: Duration = Duration::from_mins(1);

/// The pause, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pause {
    until: Option<Instant>,
}

impl Pause {
    /// It begins, or begins again.
    pub fn begins(&mut self, now: Instant) {
        self.until = Some(now + PAUSE);
    }

    /// Whether there is one: it may be over by now.
    pub fn lasts(self) -> bool {
        self.until.is_some()
    }

    /// Whether there is none any more.
    pub fn is_over(self, now: Instant) -> bool {
        self.until.is_none_or(|until| until <= now)
    }

    /// Notes that it is over, if it is.
    pub fn ends(&mut self, now: Instant) {
        self.until.take_if(|until| *until <= now);
    }

    /// When it is over.
    pub fn deadline(self) -> Option<Instant> {
        self.until
    }
}
