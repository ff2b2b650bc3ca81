//! Pieces and lists of actions in words.

use std::fmt;

use shakmaty::{Piece, Role};

use super::action::Action;

/// Actions told in one line: a person does not remember more.
const SHOWN: usize = 4;

/// A piece in words, for instance `white queen`.
pub fn name(piece: Piece) -> impl fmt::Display {
    called(Some(piece))
}

/// The same, also for a piece that nobody knows.
pub(super) fn called(piece: Option<Piece>) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        let Some(piece) = piece else {
            return f.write_str("piece");
        };
        let color = piece.color.fold_wb("white", "black");
        let role = match piece.role {
            Role::Pawn => "pawn",
            Role::Knight => "knight",
            Role::Bishop => "bishop",
            Role::Rook => "rook",
            Role::Queen => "queen",
            Role::King => "king",
        };
        write!(f, "{color} {role}")
    })
}

/// Actions for the player, in one line. What is taken off and needed again later is `put … aside for now`.
pub fn in_words(actions: &[Action]) -> String {
    first_in_words(actions, actions.len())
}

/// The next few actions for the player, and how many are left.
pub fn in_short(actions: &[Action]) -> String {
    let words = first_in_words(actions, SHOWN);
    match actions.len().saturating_sub(SHOWN) {
        0 => words,
        left => format!("{words}, and {left} more"),
    }
}

/// The first few of all these.
fn first_in_words(actions: &[Action], count: usize) -> String {
    let words: Vec<String> = (1..)
        .zip(actions)
        .take(count)
        .map(|(next, action)| match (action.from, action.to) {
            (Some(from), None) if comes_back(*action, &actions[next..]) => {
                format!("put the {} from {from} aside for now", called(action.piece))
            }
            _ => action.to_string(),
        })
        .collect();
    words.join(", then ")
}

/// Whether the piece taken off is put on another square later. In the shortest list nothing else is the reason for
/// taking a piece of a kind off and putting one of that kind on.
fn comes_back(action: Action, later: &[Action]) -> bool {
    let same = |other: &Action| other.from.is_none() && other.piece == action.piece;
    action.piece.is_some() && later.iter().any(same)
}
