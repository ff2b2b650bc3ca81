//! A square that changed.

use std::time::Instant;

use shakmaty::{Piece, Square};

/// A square that changed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When it changed.
    pub at: Instant,
    /// The true square, whichever way round the board lies.
    pub square: Square,
    /// What stands there from then on.
    pub piece: Option<Piece>,
}
