//! When a client states its game again to a board that no client has and that does not give it the game.

use std::time::{Duration, Instant};

/// How long a client waits after it has stated its game again in vain. A free board goes to the first client that asks,
/// so this happens only if the saved state of the board contradicts itself.
pub const RESTATE_WAIT: Duration = Duration::from_mins(1);

/// The pace of one client at one board. See the module documentation.
#[derive(Debug, Default)]
pub struct Restating {
    last: Option<Instant>,
}

impl Restating {
    /// Whether to state the game now: at once the first time, then after [`RESTATE_WAIT`].
    pub fn is_due(&mut self, now: Instant) -> bool {
        let since = |last: Instant| now.saturating_duration_since(last);
        let due = self.last.is_none_or(|last| since(last) >= RESTATE_WAIT);
        if due {
            self.last = Some(now);
        }
        due
    }

    /// The client has the board, or another one has it.
    pub fn is_over(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_in_vain_is_stated_again_after_a_wait() {
        let now = Instant::now();
        let mut restating = Restating::default();
        assert!(restating.is_due(now));
        assert!(!restating.is_due(now));
        assert!(restating.is_due(now + RESTATE_WAIT));
        assert!(!restating.is_due(now + RESTATE_WAIT));
        restating.is_over();
        assert!(restating.is_due(now + RESTATE_WAIT));
    }
}
