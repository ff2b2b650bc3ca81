//! The scan: field after field, round after round.

use std::time::{Duration, Instant};

use super::field::FIELDS;

/// How long a round takes (protocol notes: 200 to 250 ms).
pub(super) const ROUND: Duration = Duration::from_millis(250);

/// Fields that the scan comes by in a round.
const FIELDS_A_ROUND: u128 = FIELDS as u128;

/// What the board has sensed, and which fields it will find changed.
#[derive(Debug)]
pub(super) struct Scan {
    round: Duration,
    began: Instant,
    /// The code last sensed on each field.
    sensed: [u8; FIELDS],
    /// What stands there now, if it is something else, and when the scan comes by.
    changed: [Option<(Instant, u8)>; FIELDS],
}

impl Scan {
    /// A scan that has sensed these codes, and begins a round.
    pub(super) fn new(now: Instant, round: Duration, sensed: [u8; FIELDS]) -> Self {
        Self {
            round,
            began: now,
            sensed,
            changed: [None; FIELDS],
        }
    }

    /// The codes last sensed.
    pub(super) fn sensed(&self) -> &[u8; FIELDS] {
        &self.sensed
    }

    /// Something else stands on a field. What is gone again when the scan comes by is never sensed.
    pub(super) fn change(&mut self, at: Instant, field: u8, code: u8) {
        let sensed_at = self.comes_by(at, field);
        let field = usize::from(field);
        if let (Some(changed), Some(sensed)) = (self.changed.get_mut(field), self.sensed.get(field))
        {
            *changed = (*sensed != code).then_some((sensed_at, code));
        }
    }

    /// When the scan comes by a field, not before `at`.
    fn comes_by(&self, at: Instant, field: u8) -> Instant {
        let round = self.round.as_nanos().max(1);
        let offset = round * (u128::from(field) + 1) / FIELDS_A_ROUND;
        let since = at.saturating_duration_since(self.began).as_nanos();
        let rounds = since.saturating_sub(offset).div_ceil(round);
        let nanos = u64::try_from(rounds * round + offset).unwrap_or(u64::MAX);
        self.began + Duration::from_nanos(nanos)
    }

    /// The next field that the scan finds changed, and when.
    fn next(&self) -> Option<(Instant, u8)> {
        (0..)
            .zip(&self.changed)
            .filter_map(|(field, changed)| changed.map(|(at, _)| (at, field)))
            .min()
    }

    /// When the scan finds something.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next().map(|(at, _)| at)
    }

    /// The scan finds the next changed field. Returns the field and its code.
    pub(super) fn find(&mut self) -> Option<(u8, u8)> {
        let (_, field) = self.next()?;
        let (_, code) = self.changed.get_mut(usize::from(field))?.take()?;
        *self.sensed.get_mut(usize::from(field))? = code;
        Some((field, code))
    }
}
