//! What an engine makes of a position.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

/// The worth of a position, seen from White's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evaluation {
    /// In hundredths of a pawn.
    Cp(i32),
    /// Mate in this many moves; less than none if Black mates.
    Mate(i32),
}

impl Evaluation {
    /// As an engine states it (`score` in the UCI protocol), for which `turn` is to move. `None` for what is only a bound, and for
    /// what is no score.
    pub fn of_score<'a>(words: impl IntoIterator<Item = &'a str>, turn: Color) -> Option<Self> {
        let mut words = words.into_iter();
        let kind = words.next()?;
        let stated: i32 = words.next()?.parse().ok()?;
        let is_bound = matches!(words.next(), Some("lowerbound" | "upperbound"));
        let number = turn.fold_wb(Some(stated), stated.checked_neg())?;
        match kind {
            "cp" if !is_bound => Some(Self::Cp(number)),
            "mate" if !is_bound => Some(Self::Mate(number)),
            _ => None,
        }
    }
}
