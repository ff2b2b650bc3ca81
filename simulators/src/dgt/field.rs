//! Fields and piece codes, as the board numbers them.

use shakmaty::{Color, Piece, Role, Square};

/// The fields of a board.
pub(super) const FIELDS: usize = 64;

/// The field of a square: 0 is a8, 7 is h8, 63 is h1, with the connector on White's left.
pub(super) fn of(square: Square) -> u8 {
    u8::from(square.flip_vertical())
}

/// The square of a field.
pub(super) fn square(field: u8) -> Option<Square> {
    Square::try_from(field).ok().map(Square::flip_vertical)
}

/// The code of what stands on a field.
pub(super) fn code(piece: Option<Piece>) -> u8 {
    let Some(piece) = piece else { return 0 };
    let white = match piece.role {
        Role::Pawn => 1,
        Role::Rook => 2,
        Role::Knight => 3,
        Role::Bishop => 4,
        Role::King => 5,
        Role::Queen => 6,
    };
    match piece.color {
        Color::White => white,
        Color::Black => white + 6,
    }
}
