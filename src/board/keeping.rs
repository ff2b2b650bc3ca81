//! Keeps what a board's core must know to go on: moves at once, all else when the disk is not to be spared.

use tokio::time::Instant;

use super::core::{Ply, SavedBoard};
use crate::state::{Past, Shelf};

/// The place where a board's memory is kept.
pub(super) struct Keeping {
    shelf: Shelf,
    /// What is written of the game on the board.
    past: Past<Ply>,
    /// What is kept is not the latest: nothing but what programs want has changed, faster than can be written.
    unkept: bool,
}

impl Keeping {
    /// On this shelf, and what is kept there. `None` if nothing is kept.
    pub fn on(mut shelf: Shelf) -> Option<(Self, Option<SavedBoard>)> {
        let memory = shelf.read();
        let this = Self {
            shelf,
            past: Past::default(),
            unkept: false,
        };
        this.shelf.is_on().then_some((this, memory))
    }

    /// Keeps this, at once or as soon as the disk is not to be spared. Returns until when no program should have the board
    /// led any further.
    pub async fn keep(&mut self, memory: &SavedBoard, at_once: bool) -> Option<Instant> {
        self.unkept = !at_once && self.shelf.waits_until().is_some();
        if !self.unkept {
            let kept = (self.shelf).keep_long(&mut self.past, memory.plies(), memory.rest());
            kept.await;
        }
        self.shelf.waits_until()
    }

    /// The hand has made a move: see [`Shelf::moved`].
    pub fn moved(&mut self) {
        self.shelf.moved();
    }

    /// Whether what is kept is not the latest.
    pub fn is_late(&self) -> bool {
        self.unkept
    }

    /// When what is not kept yet is to be.
    pub fn due_at(&self) -> Option<Instant> {
        let due = || self.shelf.waits_until().unwrap_or_else(Instant::now);
        self.unkept.then(due)
    }

    /// Until when a board that reports move after move without end is not read: it is read as fast as they can be kept.
    pub fn deaf_until(&self) -> Option<Instant> {
        self.shelf.is_overdrawn_until()
    }
}
