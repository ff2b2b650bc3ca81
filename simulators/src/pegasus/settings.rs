//! What a simulated Pegasus is, and its faults.

use std::time::Duration;

pub use super::command::KEY_BYTES;
use crate::pieces;

/// The key of a simulated board that is given no other. No real board knows it.
pub const KEY: [u8; KEY_BYTES] = *b"SIMKEY";

/// What a board does with commands that follow one another too closely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dense {
    /// It obeys them.
    Taken,
    /// It obeys the first, and takes no notice of those that follow.
    LaterLost,
    /// It takes no notice of any of them, the first included. So it waits after each command before it obeys.
    #[default]
    AllLost,
}

/// Settings of a simulated Pegasus.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name it advertises.
    pub name: String,
    /// The key that unlocks it.
    pub key: [u8; KEY_BYTES],
    /// Whether it answers the question for the state of the key.
    pub tells_key: bool,
    /// Whether it is calibrated. If not, each square of a dump is 01, and no changes are told.
    pub calibrated: bool,
    /// How many times faster than a real one it is; the hand has its own speed.
    pub speed: f64,
    /// The person, and how the board lies.
    pub pieces: pieces::Settings,
    /// Whether it does not see that a piece is gone which is lifted while another is in the hand, until that one is
    /// put down: a capture then never shows its square empty.
    pub hides_captures: bool,
    /// What becomes of commands that are too close together.
    pub dense: Dense,
    /// The battery, per cent.
    pub battery: u8,
    /// Whether it is being charged.
    pub charging: bool,
    /// In this time the battery loses one per cent, or gains it while it is charged; `None`: its level stays.
    pub drain: Option<Duration>,
    /// The serial number that `45` asks for, ASCII.
    pub serial: String,
    /// The serial number that `55` asks for, ASCII.
    pub long_serial: String,
    /// The version, major and minor.
    pub version: (u8, u8),
    /// The version of the hardware, major and minor.
    pub hardware: (u8, u8),
    /// The text that `47` asks for, ASCII. It is not the maker's: that belongs to real boards only.
    pub text: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "DGT_Pegasus_00001".to_owned(),
            key: KEY,
            tells_key: true,
            calibrated: true,
            speed: 1.0,
            pieces: pieces::Settings::default(),
            hides_captures: false,
            dense: Dense::default(),
            battery: 88,
            charging: false,
            drain: None,
            serial: "S0001".to_owned(),
            long_serial: "SIM0000001".to_owned(),
            version: (1, 0),
            hardware: (1, 0),
            text: "Simulated board, from no maker of boards".to_owned(),
        }
    }
}
