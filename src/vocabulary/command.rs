//! Commands from front-ends to a board.

use std::fmt;

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Role, uci::UciMove};

use super::{client_name::ClientName, clocks::Clocks, game_end::GameEnd, opponent::Occasion};
use crate::chess::game::Game;

/// A client of one of the front-ends, unique while the daemon runs, and after a restart among those it has kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A command from a front-end to a board.
#[derive(Clone, Debug)]
pub enum Command {
    /// The game that the client follows. Later commands about it give the same number.
    Target {
        /// The client.
        client: ClientId,
        /// The client's name in messages to others, for instance its address.
        label: ClientName,
        /// Counts the client's targets.
        number: u64,
        /// The game.
        game: Box<Game>,
        /// The purpose of the game.
        occasion: Occasion,
    },
    /// The client awaits the hand's move in its target, or no longer does.
    Await {
        /// The client.
        client: ClientId,
        /// Whether it awaits the move.
        on: bool,
    },
    /// The client that awaits the hand's move only analyses: it takes the move when it stops, not before.
    Analyse {
        /// The client.
        client: ClientId,
    },
    /// The client has taken this move as the hand's answer to its target. The snapshot that first shows the answer already
    /// counts it as taken, unless the client only analyses; if the client says anything else instead of this, that is undone.
    Answered {
        /// The client.
        client: ClientId,
        /// Its target.
        number: u64,
        /// The move.
        answer: UciMove,
    },
    /// The client cannot take the hand's answer (`searchmoves`).
    Refuse {
        /// The client.
        client: ClientId,
        /// Its target.
        number: u64,
    },
    /// A new game begins: what stands on the board does not count as a move.
    NewGame {
        /// The client.
        client: ClientId,
    },
    /// The player reports that the pieces are in place.
    Ready {
        /// The client.
        client: ClientId,
    },
    /// What a pawn becomes in the client's target where the board cannot tell.
    Promotion {
        /// The client.
        client: ClientId,
        /// The piece.
        role: Role,
    },
    /// The clocks of the client's game now, for boards that can show them; `None` if it has none.
    Clocks {
        /// The client.
        client: ClientId,
        /// The clocks.
        clocks: Option<Clocks>,
    },
    /// The client is disconnected and may come back under this number, or is back. Meanwhile it keeps the board until another
    /// client wants it.
    Away {
        /// The client.
        client: ClientId,
        /// Whether it is away.
        on: bool,
    },
    /// The client gives way to any other that wants the board, until it states a game or awaits a move again.
    Yield {
        /// The client.
        client: ClientId,
    },
    /// The client's game is over, in a way that the rules of chess may not show.
    Ended {
        /// The client.
        client: ClientId,
        /// How it ended.
        end: GameEnd,
    },
    /// The owner puts out the clients that have the board.
    PutOut,
    /// The client no longer needs the board.
    Release {
        /// The client.
        client: ClientId,
    },
    /// The client's connection is lost, and it cannot come back under this number. In mid-game the board is kept for its address.
    Lost {
        /// The client.
        client: ClientId,
    },
}

/// The client in a command that is borrowed, for reading or for writing.
macro_rules! client_of {
    ($command:expr) => {
        match $command {
            Command::Target { client, .. }
            | Command::Await { client, .. }
            | Command::Analyse { client }
            | Command::Answered { client, .. }
            | Command::Refuse { client, .. }
            | Command::NewGame { client }
            | Command::Ready { client }
            | Command::Promotion { client, .. }
            | Command::Clocks { client, .. }
            | Command::Away { client, .. }
            | Command::Yield { client }
            | Command::Ended { client, .. }
            | Command::Release { client }
            | Command::Lost { client } => Some(client),
            Command::PutOut => None,
        }
    };
}

impl Command {
    /// Who gives it, unless it concerns every client.
    pub fn client(&self) -> Option<ClientId> {
        client_of!(self).copied()
    }

    /// Whether the client leaves the board by it.
    pub fn leaves(&self) -> bool {
        matches!(self, Self::Release { .. } | Self::Lost { .. })
    }

    /// The same command of a client that has another number here.
    #[must_use]
    pub fn of(mut self, other: ClientId) -> Self {
        if let Some(client) = client_of!(&mut self) {
            *client = other;
        }
        self
    }
}

impl fmt::Display for Command {
    /// The form used in transcripts.
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
            Self::Analyse { client } => write!(f, "analyse {client}"),
            Self::Answered {
                client,
                number,
                answer,
            } => write!(f, "answered {client} {number} {answer}"),
            Self::Refuse { client, number } => write!(f, "refuse {client} {number}"),
            Self::NewGame { client } => write!(f, "new-game {client}"),
            Self::Ready { client } => write!(f, "ready {client}"),
            Self::Promotion { client, role } => write!(f, "promotion {client} {}", role.char()),
            Self::Clocks {
                client,
                clocks: Some(clocks),
            } => {
                let [white, black] =
                    [clocks.left.white, clocks.left.black].map(|d| d.as_secs_f64());
                let runs = match clocks.runs {
                    Some(Color::White) => "white",
                    Some(Color::Black) => "black",
                    None => "stopped",
                };
                write!(f, "clocks {client} {white} {black} {runs}")
            }
            Self::Clocks {
                client,
                clocks: None,
            } => write!(f, "clocks {client} off"),
            Self::Away { client, on } => {
                write!(f, "away {client} {}", if *on { "on" } else { "off" })
            }
            Self::Yield { client } => write!(f, "yield {client}"),
            Self::Ended { client, end } => write!(f, "ended {client} {}", end.words()),
            Self::PutOut => f.write_str("put-out"),
            Self::Release { client } => write!(f, "release {client}"),
            Self::Lost { client } => write!(f, "lost {client}"),
        }
    }
}
