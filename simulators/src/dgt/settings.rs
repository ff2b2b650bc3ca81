//! What a simulated DGT board is, and its faults.

use super::clock;
use crate::pieces;

/// The models that speak the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// On USB or a serial line: no battery and no lamps.
    #[default]
    Cable,
    /// On Bluetooth: a battery, and half the speed of a scan.
    Bluetooth,
    /// Revelation II: like the Bluetooth board, with lamps.
    Revelation,
}

/// Settings of a simulated DGT board.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which model it is.
    pub model: Model,
    /// How many times faster than a real one it is; the hand has its own speed.
    pub speed: f64,
    /// The person, and how the board lies.
    pub pieces: pieces::Settings,
    /// The clock, if one is connected.
    pub clock: Option<clock::Settings>,
    /// The serial number; five digits and ten are sent.
    pub serial: u32,
    /// The version, major and minor.
    pub version: (u8, u8),
    /// Whether it answers nothing at all.
    pub silent: bool,
    /// The probability that a byte to the computer is lost.
    pub lost: f64,
    /// The probability that a byte to the computer comes twice.
    pub doubled: f64,
    /// The most bytes that are handed to the line at once; `None`: whole messages.
    pub chunk: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: Model::default(),
            speed: 1.0,
            pieces: pieces::Settings::default(),
            clock: None,
            serial: 13116,
            version: (1, 8),
            silent: false,
            lost: 0.0,
            doubled: 0.0,
            chunk: None,
        }
    }
}
