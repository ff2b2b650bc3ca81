//! Who sends commands, and how many: a flood costs its sender only, and nothing is done twice.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant, SystemTime},
};

use super::settings::DaemonName;

/// Senders that are known at once; the one that has been silent longest is forgotten for another.
pub const MAX_SENDERS: usize = 256;
/// Commands of one sender at once: a hall's tables that all begin a round.
pub const AT_ONCE: u32 = 400;
/// Commands of one sender a second, after that: two for each of a hundred boards.
pub const PER_SECOND: u32 = 200;
/// Identifiers of one sender that are remembered until their commands expire.
pub const MAX_IDS: usize = 4_096;

/// Whether a command is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    New,
    /// It was taken before.
    Again,
    /// There are too many. `true` the first time since one was taken.
    TooMany(bool),
}

#[derive(Debug)]
struct Sender {
    left: f64,
    at: Instant,
    told: bool,
    ids: BTreeMap<String, SystemTime>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Senders(BTreeMap<DaemonName, Sender>);

impl Senders {
    /// Whether this command is taken; it is good until then.
    pub fn judge(
        &mut self,
        now: Instant,
        at: SystemTime,
        from: &DaemonName,
        id: &str,
        until: SystemTime,
    ) -> Verdict {
        if !self.0.contains_key(from) && self.0.len() >= MAX_SENDERS {
            let oldest = self.0.iter().min_by_key(|(_, sender)| sender.at);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                self.0.remove(&oldest);
            }
        }
        let sender = self.0.entry(from.clone()).or_insert_with(|| Sender {
            left: f64::from(AT_ONCE),
            at: now,
            told: false,
            ids: BTreeMap::new(),
        });
        let passed = now
            .saturating_duration_since(sender.at)
            .min(Duration::from_mins(1));
        let more = passed.as_secs_f64() * f64::from(PER_SECOND);
        sender.left = (sender.left + more).min(f64::from(AT_ONCE));
        sender.at = now;
        if sender.ids.contains_key(id) {
            return Verdict::Again;
        }
        if sender.ids.len() >= MAX_IDS {
            sender.ids.retain(|_, until| *until >= at);
        }
        if sender.left < 1.0 || sender.ids.len() >= MAX_IDS {
            return Verdict::TooMany(!std::mem::replace(&mut sender.told, true));
        }
        sender.left -= 1.0;
        sender.told = false;
        sender.ids.insert(id.to_owned(), until);
        Verdict::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_costs_its_sender_only_and_nothing_is_done_twice() {
        let (now, at) = (Instant::now(), SystemTime::now());
        let until = at + Duration::from_secs(10);
        let mut senders = Senders::default();
        let (loud, calm) = ("loud".parse().unwrap(), "calm".parse().unwrap());
        for number in 0..AT_ONCE {
            let verdict = senders.judge(now, at, &loud, &number.to_string(), until);
            assert_eq!(verdict, Verdict::New);
        }
        assert_eq!(senders.judge(now, at, &loud, "0", until), Verdict::Again);
        assert_eq!(
            senders.judge(now, at, &loud, "x", until),
            Verdict::TooMany(true)
        );
        assert_eq!(
            senders.judge(now, at, &loud, "y", until),
            Verdict::TooMany(false)
        );
        assert_eq!(senders.judge(now, at, &calm, "1", until), Verdict::New);
        let later = now + Duration::from_secs(1);
        assert_eq!(senders.judge(later, at, &loud, "x", until), Verdict::New);
    }

    #[test]
    fn what_is_remembered_of_senders_is_bounded() {
        let (mut now, mut at) = (Instant::now(), SystemTime::now());
        let mut senders = Senders::default();
        for number in 0..MAX_SENDERS + 10 {
            now += Duration::from_millis(1);
            let name = format!("hall-{number}").parse().unwrap();
            senders.judge(now, at, &name, "1", at);
        }
        assert_eq!(senders.0.len(), MAX_SENDERS);
        let name = "hall-300".parse().unwrap();
        for number in 0..3 * MAX_IDS {
            now += Duration::from_millis(10);
            at += Duration::from_millis(10);
            let until = at + Duration::from_secs(10);
            senders.judge(now, at, &name, &number.to_string(), until);
        }
        assert!(senders.0[&name].ids.len() <= MAX_IDS);
    }
}
