//! The order of what one daemon says to a board: a broker may deliver a message after a later one.
//!
//! Commands that carry a [`Turn`](super::messages::Turn) are carried out by its number. One that comes early waits a moment for those before it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use super::{
    messages::{Envelope, LONGEST_LIFE},
    settings::DaemonName,
};
use crate::vocabulary::BoardName;

/// How long a command waits for one before it, which may be lost. A broker that delivers in another order does so within a few
/// round trips.
pub const TURN_WAIT: Duration = Duration::from_millis(500);
/// Commands that wait at once, in all: of 32 KiB at most.
pub const MAX_EARLY: usize = 256;
/// Who says something to which board, known at once: the boards of this daemon, or 256 daemons that each play on 16 of them.
pub const MAX_SPEAKERS: usize = 4_096;

/// Who says something to which board of ours.
type Speaker = (DaemonName, BoardName, BoardName);

#[derive(Debug)]
struct Speech {
    series: u64,
    /// The number that comes next.
    next: u64,
    /// What came early, and when.
    early: BTreeMap<u64, (Instant, Envelope)>,
    /// When a command of it was taken last.
    heard: Instant,
}

/// What is said to our boards, in turn.
#[derive(Debug, Default)]
pub struct Turns {
    speeches: BTreeMap<Speaker, Speech>,
    /// Those in which something waits, by the time at which it has waited long enough.
    waits: BTreeSet<(Instant, Speaker)>,
    /// How many commands wait.
    early: usize,
}

impl Turns {
    /// A command for this board has come; returns what is to be carried out now, in order.
    ///
    /// # Errors
    /// One that has to come after it was carried out: the command is given back.
    pub fn take(
        &mut self,
        now: Instant,
        board: &BoardName,
        envelope: Envelope,
    ) -> Result<Vec<Envelope>, Box<Envelope>> {
        let Some(turn) = envelope.turn.clone() else {
            return Ok(vec![envelope]);
        };
        let is_full = self.early >= MAX_EARLY;
        let speaker = (envelope.from.clone(), board.clone(), turn.of);
        if !self.speeches.contains_key(&speaker) && self.speeches.len() >= MAX_SPEAKERS {
            let speeches = self.speeches.iter();
            let silent = speeches.min_by_key(|(_, speech)| speech.heard);
            if let Some(silent) = silent.map(|(speaker, _)| speaker.clone()) {
                self.change(&silent, |speech| speech.early.clear());
                self.speeches.remove(&silent);
            }
        }
        // Whatever was said before its last command has expired by then: no series blocks others for longer.
        let is_over = |speech: &Speech| now.saturating_duration_since(speech.heard) > LONGEST_LIFE;
        if self.speeches.get(&speaker).is_some_and(is_over) {
            self.change(&speaker, |speech| speech.early.clear());
            self.speeches.remove(&speaker);
        }
        let begins = Speech {
            series: turn.series,
            next: 1,
            early: BTreeMap::new(),
            heard: now,
        };
        self.speeches
            .entry(speaker.clone())
            .or_insert_with(|| begins);
        let said = self.change(&speaker, |speech| {
            if turn.series > speech.series {
                speech.series = turn.series;
                speech.next = 1;
                speech.early.clear();
            }
            if (turn.series, turn.number) < (speech.series, speech.next) {
                return Err(Box::new(envelope));
            }
            speech.heard = now;
            speech.early.insert(turn.number, (now, envelope));
            // If too many wait, none does.
            if is_full {
                speech.skip();
            }
            Ok(speech.ready())
        });
        said.unwrap_or_else(|| Ok(Vec::new()))
    }

    /// Changes what somebody has said, and notes what waits then. `None` if nobody knows him.
    fn change<T>(&mut self, speaker: &Speaker, change: impl FnOnce(&mut Speech) -> T) -> Option<T> {
        let speech = self.speeches.get_mut(speaker)?;
        let (before, waited) = (speech.early.len(), speech.deadline());
        let changed = change(speech);
        let (after, waits) = (speech.early.len(), speech.deadline());
        self.early = self.early + after - before;
        if waited != waits {
            if let Some(waited) = waited {
                self.waits.remove(&(waited, speaker.clone()));
            }
            if let Some(waits) = waits {
                self.waits.insert((waits, speaker.clone()));
            }
        }
        Some(changed)
    }

    /// When [`Self::overdue`] has something.
    pub fn deadline(&self) -> Option<Instant> {
        self.waits.first().map(|(at, _)| *at)
    }

