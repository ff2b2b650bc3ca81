//! What was sensed, as a driver reports it.

use shakmaty::Move;

use crate::vocabulary::{Misplaced, Reported};

/// What the hand did, or has to put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The hand made this legal move.
    Moved {
        /// The move.
        m: Move,
        /// The same in words that name its player, without the piece a pawn became where that is not known.
        reported: Reported,
    },
    /// The hand carried out this move that the game already had.
    Executed(Reported),
    /// The hand took this move back.
    TookBack {
        /// The move.
        m: Move,
        /// The same in words.
        reported: Reported,
    },
    /// The pieces stand at the start of a new game.
    NewGame,
    /// The position to be set up stands.
    SetUp,
    /// Pieces stand wrong.
    Misplaced(Misplaced),
    /// No piece stands wrong any more.
    Stands,
}
