//! What the hand plays, and what else it did with the pieces.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use crate::state::{Text, is_default};

/// What the hand plays, and what else it did with the pieces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Hand {
    /// The colour it plays in the game the board was told to begin; `None` if both, or if no client said.
    #[serde(skip_serializing_if = "is_default")]
    plays: Option<Text<Color>>,
    #[serde(skip)]
    took_back: bool,
    #[serde(skip)]
    repeated: u64,
    #[serde(skip_serializing_if = "is_default")]
    put_to_start: u64,
}

impl Hand {
    /// The colour it plays.
    pub fn plays(&self) -> Option<Color> {
        self.plays.map(|Text(color)| color)
    }

    /// It plays this colour.
    pub fn play(&mut self, color: Option<Color>) {
        self.plays = color.map(Text);
    }

    /// Whether it has taken a move back since the board was last led anywhere.
    pub fn has_taken_back(&self) -> bool {
        self.took_back
    }

    /// It has taken a move back.
    pub fn took_back(&mut self) {
        self.took_back = true;
    }

    /// The board is led on, or to another game.
    pub fn forget_take_back(&mut self) {
        self.took_back = false;
    }

    /// How many times the last move was reported once more.
    pub fn times_repeated(&self) -> u64 {
        self.repeated
    }

    /// The last move is reported once more.
    pub fn repeated(&mut self) {
        self.repeated = self.repeated.wrapping_add(1);
    }

    /// How many times it has put all pieces at the start.
    pub fn times_at_start(&self) -> u64 {
        self.put_to_start
    }

    /// It has put all pieces at the start.
    pub fn put_to_start(&mut self) {
        self.took_back = false;
        self.put_to_start = self.put_to_start.wrapping_add(1);
    }
}
