//! Which condition decides what happens on a board.

use super::Core;
use crate::chess::game::Game;

/// What decides what happens on a board: the first of these that applies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Standing<'a> {
    /// The board is not there, or is not the configured one.
    Away,
    /// The kings in the centre signal that the game is over.
    KingsUp,
    /// No client has the board.
    Free,
    /// The player has to set this target up.
    ByHand(&'a Game),
    /// The board is not led to this target yet.
    Rests(&'a Game),
    /// The board is led to this target.
    Led(&'a Game),
}

impl Core {
    /// What decides what happens on the board now.
    pub(super) fn standing(&self) -> Standing<'_> {
        match self.claims.target() {
            _ if !self.contact.is_open() => Standing::Away,
            _ if self.verdict.kings_are_up() => Standing::KingsUp,
            None => Standing::Free,
            Some(target) if self.leading.is_by_hand() => Standing::ByHand(target),
            Some(target) if !self.leading.leads() => Standing::Rests(target),
            Some(target) => Standing::Led(target),
        }
    }

    /// Whether no client has the board.
    pub(super) fn is_free(&self) -> bool {
        self.claims.target().is_none()
    }

    /// Whether the board may be led to its target, if need be by the player's hand.
    pub(super) fn may_lead(&self) -> bool {
        match self.standing() {
            Standing::Led(_) => true,
            Standing::ByHand(_) => self.leading.leads(),
            Standing::Away | Standing::KingsUp | Standing::Free | Standing::Rests(_) => false,
        }
    }
}
