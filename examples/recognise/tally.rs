//! What is counted.

use std::time::Duration;

/// Counts of one or many games.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Moves, executions and take-backs made.
    pub made: usize,
    /// Reported as they were made.
    pub right: usize,
    /// Reported, but not made.
    pub wrong: usize,
    /// Made, and not reported.
    pub missed: usize,
    /// How often the person had to be asked.
    pub asked: usize,
    /// From the hand's last touch to the report, of those never asked about.
    pub delays: Vec<Duration>,
}

impl Tally {
    /// The table's head.
    pub const HEAD: &'static str =
        "model                         made    right  wrong missed  asked    median       p99";

    /// Takes the counts of another.
    pub fn add(&mut self, mut other: Self) {
        self.made += other.made;
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
        self.asked += other.asked;
        self.delays.append(&mut other.delays);
    }

    /// Nothing wrong, nothing missed.
    pub fn is_right(&self) -> bool {
        self.wrong == 0 && self.missed == 0
    }

    /// A row of the table.
    pub fn row(&mut self, name: &str) -> String {
        self.delays.sort_unstable();
        let at = |part: usize| {
            let index = (self.delays.len() * part / 100).min(self.delays.len().saturating_sub(1));
            self.delays.get(index).map_or_else(
                || "-".to_owned(),
                |delay| format!("{:.2} s", delay.as_secs_f64()),
            )
        };
        format!(
            "{name:27} {:6}   {:6} {:6} {:6} {:6} {:>9} {:>9}",
            self.made,
            self.right,
            self.wrong,
            self.missed,
            self.asked,
            at(50),
            at(99)
        )
    }
}
