//! When the server may be asked, and how much at once: the rules of the round's server, without I/O.

use std::time::{Duration, Instant};

/// Games in one push, and games that a round shows (Lichess, `RelayPush` and `Study.maxChapters`: 100; further ones are dropped
/// without a word).
pub const MAX_GAMES: usize = 100;
/// Bytes of one push (Lichess: 512 KiB, beyond that 413).
pub const MAX_BODY: usize = 512 * 1024;
/// The shortest time between two pushes (the Lichess Broadcaster: at most one a second).
pub const BETWEEN: Duration = Duration::from_secs(1);
/// When nothing has changed, all games are pushed this often (the Lichess Broadcaster).
pub const AT_REST: Duration = Duration::from_mins(1);
/// Nothing is asked for this long after a 429 (Lichess's API).
pub const SILENCE: Duration = Duration::from_mins(1);
/// The wait after an answer that only a person can change.
pub const REFUSED_WAIT: Duration = Duration::from_mins(1);
/// The first wait after the server could not be reached.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// When the next request may be made. One at a time.
#[derive(Clone, Debug)]
pub struct Pace {
    is_asking: bool,
    next_at: Option<Instant>,
    wait: Duration,
    last_push: Option<Instant>,
    /// The most bytes of a push.
    most: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            is_asking: false,
            next_at: None,
            wait: Duration::ZERO,
            last_push: None,
            most: MAX_BODY,
        }
    }
}

impl Pace {
    /// Whether a request may be made.
    pub fn may_ask(&self, now: Instant) -> bool {
        !self.is_asking && self.next_at.is_none_or(|at| at <= now)
    }

    /// When one may be made, unless one is under way.
    pub fn next_at(&self, now: Instant) -> Option<Instant> {
        (!self.is_asking).then(|| self.next_at.unwrap_or(now))
    }

    /// When all games are pushed although nothing has changed.
    pub fn rest_ends(&self) -> Option<Instant> {
        self.last_push.map(|at| at + AT_REST)
    }

    /// Whether that is so now.
    pub fn is_rest_over(&self, now: Instant) -> bool {
        self.rest_ends().is_none_or(|at| at <= now)
    }

    /// The most bytes of a push.
    pub fn most_bytes(&self) -> usize {
        self.most
    }

    /// A request is made.
    pub fn asks(&mut self, now: Instant, is_push: bool) {
        self.is_asking = true;
        self.next_at = Some(now + BETWEEN);
        if is_push {
            self.last_push = Some(now);
        }
    }

    /// It was answered.
    pub fn succeeded(&mut self) {
        self.is_asking = false;
        self.wait = Duration::ZERO;
    }

    /// The server was not reached.
    pub fn lost(&mut self, now: Instant) {
        self.wait = (2 * self.wait).clamp(FIRST_WAIT, LONGEST_WAIT);
        self.after(now, self.wait);
    }

    /// It was refused.
    pub fn refused(&mut self, now: Instant) {
        self.after(now, REFUSED_WAIT);
    }

    /// There were too many.
    pub fn too_many(&mut self, now: Instant) {
        self.after(now, SILENCE);
    }

    /// It was too large, although it had no more bytes than this.
    pub fn too_large(&mut self, now: Instant, bytes: usize) {
        self.most = bytes / 2;
        self.after(now, BETWEEN);
    }

    fn after(&mut self, now: Instant, wait: Duration) {
        self.is_asking = false;
        let at = now + wait;
        self.next_at = Some(self.next_at.map_or(at, |next| next.max(at)));
    }
}
