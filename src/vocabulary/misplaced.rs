//! Pieces that stand wrong.

use shakmaty::{Bitboard, Board, Piece, Square};

use crate::chess::guidance::Picture;

/// Misplaced pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misplaced {
    /// Empty squares, each with the piece that belongs there.
    pub lacking: Vec<(Square, Piece)>,
    /// Squares with a piece that belongs elsewhere.
    pub surplus: Bitboard,
    /// What stands on the board, as far as known.
    pub stands: Picture,
    /// What should stand there.
    pub wanted: Board,
}

impl Misplaced {
    /// What is wrong on these squares if the pieces should stand as on `wanted`. `known` are pieces that are known to
    /// stand where they do.
    pub fn on(wanted: &Board, lacking: Bitboard, surplus: Bitboard, known: &Board) -> Self {
        let piece = |square| Some((square, wanted.piece_at(square)?));
        let mut stands = Picture::from(wanted.clone());
        for square in lacking {
            stands.board.discard_piece_at(square);
        }
        for square in (wanted.occupied() | surplus) & !lacking {
            match known.piece_at(square) {
                Some(piece) => stands.board.set_piece_at(square, piece),
                None if surplus.contains(square) => stands.unknown.add(square),
                None => {}
            }
        }
        Self {
            lacking: lacking.into_iter().filter_map(piece).collect(),
            surplus,
            stands,
            wanted: wanted.clone(),
        }
    }

    /// Whether nothing is wrong after all.
    pub fn is_right(&self) -> bool {
        self.lacking.is_empty() && self.surplus.is_empty() && self.stands.board == self.wanted
    }
}
