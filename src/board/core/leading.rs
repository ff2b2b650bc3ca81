//! Whether and how the board should be led to its target.

use serde::{Deserialize, Serialize};

use crate::{chess::game::Game, state::is_default};

/// Whether and how the board should be led to its target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Leading {
    /// Off while a new game is announced but not stated, and after the player put the pieces back while no client awaited a
    /// move.
    #[serde(skip_serializing_if = "is_default")]
    leads: bool,
    /// A new game was announced and is not under way yet.
    #[serde(skip_serializing_if = "is_default")]
    new_game: bool,
    /// The player has to set the position up.
    #[serde(skip_serializing_if = "is_default")]
    by_hand: bool,
    /// The game that the board held before it returned to the start without being led: the hand put the pieces there, or the
    /// board lost its memory and no piece moved.
    #[serde(skip_serializing_if = "is_default")]
    left: Option<Game>,
    /// The target has changed: what the hand is awaited for may no longer be wanted.
    #[serde(skip_serializing_if = "is_default")]
    turned: bool,
}

impl Leading {
    /// Whether the board should be led.
    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Sets whether the board should be led.
    pub fn lead(&mut self, on: bool) {
        self.leads = on;
    }

    /// Whether a new game was announced that is not under way.
    pub fn is_new_game(&self) -> bool {
        self.new_game
    }

    /// A new game was announced, and will be stated.
    pub fn announced(&mut self) {
        self.new_game = true;
        self.leads = false;
    }

    /// A new game was stated.
    pub fn begins(&mut self) {
        self.new_game = true;
    }

    /// The new game is under way.
    pub fn begun(&mut self) {
        self.new_game = false;
    }

    /// Whether the player has to set the position up.
    pub fn is_by_hand(&self) -> bool {
        self.by_hand
    }

    /// The player has to set the position up.
    pub fn by_hand(&mut self) {
        self.by_hand = true;
    }

    /// The player has set the position up.
    pub fn set_up(&mut self) {
        self.by_hand = false;
    }

    /// The game that the board held before it returned to the start without being led.
    pub fn left(&self) -> Option<&Game> {
        self.left.as_ref()
    }

    /// The board returned to the start without being led; it held this game before.
    pub fn leave(&mut self, game: Game) {
        self.left = Some(game);
    }

    /// The board has taken a step, or stands where it should. `true` if that was the first step toward a new game.
    pub fn stepped(&mut self) -> bool {
        self.left = None;
        std::mem::take(&mut self.new_game)
    }

    /// The target has changed.
    pub fn turn(&mut self) {
        self.by_hand = false;
        self.turned = true;
    }

    /// Whether the target has changed since the last call.
    pub fn take_turned(&mut self) -> bool {
        std::mem::take(&mut self.turned)
    }
}
