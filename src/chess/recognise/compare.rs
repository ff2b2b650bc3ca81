//! Compares the pieces of two positions.

use shakmaty::{Bitboard, Board, Color, Piece, Role};

/// Squares with different pieces.
pub(super) fn differing(a: &Board, b: &Board) -> Bitboard {
    let roles = Role::ALL
        .into_iter()
        .map(|role| a.by_role(role) ^ b.by_role(role));
    let colors = Color::ALL
        .into_iter()
        .map(|color| a.by_color(color) ^ b.by_color(color));
    roles
        .chain(colors)
        .fold(Bitboard::EMPTY, |all, set| all | set)
}

/// A number for each of the twelve kinds of piece.
pub(super) fn kind(piece: Piece) -> usize {
    let role = usize::from(piece.role) - 1;
    if piece.color.is_white() {
        role
    } else {
        role + 6
    }
}
