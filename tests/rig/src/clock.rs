//! A virtual clock.

use std::time::{Duration, Instant};

/// The maximum number of successive deadlines without the awaited event.
const MAX_STEPS: usize = 200_000;

/// Components without I/O that share one virtual clock.
pub trait Clocked {
    /// The time.
    fn clock(&mut self) -> &mut Instant;
    /// Passes on everything that is due, until nothing moves.
    fn carry(&mut self);
    /// When something is due next.
    fn deadline(&self) -> Option<Instant>;
    /// The time is `now`, and something is due.
    fn timeout(&mut self, now: Instant);

    /// The state, for a message when time does not pass.
    fn story(&self) -> String {
        String::new()
    }

    /// Advances the time until this holds; `false` if it never does.
    fn until(&mut self, time: Duration, so: impl Fn(&Self) -> bool) -> bool {
        let end = *self.clock() + time;
        for _ in 0..MAX_STEPS {
            self.carry();
            if so(self) {
                return true;
            }
            let next = self.deadline().filter(|at| *at <= end);
            let now = next.map_or(end, |at| at.max(*self.clock()));
            *self.clock() = now;
            if next.is_none() {
                return false;
            }
            self.timeout(now);
        }
        panic!(
            "time does not pass, a deadline comes again and again: {}",
            self.story()
        );
    }

    /// Advances the time.
    fn pass(&mut self, time: Duration) {
        self.until(time, |_| false);
    }
}

/// Logs to standard error if this environment variable is set.
pub fn log(variable: &str, at: Duration, what: impl FnOnce() -> String) {
    if std::env::var_os(variable).is_some() {
        eprintln!("{:9.3} {}", at.as_secs_f64(), what());
    }
}
