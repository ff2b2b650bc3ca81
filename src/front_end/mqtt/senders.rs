//! Who sends commands, and how many: a flood costs its sender only, and nothing is done twice.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher as _, RandomState},
    time::{Duration, Instant, SystemTime},
};

use super::settings::DaemonName;

/// Senders that are known at once. One is forgotten for another once its commands have expired: the one that has been silent longest.
pub const MAX_SENDERS: usize = 256;
/// Commands of one sender a second, for each of our boards: five moves of the hand, each of which a program takes with four.
pub const PER_BOARD: u32 = 20;
/// Commands of one sender a second, however few boards there are.
pub const PER_SECOND: u32 = 200;
/// So many seconds of commands at once: all tables begin a round, or say everything again after a cut.
pub const SECONDS_AT_ONCE: u32 = 2;
/// Bytes that an identifier takes until its command expires: a key of eight, a time of four, an outcome of one, and what a B-tree takes
/// for them.
const ID: usize = 32;
/// Bytes of identifiers that every sender may have remembered, whatever others do: of its commands of a second and more.
pub const OWN_BYTES: usize = 8 * 1024;
/// Bytes of identifiers beyond that, over all senders: those of 30 that send all they may, good for ten seconds each. With what each
/// has of its own it is 4 MiB.
pub const SHARED_BYTES: usize = 4 * 1024 * 1024 - MAX_SENDERS * OWN_BYTES;
/// Identifiers of all senders are looked through for expired ones at most this often.
const LOOK: Duration = Duration::from_secs(1);

/// Whether a command is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    New,
    /// It was taken before, and this came of it.
    Again(Outcome),
    /// There are too many. `true` the first time since one was taken.
    TooMany(bool),
}

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet: its answer is still to come.
    Pending,
    /// It was done.
    Done,
    /// It was refused.
    Refused,
}

/// A command that was taken.
#[derive(Debug)]
struct Taken {
    /// Until when it is good, in seconds since 1970.
    until: u32,
    outcome: Outcome,
}

#[derive(Debug)]
struct Sender {
    left: f64,
    at: Instant,
    told: bool,
    /// Its commands, by what stands for their identifiers.
    ids: BTreeMap<u64, Taken>,
}

impl Sender {
    fn expire(&mut self, at: u32) {
        self.ids.retain(|_, taken| taken.until >= at);
    }

