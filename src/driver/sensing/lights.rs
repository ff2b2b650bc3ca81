//! Which squares to light for the player.

use shakmaty::{Bitboard, Board, Color, Role};

use crate::chess::guidance::Action;

/// The squares to light for a correction: the two squares of the first piece that is to be carried on the board,
/// or all the squares to be cleared, or all that lack a piece.
pub(super) fn lit_for(actions: &[Action]) -> Bitboard {
    let Some(first) = actions.first() else {
        return Bitboard::EMPTY;
    };
    if let (Some(from), Some(to)) = (first.from, first.to) {
        return [from, to].into_iter().collect();
    }
    let off = first.to.is_none();
    let alike = |action: &&Action| {
        let beside = if off { action.to } else { action.from };
        beside.is_none()
    };
    let alike = actions.iter().take_while(alike);
    let square = |action: &Action| action.from.or(action.to);
    alike.filter_map(square).collect()
}

/// The squares whose contents differ.
pub(super) fn differing(one: &Board, other: &Board) -> Bitboard {
    let roles = Role::ALL.map(|role| one.by_role(role) ^ other.by_role(role));
    let colors = Color::ALL.map(|color| one.by_color(color) ^ other.by_color(color));
    let all = roles.into_iter().chain(colors);
    all.fold(Bitboard::EMPTY, |all, some| all | some)
}
