//! What a GUI was told about its board.

use std::{sync::Arc, time::Instant};

use super::throttle::Throttle;
use crate::vocabulary::{BoardResult, GameEnd, Judge, Snapshot};

/// What a GUI was told about its board.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The latest state of the board.
    latest: Option<Arc<Snapshot>>,
    /// What the player should do.
    pub throttle: Throttle,
    /// The result as the board reports it.
    result: Option<BoardResult>,
    ending: Option<GameEnd>,
}

impl Told {
    /// The board's state has changed.
    pub fn snapshot(&mut self, snapshot: &Arc<Snapshot>) {
        self.latest = Some(snapshot.clone());
    }

    /// The state of the board, if something about it must be sent now.
    pub fn due(&self, now: Instant) -> Option<Arc<Snapshot>> {
        let due = self.throttle.deadline().is_some_and(|due| due <= now);
        self.latest.clone().filter(|_| due)
    }

    /// The result as the board reports it, if that is new.
    pub fn result(&mut self, snapshot: &Snapshot) -> Option<BoardResult> {
        let before = std::mem::replace(&mut self.result, snapshot.result);
        snapshot.result.filter(|_| snapshot.result != before)
    }

    /// The result that the kings in the centre signal, if that is new.
    pub fn kings(&mut self, snapshot: &Snapshot) -> Option<GameEnd> {
        let before = std::mem::replace(&mut self.ending, snapshot.ending);
        let news = snapshot.ending != before && snapshot.judge == Some(Judge::Hand);
        snapshot.ending.filter(|_| news)
    }
}
