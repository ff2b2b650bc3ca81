//! Placement of the pieces, on a board that cannot report it, while a position is set up.

use shakmaty::Board;

/// Placement of the pieces, as far as the game that the board holds shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Placement {
    /// As in that game, or as the board reports otherwise.
    #[default]
    AsHeld,
    /// How they stood when the hand was asked to move them, and with what it was seen to carry since; nothing has proved yet
    /// that it did the rest.
    Was(Board),
    /// The same, but how they stood is unknown.
    Unknown,
}

impl Placement {
    /// The hand is asked to put the pieces so.
    pub fn asked_for(before: Option<Board>, wanted: &Board) -> Self {
        match before {
            Some(before) if before == *wanted => Self::AsHeld,
            Some(before) => Self::Was(before),
            None => Self::Unknown,
        }
    }
}
