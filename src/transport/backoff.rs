//! How long to wait before the next attempt.

use std::time::Duration;

/// The first wait: about the time it takes to plug a cable back in.
pub const FIRST: Duration = Duration::from_millis(250);
/// The longest wait: a player who has just switched the board on should not wait longer.
pub const LONGEST: Duration = Duration::from_secs(5);

/// Waits that double from [`FIRST`] to [`LONGEST`].
#[derive(Clone, Copy, Debug)]
pub struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Backoff {
    /// The wait before the next attempt.
    pub fn next_wait(&mut self) -> Duration {
        let wait = self.0;
        self.0 = (self.0 * 2).min(LONGEST);
        wait
    }

    /// An attempt succeeded.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..8).map(|_| backoff.next_wait()).collect();
        assert_eq!(waits[0], FIRST);
        assert_eq!(waits[1], 2 * FIRST);
        assert_eq!(waits[7], LONGEST);
        backoff.reset();
        assert_eq!(backoff.next_wait(), FIRST);
    }
}
