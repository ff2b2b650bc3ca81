//! A queue of requests to the board: one at a time, each answered before the next goes.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::vocabulary::{Outgoing, Reply, Request};

/// Requests that may wait. The longest sequence (a Neo's start) has ten.
pub const MAX_QUEUED: usize = 64;
/// Attempts before a request is given up: one may be lost on the radio, two are rare.
pub const MAX_TRIES: u8 = 3;
/// The pause before a refused request is repeated.
pub const RETRY_WAIT: Duration = Duration::from_secs(1);

/// The final outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled<P> {
    /// It was done.
    Done(P),
    /// It was refused too often; the reason for the last refusal.
    GivenUp(P, String),
}

#[derive(Clone, Debug)]
struct Entry<P> {
    outgoing: Outgoing,
    part: P,
    tries: u8,
}

/// The queue. See the module documentation. `P` says what a request is part of.
#[derive(Clone, Debug)]
pub struct Outbox<P> {
    queue: VecDeque<Entry<P>>,
    under_way: bool,
    not_before: Option<Instant>,
    /// The pause after each request.
    gap: Duration,
}

impl<P> Default for Outbox<P> {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            under_way: false,
            not_before: None,
            gap: Duration::ZERO,
        }
    }
}

impl<P> Outbox<P> {
    /// A queue that pauses after each request.
    pub fn spaced(gap: Duration) -> Self {
        Self {
            gap,
            ..Self::default()
        }
    }
}

impl<P: Copy + PartialEq> Outbox<P> {
    /// Pauses this long after each request from now on.
    pub fn space(&mut self, gap: Duration) {
        self.gap = gap;
    }

    /// Queues a request. Drops it if the queue is full: the board has not answered for a long time, and the link is
    /// about to be given up.
    pub fn push(&mut self, outgoing: Outgoing, part: P) {
        if self.queue.len() < MAX_QUEUED {
            self.queue.push_back(Entry {
                outgoing,
                part,
                tries: 0,
            });
        }
    }

    /// The next request, if it may go now; writes are held back while `quiet`.
    pub fn poll(&mut self, now: Instant, quiet: bool) -> Option<Outgoing> {
        if self.under_way || self.not_before.is_some_and(|at| at > now) {
            return None;
        }
        let entry = self.queue.front_mut()?;
        if quiet
            && matches!(
                entry.outgoing.request,
                Request::Write(_) | Request::Command(_) | Request::Secret(_)
            )
        {
            return None;
        }
        entry.tries += 1;
        self.under_way = true;
        self.not_before = None;
        Some(entry.outgoing.clone())
    }

    /// The current request was answered.
    pub fn answered(&mut self, now: Instant, outcome: Reply) -> Option<Settled<P>> {
        if !std::mem::take(&mut self.under_way) {
            return None;
        }
        let tries = self.queue.front()?.tries;
        match outcome {
            Reply::Done => {
                self.not_before = (!self.gap.is_zero()).then(|| now + self.gap);
                self.queue.pop_front().map(|e| Settled::Done(e.part))
            }
            Reply::Refused(_) if tries < MAX_TRIES => {
                self.not_before = Some(now + RETRY_WAIT.max(self.gap));
                None
            }
            Reply::Refused(why) => {
                self.not_before = (!self.gap.is_zero()).then(|| now + self.gap);
                let entry = self.queue.pop_front()?;
                Some(Settled::GivenUp(entry.part, why))
            }
        }
    }

    /// What the request awaiting its answer is part of.
    pub fn under_way(&self) -> Option<P> {
        let first = self.queue.front().filter(|_| self.under_way);
        first.map(|entry| entry.part)
    }

    /// Removes a queued request that has not been sent. Returns whether there was one.
    pub fn retract(&mut self, part: P) -> bool {
        let first = usize::from(self.under_way);
        let waits = self.queue.iter().skip(first).position(|e| e.part == part);
        waits.is_some_and(|at| self.queue.remove(first + at).is_some())
    }

    /// The board has done this, whatever is said of its request: it is not sent again. `false` if it was not sent yet.
    pub fn was_done(&mut self, part: P) -> bool {
        let Some(at) = self.queue.iter().position(|entry| entry.part == part) else {
            // Its request was answered.
            return true;
        };
        if self.queue[at].tries == 0 {
            return false;
        }
        if at == 0 && self.under_way {
            self.queue[at].tries = MAX_TRIES;
        } else {
            self.queue.remove(at);
        }
        true
    }

    /// When [`Self::poll`] may have a request again.
    pub fn deadline(&self) -> Option<Instant> {
        self.not_before.filter(|_| !self.queue.is_empty())
    }

    /// Whether no request waits or is being sent.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The link ended: drops everything.
    pub fn clear(&mut self) {
        *self = Self::spaced(self.gap);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn what_the_board_has_done_is_not_sent_again_though_it_is_refused() {
        for refused_first in [false, true] {
            let (mut outbox, now) = (Outbox::default(), Instant::now());
            outbox.push(Outgoing::serial(Bytes::from_static(b"path")), 1);
            outbox.push(Outgoing::serial(Bytes::from_static(b"next")), 2);
            assert!(outbox.poll(now, false).is_some());
            if refused_first {
                assert_eq!(
                    outbox.answered(now, Reply::Refused("no answer".into())),
                    None
                );
            }
            assert!(!outbox.was_done(2), "it was not sent");
            assert!(outbox.was_done(1));
            if !refused_first {
                let given_up = outbox.answered(now, Reply::Refused("no answer".into()));
                assert!(
                    matches!(given_up, Some(Settled::GivenUp(1, _))),
                    "{given_up:?}"
                );
            }
            let next = outbox.poll(now + 2 * RETRY_WAIT, false);
            assert_eq!(next.unwrap().bytes(), b"next");
        }
    }
}
