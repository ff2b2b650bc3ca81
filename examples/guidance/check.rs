//! Whether guidance keeps its promises for one board.

use boardbridge::chess::guidance::{Action, Picture, guide, in_words};
use shakmaty::Board;

use super::bound::Bound;

/// Whether nothing is left to do: the right squares are occupied, and what is known there is right.
pub fn is_right(stands: &Picture, wanted: &Board) -> bool {
    let mut known = stands.board.clone().into_iter();
    stands.occupied() == wanted.occupied()
        && known.all(|(square, piece)| wanted.piece_at(square) == Some(piece))
}

/// Checks a list for this board: as many actions as there must be, each possible in its turn, with the wanted pieces at
/// the end; and after each of them a list of one less.
pub fn check(stands: &Picture, wanted: &Board, actions: &[Action]) -> Result<Bound, String> {
    let bound = Bound::of(stands, wanted);
    let wrong = |what: String| {
        let fen = stands.board.to_string();
        let (unknown, words) = (stands.unknown.0, in_words(actions));
        Err(format!(
            "{what}: {fen}, unknown {unknown:#x}, to {wanted}: {words}"
        ))
    };
    if actions.len() != bound.actions() {
        return wrong(format!(
            "{} actions, not {}",
            actions.len(),
            bound.actions()
        ));
    }
    if actions.is_empty() != is_right(stands, wanted) {
        return wrong("silent, or not, at the wrong time".to_owned());
    }
    let mut standing = stands.clone();
    for (left, action) in (0..actions.len()).rev().zip(actions) {
        if let Err(error) = standing.apply(action) {
            return wrong(format!("`{action}` is impossible ({error})"));
        }
        let then = guide(&standing, wanted).len();
        if then != left {
            return wrong(format!("after `{action}` {then} are left, not {left}"));
        }
    }
    if is_right(&standing, wanted) {
        Ok(bound)
    } else {
        wrong("the end is not what is wanted".to_owned())
    }
}
