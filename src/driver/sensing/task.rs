//! The player's task.

use shakmaty::Move;

use crate::chess::game::Game;

/// What the player has to carry out on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// This move.
    Move(Move),
    /// Take the last move back.
    TakeBack,
}

/// The player's task.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Set up a position.
    SetUp(Box<Setup>),
    /// Carry out a move, or take one back.
    Hand(Awaited),
}

/// A position to be set up.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// The game with this last position.
    pub game: Game,
    /// The pieces are set up; the driver has yet to begin the game.
    pub closing: bool,
    /// The program wants something else now.
    pub abandoned: bool,
}
