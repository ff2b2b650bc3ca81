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

    /// Whether the board has the command.
    pub fn is_taken(&self) -> bool {
        self.last.is_some()
    }

    /// The board has shown its pieces.
    pub fn shown(&mut self, now: Instant, board: &Board) -> Progress {
        // Until then it may be about to carry out another command.
        let Some(last) = self.last else {
            return Progress::Drives;
        };
        self.last = Some(now);
        if *board == self.target {
            return Progress::Arrived;
        }
        if now >= last + PAUSE {
            self.ends = now + ARRIVES;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// A drive from the start position to the empty board, with the positions at these times after the board has the command.
    fn seen(times: &[f64]) -> Vec<Progress> {
        let now = Instant::now();
        let mut drive = Drive::new(now, Board::empty());
        // On its way to the board.
        assert_eq!(drive.shown(now, &Board::new()), Progress::Drives);
        let taken = now + after(0.5);
        drive.taken(taken);
        let shown = |at: &f64| drive.shown(taken + after(*at), &Board::new());
        times.iter().map(shown).collect()
    }

    #[test]
    fn another_position_after_a_pause_counts_once_its_pieces_had_time_to_be_sensed() {
        use Progress::{Drives, Stopped};
        assert_eq!(
            seen(&[0.1, 0.2, 9.0, 9.5, 9.9, 10.1]),
            [Drives, Drives, Drives, Drives, Drives, Stopped]
        );
    }

    #[test]
    fn positions_that_go_on_coming_show_that_it_does_not_drive() {
        let times: Vec<f64> = (1..=51).map(|tenth| f64::from(tenth) / 10.0).collect();
        let progress = seen(&times);
        let first = progress.iter().position(|seen| *seen == Progress::Stopped);
        assert_eq!(first.map(|index| times[index]), Some(5.0));
    }

    #[test]
    fn the_position_that_was_wanted_is_the_end_once_the_board_has_the_command() {
        let now = Instant::now();
        let mut drive = Drive::new(now, Board::empty());
        assert_eq!(drive.shown(now, &Board::empty()), Progress::Drives);
        drive.taken(now);
        assert_eq!(drive.shown(now, &Board::empty()), Progress::Arrived);
    }

    #[test]
    fn it_asks_for_the_pieces_and_has_an_end() {
        let now = Instant::now();
        let mut drive = Drive::new(now, Board::empty());
        let mut polls = 0;
        while !drive.is_late(drive.deadline()) {
            let at = drive.deadline();
            assert!(drive.take_poll(at));
            polls += 1;
        }
        assert_eq!(polls, 59);
    }
}
