//! Reports about an app, for watchers and the log.

use std::fmt;

use shakmaty::Color;

use crate::{
    chess::game::MAX_PLIES,
    text::{
        lines::printable,
        swpp::{self, GameKind, LineError},
    },
    vocabulary::{Reported, Words},
};

/// Refusals, and games begun without a move, that are reported in a row; further ones are only in the debug log.
pub const MAX_REFUSALS: u8 = 10;

/// Bytes shown of data that is not a message: enough to recognise a login prompt.
const QUOTED: usize = 40;

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The app has shaken hands.
    Connected {
        /// Its address.
        peer: String,
        /// The protocol's version it speaks.
        protocol: Option<u8>,
        /// Its build.
        build: Option<u16>,
    },
    /// It was disconnected, for this reason.
    Left(String),
    /// It begins a game.
    NewGame {
        /// The kind of game.
        kind: GameKind,
        /// The colour played on the board; none for both.
        hand: Option<Color>,
    },
    /// Another client has the board.
    Waits(String),
    /// It was put out of the board.
    PutOut,
    /// Its move is not legal in its game.
    Illegal {
        /// The move.
        made: Reported,
        /// Who is to move.
        turn: Color,
        /// Moves played so far, plies.
        plies: usize,
    },
    /// Its game is longer than the limit.
    TooLong,
    /// It moved outside a game.
    NoGame(Reported),
    /// Its move cannot be read.
    NoMove(String),
    /// It sent data that is not a message.
    Unreadable(String),
}

impl Notice {
    /// This line is not a message.
    pub fn unreadable(line: &[u8], error: &LineError) -> Self {
        match error {
            LineError::NoAppMove(_) => Self::NoMove(error.to_string()),
            _ => Self::Unreadable(format!("`{}`: {error}", printable(line, QUOTED))),
        }
    }

    /// The end of this line did not come in time.
    pub fn half_line(begun: &[u8]) -> Self {
        let quoted = printable(begun, QUOTED);
        let text = format!("`{quoted}`, and no end of the line after it");
        if begun.starts_with(b"MA") {
            Self::NoMove(text)
        } else {
            Self::Unreadable(text)
        }
    }

    /// A line with this many bytes is longer than any message.
    pub fn too_long(length: usize) -> Self {
        Self::Unreadable(format!("a line of {length} bytes, dropped"))
    }

    /// Whether the app was refused something.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Illegal { .. } | Self::NoGame(_) | Self::TooLong | Self::NoMove(_)
        )
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected {
                peer,
                protocol,
                build,
            } => {
                write!(f, "connected by {peer}")?;
                if let Some(protocol) = protocol.filter(|version| *version != swpp::VERSION) {
                    write!(f, ", speaks version {protocol} of the protocol")?;
                }
                build.map_or(Ok(()), |build| write!(f, ", build {build}"))
            }
            Self::Left(why) => write!(f, "left: {why}"),
            Self::NewGame { kind, hand } => {
                let hand = match hand {
                    Some(Color::White) => "White is played",
                    Some(Color::Black) => "Black is played",
                    None => "both sides are played",
                };
                write!(f, "{kind} begins: {hand} on the board")
            }
            Self::Waits(holders) => write!(
                f,
                "the board is in another game, with {holders}: this one begins when it is free, or after \
                 `boardbridge release`"
            ),
            Self::PutOut => f.write_str(
                "put out of the board by `boardbridge release`: begin a new game in the app to play on it again",
            ),
            Self::Illegal { made, turn, plies } => write!(
                f,
                "refused {} after {plies} {}, with {} to move: it is not legal there. If the app has another game \
                 than the board, begin a new one in the app",
                Words(*made),
                if *plies == 1 { "ply" } else { "plies" },
                turn.fold_wb("White", "Black")
            ),
            Self::TooLong => write!(
                f,
                "refused a move after {MAX_PLIES} plies: the game is too long"
            ),
            Self::NoGame(made) => write!(
                f,
                "refused {}: no game is in progress. Begin one in the app",
                Words(*made)
            ),
            Self::NoMove(text) => write!(
                f,
                "dropped a move that cannot be read: {text}. If the app and the board have different games now, begin a new \
                 one in the app"
            ),
            Self::Unreadable(text) => write!(f, "unreadable: {text}"),
        }
    }
}

/// Keeps a misbehaving app from filling the log.
#[derive(Debug, Default)]
pub struct Notices {
    refusals: u8,
    games: u8,
}

impl Notices {
    /// Whether to report this.
    pub fn admit(&mut self, notice: &Notice) -> bool {
        let count = match notice {
            Notice::NewGame { .. } => &mut self.games,
            _ if notice.is_refusal() => &mut self.refusals,
            _ => return true,
        };
        *count = count.saturating_add(1);
        *count <= MAX_REFUSALS
    }

    /// The app did something valid.
    pub fn all_is_well(&mut self) {
        *self = Self::default();
    }
}
