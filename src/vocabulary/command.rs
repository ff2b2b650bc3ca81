//! What front-ends ask of a board.

use std::fmt;

use shakmaty::{Role, uci::UciMove};

use super::{client_name::ClientName, ending::GameEnd, opponent::Occasion};
use crate::game::Game;

/// A client of one of the front-ends, unique while the daemon runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a front-end asks of a board.
#[derive(Clone, Debug)]
pub enum Command {
    /// This is the game the client follows. Later words about it give the same number.
    Target {
        /// Who says so.
        client: ClientId,
        /// What to call the client in messages to others, for instance its address.
        label: ClientName,
        /// Counts the client's targets.
        number: u64,
        /// The game.
        game: Box<Game>,
        /// What it is played for.
        occasion: Occasion,
    },
    /// The client awaits the hand's move in its target, or does so no longer.
    Await {
        /// Who.
        client: ClientId,
        /// Whether.
        on: bool,
    },
    /// The client has been told this move as the hand's answer to its target.
    Answered {
        /// Who.
        client: ClientId,
        /// Which target.
        number: u64,
        /// The move.
        answer: UciMove,
    },
    /// The hand's answer is not one the client can take (`searchmoves`).
    Refuse {
        /// Who.
        client: ClientId,
        /// Which target.
        number: u64,
    },
    /// A new game begins: what stands on the board is nobody's move.
    NewGame {
        /// Who says so.
        client: ClientId,
    },
    /// The player says the board stands as it should.
    Ready {
        /// Who says so.
        client: ClientId,
    },
    /// What a pawn becomes in the client's target where the board cannot tell.
    Promotion {
        /// Who says so.
        client: ClientId,
        /// The piece.
        role: Role,
    },
    /// The client's connection is gone, or back: it keeps the board until somebody else wants it.
    Away {
        /// Who.
        client: ClientId,
        /// Whether.
        on: bool,
    },
    /// The client's game is over, as no rule of chess may tell.
    Ended {
        /// Who says so.
        client: ClientId,
        /// How.
        end: GameEnd,
    },
    /// The client has no more use for the board.
    Release {
        /// Who.
        client: ClientId,
    },
}

impl fmt::Display for Command {
    /// As a transcript has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target {
                client,
                number,
                game,
                occasion,
                ..
            } => {
                write!(f, "target {client} {number} ")?;
                if *occasion != Occasion::default() {
                    write!(f, "{occasion} ")?;
                }
                game.fmt(f)
            }
            Self::Await { client, on } => {
                write!(f, "await {client} {}", if *on { "on" } else { "off" })
            }
            Self::Answered {
                client,
                number,
                answer,
            } => write!(f, "answered {client} {number} {answer}"),
            Self::Refuse { client, number } => write!(f, "refuse {client} {number}"),
            Self::NewGame { client } => write!(f, "new-game {client}"),
            Self::Ready { client } => write!(f, "ready {client}"),
            Self::Promotion { client, role } => write!(f, "promotion {client} {}", role.char()),
            Self::Away { client, on } => {
                write!(f, "away {client} {}", if *on { "on" } else { "off" })
            }
            Self::Ended { client, end } => write!(f, "ended {client} {}", end.word()),
            Self::Release { client } => write!(f, "release {client}"),
        }
    }
}
