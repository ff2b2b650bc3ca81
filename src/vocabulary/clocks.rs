//! The clocks of a game.

use std::time::{Duration, Instant};

use shakmaty::{ByColor, Color};

/// The clocks of a game, at a moment that is known from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// What each side has left.
    pub left: ByColor<Duration>,
    /// The clock that runs from then on.
    pub runs: Option<Color>,
}

impl Clocks {
    /// The same clocks after this time. A clock that has run out stays at zero.
    #[must_use]
    pub fn after(mut self, passed: Duration) -> Self {
        if let Some(runs) = self.runs {
            let left = self.left.get_mut(runs);
            *left = left.saturating_sub(passed);
        }
        self
    }
}

/// The clocks of a game, and when they showed that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClocksSince {
    /// What they showed.
    pub clocks: Clocks,
    /// When.
    pub since: Instant,
}

impl ClocksSince {
    /// What they show now.
    pub fn at(self, now: Instant) -> Clocks {
        self.clocks.after(now.saturating_duration_since(self.since))
    }
}
