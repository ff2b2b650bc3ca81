//! What the hand is asked to do.

use shakmaty::Move;

use crate::game::Game;

/// What the hand is asked to carry out on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// This move.
    Move(Move),
    /// Take the last move back.
    TakeBack,
}

/// What the hand is asked to do.
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
    /// The game whose last position it is.
    pub game: Game,
    /// The pieces stand; the driver has still to begin the game.
    pub closing: bool,
    /// The program wants something else now.
    pub abandoned: bool,
}
