//! The six messages, as values.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{MAX_SERIAL, VERSION_WIDTH};
use crate::vocabulary::Wording;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// `H0`: the app's first message, and its question whether the board is there.
    HandshakeRequest {
        /// The protocol's version, if it could be read: a board answers anyway.
        protocol: Option<u8>,
        /// The app's build.
        build: Option<u16>,
    },
    /// `H1`: the board's answer.
    HandshakeResponse {
        /// The protocol's version.
        protocol: u8,
        /// The board's version.
        version: BoardVersion,
        /// The board's serial number; may be empty.
        serial: String,
    },
    /// `NG`: a game begins.
    NewGame {
        /// The kind of game.
        kind: GameKind,
        /// Whether the app waits for a move from the board.
        waits_for_board: bool,
    },
    /// `GE`: the game is over.
    GameEnded(Ending),
    /// `MA`: a move made in the app.
    AppMove(Wording),
    /// `MB`: a move made on the board.
    BoardMove(Wording),
}

/// The kind of game in `NG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "char", into = "char")]
pub enum GameKind {
    /// 0: both sides are played here.
    Offline,
    /// 1: against an engine.
    Engine,
    /// 2: against a person over `WhitePawn`.
    WhitePawn,
    /// 3: on Lichess.
    Lichess,
    /// A character that the document does not have: a later app may have more.
    Unknown(char),
}

impl GameKind {
    /// Every kind in the document, by its number.
    pub const ALL: [Self; 4] = [Self::Offline, Self::Engine, Self::WhitePawn, Self::Lichess];

    /// The character of `NG`.
    pub fn character(self) -> char {
        match self {
            Self::Offline => '0',
            Self::Engine => '1',
            Self::WhitePawn => '2',
            Self::Lichess => '3',
            Self::Unknown(character) => character,
        }
    }

    /// The kind with this character.
    pub fn of(character: char) -> Self {
        let known = Self::ALL.into_iter();
        let mut same = known.filter(|kind| kind.character() == character);
        same.next().unwrap_or(Self::Unknown(character))
    }
}

impl From<char> for GameKind {
    fn from(character: char) -> Self {
        Self::of(character)
    }
}

impl From<GameKind> for char {
    fn from(kind: GameKind) -> Self {
        kind.character()
    }
}

impl fmt::Display for GameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offline => f.write_str("an offline match"),
            Self::Engine => f.write_str("a match against an engine"),
            Self::WhitePawn => f.write_str("a WhitePawn online game"),
            Self::Lichess => f.write_str("a Lichess online game"),
            Self::Unknown(character) => write!(f, "a game of the unknown type {character}"),
        }
    }
}

/// The end of the game in `GE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// 0.
    Aborted,
    /// 1.
    Checkmate,
    /// 2.
    Draw,
    /// 3: the app's user, whose hand is at the board.
    UserResigned,
    /// 4.
    OpponentResigned,
}

impl Ending {
    /// Every ending, by its number.
    pub const ALL: [Self; 5] = [
        Self::Aborted,
        Self::Checkmate,
        Self::Draw,
        Self::UserResigned,
        Self::OpponentResigned,
    ];
}

/// A board's version, limited to the eight characters of H1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardVersion(String);

impl BoardVersion {
    /// A version; unprintable characters, and those beyond eight, are left out.
    pub fn new(text: &str) -> Self {
        Self(plain(text.trim(), VERSION_WIDTH))
    }

    /// Whether it needs all eight characters. With a serial number after it, it may be a shorter one without padding.
    pub fn is_full(&self) -> bool {
        self.0.len() == VERSION_WIDTH
    }

    /// The text, without padding.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Message {
    /// H1 for a board with this version and serial number, limited to what H1 can carry.
    pub fn welcome(version: &str, serial: &str) -> Self {
        Self::HandshakeResponse {
            protocol: super::VERSION,
            version: BoardVersion::new(version),
            serial: plain(serial, MAX_SERIAL),
        }
    }
}

/// The printable ASCII characters of a text, up to a maximum: SWPP has no others.
fn plain(text: &str, limit: usize) -> String {
    let printable = |c: &char| c.is_ascii_graphic() || *c == ' ';
    text.chars().filter(printable).take(limit).collect()
}
