//! What the person at the pieces is like, and how the board lies.

use std::time::Duration;

use crate::gesture::Style;

/// Settings of [`Pieces`](super::Pieces).
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many times faster than a real person the hand is.
    pub speed: f64,
    /// How long after it is shown the person begins to execute a move; `None`: only when ordered to.
    pub hand_delay: Option<Duration>,
    /// How untidy the person is.
    pub style: Style,
    /// Whether the board lies the other way round, so that its numbers begin at the opposite corner.
    pub turned: bool,
    /// The seed of random moves and of the times of touches.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            speed: 1.0,
            hand_delay: None,
            style: Style::default(),
            turned: false,
            seed: 1,
        }
    }
}
