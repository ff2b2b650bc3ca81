//! The app's half of the handshake: when to send H0, and when to give up for a while.

use std::time::{Duration, Instant};

/// The wait after the link came up: a board reset by the opening is ready by then (field notes: about 300 ms).
pub const DELAY: Duration = Duration::from_millis(300);
/// The time limit for H1 (field notes, SWPP).
pub const ANSWER_WAIT: Duration = Duration::from_millis(200);
/// The pause before H0 is sent again (field notes, SWPP).
pub const PAUSE: Duration = Duration::from_millis(200);
/// Times H0 is sent again before the board counts as silent (field notes, SWPP).
pub const RETRIES: u8 = 3;
/// How often a silent board is asked again: it may be switched on later. An Arduino's boot loader takes two
/// seconds.
pub const REST: Duration = Duration::from_secs(5);

/// The state of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no link, or it is not ready.
    Off,
    /// H0 is to be sent at this time; the number sent so far.
    Due(Instant, u8),
    /// H0 is being passed to the link.
    Leaving(u8),
    /// H1 is awaited until then.
    Awaited(Instant, u8),
    /// The board has answered.
    Done,
}

/// The handshake. See the module documentation.
#[derive(Debug)]
pub struct Handshake {
    state: State,
    /// When H0 was last passed to this link: an H1 before the first one does not answer it.
    asked: Option<Instant>,
    /// How many H0 were requested on this link; a link may need several attempts for one.
    sent: u8,
    /// A whole series went unanswered, and that was reported.
    silent: bool,
}

/// What an H1 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The first answer to our H0 on this link. `missed`: it did not answer the first H0, because the board was still
    /// starting.
    Awaited {
        /// Whether the first H0 was missed.
        missed: bool,
    },
    /// Unsolicited: the board reports that it has restarted.
    Unasked,
    /// An answer to an earlier H0, or one before any H0.
    Late,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Send H0.
    Ask,
    /// The board has not answered a whole series.
    Silent,
}

impl Default for Handshake {
    fn default() -> Self {
        Self {
            state: State::Off,
            asked: None,
            sent: 0,
            silent: false,
        }
    }
}

impl Handshake {
    /// The link can carry messages.
    pub fn begin(&mut self, now: Instant) {
        self.state = State::Due(now + DELAY, 0);
        self.asked = None;
        self.sent = 0;
        self.silent = false;
    }

    /// H0 is passed to the link. Over Bluetooth the board's answer may arrive before the link's.
    pub fn leaves(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    /// H0 has left.
    pub fn left(&mut self, now: Instant) {
        if let State::Leaving(sent) = self.state {
            self.state = State::Awaited(now + ANSWER_WAIT, sent);
        }
    }

    /// An H1 has come.
    pub fn answered(&mut self, now: Instant) -> Answer {
        match self.asked {
            None => Answer::Late,
            Some(_) if self.state != State::Done => {
                self.state = State::Done;
                Answer::Awaited {
                    missed: self.sent > 1,
                }
            }
            // Every H0 may get an answer of its own; a slow board is at most this late.
            Some(asked) if now < asked + REST => Answer::Late,
            Some(_) => {
                // A board that repeats H1 endlessly is heeded at intervals.
                self.asked = Some(now);
                Answer::Unasked
            }
        }
    }

    /// Whether the board has answered.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// When [`Self::poll`] next has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Due(at, _) | State::Awaited(at, _) => Some(at),
            State::Off | State::Leaving(_) | State::Done => None,
        }
    }

    /// What to do now.
    pub fn poll(&mut self, now: Instant) -> Option<Due> {
        match self.state {
            State::Due(at, sent) if at <= now => {
                self.state = State::Leaving(sent + 1);
                self.sent = self.sent.saturating_add(1);
                Some(Due::Ask)
            }
            State::Awaited(at, sent) if at <= now => {
                if sent <= RETRIES {
                    self.state = State::Due(now + PAUSE, sent);
                    return None;
                }
                self.state = State::Due(now + REST, 0);
                let told = std::mem::replace(&mut self.silent, true);
                (!told).then_some(Due::Silent)
            }
            _ => None,
        }
    }
}
