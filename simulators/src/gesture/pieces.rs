//! What a move does to the pieces.

use shakmaty::{Board, CastlingSide, Color, Move, Piece, Square};

/// The square of a captured piece.
pub fn victim(m: Move) -> Option<Square> {
    match m {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        Move::Normal {
            capture: Some(_),
            to,
            ..
        } => Some(to),
        _ => None,
    }
}

/// From and to of each piece that a move moves, the mover (of castling: the king) first.
pub fn legs(m: Move) -> Vec<(Square, Square)> {
    match m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(rook > king);
            let color = if king.rank() == shakmaty::Rank::First {
                Color::White
            } else {
                Color::Black
            };
            vec![(king, side.king_to(color)), (rook, side.rook_to(color))]
        }
        _ => m.from().map(|from| (from, m.to())).into_iter().collect(),
    }
}

/// Every square on which a move changes something.
pub fn squares(m: Move) -> Vec<Square> {
    let mut all: Vec<Square> = legs(m)
        .into_iter()
        .flat_map(|(from, to)| [from, to])
        .chain(victim(m))
        .collect();
    all.dedup();
    all
}

/// Makes a move, legal in this position, on these pieces.
pub fn apply(board: &mut Board, m: Move) {
    if let Some(square) = victim(m) {
        board.discard_piece_at(square);
    }
    let moved: Vec<(Square, Option<Piece>)> = legs(m)
        .into_iter()
        .map(|(from, to)| (to, board.remove_piece_at(from)))
        .collect();
    for (to, piece) in moved {
        if let Some(piece) = piece {
            let role = m.promotion().unwrap_or(piece.role);
            board.set_piece_at(to, role.of(piece.color));
        }
    }
}
