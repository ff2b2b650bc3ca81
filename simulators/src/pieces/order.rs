//! What a person at the pieces can be told to do.

use shakmaty::uci::UciMove;

use crate::{
    HandAction,
    gesture::{Script, Style, Touch},
};

/// An order for the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// What a player can do to any board, in the style of the settings.
    Do(HandAction),
    /// Make a move in this style.
    Move(UciMove, Style),
    /// Execute the move that is shown, in this style.
    Execute(Style),
    /// Take the last move back in this style.
    TakeBack(Style),
    /// Touch one square.
    Touch(Touch),
    /// Touch the board with this script.
    Touches(Script),
    /// Put every piece on its square in the game.
    Restore,
}

impl From<HandAction> for Order {
    fn from(action: HandAction) -> Self {
        Self::Do(action)
    }
}
