//! Faults of the board and the radio.

/// Faults of the sensors and the radio, as probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// An event comes twice.
    pub duplicated: f64,
    /// An event is lost.
    pub lost: f64,
    /// An occupancy string is lost.
    pub strings_lost: f64,
    /// An occupancy string is late, by up to a period; none overtakes another.
    pub strings_late: f64,
    /// A square gets stuck empty when a piece lands on it.
    pub stuck_landing: f64,
    /// A square near the motor's path gets stuck empty (seen in the captured game: g7, f6, d7).
    pub stuck_motor: f64,
    /// Some square gets stuck empty, for each string.
    pub stuck_random: f64,
    /// Some square gets stuck empty when any is touched.
    pub stuck_touch: f64,
    /// It reports no lifts and placements, and sends a string every tenth of a second instead.
    pub strings_only: bool,
}
