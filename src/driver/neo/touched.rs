//! Which piece went where, as far as lifts and placements tell: for the words that the player is told, not for moves.

use shakmaty::{Board, Piece, Square};

/// The pieces where the hand has put them, as far as that is known.
#[derive(Debug)]
pub(super) struct Touched {
    board: Board,
    /// What was lifted last, and has not been put down.
    lifted: Option<Piece>,
}

impl Touched {
    /// Nobody knows what stands where.
    pub fn nothing() -> Self {
        Self::pieces(Board::empty())
    }

    /// The pieces stand so.
    pub fn pieces(board: Board) -> Self {
        Self {
            board,
            lifted: None,
        }
    }

    /// The pieces that are known where they stand.
    pub fn known(&self) -> &Board {
        &self.board
    }

    /// What stood there was lifted.
    pub fn lift(&mut self, square: Square) {
        self.lifted = self.board.remove_piece_at(square);
    }

    /// Something was put down: what was lifted last, if that was known and is still in the hand.
    pub fn put(&mut self, square: Square) {
        match self.lifted.take() {
            Some(piece) => self.board.set_piece_at(square, piece),
            None => self.board.discard_piece_at(square),
        }
    }
}
