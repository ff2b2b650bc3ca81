//! The line to the board: bytes that arrive one after the other, and the small buffer that takes them.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// How long a byte takes: 10 bits at 9600 baud.
pub(super) const BYTE_TIME: Duration = Duration::from_micros(1042);
/// Bytes that the board's input buffer holds (protocol notes: 10).
const BUFFER: usize = 10;
/// Bytes that may be on the way: more than any program sends at once, and a bound for one that floods.
const MAX_WIRE: usize = 16 * 1024;

/// The line and the buffer.
#[derive(Debug, Default)]
pub(super) struct Wire {
    on_the_way: VecDeque<(Instant, u8)>,
    buffer: VecDeque<u8>,
}

impl Wire {
    /// Takes bytes that were sent now; each arrives after the one before. Returns how many are too many.
    pub(super) fn send(&mut self, now: Instant, byte_time: Duration, bytes: &[u8]) -> usize {
        let room = MAX_WIRE - self.on_the_way.len().min(MAX_WIRE);
        let last = self.on_the_way.back().map_or(now, |(at, _)| *at);
        let mut at = last.max(now);
        for &byte in bytes.iter().take(room) {
            at += byte_time;
            self.on_the_way.push_back((at, byte));
        }
        bytes.len().saturating_sub(room)
    }

    /// When the next byte arrives.
    pub(super) fn arrives_at(&self) -> Option<Instant> {
        self.on_the_way.front().map(|(at, _)| *at)
    }

    /// The next byte arrives. Returns it if the buffer is full and it is lost.
    pub(super) fn arrive(&mut self) -> Option<u8> {
        let (_, byte) = self.on_the_way.pop_front()?;
        if self.buffer.len() >= BUFFER {
            return Some(byte);
        }
        self.buffer.push_back(byte);
        None
    }

    /// Whether the board has something to read.
    pub(super) fn has_input(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The board reads a byte.
    pub(super) fn read(&mut self) -> Option<u8> {
        self.buffer.pop_front()
    }

    /// What is in the buffer and on the way is gone.
    pub(super) fn clear(&mut self) {
        self.on_the_way.clear();
        self.buffer.clear();
    }
}
