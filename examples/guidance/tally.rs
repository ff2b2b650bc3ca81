//! What is counted, as rows of a table.

use std::time::Duration;

use crate::bound::Bound;

/// The cases of one row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    cases: u32,
    misplaced: usize,
    actions: usize,
    with_parking: u32,
    most: usize,
    /// Cases in which a promise was broken.
    pub wrong: u32,
    spent: Duration,
}

impl Tally {
    /// The table's first two lines.
    pub const HEAD: &str = "\
| disturbed | lists | misplaced | actions | with parking | most actions | wrong | µs per list |\n\
|---|---|---|---|---|---|---|---|";

    /// Counts a list.
    pub fn add(&mut self, actions: usize, spent: Duration, checked: Result<Bound, ()>) {
        self.cases += 1;
        self.actions += actions;
        self.most = self.most.max(actions);
        self.spent += spent;
        match checked {
            Ok(bound) => {
                self.misplaced += bound.misplaced;
                self.with_parking += u32::from(bound.parked > 0);
            }
            Err(()) => self.wrong += 1,
        }
    }

    /// Counts all lists of another row.
    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.misplaced += other.misplaced;
        self.actions += other.actions;
        self.with_parking += other.with_parking;
        self.most = self.most.max(other.most);
        self.wrong += other.wrong;
        self.spent += other.spent;
    }

    /// A line of the table.
    #[allow(clippy::cast_precision_loss, reason = "a mean of some millions")]
    pub fn row(&self, name: &str) -> String {
        let cases = f64::from(self.cases.max(1));
        format!(
            "| {name} | {} | {:.2} | {:.2} | {:.1} % | {} | {} | {:.1} |",
            self.cases,
            self.misplaced as f64 / cases,
            self.actions as f64 / cases,
            f64::from(self.with_parking) * 100.0 / cases,
            self.most,
            self.wrong,
            self.spent.as_secs_f64() * 1e6 / cases,
        )
    }
}
