//! Placement of the pieces, on a board that cannot report it, while a position is set up.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use shakmaty::Board;

/// Placement of the pieces, as far as the game that the board holds shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Placement {
    /// As in that game, or as the board reports otherwise.
    #[default]
    AsHeld,
    /// As they stood when the hand was asked to move them, with what it was seen to carry since. Nothing proves that it did the
    /// rest.
    Was(#[serde(serialize_with = "as_fen", deserialize_with = "of_fen")] Board),
    /// The hand was asked to move them, and it is unknown how they stood then.
    Unknown,
}

impl Placement {
    /// The hand is asked to put the pieces as on `wanted`.
    pub fn asked_for(before: Option<Board>, wanted: &Board) -> Self {
        match before {
            Some(before) if before == *wanted => Self::AsHeld,
            Some(before) => Self::Was(before),
            None => Self::Unknown,
        }
    }

    /// Whether the pieces stand as in the game.
    pub fn is_as_held(&self) -> bool {
        *self == Self::AsHeld
    }
}

fn as_fen<S: Serializer>(board: &Board, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&board.board_fen())
}

fn of_fen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Board, D::Error> {
    let fen = String::deserialize(deserializer)?;
    Board::from_ascii_board_fen(fen.as_bytes()).map_err(D::Error::custom)
}
