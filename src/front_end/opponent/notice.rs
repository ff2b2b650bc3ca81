//! Notices to the player at a board with an opponent.

use std::{fmt, sync::Arc};

use shakmaty::{Color, uci::UciMove};

use super::uci::OptionError;
use crate::vocabulary::{BoardName, GameEnd};

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A game can begin.
    NewGame {
        /// What the hand plays; `None` for both.
        hand: Option<Color>,
    },
    /// Other clients have the board.
    Occupied {
        /// The board.
        board: BoardName,
        /// The clients that have it.
        holders: String,
        /// Whether a game is interrupted by that.
        in_game: bool,
    },
    /// The game was put out by an owner of the board.
    PutOut,
    /// The hand has moved for the engine.
    OutOfTurn(UciMove),
    /// Moves were taken back.
    TookBack(usize),
    /// The board stands at the start, perhaps only because it was switched off and on.
    GoesOn,
    /// The game is over.
    Over(GameEnd),
    /// One of the engine's options cannot be set as configured.
    Option(OptionError),
    /// The engine was to play weaker, and cannot; with what else there is to say.
    FullStrength(Option<Box<Notice>>),
    /// The engine failed, and is started again.
    Fault(Arc<str>),
    /// The engine plays again after it failed.
    Recovered,
}

impl Notice {
    /// Whether something was refused or went wrong.
    pub fn is_trouble(&self) -> bool {
        matches!(self, Self::OutOfTurn(_) | Self::Option(_) | Self::Fault(_))
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewGame { hand: None } => {
                f.write_str("new game, by two players: White makes the first move")
            }
            Self::NewGame {
                hand: Some(Color::White),
            } => f.write_str("new game: you play White, and make the first move"),
            Self::NewGame {
                hand: Some(Color::Black),
            } => f.write_str(
                "new game: you play Black; the engine begins when the pieces stand at the start",
            ),
            Self::Occupied {
                holders,
                in_game: false,
                ..
            } => write!(
                f,
                "the board is with {holders}: a game begins when it is free and the pieces stand at the start"
            ),
            Self::Occupied {
                board,
                holders,
                in_game: true,
            } => write!(
                f,
                "the board is with {holders}: this game continues when it is free, or after `boardbridge release {board}`"
            ),
            Self::PutOut => f.write_str(
                "the game was abandoned because the board was released: put the pieces at the start for the next one",
            ),
            Self::OutOfTurn(m) => write!(
                f,
                "{m} was made, but it is the engine's turn: please put it back"
            ),
            Self::TookBack(1) => f.write_str("a move was taken back"),
            Self::TookBack(plies) => write!(f, "{plies} moves were taken back"),
            Self::GoesOn => f.write_str(
                "the board has just come back and stands at the start, so the game continues: to begin another, press \
                 'new game'",
            ),
            Self::Over(end) => write!(
                f,
                "the game is over: {end}. Put the pieces on their starting squares for the next one"
            ),
            Self::Option(error) => error.fmt(f),
            Self::FullStrength(None) => {
                f.write_str("this engine cannot play weaker: it plays at full strength")
            }
            Self::FullStrength(Some(what)) => write!(
                f,
                "{what}. This engine cannot play weaker: it plays at full strength"
            ),
            Self::Fault(what) => write!(f, "{what}. It is started again with the same game"),
            Self::Recovered => f.write_str("the engine plays again"),
        }
    }
}
