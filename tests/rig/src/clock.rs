//! A virtual clock.

use std::time::{Duration, Instant};

/// Deadlines in a row, at most, while nothing that is waited for comes.
const MAX_STEPS: usize = 200_000;

/// Things without I/O that share one virtual clock.
pub trait Clocked {
    /// The time.
    fn clock(&mut self) -> &mut Instant;
    /// Carries to and fro what is due, until nothing moves.
    fn carry(&mut self);
    /// When something is due next.
    fn deadline(&self) -> Option<Instant>;
    /// The time is `now`, and something is due.
    fn timeout(&mut self, now: Instant);

    /// What there is to know when time does not pass.
    fn story(&self) -> String {
        String::new()
    }

    /// Lets time pass until this is so; `false` if it does not come so.
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

    /// Lets time pass.
    fn pass(&mut self, time: Duration) {
        self.until(time, |_| false);
    }
}

/// Says on the standard error what happens, if this variable of the environment is set.
pub fn log(variable: &str, at: Duration, what: impl FnOnce() -> String) {
    if std::env::var_os(variable).is_some() {
        eprintln!("{:9.3} {}", at.as_secs_f64(), what());
    }
}
