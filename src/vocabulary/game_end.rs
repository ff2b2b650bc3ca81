//! How a game ended: why, and with which result. Some boards and apps show this, and the rules of chess alone do not decide it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use shakmaty::{Color, KnownOutcome, Outcome};
use thiserror::Error;

use crate::state::text;

/// Characters shown of a text that is not an end.
const MAX_SHOWN: usize = 40;

/// Why a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Checkmate.
    Checkmate,
    /// Stalemate.
    Stalemate,
    /// There are too few pieces left to win.
    InsufficientMaterial,
    /// The same position too many times.
    Repetition,
    /// Too many moves without a capture or a pawn's move.
    FiftyMoves,
    /// A rule of a variant of chess.
    Variant,
    /// Both players agreed.
    Agreement,
    /// A player resigned.
    Resignation,
    /// A player's time ran out.
    Time,
    /// A player left the game, and the other one claimed the result.
    Abandoned,
    /// The game was left before it counted.
    Aborted,
    /// A player did not make the first move.
    NoStart,
    /// A player broke the rules of the server.
    Cheat,
    /// The server does not say why, or in a word that is not known here.
    Unknown,
}

impl Reason {
    /// Every reason, with its name in events and transcripts.
    const WORDS: [(Self, &str); 14] = [
        (Self::Checkmate, "checkmate"),
        (Self::Stalemate, "stalemate"),
        (Self::InsufficientMaterial, "insufficient-material"),
        (Self::Repetition, "repetition"),
        (Self::FiftyMoves, "fifty-moves"),
        (Self::Variant, "variant"),
        (Self::Agreement, "agreement"),
        (Self::Resignation, "resignation"),
        (Self::Time, "time"),
        (Self::Abandoned, "abandoned"),
        (Self::Aborted, "aborted"),
        (Self::NoStart, "no-start"),
        (Self::Cheat, "cheat"),
        (Self::Unknown, "unknown"),
    ];

    /// Its name in events and transcripts.
    pub fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(reason, _)| *reason == self);
        found.map_or("", |(_, word)| word)
    }
}

/// How a game ended: why, and with which result. Neither follows from the other: time that runs out may be a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GameEnd {
    /// Why.
    #[serde(rename = "end")]
    pub reason: Reason,
    /// The result; `*` if there is none.
    #[serde(with = "text")]
    pub outcome: Outcome,
}

impl GameEnd {
    /// The game was left, without a result.
    pub const ABORTED: Self = Self::without_result(Reason::Aborted);
    /// A draw that both players agreed upon.
    pub const AGREED: Self = Self::drawn(Reason::Agreement);

    /// This colour won.
    pub const fn won(reason: Reason, winner: Color) -> Self {
        let outcome = Outcome::Known(KnownOutcome::Decisive { winner });
        Self { reason, outcome }
    }

    /// A draw.
    pub const fn drawn(reason: Reason) -> Self {
        let outcome = Outcome::Known(KnownOutcome::Draw);
        Self { reason, outcome }
    }

    /// Neither a win nor a draw.
    pub const fn without_result(reason: Reason) -> Self {
        let outcome = Outcome::Unknown;
        Self { reason, outcome }
    }

    /// This colour resigned.
    pub fn resigned(by: Color) -> Self {
        Self::won(Reason::Resignation, by.other())
    }

    /// Who lost.
    pub fn loser(self) -> Option<Color> {
        self.outcome.winner().map(Color::other)
    }

    /// As in transcripts: `resignation 1-0`.
    pub fn words(self) -> String {
        format!("{} {}", self.reason.word(), self.outcome)
    }
}

impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |color: Color| color.fold_wb("White", "Black");
        let Some(winner) = self.outcome.winner() else {
            return f.write_str(match self.reason {
                Reason::Checkmate => "checkmate",
                Reason::Stalemate => "a draw by stalemate",
                Reason::InsufficientMaterial => "a draw: too few pieces are left to win",
                Reason::Repetition => "a draw by repetition",
                Reason::FiftyMoves => "a draw by the move rule",
                Reason::Variant => "a draw by the rules of the variant",
                Reason::Agreement => "a draw by agreement",
                Reason::Resignation => "a player resigned",
                Reason::Time => "a draw: time ran out, but too few pieces are left to win",
                Reason::Abandoned => "a draw: a player left",
                Reason::Aborted => "aborted",
                Reason::NoStart => "the first move was not made",
                Reason::Cheat => "a player broke the rules of the server",
                Reason::Unknown if self.outcome.is_known() => "a draw",
                Reason::Unknown => "its result is not known",
            });
        };
        let (winner, loser) = (name(winner), name(winner.other()));
        match self.reason {
            Reason::Checkmate => f.write_str("checkmate"),
            Reason::Resignation => write!(f, "{loser} resigned"),
            Reason::Time => write!(f, "{winner} won on time"),
            Reason::Abandoned => write!(f, "{winner} won: {loser} left"),
            Reason::NoStart => write!(f, "{winner} won: {loser} did not make the first move"),
            Reason::Cheat => write!(f, "{winner} won: {loser} broke the rules of the server"),
            Reason::Variant => write!(f, "{winner} won by the rules of the variant"),
            Reason::Unknown => write!(f, "{winner} won"),
            // Nobody wins by these in chess, but a server with variants may disagree.
            other => write!(f, "{winner} won: {}", other.word().replace('-', " ")),
        }
    }
}

impl FromStr for GameEnd {
    type Err = NoEnd;

    /// Reads what [`words`](Self::words) wrote.
    fn from_str(text: &str) -> Result<Self, NoEnd> {
        let wrong = || NoEnd(text.chars().take(MAX_SHOWN).collect());
        let (word, outcome) = text.split_once(' ').ok_or_else(wrong)?;
        let found = Reason::WORDS.iter().find(|(_, known)| *known == word);
        let (reason, _) = *found.ok_or_else(wrong)?;
        let outcome = outcome.parse().map_err(|_| wrong())?;
        Ok(Self { reason, outcome })
    }
}

/// The text is not the end of a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not the end of a game, such as `resignation 1-0`")]
pub struct NoEnd(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_read_as_it_was_written() {
        for (reason, word) in Reason::WORDS {
            assert_eq!(serde_json::to_value(reason).unwrap(), word);
            for outcome in ["1-0", "0-1", "1/2-1/2", "*"] {
                let outcome = outcome.parse().unwrap();
                let end = GameEnd { reason, outcome };
                assert_eq!(end.words().parse(), Ok(end));
                let kept = serde_json::to_string(&end).unwrap();
                assert_eq!(serde_json::from_str::<GameEnd>(&kept).unwrap(), end);
                assert!(!end.to_string().is_empty());
            }
        }
        for wrong in ["", "resignation", "resignation 2-0", "time", "left *"] {
            assert!(wrong.parse::<GameEnd>().is_err(), "{wrong}");
        }
    }
}
