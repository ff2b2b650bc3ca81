//! Squares as the board numbers them: 0 is a8, 7 is h8, 63 is h1.

use shakmaty::Square;

/// The squares in the order of their numbers.
pub(super) fn all() -> impl Iterator<Item = Square> {
    Square::ALL.into_iter().map(Square::flip_vertical)
}

/// The square of a number.
pub(super) fn of(number: u8) -> Option<Square> {
    Square::try_from(number).ok().map(Square::flip_vertical)
}

/// The number of a square.
pub(super) fn number(square: Square) -> u8 {
    u8::from(square.flip_vertical())
}
