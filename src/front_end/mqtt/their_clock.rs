//! The clock of another daemon, which may be years off: a small computer without a battery begins in 1970.

use std::time::{Duration, SystemTime};

/// Clocks that differ by more than this are not both right. What is told of a clock comes later than that only on a network that
/// stands still.
const CLOCKS_DIFFER: Duration = Duration::from_secs(2);

/// A date is reckoned anew only where the clocks differ by more than this: what a game is called must not depend on how late a message
/// came.
const DATES_DIFFER: Duration = Duration::from_hours(1);

/// How the clock of another daemon differs from ours: what both showed at one moment, if that was not the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct TheirClock(Option<Both>);

#[derive(Clone, Copy, Debug)]
struct Both {
    theirs: SystemTime,
    ours: SystemTime,
}

impl TheirClock {
    /// Theirs shows this now. Returns whether that is news.
    pub fn shows(&mut self, theirs: SystemTime, ours: SystemTime) -> bool {
        let is_known = apart(self.here(theirs), ours) <= CLOCKS_DIFFER;
        if !is_known {
            self.0 = (apart(theirs, ours) > CLOCKS_DIFFER).then_some(Both { theirs, ours });
        }
        !is_known
    }

    /// What theirs shows when ours shows this.
    pub fn there(&self, ours: SystemTime) -> SystemTime {
        self.0
            .map_or(ours, |both| shifted(ours, both.ours, both.theirs))
    }

    /// What ours shows when theirs shows this.
    pub fn here(&self, theirs: SystemTime) -> SystemTime {
        self.0
            .map_or(theirs, |both| shifted(theirs, both.theirs, both.ours))
    }

    /// The date that theirs says, by ours if that is another one.
    pub fn date(&self, theirs: SystemTime) -> SystemTime {
        let is_far = |both: &Both| apart(both.theirs, both.ours) > DATES_DIFFER;
        if self.0.as_ref().is_some_and(is_far) {
            self.here(theirs)
        } else {
            theirs
        }
    }
}

fn apart(a: SystemTime, b: SystemTime) -> Duration {
    a.duration_since(b)
        .unwrap_or_else(|before| before.duration())
}

/// As long after `to` as `at` is after `from`, or before it.
fn shifted(at: SystemTime, from: SystemTime, to: SystemTime) -> SystemTime {
    let shifted = match at.duration_since(from) {
        Ok(after) => to.checked_add(after),
        Err(before) => to.checked_sub(before.duration()),
    };
    shifted.unwrap_or(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_years_off_is_reckoned_with_until_it_is_set_right() {
        let (year, second) = (Duration::from_hours(24 * 365), Duration::from_secs(1));
        let ours = SystemTime::UNIX_EPOCH + 50 * year;
        for theirs in [SystemTime::UNIX_EPOCH, ours + 10 * year] {
            let mut clock = TheirClock::default();
            assert!(clock.shows(theirs, ours));
            assert!(
                !clock.shows(theirs + 61 * second, ours + 60 * second),
                "a late message says nothing of a clock"
            );
            assert_eq!(clock.there(ours + year), theirs + year);
            assert_eq!(clock.here(theirs + year), ours + year);
            assert_eq!(clock.date(theirs), ours);
            assert!(clock.shows(ours, ours));
            assert_eq!(clock.here(ours), ours);
            // What comes late says the same date.
            assert!(clock.shows(ours, ours + 20 * second));
            assert_eq!(clock.date(ours), ours);
        }
    }
}
