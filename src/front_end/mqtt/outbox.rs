//! What waits for the broker, and what must be there whenever it is reached.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::{Duration, Instant},
};

use bytes::Bytes;

/// Messages that were sent and that the broker has not confirmed: within a broker's usual limit of 20 (mosquitto's
/// `max_inflight_messages`).
pub const WINDOW: usize = 16;
/// Messages that may wait while the broker is away or slow: minutes of a hall's events. The oldest is dropped beyond that, and is
/// in the boards' states all the same, which are told as soon as there is room.
pub const MAX_WAITING: usize = 4_096;
/// The same in bytes.
pub const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// A message for the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its topic.
    pub topic: String,
    /// What is said.
    pub payload: Bytes,
    /// Whether the broker keeps it for those that come later.
    pub retain: bool,
    /// How long it is good for; for ever without it.
    pub life: Option<Duration>,
}

impl Message {
    /// What the broker keeps.
    pub fn retained(topic: &(impl ToString + ?Sized), payload: impl Into<Bytes>) -> Self {
        Self {
            topic: topic.to_string(),
            payload: payload.into(),
            retain: true,
            life: None,
        }
    }

    /// What is said once.
    pub fn once(topic: &(impl ToString + ?Sized), payload: impl Into<Bytes>) -> Self {
        Self {
            topic: topic.to_string(),
            payload: payload.into(),
            retain: false,
            life: None,
        }
    }

    /// What is good for this long only.
    #[must_use]
    pub fn within(mut self, life: Duration) -> Self {
        self.life = Some(life);
        self
    }

    fn size(&self) -> usize {
        self.topic.len() + self.payload.len()
    }
}

#[derive(Clone, Debug)]
struct Waiting {
    message: Message,
    since: Instant,
}

/// What waits for the broker. See the module documentation.
#[derive(Debug, Default)]
pub struct Outbox {
    /// What must be on the broker, by topic.
    kept: BTreeMap<String, Bytes>,
    /// Topics under which the broker may have something else than `kept` has: said as soon as nothing else waits, without a copy.
    unsaid: BTreeSet<String>,
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// Sent over this connection and not confirmed, oldest first: a broker confirms in order (MQTT 5.0, section 4.6).
    sent: VecDeque<Waiting>,
    connected: bool,
    dropped: u64,
}

impl Outbox {
    /// Something to say. What is retained replaces what waits under its topic.
    pub fn put(&mut self, now: Instant, message: Message) {
        if message.retain {
            if message.payload.is_empty() {
                self.kept.remove(&message.topic);
            } else {
                let (topic, payload) = (message.topic.clone(), message.payload.clone());
                self.kept.insert(topic, payload);
            }
            self.unsaid.remove(&message.topic);
            // Whatever is kept is said at the next connection anyway.
            if !self.connected && !message.payload.is_empty() {
                return;
            }
            let same = |waiting: &Waiting| {
                waiting.message.retain && waiting.message.topic == message.topic
            };
            if let Some(at) = self.waiting.iter().position(same)
                && let Some(before) = self.waiting.remove(at)
            {
                self.bytes -= before.message.size();
            }
        }
        self.bytes += message.size();
        self.waiting.push_back(Waiting {
            message,
            since: now,
        });
        while self.waiting.len() > MAX_WAITING || self.bytes > MAX_WAITING_BYTES {
            let Some(oldest) = self.waiting.pop_front() else {
                break;
            };
            self.bytes -= oldest.message.size();
            if oldest.message.retain {
                self.unsaid.insert(oldest.message.topic);
            } else {
                self.dropped += 1;
            }
        }
    }

    /// Whether the broker is to keep just this under a topic.
    pub fn says(&self, topic: &str, payload: &Bytes) -> bool {
        self.kept.get(topic) == Some(payload)
    }

    /// Whether this must be on the broker.
    pub fn keeps(&self, topic: &str) -> bool {
        self.kept.contains_key(topic)
    }

    /// The connection is there, and the broker may have forgotten everything.
    pub fn connected(&mut self) {
        self.lost();
        self.connected = true;
        // Events first, the states that have them after: a state of before must not follow its events.
        let not_kept =
            |waiting: &Waiting| !waiting.message.retain || waiting.message.payload.is_empty();
        self.waiting.retain(not_kept);
        self.bytes = self
            .waiting
            .iter()
            .map(|waiting| waiting.message.size())
            .sum();
        self.unsaid.extend(self.kept.keys().cloned());
    }

    /// The connection is lost: what was not confirmed waits again.
    pub fn lost(&mut self) {
        self.connected = false;
        while let Some(sent) = self.sent.pop_back() {
            self.bytes += sent.message.size();
            self.waiting.push_front(sent);
        }
    }

    /// The next message to send, unless the broker has enough to confirm.
    pub fn next(&mut self, now: Instant) -> Option<Message> {
        while self.connected && self.sent.len() < WINDOW {
            let Some(waiting) = self.waiting.pop_front() else {
                return self.next_unsaid(now);
            };
            self.bytes -= waiting.message.size();
            let age = now.saturating_duration_since(waiting.since);
            if waiting.message.life.is_some_and(|life| age > life) {
                continue;
            }
            let message = waiting.message.clone();
            self.sent.push_back(waiting);
            return Some(message);
        }
        None
    }

