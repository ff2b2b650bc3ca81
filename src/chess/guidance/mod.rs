//! What the hand has to do so that the pieces stand as they should: the fewest carries, each from a square or from
//! beside the board, in an order in which every square is free when a piece is put on it.
//!
//! Pure, and independent of any board: it compares what stands with the pieces as they should stand. `docs/guidance.md`
//! has the rules.
//!
//! ```
//! use boardbridge::chess::guidance::{Picture, guide, in_words};
//! use shakmaty::Board;
//!
//! // A knight has been put on h3 that belongs on f3.
//! let stands: Board = "rnbqkbnr/pppppppp/8/8/8/7N/PPPPPPPP/RNBQKB1R".parse()?;
//! let wanted: Board = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R".parse()?;
//!
//! let mut picture = Picture::from(stands);
//! let actions = guide(&picture, &wanted);
//! assert_eq!(in_words(&actions), "move the white knight from h3 to f3");
//!
//! for action in &actions {
//!     picture.apply(action)?;
//! }
//! assert_eq!(picture.board, wanted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
