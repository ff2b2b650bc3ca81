//! What goes wrong with a broadcast, in words with the remedy. Each is told once, until it has worked again.

use std::time::Duration;

use thiserror::Error;

use super::pace::{MAX_GAMES, SILENCE};
use crate::{front_end::broadcast::pgn::MAX_PLIES, vocabulary::BoardName};

/// What goes wrong. Never has the token in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Trouble {
    /// There is no token.
    #[error("{0}")]
    NoToken(String),
    /// 401.
    #[error(
        "the server does not accept the token, or it lacks the scope study:write: log in to Lichess on the page again, or make a new one at \
         https://lichess.org/account/oauth/token/create?scopes[]=study:read&scopes[]=study:write"
    )]
    NotAccepted,
    /// 403.
    #[error(
        "the token's account may not push to this round ({0}): let the owner of the broadcast add it as a contributor, \
         or make a token with the scope study:write"
    )]
    NotContributor(String),
    /// 404.
    #[error("the server has no round {0}: write the last 8 letters of its address as `round`")]
    NoRound(String),
    /// 413.
    #[error("the server finds a push too large: fewer games are sent at once")]
    TooLarge,
    /// 429.
    #[error("the server wants fewer requests: nothing is pushed for {} s", SILENCE.as_secs())]
    TooMany,
    /// Another status.
    #[error(
        "the server refuses the push ({0}): look at the round's settings; it is tried again every minute"
    )]
    Refused(String),
    /// The server cannot be reached.
    #[error("the server cannot be reached ({0}): games are kept, and pushed when it can be")]
    Unreachable(String),
    /// The round is not one for pushes.
    #[error(
        "the round takes no pushed games ({0}): choose \"push\" as its source on the server, or no address"
    )]
    NoPushes(String),
    /// The server cannot read a game.
    #[error(
        "the server cannot read the game on {board} ({words}): it is sent again with the next move"
    )]
    Game {
        /// Its board.
        board: BoardName,
        /// What the server says.
        words: String,
    },
    /// More games than a round shows.
    #[error("a round shows {MAX_GAMES} games, and this one has had more: make another round")]
    TooManyGames,
    /// A game is too long.
    #[error(
        "the game on {0} has more than {MAX_PLIES} half-moves: the server takes no further ones"
    )]
    TooLong(BoardName),
    /// Too many games of one board wait.
    #[error("too many games of {0} wait for the server: the oldest is left out")]
    TooManyWait(BoardName),
    /// Both sides delay.
    #[error(
        "the round has a delay of {} s on the server, and `delay` here adds {} s: set one of them to 0",
        .server.as_secs(), .here.as_secs()
    )]
    TwoDelays {
        /// The server's.
        server: Duration,
        /// Ours.
        here: Duration,
    },
}

impl Trouble {
    /// Whether it is over once the server takes a push.
    pub fn ends_with_success(&self) -> bool {
        !matches!(
            self,
            Self::TooManyGames
                | Self::TooLong(_)
                | Self::TooManyWait(_)
                | Self::TwoDelays { .. }
                | Self::Game { .. }
        )
    }
}