    /// What the broker keeps and has not been told.
    fn next_unsaid(&mut self, now: Instant) -> Option<Message> {
        let topic = self.unsaid.pop_first()?;
        // What is kept no more is taken off the broker.
        let payload = self.kept.get(&topic).cloned().unwrap_or_default();
        let message = Message::retained(&topic, payload);
        self.sent.push_back(Waiting {
            message: message.clone(),
            since: now,
        });
        Some(message)
    }

    /// The message just taken could not be handed over: it is the next one again.
    pub fn take_back(&mut self) {
        if let Some(sent) = self.sent.pop_back() {
            self.bytes += sent.message.size();
            self.waiting.push_front(sent);
        }
    }

    /// The broker has confirmed the oldest message: this one.
    pub fn confirmed(&mut self) -> Option<Message> {
        self.sent.pop_front().map(|sent| sent.message)
    }

    /// Whether nothing waits and everything is confirmed.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.unsaid.is_empty() && self.sent.is_empty()
    }

    /// How many events were dropped since this was last asked.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(outbox: &mut Outbox, now: Instant) -> Vec<String> {
        let next = || {
            let message = outbox.next(now)?;
            Some(String::from_utf8_lossy(&message.payload).into_owned())
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn everything_kept_is_said_again_at_every_connection() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        outbox.put(now, Message::retained("a", "1"));
        outbox.put(now, Message::retained("a", "2"));
        outbox.put(now, Message::once("b", "event"));
        assert_eq!(
            outbox.next(now),
            None,
            "nothing is sent without a connection"
        );
        outbox.connected();
        assert_eq!(sent(&mut outbox, now), ["event", "2"]);
        outbox.confirmed();
        outbox.confirmed();
        assert!(outbox.is_done());
        outbox.lost();
        outbox.connected();
        assert_eq!(sent(&mut outbox, now), ["2"]);
    }

    #[test]
    fn what_was_not_confirmed_is_said_again_in_order() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        outbox.connected();
        for text in ["1", "2", "3"] {
            outbox.put(now, Message::once("b", text));
        }
        assert_eq!(sent(&mut outbox, now), ["1", "2", "3"]);
        outbox.confirmed();
        outbox.lost();
        outbox.put(now, Message::once("b", "4"));
        outbox.connected();
        assert_eq!(sent(&mut outbox, now), ["2", "3", "4"]);
    }

    #[test]
    fn a_broker_that_is_away_for_long_costs_the_oldest_events_only() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        outbox.put(now, Message::retained("state", "s"));
        for number in 0..MAX_WAITING + 3 {
            outbox.put(now, Message::once("b", number.to_string()));
        }
        assert_eq!(outbox.take_dropped(), 3);
        outbox.connected();
        assert_eq!(outbox.next(now).unwrap().payload, "3");
        for _ in 0..20 {
            outbox.put(now, Message::once("b", vec![b'x'; MAX_WAITING_BYTES / 10]));
        }
        assert!(outbox.bytes <= MAX_WAITING_BYTES);
    }

    #[test]
    fn states_beyond_what_may_wait_are_all_told_to_a_broker_that_forgot_them() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        let topic = |board: usize| format!("state {board:04}");
        let state = || vec![b's'; MAX_WAITING_BYTES / 100];
        let boards = 300;
        let mut told = BTreeMap::new();
        let tells = |outbox: &mut Outbox, told: &mut BTreeMap<String, Bytes>, most: usize| {
            for _ in 0..most {
                let Some(message) = outbox.next(now) else {
                    return;
                };
                told.insert(message.topic, message.payload);
                outbox.confirmed();
            }
        };
        for board in 0..boards {
            outbox.put(now, Message::retained(&topic(board), state()));
        }
        outbox.put(now, Message::retained("gone", "s"));
        outbox.connected();
        // It is told while boards go on, one of them with more than may wait.
        tells(&mut outbox, &mut told, 10);
        outbox.put(now, Message::retained("gone", ""));
        outbox.put(now, Message::retained(&topic(7), "new"));
        for _ in 0..200 {
            outbox.put(now, Message::once("event", state()));
            assert!(outbox.bytes <= MAX_WAITING_BYTES);
        }
        tells(&mut outbox, &mut told, usize::MAX);
        assert!(outbox.is_done());
        assert_eq!(told["gone"], "", "it is taken off the broker");
        assert_eq!(told[&topic(7)], "new");
        let missing = (0..boards).filter(|board| !told.contains_key(&topic(*board)));
        assert_eq!(missing.count(), 0);
    }

    #[test]
    fn an_expired_command_is_not_sent() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        let life = Duration::from_secs(10);
        outbox.put(now, Message::once("c", "old").within(life));
        let later = now + life + Duration::from_secs(1);
        outbox.put(later, Message::once("c", "new").within(life));
        outbox.connected();
        assert_eq!(sent(&mut outbox, later), ["new"]);
    }

    #[test]
    fn the_broker_is_not_sent_more_than_it_can_confirm() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        outbox.connected();
        for number in 0..WINDOW + 5 {
            outbox.put(now, Message::once("b", number.to_string()));
        }
        assert_eq!(sent(&mut outbox, now).len(), WINDOW);
        outbox.confirmed();
        assert_eq!(sent(&mut outbox, now), [WINDOW.to_string()]);
    }
}
