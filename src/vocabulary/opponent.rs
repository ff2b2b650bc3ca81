//! The hand's opponent, which some boards and apps show.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shakmaty::Color;

use crate::state::text;

/// The mark in a transcript of a game in which no move can be taken back.
const KEPT: &str = "/kept";

/// The hand's opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opponent {
    /// None: the hand plays both sides.
    Nobody,
    /// A program.
    #[default]
    Engine,
    /// A person over the `WhitePawn` app.
    WhitePawn,
    /// A person on Lichess.
    Lichess,
}

/// The purpose of a client's game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occasion {
    /// The hand's opponent.
    pub opponent: Opponent,
    /// Whether the hand makes the next move.
    pub hand_next: bool,
    /// Whether moves can be taken back where the game is played: in an app they cannot.
    pub takes_back: bool,
}

impl Default for Occasion {
    /// The purpose of a UCI position: the engine, here the hand, is to find a move.
    fn default() -> Self {
        Self {
            opponent: Opponent::Engine,
            hand_next: true,
            takes_back: true,
        }
    }
}

impl Occasion {
    /// The game's beginning, if `turn` is to move now.
    pub fn beginning(self, turn: Color) -> Beginning {
        Beginning {
            opponent: self.opponent,
            hand: match (self.opponent, self.hand_next) {
                (Opponent::Nobody, _) => None,
                (_, true) => Some(turn),
                (_, false) => Some(turn.other()),
            },
        }
    }
}

/// What is known of a game as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Beginning {
    /// The hand's opponent.
    pub opponent: Opponent,
    /// The hand's colour; `None` if it plays both.
    pub hand: Option<Color>,
}

impl Default for Beginning {
    fn default() -> Self {
        Occasion::default().beginning(Color::White)
    }
}

impl fmt::Display for Occasion {
    /// The form used in transcripts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opponent = match self.opponent {
            Opponent::Nobody => "nobody",
            Opponent::Engine => "engine",
            Opponent::WhitePawn => "whitepawn",
            Opponent::Lichess => "lichess",
        };
        let next = if self.hand_next { "hand" } else { "opponent" };
        let kept = if self.takes_back { "" } else { KEPT };
        write!(f, "{opponent}/{next}{kept}")
    }
}

impl FromStr for Occasion {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let kept = text.strip_suffix(KEPT);
        let (opponent, next) = kept.unwrap_or(text).split_once('/').ok_or(())?;
        Ok(Self {
            takes_back: kept.is_none(),
            opponent: match opponent {
                "nobody" => Opponent::Nobody,
                "engine" => Opponent::Engine,
                "whitepawn" => Opponent::WhitePawn,
                "lichess" => Opponent::Lichess,
                _ => return Err(()),
            },
            hand_next: match next {
                "hand" => true,
                "opponent" => false,
                _ => return Err(()),
            },
        })
    }
}

impl Serialize for Occasion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Occasion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_transcript_has_of_an_occasion_is_read_again() {
        use Opponent::{Engine, Lichess, Nobody, WhitePawn};
        for opponent in [Nobody, Engine, WhitePawn, Lichess] {
            for (hand_next, takes_back) in
                [(true, true), (true, false), (false, true), (false, false)]
            {
                let occasion = Occasion {
                    opponent,
                    hand_next,
                    takes_back,
                };
                assert_eq!(occasion.to_string().parse(), Ok(occasion));
            }
        }
        assert!("lichess/hand/never".parse::<Occasion>().is_err());
    }
}

/// What is done with challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accept {
    /// The player is asked.
    #[default]
    Ask,
    /// Those that a board can play are accepted while it has no game.
    All,
    /// They are left alone, for another program of the account.
    None,
}

/// How the opponent's take-back proposals are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TakeBacks {
    /// The player is asked.
    #[default]
    Ask,
    /// They are accepted.
    Yes,
    /// They are declined.
    No,
}
