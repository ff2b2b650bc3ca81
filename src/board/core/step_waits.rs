//! When the next step may be tried.

use std::time::{Duration, Instant};

/// A board that was switched on asks for its position within its start sequence; wait this long for it before leading
/// it anywhere. At 9600 baud the sequence of seven requests and answers takes about a second.
pub const RESTART_WAIT: Duration = Duration::from_secs(5);
/// The longest wait before a failed step is retried; the first is a second, and it doubles.
pub const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// Set-ups that a board may refuse before the player is asked to do it by hand: one answer may be corrupted.
pub const MAX_REFUSALS: u8 = 2;

/// The waits before the next step, and the failures that lengthen them.
#[derive(Debug)]
pub(super) struct StepWaits {
    /// How long the hand has to mend what it did, before the board is led back.
    correction_wait: Duration,
    /// Not before this time, so that the hand can mend what it did. A change by a program ends the wait.
    lead_after: Option<Instant>,
    /// Not before this time, because the board is starting.
    starts_until: Option<Instant>,
    /// Not before this time, because programs change its target faster than may be saved.
    spared_until: Option<Instant>,
    /// Steps failed in a row.
    failures: u32,
    /// Set-ups refused in a row.
    refusals: u8,
}

impl StepWaits {
    /// Starts without any wait.
    pub fn new(correction_wait: Duration) -> Self {
        Self {
            correction_wait,
            lead_after: None,
            starts_until: None,
            spared_until: None,
            failures: 0,
            refusals: 0,
        }
    }

    /// How long the hand has to mend what it did.
    pub fn correction_wait(&self) -> Duration {
        self.correction_wait
    }

    /// The link is new.
    pub fn link_up(&mut self) {
        *self = Self {
            failures: self.failures,
            ..Self::new(self.correction_wait)
        };
    }

    /// The board was switched on.
    pub fn restarted(&mut self, now: Instant) {
        self.starts_until = Some(now + RESTART_WAIT);
    }

    /// The hand has done something that it may want to mend, and has at least this long for it.
    pub fn after_hand(&mut self, now: Instant, patience: Duration) {
        self.lead_after = Some(now + self.correction_wait.max(patience));
    }

    /// The hand has nothing to mend, or a program continues.
    pub fn at_once(&mut self) {
        self.lead_after = None;
    }

    /// No step begins before this time, whatever programs want.
    pub fn spare(&mut self, until: Option<Instant>) {
        self.spared_until = until;
    }

    /// Clears the waits that are over.
    pub fn pass(&mut self, now: Instant) {
        for wait in [
            &mut self.lead_after,
            &mut self.starts_until,
            &mut self.spared_until,
        ] {
            wait.take_if(|at| *at <= now);
        }
    }

    /// Whether the next step has to wait.
    pub fn waits(&self) -> bool {
        self.deadline().is_some()
    }

    /// When a wait is over.
    pub fn deadline(&self) -> Option<Instant> {
        let waits = [self.lead_after, self.starts_until, self.spared_until];
        waits.into_iter().flatten().min()
    }

    /// A step has failed: the next attempt is later.
    pub fn failed(&mut self, now: Instant) {
        let wait = Duration::from_secs(1 << self.failures.min(5)).min(MAX_RETRY_WAIT);
        self.failures += 1;
        self.lead_after = Some(now + wait);
    }

    /// Whether the last two steps have failed, or more.
    pub fn has_failed_twice(&self) -> bool {
        self.failures >= 2
    }

    /// Earlier failures do not delay the next step.
    pub fn forgive(&mut self) {
        self.failures = 0;
    }

    /// The board has refused a set-up.
    pub fn refused(&mut self) {
        self.refusals = self.refusals.saturating_add(1);
    }

    /// The board takes set-ups, or begins a game.
    pub fn takes_set_ups(&mut self) {
        self.refusals = 0;
    }

    /// Whether the board has refused so many set-ups that the player is asked.
    pub fn refuses_set_ups(&self) -> bool {
        self.refusals >= MAX_REFUSALS
    }
}
