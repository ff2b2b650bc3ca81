//! How a board is connected.

use super::board_kind::BoardKind;

/// How the board is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// No link, for this reason.
    Down(String),
    /// The port is open; the board has not answered yet.
    Asking,
    /// The port is open; a board of a kind that cannot be asked has said nothing yet. It may be quiet for long.
    Unheard {
        /// Something came that cannot be read.
        garbled: bool,
    },
    /// The board answers, or has spoken by itself.
    Up,
    /// The board has stopped answering.
    Silent {
        /// Something came that cannot be read.
        garbled: bool,
    },
    /// What is connected talks as a board of this other kind does.
    Stranger(BoardKind),
}

/// What is said of a board that has not spoken yet.
pub const UNHEARD: &str = "nothing heard yet: move a piece; if that does not help, is the board switched on, does its cable \
     have 6 wires, and is `kind` right?";
/// What is said of a line that carries nothing readable.
pub const GARBLED: &str = "what comes cannot be read: check `kind`, `baud` (a UCB has 9600, a Citrine 57600) and the cable";

impl LinkState {
    /// Whether the board may be shown moves: one that cannot be asked before it has spoken, too.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Up | Self::Unheard { .. })
    }

    /// What is wrong, or may be, and what to do.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Down(why) => Some(why.clone()),
            Self::Unheard { garbled: false } => Some(UNHEARD.to_owned()),
            Self::Unheard { garbled: true } | Self::Silent { garbled: true } => {
                Some(GARBLED.to_owned())
            }
            Self::Stranger(kind) => Some(stranger(*kind)),
            Self::Asking | Self::Up | Self::Silent { garbled: false } => None,
        }
    }
}

/// What is said of a board of another kind than the configured one.
pub fn stranger(kind: BoardKind) -> String {
    format!("what is connected talks as a {kind} does: set kind = \"{kind}\" for this board")
}
