//! How a board is connected.

use super::board_kind::BoardKind;

/// How the board is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// No link, for this reason.
    Down(String),
    /// The port is open; the board has not answered yet, or is still telling its game.
    Asking {
        /// Why the driver gave the last link up, until the board answers.
        why: Option<String>,
    },
    /// The port is open; a board of a kind that cannot be asked has sent nothing yet. It may be quiet for long.
    Unheard {
        /// Unreadable data came.
        garbled: bool,
    },
    /// The board answers, or has sent something by itself.
    Up,
    /// The board has stopped answering.
    Silent {
        /// Unreadable data came.
        garbled: bool,
    },
    /// The board was asked, and nothing has ever come from it: it may be of another kind.
    Mute,
    /// What is connected talks like a board of this other kind.
    Stranger(BoardKind),
}

/// The message for a board that has sent nothing yet.
pub const UNHEARD: &str = "nothing heard yet: move a piece; if that does not help, is the board switched on, does its cable \
     have 6 wires, and is its `kind` right?";
/// The message for a board that was asked and has never answered.
pub const MUTE: &str = "the board does not answer: is it switched on and connected, and is its `kind` right? With the service \
     stopped, `boardbridge scan --probe` asks what is at a cable";
/// The message for a line that carries nothing readable.
pub const GARBLED: &str =
    "the data cannot be read: check `kind`, `baud` (a UCB has 9600, a Citrine 57600) and the cable";

impl LinkState {
    /// Whether the board may be shown moves: this includes a board that cannot be asked and has sent nothing yet.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Up | Self::Unheard { .. })
    }

    /// The problem, or a possible one, and what to do.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Down(why) => Some(why.clone()),
            Self::Unheard { garbled: false } => Some(UNHEARD.to_owned()),
            Self::Unheard { garbled: true } | Self::Silent { garbled: true } => {
                Some(GARBLED.to_owned())
            }
            Self::Mute => Some(MUTE.to_owned()),
            Self::Stranger(kind) => Some(stranger(*kind)),
            Self::Asking { why } => why.clone(),
            Self::Up | Self::Silent { garbled: false } => None,
        }
    }
}

/// The message for a board of a kind other than the configured one.
pub fn stranger(kind: BoardKind) -> String {
    format!("the connected board talks like a {kind}: set kind = \"{kind}\" for this board")
}
