//! A move of the game on the board, in the form in which it is saved.

use std::{fmt, str::FromStr, time::Duration};

use shakmaty::uci::UciMove;
use thiserror::Error;

use crate::vocabulary::By;

/// What was seen of one move being made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    pub by: Option<By>,
    pub took: Option<Duration>,
}

/// A move of the game on the board, with what was seen of it being made. Its text is one word: `e2e4`, with who made it
/// `e7e5:target`, with the nanoseconds that it took `g1f3:hand:1500000000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    pub(super) uci: UciMove,
    pub(super) made: Made,
}

/// The word is not a valid [`Ply`].
#[derive(Debug, Error)]
#[error("`{}` is not a move that was made", .0.escape_debug())]
pub struct PlyError(String);

/// The words for who made a move.
const BY: [(By, &str); 3] = [
    (By::Hand, "hand"),
    (By::HandUnseen, "unseen"),
    (By::Target, "target"),
];

impl fmt::Display for Ply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Made { by, took } = self.made;
        write!(f, "{}", self.uci)?;
        if by.is_some() || took.is_some() {
            let word = BY.iter().find(|(known, _)| Some(*known) == by);
            write!(f, ":{}", word.map_or("", |(_, word)| word))?;
        }
        took.map_or(Ok(()), |took| write!(f, ":{}", took.as_nanos()))
    }
}

impl FromStr for Ply {
    type Err = PlyError;

    fn from_str(text: &str) -> Result<Self, PlyError> {
        let parsed = || {
            let mut parts = text.split(':');
            let uci = parts.next()?.parse().ok()?;
            let by = match parts.next() {
                None | Some("") => None,
                Some(word) => Some(BY.iter().find(|(_, known)| *known == word)?.0),
            };
            let took = match parts.next() {
                None => None,
                Some(nanos) => Some(Duration::from_nanos(nanos.parse().ok()?)),
            };
            let made = Made { by, took };
            Some(Self { uci, made })
        };
        parsed().ok_or_else(|| PlyError(text.to_owned()))
    }
}
