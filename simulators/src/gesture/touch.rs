//! What a player does to a board, and when.

use std::time::Duration;

use shakmaty::{Board, Move, Piece, Square};

/// A player touches a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Lifts the piece on the square.
    Lift(Square),
    /// Puts a piece on the square.
    Put(Square, Piece),
}

impl Touch {
    /// The square touched.
    pub fn square(self) -> Square {
        match self {
            Self::Lift(square) | Self::Put(square, _) => square,
        }
    }

    /// Applies it to the pieces.
    pub fn apply(self, board: &mut Board) {
        match self {
            Self::Lift(square) => board.discard_piece_at(square),
            Self::Put(square, piece) => board.set_piece_at(square, piece),
        }
    }
}

/// The meaning of a player's touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A move of the player's own.
    Played(Move),
    /// The opponent's move, carried out for it.
    Executed(Move),
    /// A move taken back.
    TookBack(Move),
}

/// One step of a [`Script`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A touch.
    Touch(Touch),
    /// From here on the action is intended and visible: a program may report it, and may not have done so before. It
    /// precedes the touch that lets go of the mover (in castling: the king).
    Committed(Deed),
    /// The pieces stand as after the action.
    Made(Deed),
}

/// Steps, each with its time since the beginning, in order.
pub type Script = Vec<(Duration, Step)>;
