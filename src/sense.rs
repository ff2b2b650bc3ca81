//! What a board with sensors under its squares notices: the common vocabulary of such boards and of the
//! recogniser. Squares only: no such board knows which piece stands on one.

use shakmaty::{Bitboard, Square};

/// One thing noticed.
///
/// None of it is certain: events are lost or come twice, and an occupancy string may say that a square is empty
/// while a piece stands on it (field notes: "the occupancy string lies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensed {
    /// A piece was lifted from a square (Neo document, characteristic 4496994f: `d2u`).
    Lifted(Square),
    /// A piece was put down on a square (Neo document, characteristic 4496994f: `d4d`).
    Placed(Square),
    /// The squares that read occupied (Neo document, characteristic 777ac5a4: 64 ones and zeroes).
    Occupied(Bitboard),
}
