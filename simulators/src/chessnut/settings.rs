//! What a simulated Chessnut board is, and its faults.

use std::time::Duration;

use shakmaty::Square;

use crate::pieces;

/// How long a drive takes unless set otherwise.
const DRIVE_TIME: Duration = Duration::from_secs(5);

/// The models that speak the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Chessnut Air.
    #[default]
    Air,
    /// Chessnut Air+.
    AirPlus,
    /// Chessnut Pro.
    Pro,
    /// Chessnut Go.
    Go,
    /// Chessnut Move, with a motor in every piece.
    Move,
}

impl Model {
    /// The name it advertises. That of the Air ends with a line feed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Air => "Chessnut Air\n",
            Self::AirPlus => "Chessnut Air+",
            Self::Pro => "Chessnut Pro",
            Self::Go => "Chessnut GO",
            Self::Move => "Chessnut Move",
        }
    }

    /// The byte that tells its family, on USB and in its advertisements. That of the Move is not known.
    pub(super) fn family(self) -> Option<u8> {
        match self {
            Self::Air => Some(0x80),
            Self::Pro => Some(0x81),
            Self::AirPlus => Some(0x82),
            Self::Go => Some(0x85),
            Self::Move => None,
        }
    }
}

/// What follows the squares in a position frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// Four bytes, the seconds since it was switched on: newer boards.
    #[default]
    Seconds,
    /// Two bytes: older boards.
    Short,
    /// Two zeros, where the length counts four bytes: an early emulator.
    Untold,
    /// Nothing: emulators.
    None,
}

/// What a board does with a write that follows the last one too closely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dense {
    /// It takes it.
    #[default]
    Taken,
    /// It refuses it by an ATT error, which a writer without response does not see.
    Refused,
    /// It takes no notice of it.
    Lost,
}

/// Settings of a simulated Chessnut board.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which model it is.
    pub model: Model,
    /// Another name than that of the model.
    pub name: Option<String>,
    /// How many times faster than a real one it is; the hand has its own speed.
    pub speed: f64,
    /// The person, and how the board lies.
    pub pieces: pieces::Settings,
    /// The end of a position frame.
    pub tail: Tail,
    /// Whether it sends a position only when it has changed, and after `21 01 00`: emulators.
    pub only_changes: bool,
    /// The battery, per cent.
    pub battery: u8,
    /// Whether it is being charged.
    pub charging: bool,
    /// Whether the top bit of the percentage says so, as the maker's description has it; otherwise a byte of its own,
    /// as the maker's app has it.
    pub charging_bit: bool,
    /// The link's MTU: a notification carries three bytes less.
    pub mtu: usize,
    /// What becomes of writes that are too close together.
    pub dense: Dense,
    /// A link made sooner than this after the last one is stale until the board is switched off and on: it answers, but
    /// sends no positions (seen: after 2 s; not after 8 s).
    pub stale_within: Option<Duration>,
    /// The probability that a position frame is lost.
    pub lost: f64,
    /// The probability that a position frame has a nibble that means no piece.
    pub spoiled: f64,
    /// The piece on this square does not move when a Move drives.
    pub stuck: Option<Square>,
    /// How many questions for its kind a Move leaves unanswered at first.
    pub kinds_ignored: u8,
    /// Whether a Move that drives answers no question.
    pub mute: bool,
    /// How long a drive takes. The protocol notes give no time; pieces are slow.
    pub drive_time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: Model::default(),
            name: None,
            speed: 1.0,
            pieces: pieces::Settings::default(),
            tail: Tail::default(),
            only_changes: false,
            battery: 88,
            charging: false,
            charging_bit: false,
            mtu: 512,
            dense: Dense::default(),
            stale_within: None,
            lost: 0.0,
            spoiled: 0.0,
            stuck: None,
            kinds_ignored: 0,
            mute: false,
            drive_time: DRIVE_TIME,
        }
    }
}
