//! What a game is played for, and how it ended: what some boards and apps show, and no rule of chess tells.

use std::{fmt, str::FromStr};

use serde::Serialize;
use shakmaty::{Chess, Color, KnownOutcome, Outcome, Position};

use crate::game::Game;

/// The same position so many times ends a game (FIDE Laws of Chess 9.6.1).
const FIVEFOLD: usize = 5;
/// So many half-moves without a capture or a pawn's move end a game (FIDE Laws of Chess 9.6.2).
const SEVENTY_FIVE: u32 = 150;

/// What a transcript has of a game in which no move can be taken back.
const KEPT: &str = "/kept";

/// Who plays against the hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Opponent {
    /// Nobody: the hand plays both sides.
    Nobody,
    /// A program.
    #[default]
    Engine,
    /// Somebody over the `WhitePawn` app.
    WhitePawn,
    /// Somebody on Lichess.
    Lichess,
}

/// What a client's game is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occasion {
    /// Who plays against the hand.
    pub opponent: Opponent,
    /// Whether the hand makes the next move.
    pub hand_next: bool,
    /// Whether moves can be taken back where it is played: in an app they cannot.
    pub takes_back: bool,
}

impl Default for Occasion {
    /// What a UCI position is: one in which the engine, here the hand, is to find a move.
    fn default() -> Self {
        Self {
            opponent: Opponent::Engine,
            hand_next: true,
            takes_back: true,
        }
    }
}

impl Occasion {
    /// The game's beginning, where `turn` is to move now.
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
    /// Who plays against the hand.
    pub opponent: Opponent,
    /// The hand's colour; none if it plays both.
    pub hand: Option<Color>,
}

impl Default for Beginning {
    fn default() -> Self {
        Occasion::default().beginning(Color::White)
    }
}

impl fmt::Display for Occasion {
    /// As a transcript has it.
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

/// By whose word a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// The rules of chess.
    Rules,
    /// The board.
    Board,
    /// The player, by the kings on the squares in the centre.
    Hand,
    /// A program or an app.
    Program,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameEnd {
    /// It was left.
    Aborted,
    /// Checkmate.
    Checkmate,
    /// A draw, agreed upon or claimed.
    Draw,
    /// Stalemate.
    Stalemate,
    /// Neither side has the pieces to win.
    InsufficientMaterial,
    /// The same position too many times.
    Repetition,
    /// Too many moves without a capture or a pawn's move.
    FiftyMoves,
    /// White resigned.
    WhiteResigned,
    /// Black resigned.
    BlackResigned,
}

impl GameEnd {
    /// This colour resigned.
    pub fn resigned(by: Color) -> Self {
        by.fold_wb(Self::WhiteResigned, Self::BlackResigned)
    }

    /// Who resigned.
    pub fn resigner(self) -> Option<Color> {
        match self {
            Self::WhiteResigned => Some(Color::White),
            Self::BlackResigned => Some(Color::Black),
            _ => None,
        }
    }
}

impl GameEnd {
    /// How a game ended by the rules that need nobody's word: mate, stalemate, dead positions, five times the same
    /// position, and 75 moves without progress (FIDE Laws of Chess 5.1.1, 5.2.1, 5.2.2, 9.6).
    pub fn by_rules(game: &Game) -> Option<Self> {
        let position = game.position();
        if position.legal_moves().is_empty() {
            Some(if position.is_check() {
                Self::Checkmate
            } else {
                Self::Stalemate
            })
        } else if position.is_insufficient_material() {
            Some(Self::InsufficientMaterial)
        } else if game.repetitions() >= FIVEFOLD {
            Some(Self::Repetition)
        } else if position.halfmoves() >= SEVENTY_FIVE {
            Some(Self::FiftyMoves)
        } else {
            None
        }
    }

    /// The result of a game that ended so, where this is its last position: `*` for one that was left.
    pub fn outcome(self, last: &Chess) -> Outcome {
        let won = |winner| Outcome::Known(KnownOutcome::Decisive { winner });
        match self {
            Self::Aborted => Outcome::Unknown,
            Self::Checkmate => won(last.turn().other()),
            Self::WhiteResigned => won(Color::Black),
            Self::BlackResigned => won(Color::White),
            _ => Outcome::Known(KnownOutcome::Draw),
        }
    }

    /// Every end, by the name that events and transcripts have for it.
    const WORDS: [(Self, &str); 9] = [
        (Self::Aborted, "aborted"),
        (Self::Checkmate, "checkmate"),
        (Self::Draw, "draw"),
        (Self::Stalemate, "stalemate"),
        (Self::InsufficientMaterial, "insufficient-material"),
        (Self::Repetition, "repetition"),
        (Self::FiftyMoves, "fifty-moves"),
        (Self::WhiteResigned, "white-resigned"),
        (Self::BlackResigned, "black-resigned"),
    ];

    /// Its name in events and transcripts.
    pub fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(end, _)| *end == self);
        found.map_or("", |(_, word)| word)
    }
}

impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aborted => "aborted",
            Self::Checkmate => "checkmate",
            Self::Draw => "a draw",
            Self::Stalemate => "a draw by stalemate",
            Self::InsufficientMaterial => "a draw, for neither side can win",
            Self::Repetition => "a draw by repetition",
            Self::FiftyMoves => "a draw by the move rule",
            Self::WhiteResigned => "White resigned",
            Self::BlackResigned => "Black resigned",
        })
    }
}

impl FromStr for GameEnd {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let found = Self::WORDS.iter().find(|(_, word)| *word == text);
        found.map(|(end, _)| *end).ok_or(())
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
