//! The state of the link, and what it waits for.

use std::time::Instant;

use super::{HELLO_WAIT, PICTURE_WAIT, SILENCE};

/// The state of the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Down,
    Starting,
    Ready,
}

/// The link to the board, and what the board reported about itself.
#[derive(Debug, Default)]
pub(super) struct Contact {
    phase: Phase,
    /// When the board last sent something.
    heard: Option<Instant>,
    /// When to stop waiting for the answer to the greeting.
    hello_due: Option<Instant>,
    /// When to ask the board for a picture.
    look_due: Option<Instant>,
    /// Why the link is unusable.
    hang_up: Option<String>,
    firmware: Option<String>,
}

impl Contact {
    /// The link is up.
    pub fn up(&mut self, now: Instant) {
        self.phase = Phase::Starting;
        self.heard = Some(now);
        self.look_later(now);
    }

    /// The link is down.
    pub fn down(&mut self) {
        *self = Self {
            firmware: self.firmware.take(),
            ..Self::default()
        };
    }

    /// Whether the board accepts steps.
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// The board has answered the greeting, or never will. Returns `true` the first time on a link.
    pub fn ready(&mut self) -> bool {
        self.hello_due = None;
        let starts = self.phase == Phase::Starting;
        if starts {
            self.phase = Phase::Ready;
        }
        starts
    }

    /// The board has taken the greeting; its answer may have come before that.
    pub fn greeted(&mut self, now: Instant) {
        if self.phase == Phase::Starting {
            self.hello_due = Some(now + HELLO_WAIT);
        }
    }

    /// Whether the greeting will not be answered; `true` only once.
    pub fn take_unanswered(&mut self, now: Instant) -> bool {
        self.hello_due.take_if(|at| *at <= now).is_some()
    }

    /// The board has sent something.
    pub fn heard(&mut self, now: Instant) {
        self.heard = Some(now);
    }

    /// A picture came, or none can come for a while.
    pub fn look_later(&mut self, now: Instant) {
        self.look_due = Some(now + PICTURE_WAIT);
    }

    /// Whether to ask the board for a picture; `true` only once.
    pub fn take_look(&mut self, now: Instant) -> bool {
        let due = self.look_due.is_some_and(|at| at <= now);
        if due {
            self.look_later(now);
        }
        due
    }

    /// Hangs up on a board that has been silent too long.
    pub fn mind_silence(&mut self, now: Instant) {
        if self.heard.is_some_and(|at| at + SILENCE <= now) {
            self.heard = None;
            self.give_up("the board has stopped sending: is it switched on?".to_owned());
        }
    }

    /// The link is unusable.
    pub fn give_up(&mut self, why: String) {
        self.hang_up = Some(why);
    }

    /// Why the link is unusable; reported once.
    pub fn take_hang_up(&mut self) -> Option<String> {
        self.hang_up.take()
    }

    /// The board reported its firmware version.
    pub fn version(&mut self, firmware: String) {
        self.firmware = Some(firmware);
    }

    /// The name of the board.
    pub fn id(&self) -> String {
        let firmware = self.firmware.as_ref();
        firmware.map_or("Neo".to_owned(), |version| {
            format!("Neo, firmware {version}")
        })
    }

    /// When a wait is over.
    pub fn deadline(&self) -> Option<Instant> {
        let silence = self.heard.map(|at| at + SILENCE);
        let waits = [self.hello_due, self.look_due, silence];
        waits.into_iter().flatten().min()
    }
}
