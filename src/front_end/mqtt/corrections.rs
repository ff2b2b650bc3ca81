//! What others have said under our own topics, and is said again by us: not more often than once in a while, and never forgotten.

use std::{
    collections::BTreeSet,
    mem::take,
    time::{Duration, Instant},
};

use crate::vocabulary::BoardName;

/// The least time between two corrections: somebody who says the wrong thing all the time gets no more than this.
pub const CORRECTIONS: Duration = Duration::from_secs(5);

/// What has to be said again.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    /// Whether that is that we are here.
    pub online: bool,
    /// Whose states.
    pub boards: BTreeSet<BoardName>,
    /// Whether nothing is believed that we say in this epoch: another has gone further in it.
    pub epoch: bool,
}

/// What waits to be corrected, and since when something was.
#[derive(Debug, Default)]
pub struct Corrections {
    wrong: Wrong,
    last: Option<Instant>,
}

impl Corrections {
    /// Somebody says of us that we are away.
    pub fn online(&mut self) {
        self.wrong.online = true;
    }

    /// Somebody says something of a board of ours.
    pub fn board(&mut self, board: BoardName) {
        self.wrong.boards.insert(board);
    }

    /// Somebody has gone further in our epoch.
    pub fn epoch(&mut self) {
        self.wrong.epoch = true;
    }

    /// When the next correction is due, if something is wrong.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        let is_right = self.wrong == Wrong::default();
        let due = self.last.map_or(now, |last| last + CORRECTIONS);
        (!is_right).then_some(due)
    }

    /// What to say again now.
    pub fn due(&mut self, now: Instant) -> Option<Wrong> {
        if self.deadline(now)? > now {
            return None;
        }
        self.last = Some(now);
        Some(take(&mut self.wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_correction_is_made_at_once_and_what_follows_is_delayed_but_not_dropped() {
        let (mut corrections, now) = (Corrections::default(), Instant::now());
        let board: BoardName = "table".parse().unwrap();
        assert_eq!(corrections.due(now), None);
        assert_eq!(corrections.deadline(now), None);
        corrections.online();
        let first = corrections.due(now).unwrap();
        assert!(first.online && first.boards.is_empty());
        for second in 1..CORRECTIONS.as_secs() {
            corrections.online();
            corrections.board(board.clone());
            assert_eq!(corrections.due(now + Duration::from_secs(second)), None);
        }
        let due = now + CORRECTIONS;
        assert_eq!(corrections.deadline(now), Some(due));
        let second = corrections.due(due).unwrap();
        assert!(second.online && second.boards.contains(&board));
        assert_eq!(corrections.deadline(due), None, "it is made once");
    }
}
