//! What is wrong with somebody's messages, in the log once in a while.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tracing::warn;

/// The least time between two complaints about the same sender.
const COMPLAINTS: Duration = Duration::from_mins(1);
/// Senders that are complained about at once.
const MAX_COMPLAINTS: usize = 256;

/// Who was complained about lately.
#[derive(Debug, Default)]
pub struct Complaints {
    since: BTreeMap<String, Instant>,
}

impl Complaints {
    /// Says what is wrong with somebody's messages, unless that was just said.
    pub fn complain(&mut self, who: &str, words: &str) {
        if self.since.len() < MAX_COMPLAINTS && !self.since.contains_key(who) {
            self.since.insert(who.to_owned(), Instant::now());
            warn!("{words}");
        }
    }

    /// Forgets old ones.
    pub fn tick(&mut self, now: Instant) {
        self.since
            .retain(|_, since| now.saturating_duration_since(*since) < COMPLAINTS);
    }
}
