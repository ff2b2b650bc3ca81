//! What a GUI was told of its board.

use std::{sync::Arc, time::Instant};

use super::throttle::Throttle;
use crate::vocabulary::{BoardResult, GameEnd, Judge, Snapshot};

/// What a GUI was told of its board.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// How the board stands.
    latest: Option<Arc<Snapshot>>,
    /// What the player is to do.
    pub throttle: Throttle,
    /// How the board says that the game ended.
    result: Option<BoardResult>,
    ending: Option<GameEnd>,
}

impl Told {
    /// The board stands so.
    pub fn snapshot(&mut self, snapshot: &Arc<Snapshot>) {
        self.latest = Some(snapshot.clone());
    }

    /// How the board stands, if something is to be told of it now.
    pub fn due(&self, now: Instant) -> Option<Arc<Snapshot>> {
        let due = self.throttle.deadline().is_some_and(|due| due <= now);
        self.latest.clone().filter(|_| due)
    }

    /// How the board says that the game ended, if that is new.
    pub fn result(&mut self, snapshot: &Snapshot) -> Option<BoardResult> {
        let before = std::mem::replace(&mut self.result, snapshot.result);
        snapshot.result.filter(|_| snapshot.result != before)
    }

    /// How the kings in the centre say that the game ended, if that is new.
    pub fn kings(&mut self, snapshot: &Snapshot) -> Option<GameEnd> {
        let before = std::mem::replace(&mut self.ending, snapshot.ending);
        let news = snapshot.ending != before && snapshot.judge == Some(Judge::Hand);
        snapshot.ending.filter(|_| news)
    }
}
