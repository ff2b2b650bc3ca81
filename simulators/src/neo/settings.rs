//! How a simulated Neo differs from a perfect one.

use std::time::Duration;

/// Settings of a simulated Neo.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The last three characters of its address, as in its name (document: the advertised name).
    pub suffix: String,
    /// How many times faster everything is than on a real one.
    pub speed: f64,
    /// How long after a request the person executes a shown move or puts a missing piece; `None`: never by itself.
    pub hand_delay: Option<Duration>,
    /// The probability that a square near the motor's path gets stuck empty (captured: it happens).
    pub stuck_motor: f64,
    /// The probability that a square gets stuck empty when a piece lands on it.
    pub stuck_landing: f64,
    /// Whether any write, not only a path, is a fault while the motor is busy. What a real board does then is unknown
    /// (field notes).
    pub strict: bool,
    /// Whether it knows the signs of older firmware, `27#…` (document: deprecated, perhaps; the captured board accepted
    /// both).
    pub older_signs: bool,
    /// The seed of faults and random moves.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            suffix: "XXX".to_owned(),
            speed: 1.0,
            hand_delay: None,
            stuck_motor: 0.0,
            stuck_landing: 0.0,
            strict: true,
            older_signs: true,
            seed: 1,
        }
    }
}
