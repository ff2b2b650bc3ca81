//! How a game ended, and who said so: some boards and apps show this, and the rules of chess alone do not decide it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, KnownOutcome, Outcome, Position};

use crate::game::Game;

/// Occurrences of the same position that end a game (FIDE Laws of Chess 9.6.1).
const FIVEFOLD: usize = 5;
/// Half-moves without a capture or a pawn's move that end a game (FIDE Laws of Chess 9.6.2).
const SEVENTY_FIVE: u32 = 150;

/// The authority by which a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// How a game ended by the rules that need no claim: mate, stalemate, dead positions, five times the same position,
    /// and 75 moves without progress (FIDE Laws of Chess 5.1.1, 5.2.1, 5.2.2, 9.6).
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

    /// The result of a game that ended so, if this is its last position: `*` for one that was left.
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

    /// Every end, with its name in events and transcripts.
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
            Self::InsufficientMaterial => "a draw: neither side can win",
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

/// How a game ended, as a board reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoardResult {
    /// Draw by repetition.
    Repetition,
    /// Draw by the 50-move rule.
    FiftyMoves,
    /// Draw by insufficient material.
    InsufficientMaterial,
    /// Stalemate.
    Stalemate,
    /// Checkmate.
    Checkmate,
    /// The board's own engine resigns.
    BoardResigns,
}

impl BoardResult {
    /// The game's end, if this side is to move.
    pub fn end(self, turn: Color) -> GameEnd {
        match self {
            Self::Repetition => GameEnd::Repetition,
            Self::FiftyMoves => GameEnd::FiftyMoves,
            Self::InsufficientMaterial => GameEnd::InsufficientMaterial,
            Self::Stalemate => GameEnd::Stalemate,
            Self::Checkmate => GameEnd::Checkmate,
            Self::BoardResigns => GameEnd::resigned(turn),
        }
    }
}

impl fmt::Display for BoardResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repetition => "draw by repetition",
            Self::FiftyMoves => "draw by the 50-move rule",
            Self::InsufficientMaterial => "draw by insufficient material",
            Self::Stalemate => "stalemate",
            Self::Checkmate => "checkmate",
            Self::BoardResigns => "the board's own engine resigns",
        })
    }
}
