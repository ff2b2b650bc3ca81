//! Questions to a Citrine, and answers of several lines as they come in.

use std::time::Instant;

use shakmaty::{Board, Color, Piece, Square};

use crate::vocabulary::Reported;

/// What a Citrine can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// `G`
    Game,
    /// `P`
    Squares,
    /// `X` and `U`, or `I` for a board that does not answer these.
    Settings,
}

/// A question under way.
#[derive(Debug)]
pub(super) struct Asking {
    /// What is asked.
    pub what: Question,
    /// How many times it was asked.
    pub attempts: u8,
    /// When to ask again, once it has left.
    pub deadline: Option<Instant>,
}

/// A row of the list of moves: its number, White's move, Black's move.
pub(super) type Row = (usize, Option<Reported>, Option<Reported>);

/// The rows of an answer that is being received.
#[derive(Debug)]
pub(super) enum Receiving {
    /// The list of moves.
    Game { rows: Vec<Row>, ends: Instant },
    /// The squares, one rank a row.
    Squares {
        rows: Vec<[Option<Piece>; 8]>,
        turn: Option<Color>,
        ends: Instant,
    },
}

impl Receiving {
    /// When the answer counts as complete, unless more rows come.
    pub fn ends(&self) -> Instant {
        match self {
            Self::Game { ends, .. } | Self::Squares { ends, .. } => *ends,
        }
    }

    /// Whether a move with this number directly follows the last one listed: then the list is complete.
    pub fn is_followed_by(&self, number: usize, made: Reported) -> bool {
        let Self::Game { rows, .. } = self else {
            return false;
        };
        let next = match rows.last() {
            None => (1, Color::White),
            Some((number, _, None)) => (*number, Color::Black),
            Some((number, _, Some(_))) => (number.saturating_add(1), Color::White),
        };
        Some(next) == made.color.map(|color| (number, color))
    }
}

/// The number of squares on which two boards differ.
pub(super) fn differences(one: &Board, other: &Board) -> usize {
    let differs = |square: &Square| one.piece_at(*square) != other.piece_at(*square);
    Square::ALL.iter().filter(|square| differs(square)).count()
}

/// Joins rows into one list: plies before the first, and the moves. `None` if a row is missing or out of turn.
pub(super) fn game_list(rows: &[Row]) -> Option<(usize, Vec<Reported>)> {
    let Some(&(first, begins_with_white, _)) = rows.first() else {
        return Some((0, Vec::new()));
    };
    let mut moves = Vec::new();
    for (index, &(number, white, black)) in rows.iter().enumerate() {
        let last = index + 1 == rows.len();
        let whole = (index == 0 || white.is_some()) && (last || black.is_some());
        if number != first + index || !whole {
            return None;
        }
        moves.extend(white);
        moves.extend(black);
    }
    let skipped = first.saturating_sub(1) * 2 + usize::from(begins_with_white.is_none());
    Some((skipped, moves))
}
