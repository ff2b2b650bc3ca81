//! The app's orders, line by line.

use std::str::FromStr;

use shakmaty::uci::UciMove;
use thiserror::Error;

use super::message::NewGame;
use crate::hand::MAX_GARBAGE;

/// An order to the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Announce a new game.
    NewGame(NewGame),
    /// Make a move.
    Move(UciMove),
    /// Make a random legal move.
    Random,
    /// Send a move that is not played: an illegal one, or one out of turn.
    Wrong(UciMove),
    /// Announce the end of the game: aborted (0), checkmate (1), draw (2), user resigned (3), opponent resigned (4).
    End(char),
    /// Close the link.
    HangUp,
    /// Connect again; an open link is closed first.
    Connect,
    /// Send this many bytes of garbage.
    Garbage(usize),
    /// Send this line, and a LF.
    Raw(String),
}

/// A line that is not a valid order.
#[derive(Debug, Error)]
#[error(
    "`{0}` tells the app nothing: write a move (e2e4, e7e8q), or new-game TYPE Y, new-game TYPE N, wrong MOVE, random, \
     end CODE, hang-up, connect, garbage COUNT, raw TEXT"
)]
pub struct NoOrder(String);

impl FromStr for Order {
    type Err = NoOrder;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let none = || NoOrder(line.chars().take(80).collect());
        // A raw line keeps its spaces.
        if let Some(text) = line.strip_prefix("raw ") {
            return Ok(Self::Raw(text.to_owned()));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        Ok(match words.as_slice() {
            ["raw"] => Self::Raw(String::new()),
            ["new-game", kind, first] => {
                let new = NewGame::read(format!("{kind}{first}").as_bytes());
                Self::NewGame(new.ok_or_else(none)?)
            }
            ["random"] => Self::Random,
            ["hang-up"] => Self::HangUp,
            ["connect"] => Self::Connect,
            ["garbage", bytes] => {
                let bytes: usize = bytes.parse().map_err(|_| none())?;
                Self::Garbage(bytes.min(MAX_GARBAGE))
            }
            ["wrong", m] => Self::Wrong(m.parse().map_err(|_| none())?),
            ["end", code] => match code.as_bytes() {
                [code @ b'0'..=b'4'] => Self::End(char::from(*code)),
                _ => return Err(none()),
            },
            [m] => Self::Move(m.parse().map_err(|_| none())?),
            _ => return Err(none()),
        })
    }
}
