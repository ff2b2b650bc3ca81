//! The errors that a board with square sensors may make.

use std::time::Duration;

/// How a board senses, and how it errs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensing {
    /// It reports lifts and placements. If not, it sends only pictures, often enough to show each touch.
    pub events: bool,
    /// Whether it may lose lifts and placements.
    pub loses_events: bool,
    /// Whether an occupied square may read empty. If not, a piece is gone if its square reads empty.
    pub goes_dark: bool,
    /// Whether a captured piece may be replaced by the capturing one without its square ever reading empty.
    pub hides_captures: bool,
    /// The longest time between its pictures.
    pub period: Duration,
}

impl Default for Sensing {
    /// The Miko Neo: pictures come 2.04 s apart at most (captured game); a corrupt event was captured, and is lost.
    fn default() -> Self {
        Self {
            events: true,
            loses_events: true,
            goes_dark: true,
            hides_captures: false,
            period: Duration::from_millis(2_040),
        }
    }
}