    /// What has waited long enough, and the board that it is for.
    pub fn overdue(&mut self, now: Instant) -> Vec<(BoardName, Envelope)> {
        let mut overdue = Vec::new();
        while let Some((_, speaker)) = self.waits.first().filter(|(at, _)| *at <= now) {
            let speaker = speaker.clone();
            let ready = self.change(&speaker, |speech| {
                speech.skip();
                speech.ready()
            });
            let ready = ready.unwrap_or_default().into_iter();
            overdue.extend(ready.map(|envelope| (speaker.1.clone(), envelope)));
        }
        overdue
    }
}

impl Speech {
    fn deadline(&self) -> Option<Instant> {
        let since = self.early.values().map(|(since, _)| *since).min();
        since.map(|since| since + TURN_WAIT)
    }

    /// Those before the first that waits are taken for lost.
    fn skip(&mut self) {
        if let Some((number, _)) = self.early.first_key_value() {
            self.next = *number;
        }
    }

    /// Those whose turn it is.
    fn ready(&mut self) -> Vec<Envelope> {
        let mut ready = Vec::new();
        while let Some((_, envelope)) = self.early.remove(&self.next) {
            self.next = self.next.saturating_add(1);
            ready.push(envelope);
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::messages::Turn, *};

    fn envelope(series: u64, number: u64) -> Envelope {
        Envelope {
            id: format!("{series}-{number}"),
            from: "hall-2".parse().unwrap(),
            expires: String::new(),
            epoch: 1,
            turn: Some(Turn {
                of: "far".parse().unwrap(),
                series,
                number,
            }),
            command: json!("ready"),
        }
    }

    fn ids(envelopes: Vec<Envelope>) -> Vec<String> {
        envelopes.into_iter().map(|one| one.id).collect()
    }

    #[test]
    fn what_is_overtaken_is_carried_out_first_all_the_same() {
        let (now, board) = (Instant::now(), "citrine".parse().unwrap());
        let mut turns = Turns::default();
        let mut take = |one| turns.take(now, &board, one).map(ids);
        assert_eq!(take(envelope(5, 2)).unwrap(), [""; 0]);
        assert_eq!(take(envelope(5, 1)).unwrap(), ["5-1", "5-2"]);
        assert_eq!(take(envelope(5, 3)).unwrap(), ["5-3"]);
        // Of a series that is over, or of a number that is: too late.
        assert!(take(envelope(5, 2)).is_err());
        assert_eq!(take(envelope(6, 1)).unwrap(), ["6-1"]);
        assert!(take(envelope(5, 4)).is_err());
    }

    #[test]
    fn what_is_lost_is_waited_for_only_a_moment() {
        let (now, board) = (Instant::now(), "citrine".parse().unwrap());
        let mut turns = Turns::default();
        for number in [3, 4, 6] {
            assert_eq!(
                ids(turns.take(now, &board, envelope(5, number)).unwrap()),
                [""; 0]
            );
        }
        assert_eq!(turns.deadline(), Some(now + TURN_WAIT));
        assert!(turns.overdue(now).is_empty());
        let overdue = turns.overdue(now + TURN_WAIT).into_iter();
        assert_eq!(
            ids(overdue.map(|(_, one)| one).collect()),
            ["5-3", "5-4", "5-6"]
        );
        assert_eq!(turns.deadline(), None);
    }

    #[test]
    fn the_highest_series_blocks_its_sender_no_longer_than_a_command_is_good() {
        let (now, board) = (Instant::now(), "citrine".parse().unwrap());
        let mut turns = Turns::default();
        let mut take = |at, one| turns.take(at, &board, one).map(ids);
        assert_eq!(take(now, envelope(u64::MAX, 1)).unwrap().len(), 1);
        for minutes in 1..=5 {
            let later = now + Duration::from_mins(minutes);
            assert!(take(later, envelope(5, minutes)).is_err());
        }
        let later = now + LONGEST_LIFE + Duration::from_secs(1);
        assert_eq!(take(later, envelope(6, 1)).unwrap(), ["6-1"]);
    }

    #[test]
    fn what_waits_and_who_is_known_is_bounded() {
        let (mut now, board) = (Instant::now(), "citrine".parse().unwrap());
        let mut turns = Turns::default();
        for number in 2..MAX_EARLY as u64 + 10 {
            let _ = turns.take(now, &board, envelope(5, number));
        }
        assert!(turns.early <= MAX_EARLY);
        for number in 0..MAX_SPEAKERS + 10 {
            now += Duration::from_millis(1);
            let mut one = envelope(5, 1);
            one.from = format!("hall-{number}").parse().unwrap();
            let _ = turns.take(now, &board, one);
        }
        assert!(turns.speeches.len() <= MAX_SPEAKERS);
        // Who was forgotten waits for nothing.
        assert_eq!((turns.early, turns.deadline()), (0, None));
    }
}
