//! How a game ended, as a board reports it.

use std::fmt;

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{GameEnd, Reason};

/// How a game ended, as a board reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoardResult {
    /// Draw by repetition.
    Repetition,
    /// Draw by the 50-move rule.
    FiftyMoves,
    /// Draw by insufficient material.
    InsufficientMaterial,
    /// Stalemate.
    Stalemate,
    /// Checkmate.
    Checkmate,
    /// The board's own engine resigns.
    BoardResigns,
}

impl BoardResult {
    /// The game's end, if this side is to move.
    pub fn end(self, turn: Color) -> GameEnd {
        match self {
            Self::Repetition => GameEnd::drawn(Reason::Repetition),
            Self::FiftyMoves => GameEnd::drawn(Reason::FiftyMoves),
            Self::InsufficientMaterial => GameEnd::drawn(Reason::InsufficientMaterial),
            Self::Stalemate => GameEnd::drawn(Reason::Stalemate),
            Self::Checkmate => GameEnd::won(Reason::Checkmate, turn.other()),
            Self::BoardResigns => GameEnd::resigned(turn),
        }
    }
}

impl fmt::Display for BoardResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repetition => "draw by repetition",
            Self::FiftyMoves => "draw by the 50-move rule",
            Self::InsufficientMaterial => "draw by insufficient material",
            Self::Stalemate => "stalemate",
            Self::Checkmate => "checkmate",
            Self::BoardResigns => "the board's own engine resigns",
        })
    }
}
