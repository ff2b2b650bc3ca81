//! The app's half of the handshake: when to send H0, and when to give up for a while.

use std::time::{Duration, Instant};

/// After the link came up: a board that the opening has reset is ready by then (field notes: about 300 ms).
pub const DELAY: Duration = Duration::from_millis(300);
/// How long H1 may take (field notes, SWPP).
pub const ANSWER_WAIT: Duration = Duration::from_millis(200);
/// The pause before H0 is sent again (field notes, SWPP).
pub const PAUSE: Duration = Duration::from_millis(200);
/// Times H0 is sent again before the board counts as silent (field notes, SWPP).
pub const RETRIES: u8 = 3;
/// A silent board is asked again this often: it may be switched on later. An Arduino's boot loader takes two
/// seconds.
pub const REST: Duration = Duration::from_secs(5);

/// How far the handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no link, or it is not ready.
    Off,
    /// H0 goes at that time; so many have gone.
    Due(Instant, u8),
    /// H0 is on its way to the link.
    Leaving(u8),
    /// H1 is awaited until then.
    Awaited(Instant, u8),
    /// The board has answered.
    Done,
}

/// The handshake. See the module's introduction.
#[derive(Debug)]
pub struct Handshake {
    state: State,
    /// When H0 was given to this link last: what comes before the first is no answer to it.
    asked: Option<Instant>,
    /// How many were asked for on this link; a link may need more tries for one.
    sent: u8,
    /// A series was in vain, and that has been said.
    silent: bool,
}

/// What an H1 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The first one to our H0 on this link. `missed`: not to the first H0, for the board was still starting.
    Awaited {
        /// Whether it was.
        missed: bool,
    },
    /// Nobody asked: the board has started anew, and says so.
    Unasked,
    /// One to an earlier H0, or before any.
    Late,
}

/// What is to be done.
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

    /// H0 is given to the link. Over the air the board's answer may be here before the link's.
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
            // Every H0 may have an answer of its own, and a slow board is that late at most.
            Some(asked) if now < asked + REST => Answer::Late,
            Some(_) => {
                // One that says so without end is heard now and then.
                self.asked = Some(now);
                Answer::Unasked
            }
        }
    }

    /// Whether the board has answered.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// When [`Self::poll`] has something next.
    pub fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Due(at, _) | State::Awaited(at, _) => Some(at),
            State::Off | State::Leaving(_) | State::Done => None,
        }
    }

    /// What is to be done now.
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
