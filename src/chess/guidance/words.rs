//! Pieces and lists of actions in words.

use std::{fmt, iter};

use shakmaty::{Piece, Square};

use super::{action::Action, piece::called};

/// Steps shown in one line: a person does not remember more.
const SHOWN: usize = 4;
/// Squares to clear that are shown in one line: they are usually neighbours on one rank.
const SHOWN_SQUARES: usize = 8;
/// From this many pieces taken off in a row, only their squares are listed.
const TOGETHER: usize = 3;

/// Actions for the player, in one line. A piece taken off and needed again later is `put … aside for now`; squares
/// cleared one after another are listed together.
pub fn in_words(actions: &[Action]) -> String {
    steps(actions)
        .map(|step| step.to_string())
        .collect::<Vec<_>>()
        .join(", then ")
}

/// The next few actions for the player, and how many are left.
pub fn in_short(actions: &[Action]) -> String {
    let mut words = Vec::new();
    let mut left = actions.len();
    for mut step in steps(actions).take(SHOWN) {
        let whole = step.shorten();
        left -= step.actions();
        words.push(step.to_string());
        // What follows a shortened step is not shown before its turn.
        if !whole {
            break;
        }
    }
    let words = words.join(", then ");
    match left {
        0 => words,
        left => format!("{words}, and {left} more"),
    }
}

/// One step in words: an action, or many squares to clear.
enum Step {
    Clear(Vec<Square>),
    PutAside(Option<Piece>, Square),
    Single(Action),
}

impl Step {
    /// The number of actions in it.
    fn actions(&self) -> usize {
        match self {
            Self::Clear(squares) => squares.len(),
            Self::PutAside(..) | Self::Single(_) => 1,
        }
    }

    /// Shortens it to what a person remembers; `true` if that is all of it.
    fn shorten(&mut self) -> bool {
        let before = self.actions();
        if let Self::Clear(squares) = self {
            squares.truncate(SHOWN_SQUARES);
        }
        self.actions() == before
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clear(squares) => {
                f.write_str("clear ")?;
                for (index, square) in squares.iter().enumerate() {
                    let before = match index {
                        0 => "",
                        _ if index + 1 == squares.len() => " and ",
                        _ => ", ",
                    };
                    write!(f, "{before}{square}")?;
                }
                Ok(())
            }
            Self::PutAside(piece, from) => {
                write!(f, "put the {} from {from} aside for now", called(*piece))
            }
            Self::Single(action) => action.fmt(f),
        }
    }
}

/// The actions as steps.
fn steps(mut actions: &[Action]) -> impl Iterator<Item = Step> {
    iter::from_fn(move || {
        let cleared = cleared(actions);
        if cleared.len() >= TOGETHER {
            actions = &actions[cleared.len()..];
            return Some(Step::Clear(cleared));
        }
        let (&next, later) = actions.split_first()?;
        actions = later;
        Some(match (next.from, next.to) {
            (Some(from), None) if comes_back(next, later) => Step::PutAside(next.piece, from),
            _ => Step::Single(next),
        })
    })
}

/// The squares that these actions clear first, without pieces that come back later.
fn cleared(actions: &[Action]) -> Vec<Square> {
    let clears = |(index, action): (usize, &Action)| {
        let goes = action.to.is_none() && !comes_back(*action, &actions[index + 1..]);
        action.from.filter(|_| goes)
    };
    actions.iter().enumerate().map_while(clears).collect()
}

/// Whether the piece taken off is put on another square later. In the shortest list there is no other reason for
/// taking off a piece of a kind and putting one of that kind on.
fn comes_back(action: Action, later: &[Action]) -> bool {
    let same = |other: &Action| other.from.is_none() && other.piece == action.piece;
    action.piece.is_some() && later.iter().any(same)
}
