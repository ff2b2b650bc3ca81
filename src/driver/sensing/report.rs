//! What was sensed, as a driver reports it.

use shakmaty::Move;

use crate::vocabulary::{Misplaced, Reported};

/// What the player did, or has to correct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The player made this legal move.
    Moved {
        /// The move.
        m: Move,
        /// The same in words that name its side, without the promotion piece if that is unknown.
        reported: Reported,
    },
    /// The player carried out this move, which the game already had.
    Executed(Reported),
    /// The player took this move back.
    TookBack {
        /// The move.
        m: Move,
        /// The same in words.
        reported: Reported,
    },
    /// The pieces stand at the start of a new game.
    NewGame,
    /// The position is set up.
    SetUp,
    /// Pieces are misplaced.
    Misplaced(Misplaced),
    /// No piece is misplaced any more.
    Stands,
}
