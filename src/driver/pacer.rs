//! The output queue for a board that loses messages that come too fast.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use bytes::Bytes;

/// Messages that may wait at once. The longest burst that a driver makes is a position of nine lines on top of
/// the answers to a power-on sequence; a message beyond the bound is dropped and replaces nothing.
pub const MAX_QUEUED: usize = 64;

/// How long a message waits at most for the board to be quiet. A list of 112 plies takes 0.4 s at 57600 baud.
pub const MAX_QUIET: Duration = Duration::from_secs(1);

/// A queued message.
#[derive(Clone, Debug)]
struct Outgoing<T> {
    bytes: Bytes,
    tag: T,
    queued: Instant,
    /// Minimum time since the previous message.
    gap: Duration,
    /// Minimum time since the board last spoke.
    quiet: Duration,
}

/// A queue of messages, each kept apart from the previous one and from the board's output.
///
/// A message carries a tag that the driver chooses and gets back when it is sent: a wait for an answer begins when
/// the question left, not when it was queued.
#[derive(Debug)]
pub struct Pacer<T> {
    queue: VecDeque<Outgoing<T>>,
    last_sent: Option<Instant>,
    last_heard: Option<Instant>,
}

impl<T> Default for Pacer<T> {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            last_sent: None,
            last_heard: None,
        }
    }
}

impl<T> Pacer<T> {
    /// Queues a message to go `gap` after the previous one and `quiet` after the board last spoke.
    pub fn push(
        &mut self,
        now: Instant,
        bytes: impl Into<Bytes>,
        tag: T,
        gap: Duration,
        quiet: Duration,
    ) {
        if self.queue.len() < MAX_QUEUED {
            self.queue.push_back(Outgoing {
                bytes: bytes.into(),
                tag,
                queued: now,
                gap,
                quiet,
            });
        }
    }

    /// The board has spoken.
    pub fn heard(&mut self, now: Instant) {
        self.last_heard = Some(now);
    }

    /// When the board last spoke.
    pub fn last_heard(&self) -> Option<Instant> {
        self.last_heard
    }

    /// When the next message may go.
    pub fn deadline(&self) -> Option<Instant> {
        let next = self.queue.front()?;
        let sent = self.last_sent.map(|at| at + next.gap);
        // A board that never stops talking is sent the message nevertheless.
        let latest = next.queued + MAX_QUIET;
        let heard = self.last_heard.map(|at| (at + next.quiet).min(latest));
        Some(sent.max(heard).unwrap_or(next.queued))
    }

    /// The next message, if its time has come.
    pub fn poll(&mut self, now: Instant) -> Option<(Bytes, T)> {
        if self.deadline()? > now {
            return None;
        }
        self.last_sent = Some(now);
        self.queue
            .pop_front()
            .map(|message| (message.bytes, message.tag))
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Drops everything that waits. The gap after the last message sent still applies.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// A link begins: nothing waits and nothing was heard. Whoever had the line before, such as this program before a
    /// restart, may have just written: the first message keeps its gap from now on.
    pub fn link_began(&mut self, now: Instant) {
        self.queue.clear();
        self.last_heard = None;
        self.last_sent = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_distance_from_each_other_and_from_the_board() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let mut pacer = Pacer::default();
        pacer.push(start, "a", 1, ms(100), ms(0));
        pacer.push(start, "b", 2, ms(100), ms(30));
        assert_eq!(pacer.poll(start), Some(("a".into(), 1)));
        assert_eq!(pacer.poll(start + ms(99)), None);
        pacer.heard(start + ms(90));
        assert_eq!(pacer.poll(start + ms(100)), None);
        assert_eq!(pacer.deadline(), Some(start + ms(120)));
        assert_eq!(pacer.poll(start + ms(120)), Some(("b".into(), 2)));
        assert!(pacer.is_empty());
    }

    #[test]
    fn the_first_message_over_a_link_keeps_its_distance_from_whoever_had_the_line_before() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let mut pacer = Pacer::default();
        pacer.link_began(start);
        pacer.push(start, "a", 1, ms(100), ms(0));
        assert_eq!(pacer.poll(start + ms(99)), None);
        assert_eq!(pacer.poll(start + ms(100)), Some(("a".into(), 1)));
    }
}
