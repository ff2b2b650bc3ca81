//! Placement of the pieces, on a board that cannot report it, while a position is set up.

use shakmaty::Board;

/// Placement of the pieces, as far as the game that the board holds shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Placement {
    /// As in that game, or as the board reports otherwise.
    #[default]
    AsHeld,
    /// As they stood when the hand was asked to move them, with what it was seen to carry since. Nothing proves that it did the
    /// rest.
    Was(Board),
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
}
