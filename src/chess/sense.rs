//! What a board that knows squares, not pieces, can say: the common vocabulary between such boards and the
//! recogniser.

use shakmaty::{Bitboard, Square};

/// One thing sensed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensed {
    /// A piece was lifted from this square.
    Lifted(Square),
    /// A piece was put on this square.
    Placed(Square),
    /// The board's own picture of its occupied squares. A square that reads empty may still hold a piece; one that reads
    /// occupied holds one, or did a moment ago (measured: the captured game).
    Occupied(Bitboard),
}
