//! Saves what a board's core must know to continue: moves at once, the rest as fast as the disk may be written.

use tokio::time::Instant;

use super::core::{Ply, SavedBoard, Urgency};
use crate::state::{Past, Shelf};

/// The place where a board's memory is kept.
pub(super) struct Keeping {
    shelf: Shelf,
    /// The moves already written of the game on the board.
    past: Past<Ply>,
    /// A change that is unsaved: not [`Urgency::AtOnce`].
    unkept: Option<Urgency>,
}

impl Keeping {
    /// Saves on this shelf; also returns what it holds. `None` if saving is off.
    pub fn on(mut shelf: Shelf) -> Option<(Self, Option<SavedBoard>)> {
        let memory = shelf.read();
        let this = Self {
            shelf,
            past: Past::default(),
            unkept: None,
        };
        this.shelf.is_on().then_some((this, memory))
    }

    /// Saves this if it is urgent, or when the allowance for writing permits. Returns until when no program should have the board
    /// led further.
    pub async fn keep(&mut self, memory: &SavedBoard, urgency: Urgency) -> Option<Instant> {
        let waits = match urgency {
            Urgency::AtOnce => false,
            Urgency::Soon => self.shelf.waits_until().is_some(),
            Urgency::Later => true,
        };
        // What is due already stays so.
        let due = self.unkept == Some(Urgency::Soon);
        self.unkept = waits.then_some(if due { Urgency::Soon } else { urgency });
        if !waits {
            let kept = (self.shelf).keep_long(&mut self.past, memory.plies(), memory.rest());
            kept.await;
        }
        self.shelf.waits_until()
    }

    /// The hand has made a move: see [`Shelf::moved`].
    pub fn moved(&mut self) {
        self.shelf.moved();
    }

    /// Whether changes are unsaved.
    pub fn is_late(&self) -> bool {
        self.unkept.is_some()
    }

    /// Whether unsaved changes are only waiting for the allowance.
    pub fn is_due(&self) -> bool {
        self.unkept == Some(Urgency::Soon)
    }

    /// When unsaved changes are due to be saved.
    pub fn due_at(&self) -> Option<Instant> {
        let due = || self.shelf.waits_until().unwrap_or_else(Instant::now);
        self.is_due().then(due)
    }

    /// Until when the board is not read: it reports moves faster than they may be written.
    pub fn deaf_until(&self) -> Option<Instant> {
        self.shelf.is_overdrawn_until()
    }
}
