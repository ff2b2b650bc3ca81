//! A drive of a Chessnut Move: its pieces are on their way.
//!
//! The board sends no positions while it drives, and does not say that it has ended, or that it will not drive. So positions tell:
//! the one that was wanted, one after a pause, or one that goes on coming.

use std::time::{Duration, Instant};

use shakmaty::Board;

/// No position for this long is a pause: the board drives. It sends ten in a second otherwise.
const PAUSE: Duration = Duration::from_secs(1);
/// A board that goes on sending positions for this long after the command does not drive.
const BEGINS: Duration = Duration::from_secs(5);
/// After a drive the pieces are where they were to be within this time, or not at all: pieces that have just come may not be sensed yet.
const ARRIVES: Duration = Duration::from_secs(1);
/// The longest drive. No source has one; all pieces may have to cross the board.
const LONGEST: Duration = Duration::from_mins(2);
/// The pieces are asked for this often: the answers show that the board is there.
const POLL: Duration = Duration::from_secs(2);

/// What a position says of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It goes on.
    Drives,
    /// The pieces stand as they were to.
    Arrived,
    /// The board has stopped, or has not begun.
    Stopped,
}

/// A drive. See the module documentation.
#[derive(Debug)]
pub(super) struct Drive {
    target: Board,
    /// When the last position came; `None` until the board has the command.
    last: Option<Instant>,
    /// From then on another position than the one wanted is the last.
    ends: Instant,
    /// When it has taken too long.
    too_long: Instant,
    poll_at: Instant,
}

impl Drive {
    /// The board is told to drive to this placement.
    pub fn new(now: Instant, target: Board) -> Self {
        Self {
            target,
            last: None,
            ends: now + LONGEST,
            too_long: now + LONGEST,
            poll_at: now + POLL,
        }
    }

    /// The board has the command.
    pub fn taken(&mut self, now: Instant) {
        self.last = Some(now);
        self.ends = now + BEGINS;
    }

    /// The board has shown its pieces.
    pub fn shown(&mut self, now: Instant, board: &Board) -> Progress {
        if *board == self.target {
            return Progress::Arrived;
        }
        if let Some(last) = &mut self.last {
            if now >= *last + PAUSE {
                self.ends = now + ARRIVES;
            }
            *last = now;
        }
        if now >= self.ends {
            Progress::Stopped
        } else {
            Progress::Drives
        }
    }

    /// Whether the pieces are to be asked for.
    pub fn take_poll(&mut self, now: Instant) -> bool {
        let due = self.poll_at <= now;
        if due {
            self.poll_at = now + POLL;
        }
        due
    }

    /// Whether it has taken too long.
    pub fn is_late(&self, now: Instant) -> bool {
        self.too_long <= now
    }

    /// When to ask next, or to give up.
    pub fn deadline(&self) -> Instant {
        self.poll_at.min(self.too_long)
    }
}
