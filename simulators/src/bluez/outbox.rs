//! Messages waiting to be sent.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use zbus::Message;

/// Messages that may wait to be sent; while there are as many, nothing more is taken from the bus or a peripheral.
const MAX_WAITING: usize = 1024;
/// Messages that may wait in all, including those that cannot be held off; more are lost.
const MAX_HELD: usize = 2 * MAX_WAITING;

/// What delays a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Answers to calls.
    Reply,
    /// Notifications of characteristics.
    Notification,
    /// Everything else, never delayed.
    Signal,
}

#[derive(Debug)]
struct Waiting {
    due: Instant,
    lane: Lane,
    message: Message,
}

/// Messages waiting to be sent, in order except between [`Lane`]s.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<Waiting>,
    /// The delay of replies.
    pub reply_delay: Duration,
    /// The delay of notifications.
    pub notification_delay: Duration,
}

impl Outbox {
    /// Whether nothing more may be taken.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    /// Queues a message until its time has come.
    pub fn push(&mut self, now: Instant, lane: Lane, message: zbus::Result<Message>) {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                tracing::error!("a message of the simulated BlueZ is wrong: {error}");
                return;
            }
        };
        if self.waiting.len() >= MAX_HELD {
            tracing::warn!("the simulated BlueZ loses a message: too many wait");
            return;
        }
        let delay = match lane {
            Lane::Reply => self.reply_delay,
            Lane::Notification => self.notification_delay,
            Lane::Signal => Duration::ZERO,
        };
        let last = self.waiting.iter().rev().find(|other| other.lane == lane);
        let due = (now + delay).max(last.map_or(now, |last| last.due));
        self.waiting.push_back(Waiting { due, lane, message });
    }

    /// The next message whose time has come.
    pub fn pop(&mut self, now: Instant) -> Option<Message> {
        let index = self.waiting.iter().position(|waiting| waiting.due <= now)?;
        self.waiting.remove(index).map(|waiting| waiting.message)
    }

    /// When there is something to send.
    pub fn deadline(&self) -> Option<Instant> {
        self.waiting.iter().map(|waiting| waiting.due).min()
    }

    /// Drops the notifications of a device that are not due yet: its link is gone.
    pub fn lose_notifications(&mut self, now: Instant, device: &str) {
        self.waiting.retain(|waiting| {
            let lost = waiting.lane == Lane::Notification
                && waiting.due > now
                && waiting
                    .message
                    .header()
                    .path()
                    .is_some_and(|path| path.as_str().starts_with(device));
            !lost
        });
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}
