//! A budget that refills with time: an amount at once, and an amount per second. It may be overdrawn; then the next wait is
//! longer.

use std::time::{Duration, Instant};

/// How much may be spent at once, and how fast it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// What may be spent at once.
    pub at_once: u64,
    /// What comes back in a second; not 0.
    pub per_second: u64,
}

impl Allowance {
    /// How long it takes until this amount has come back.
    fn time_for(self, amount: u64) -> Duration {
        let micros = u128::from(amount) * 1_000_000 / u128::from(self.per_second.max(1));
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

/// What is left of an allowance.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    allowance: Allowance,
    /// When all of it is back; `None` while nothing was spent.
    full_at: Option<Instant>,
}

impl Credit {
    /// A credit with the whole allowance.
    pub fn new(allowance: Allowance) -> Self {
        Self {
            allowance,
            full_at: None,
        }
    }

    /// Spends this amount, whether or not it is left.
    pub fn spend(&mut self, now: Instant, amount: u64) {
        let from = self.full_at.map_or(now, |at| at.max(now));
        self.full_at = from.checked_add(self.allowance.time_for(amount));
    }

    /// Gives this amount back, which was spent before.
    pub fn give_back(&mut self, amount: u64) {
        let full_at = |at: Instant| at.checked_sub(self.allowance.time_for(amount));
        self.full_at = self.full_at.and_then(full_at);
    }

    /// Whether this amount is left.
    pub fn has(&self, now: Instant, amount: u64) -> bool {
        let spent = self.allowance.at_once.checked_sub(amount);
        spent.is_some_and(|spent| self.wait(now, spent).is_none())
    }

    /// When something may be spent again by someone who may owe this much; `None` if it may be now.
    pub fn waits_until(&self, now: Instant, owed: u64) -> Option<Instant> {
        let spent = self.allowance.at_once.saturating_add(owed);
        now.checked_add(self.wait(now, spent)?)
    }

    /// The time until no more than this is spent.
    fn wait(&self, now: Instant, spent: u64) -> Option<Duration> {
        let missing = self.full_at?.saturating_duration_since(now);
        let wait = missing.saturating_sub(self.allowance.time_for(spent));
        Some(wait).filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance {
        at_once: 100,
        per_second: 10,
    };

    #[test]
    fn so_much_may_be_spent_at_once_and_then_so_much_a_second() {
        let now = Instant::now();
        let mut credit = Credit::new(ALLOWANCE);
        assert!(credit.has(now, 100) && !credit.has(now, 101));
        credit.spend(now, 100);
        assert!(credit.has(now, 0) && !credit.has(now, 1));
        assert_eq!(credit.waits_until(now, 0), None);
        // What is owed comes back first.
        credit.spend(now, 20);
        let later = now + Duration::from_secs(2);
        assert_eq!(credit.waits_until(now, 0), Some(later));
        assert_eq!(credit.waits_until(now, 20), None);
        assert_eq!(credit.waits_until(later, 0), None);
        // No more than the allowance comes back.
        let much_later = now + Duration::from_hours(1);
        assert!(credit.has(much_later, 100) && !credit.has(much_later, 101));
    }

    #[test]
    fn a_minute_never_has_more_than_the_allowance_and_what_comes_back_in_it() {
        let begun = Instant::now();
        let mut credit = Credit::new(ALLOWANCE);
        let mut spent = 0;
        for millis in 0..60_000 {
            let now = begun + Duration::from_millis(millis);
            if credit.has(now, 3) {
                credit.spend(now, 3);
                spent += 3;
            }
        }
        assert!((690..=700).contains(&spent), "{spent}");
    }
}
