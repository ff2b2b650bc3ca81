//! Where the pieces stand on a board that cannot tell while a position is set up.

use shakmaty::Board;

/// Where the pieces stand, as far as the game that the board holds tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Wood {
    /// As in that game, or as the board reports otherwise.
    #[default]
    AsHeld,
    /// So they stood when the hand was asked to bring them there, and nothing has proved yet that it did.
    Was(Board),
    /// The same, but nobody knows how they stood.
    Unknown,
}

impl Wood {
    /// The hand is asked to put the pieces so.
    pub fn asked_for(before: Option<Board>, wanted: &Board) -> Self {
        match before {
            Some(before) if before == *wanted => Self::AsHeld,
            Some(before) => Self::Was(before),
            None => Self::Unknown,
        }
    }
}
