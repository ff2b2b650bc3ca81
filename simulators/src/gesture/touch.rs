//! What a hand does to a board, and when.

use std::time::Duration;

use shakmaty::{Board, Move, Piece, Square};

/// A hand touches a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It lifts the piece that stands there.
    Lift(Square),
    /// It puts a piece there.
    Put(Square, Piece),
}

impl Touch {
    /// The square touched.
    pub fn square(self) -> Square {
        match self {
            Self::Lift(square) | Self::Put(square, _) => square,
        }
    }

    /// Does it to the pieces.
    pub fn apply(self, board: &mut Board) {
        match self {
            Self::Lift(square) => board.discard_piece_at(square),
            Self::Put(square, piece) => board.set_piece_at(square, piece),
        }
    }
}

/// What a hand means by its touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A move of its own.
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
    /// From here on the deed is meant and visible: a program may say so, and may not have said so before. It precedes
    /// the touch that lets the mover go (of castling: the king).
    Committed(Deed),
    /// The pieces stand as the deed wants them.
    Made(Deed),
}

/// Steps, each with its time since the beginning, in order.
pub type Script = Vec<(Duration, Step)>;
