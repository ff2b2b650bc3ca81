//! What a board of squares may get wrong.

use std::time::Duration;

/// How a board senses, and how it errs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensing {
    /// It tells of lifts and placements. One that does not sends pictures only, often enough that each touch is on one.
    pub events: bool,
    /// It may lose lifts and placements.
    pub loses_events: bool,
    /// A square that holds a piece may read empty. Where none does, a piece whose square reads empty is gone.
    pub goes_dark: bool,
    /// Its pictures come this often at least.
    pub period: Duration,
}

impl Default for Sensing {
    /// The Miko Neo: pictures come 2.04 s apart at most (captured game); a corrupt event was captured, and is lost.
    fn default() -> Self {
        Self {
            events: true,
            loses_events: true,
            goes_dark: true,
            period: Duration::from_millis(2_040),
        }
    }
}
