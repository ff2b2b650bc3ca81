//! What the hand has to do so that the pieces stand as they should: the fewest carries, each from a square or from
//! beside the board, in an order in which every square is free when a piece is put on it.
//!
//! Pure, and independent of any board: it compares what stands with the pieces as they should stand. `docs/guidance.md`
//! has the rules.

mod action;
mod assignment;
mod carry_length;
mod cycles;
mod order;
mod picture;
mod piece;
mod words;

use shakmaty::Board;

use self::assignment::Assignment;
pub use self::{
    action::Action,
    picture::{Impossible, Picture},
    piece::name,
    words::{in_short, in_words},
};

/// What to do, in order, so that the pieces stand as on `wanted`. Empty if they already do.
///
/// No list has fewer actions. An unknown piece is right where a piece is wanted, unless it is known not to be that one.
pub fn guide(stands: &Picture, wanted: &Board) -> Vec<Action> {
    if stands.unknown.is_empty() && stands.board == *wanted {
        return Vec::new();
    }
    let assignment = cycles::without_cycles(Assignment::of(stands, wanted));
    order::actions(&assignment)
}