    /// What it has beyond its own.
    fn shared(&self) -> usize {
        (self.ids.len() * ID).saturating_sub(OWN_BYTES)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct Senders {
    /// Our boards.
    boards: u32,
    known: BTreeMap<DaemonName, Sender>,
    /// Nobody else can tell which identifiers it takes for the same.
    hasher: RandomState,
    /// What senders have beyond their own, in all.
    shared: usize,
    looked: Option<Instant>,
    told: bool,
}

impl Senders {
    /// We have so many boards now.
    pub fn have_boards(&mut self, boards: usize) {
        self.boards = u32::try_from(boards).unwrap_or(u32::MAX);
    }

    /// Commands of one sender a second.
    fn per_second(&self) -> u32 {
        self.boards.saturating_mul(PER_BOARD).max(PER_SECOND)
    }

    /// Whether this command is taken; it is good until then.
    pub fn judge(
        &mut self,
        now: Instant,
        at: SystemTime,
        from: &DaemonName,
        id: &str,
        until: SystemTime,
    ) -> Verdict {
        let at = seconds(at);
        if !self.known.contains_key(from) && self.known.len() >= MAX_SENDERS {
            self.expire(now, at);
            let idle = self
                .known
                .iter()
                .filter(|(_, sender)| sender.ids.is_empty());
            let oldest = idle.min_by_key(|(_, sender)| sender.at);
            // What one of them has said could be said again by anybody if it was forgotten before.
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                return Verdict::TooMany(!std::mem::replace(&mut self.told, true));
            };
            self.known.remove(&oldest);
            self.told = false;
        }
        let id = self.hasher.hash_one(id);
        let per_second = f64::from(self.per_second());
        let at_once = per_second * f64::from(SECONDS_AT_ONCE);
        let sender = self.known.entry(from.clone()).or_insert_with(|| Sender {
            left: at_once,
            at: now,
            told: false,
            ids: BTreeMap::new(),
        });
        let passed = now
            .saturating_duration_since(sender.at)
            .min(Duration::from_mins(1));
        let more = passed.as_secs_f64() * per_second;
        sender.left = (sender.left + more).min(at_once);
        sender.at = now;
        if let Some(taken) = sender.ids.get(&id) {
            return Verdict::Again(taken.outcome);
        }
        let has_room = sender.ids.len() * ID + ID <= OWN_BYTES;
        let is_paced = sender.left >= 1.0;
        let has_room = has_room || is_paced && self.has_room(now, at);
        let Some(sender) = self.known.get_mut(from) else {
            return Verdict::TooMany(false);
        };
        if !is_paced || !has_room {
            return Verdict::TooMany(!std::mem::replace(&mut sender.told, true));
        }
        sender.left -= 1.0;
        sender.told = false;
        let before = sender.shared();
        // Kept until the second is over.
        let taken = Taken {
            until: seconds(until).saturating_add(1),
            outcome: Outcome::Pending,
        };
        sender.ids.insert(id, taken);
        self.shared += sender.shared().saturating_sub(before);
        Verdict::New
    }

    /// Notes what came of a command.
    pub fn conclude(&mut self, from: &DaemonName, id: &str, outcome: Outcome) {
        let id = self.hasher.hash_one(id);
        let sender = self.known.get_mut(from);
        if let Some(taken) = sender.and_then(|sender| sender.ids.get_mut(&id)) {
            taken.outcome = outcome;
        }
    }

    /// A command was not carried out, and may come again.
    pub fn forget(&mut self, from: &DaemonName, id: &str) {
        let id = self.hasher.hash_one(id);
        if let Some(sender) = self.known.get_mut(from) {
            let before = sender.shared();
            sender.ids.remove(&id);
            self.shared = self.shared.saturating_sub(before - sender.shared());
        }
    }

    /// Whether one more identifier may be remembered beyond what senders have of their own.
    fn has_room(&mut self, now: Instant, at: u32) -> bool {
        if self.shared + ID > SHARED_BYTES / 2 {
            self.expire(now, at);
        }
        self.shared + ID <= SHARED_BYTES
    }

    /// Forgets what has expired.
    fn expire(&mut self, now: Instant, at: u32) {
        let lately = |looked: Instant| now.saturating_duration_since(looked) < LOOK;
        if self.looked.is_some_and(lately) {
            return;
        }
        self.looked = Some(now);
        for sender in self.known.values_mut() {
            sender.expire(at);
        }
        self.shared = self.known.values().map(Sender::shared).sum();
    }
}

/// Since 1970, by a clock that is within a century of it.
fn seconds(at: SystemTime) -> u32 {
    let since = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: u32 = PER_SECOND * SECONDS_AT_ONCE;

    impl Senders {
        fn bytes(&self) -> usize {
            let ids = self.known.values().map(|sender| sender.ids.len());
            ids.sum::<usize>() * ID
        }
    }

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
        let again = |outcome| Verdict::Again(outcome);
        assert_eq!(
            senders.judge(now, at, &loud, "0", until),
            again(Outcome::Pending)
        );
        senders.conclude(&loud, "0", Outcome::Refused);
        assert_eq!(
            senders.judge(now, at, &loud, "0", until),
            again(Outcome::Refused)
        );
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
    fn a_daemon_with_many_boards_takes_what_programs_on_all_of_them_say() {
        let (now, at) = (Instant::now(), SystemTime::now());
        let until = at + Duration::from_secs(10);
        let mut senders = Senders::default();
        let hall = "hall-2".parse().unwrap();
        senders.have_boards(100);
        // Four for each move, five moves a second on every board, after a cut in which each has said as much again.
        for number in 0..100 * 4 * 5 * 2 {
            let verdict = senders.judge(now, at, &hall, &number.to_string(), until);
            assert_eq!(verdict, Verdict::New);
        }
        let verdict = senders.judge(now, at, &hall, "x", until);
        assert_eq!(verdict, Verdict::TooMany(true));
    }

    #[test]
    fn what_is_remembered_of_senders_is_bounded_and_nothing_is_done_twice_all_the_same() {
        let (mut now, at) = (Instant::now(), SystemTime::now());
        let until = at + Duration::from_mins(5);
        let mut senders = Senders::default();
        let name = |number: usize| format!("hall-{number}").parse::<DaemonName>().unwrap();
        let mut taken = vec![0; MAX_SENDERS];
        // As many names as are known, each of which sends all it may.
        for second in 0..2 {
            for (number, taken) in taken.iter_mut().enumerate() {
                for _ in 0..AT_ONCE {
                    let id = taken.to_string();
                    let verdict = senders.judge(now, at, &name(number), &id, until);
                    *taken += usize::from(verdict == Verdict::New);
                }
            }
            assert!(senders.bytes() <= 4 * 1024 * 1024, "in second {second}");
            now += Duration::from_secs(2);
        }
        assert!(senders.bytes() > 3 * 1024 * 1024);
        for (number, taken) in taken.iter().enumerate() {
            assert!(*taken >= OWN_BYTES / ID, "every sender has its share");
            for id in 0..*taken {
                let verdict = senders.judge(now, at, &name(number), &id.to_string(), until);
                assert_eq!(verdict, Verdict::Again(Outcome::Pending));
            }
        }
        // Another name is no way to make one forgotten before its commands have expired.
        let mut new = |at| senders.judge(now, at, &name(MAX_SENDERS), "1", until);
        assert_eq!(new(at), Verdict::TooMany(true));
        assert_eq!(new(at), Verdict::TooMany(false));
        now += LOOK;
        let later = until + Duration::from_secs(2);
        let verdict = senders.judge(now, later, &name(MAX_SENDERS), "1", later);
        assert_eq!(verdict, Verdict::New);
        assert_eq!(senders.known.len(), MAX_SENDERS);
    }
}
