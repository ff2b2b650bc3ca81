//! Players for simulated boards: one that takes orders line by line, one that plays a game from a file, one
//! that plays at random.

use std::str::FromStr;

use shakmaty::{CastlingMode, Color, Position, fen::Fen};
use thiserror::Error;

use super::{HandAction, SimulatedBoard};
use crate::game::{Game, GameError, uci};

/// Maximum bytes of garbage: enough to flood any driver.
pub const MAX_GARBAGE: usize = 16 * 1024 * 1024;

/// Which colours a hand plays by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Plays {
    /// White.
    White,
    /// Black.
    Black,
    /// Both.
    Both,
}

impl Plays {
    /// Whether this colour is among them.
    pub fn has(self, color: Color) -> bool {
        match self {
            Self::White => color.is_white(),
            Self::Black => color.is_black(),
            Self::Both => true,
        }
    }
}

/// A line that is not a valid order.
#[derive(Debug, Error)]
#[error(
    "`{0}` tells the hand nothing: write a move (e2e4, e7e8q), or execute, hear MOVE, wrong MOVE, take-back, new-game, set-up FEN, \
     random, off, on, on forgetful, forget-settings, lift-king, unplug, plug, garbage COUNT"
)]
pub struct NoOrder(String);

impl FromStr for HandAction {
    type Err = NoOrder;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let none = || NoOrder(line.chars().take(80).collect());
        Ok(match words.as_slice() {
            ["execute"] => Self::Execute,
            ["random"] => Self::Random,
            ["take-back"] => Self::TakeBack,
            ["new-game"] => Self::NewGame,
            ["off"] => Self::Off,
            ["on"] => Self::On { forgetful: false },
            ["on", "forgetful"] => Self::On { forgetful: true },
            ["forget-settings"] => Self::ForgetSettings,
            ["lift-king"] => Self::LiftKing,
            ["unplug"] => Self::Unplug,
            ["plug"] => Self::Plug,
            ["garbage", bytes] => {
                let bytes: usize = bytes.parse().map_err(|_| none())?;
                Self::Garbage(bytes.min(MAX_GARBAGE))
            }
            ["set-up", fen @ ..] => {
                let fen: Fen = fen.join(" ").parse().map_err(|_| none())?;
                let start = fen.into_position(CastlingMode::Standard);
                Self::SetUp(Box::new(Game::from_start(start.map_err(|_| none())?)))
            }
            ["hear", m] => Self::Hear(m.parse().map_err(|_| none())?),
            ["wrong", m] => Self::Wrong(m.parse().map_err(|_| none())?),
            [m] => Self::Move(m.parse().map_err(|_| none())?),
            _ => return Err(none()),
        })
    }
}

/// Why there is no game to play.
#[derive(Debug, Error)]
pub enum NoGame {
    /// The file is shorter.
    #[error("the file has no such line")]
    NoLine,
    /// The line is not a valid game.
    #[error(transparent)]
    Game(#[from] GameError),
}

/// What an automatic player does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// This action.
    Do(HandAction),
    /// Nothing, until something happens on the board.
    Wait,
    /// The game is over.
    Done,
    /// The board left the game in the file.
    Astray,
}

/// An automatic player.
#[derive(Debug)]
pub enum Player {
    /// The moves of a game.
    Game {
        /// The game.
        game: Box<Game>,
        /// The sides that it plays.
        plays: Plays,
    },
    /// Random legal moves.
    Random {
        /// The sides that it plays.
        plays: Plays,
    },
}

impl Player {
    /// A player of line `number` (from 1) of a file of games, one a line, in UCI moves.
    ///
    /// # Errors
    /// The line does not exist, or is not a valid game.
    pub fn of_game(file: &str, number: usize, plays: Plays) -> Result<Self, NoGame> {
        let mut game = Game::standard();
        let line = file
            .lines()
            .nth(number.saturating_sub(1))
            .ok_or(NoGame::NoLine)?;
        game.play_uci(line.split_whitespace())?;
        Ok(Self::Game {
            game: Box::new(game),
            plays,
        })
    }

    /// What to do next on this board.
    pub fn next(&self, board: &dyn SimulatedBoard) -> Next {
        self.next_in(board.game(), board.shown().is_some())
    }

    /// What to do next if the game on the board is `at`; `shown`: a move is shown that was not executed yet.
    pub fn next_in(&self, at: &Game, shown: bool) -> Next {
        if shown {
            return Next::Wait;
        }
        let position = at.position();
        match self {
            Self::Random { plays } => {
                if position.legal_moves().is_empty() {
                    Next::Done
                } else if plays.has(position.turn()) {
                    Next::Do(HandAction::Random)
                } else {
                    Next::Wait
                }
            }
            Self::Game { game, plays } => {
                // Nearest to the board's game: positions repeat.
                let here = |plies: &usize| game.position_at(*plies) == *position;
                let from = at.len();
                let found = (from..=game.len())
                    .chain((0..from.min(game.len())).rev())
                    .find(here);
                match found {
                    None => Next::Astray,
                    Some(plies) => match game.moves().get(plies) {
                        None => Next::Done,
                        Some(&m) if plays.has(position.turn()) => {
                            Next::Do(HandAction::Move(uci(m)))
                        }
                        Some(_) => Next::Wait,
                    },
                }
            }
        }
    }
}
