//! What stands on a board.

use shakmaty::{Bitboard, Board, Piece, Square};
use thiserror::Error;

use super::{action::Action, piece::called};

/// What stands on a board, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The known pieces.
    pub board: Board,
    /// Squares with an unknown piece. In `board` they are empty, or hold the piece that it is known not to be.
    pub unknown: Bitboard,
}

impl From<Board> for Picture {
    fn from(board: Board) -> Self {
        Self {
            board,
            unknown: Bitboard::EMPTY,
        }
    }
}

/// Why an action cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Impossible {
    /// The square is empty.
    #[error("no piece stands on {0}: take one from an occupied square")]
    Empty(Square),
    /// Another piece stands there.
    #[error("the {} stands on {square}, not the {}: take that one", called(Some(*stands)), called(Some(*named)))]
    Other {
        /// On which square.
        square: Square,
        /// What stands there.
        stands: Piece,
        /// What should have been taken from there.
        named: Piece,
    },
    /// The square is not free.
    #[error("{0} is occupied: clear it first")]
    Occupied(Square),
    /// From beside the board to beside the board.
    #[error("the action names no square: name one to take from or to put on")]
    Nowhere,
}

impl Picture {
    /// The squares with a piece, known or unknown.
    pub fn occupied(&self) -> Bitboard {
        self.board.occupied() | self.unknown
    }

    /// The piece on a square, if known.
    pub fn known(&self, square: Square) -> Option<Piece> {
        let piece = self.board.piece_at(square);
        piece.filter(|_| !self.unknown.contains(square))
    }

    /// Carries an action out. An unknown piece becomes known if the action names it; an action without a piece takes
    /// whatever stands there. If the action is impossible, nothing changes.
    pub fn apply(&mut self, action: &Action) -> Result<(), Impossible> {
        if action.from.is_none() && action.to.is_none() {
            return Err(Impossible::Nowhere);
        }
        if let Some(to) = action.to.filter(|to| self.occupied().contains(*to)) {
            return Err(Impossible::Occupied(to));
        }
        let mut piece = action.piece;
        if let Some(from) = action.from {
            match (self.known(from), action.piece) {
                (Some(stands), Some(named)) if stands != named => {
                    return Err(Impossible::Other {
                        square: from,
                        stands,
                        named,
                    });
                }
                (Some(stands), _) => piece = Some(stands),
                (None, _) if self.unknown.contains(from) => {}
                (None, _) => return Err(Impossible::Empty(from)),
            }
            self.board.discard_piece_at(from);
            self.unknown.discard(from);
        }
        match (action.to, piece) {
            (Some(to), Some(piece)) => self.board.set_piece_at(to, piece),
            (Some(to), None) => self.unknown.add(to),
            (None, _) => {}
        }
        Ok(())
    }
}
