//! One direction of a line that takes its time, cuts messages into pieces, and can be cut itself.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use fastrand::Rng;

/// How a line carries.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// A piece takes so many milliseconds at most.
    pub delay: u64,
    /// A message may come in pieces.
    pub pieces: bool,
}

/// Some bytes, as they arrive at once.
#[derive(Debug)]
pub struct Piece<T> {
    at: Instant,
    pub bytes: Vec<u8>,
    /// What is whole with them.
    pub ends: Option<T>,
}

/// One direction. `T` is what a message is to the test.
#[derive(Debug)]
pub struct Pipe<T> {
    manner: Manner,
    pieces: VecDeque<Piece<T>>,
    /// The last piece that arrived was not the end of its message.
    middle: bool,
}

impl<T> Pipe<T> {
    pub fn new(manner: Manner) -> Self {
        Self {
            manner,
            pieces: VecDeque::new(),
            middle: false,
        }
    }

    pub fn send(&mut self, now: Instant, bytes: &[u8], what: T, random: &mut Rng) {
        let mut rest = bytes;
        let mut what = Some(what);
        while what.is_some() {
            // A message is whole with its CR: LF comes with it.
            let last = rest.len() - usize::from(rest.ends_with(b"\r\n"));
            let length = if self.manner.pieces && last > 1 && random.u8(..3) == 0 {
                random.usize(1..last)
            } else {
                rest.len()
            };
            let (piece, left) = rest.split_at(length);
            rest = left;
            let delay = Duration::from_millis(random.u64(0..=self.manner.delay));
            let before = self.pieces.back().map_or(now, |piece| piece.at);
            self.pieces.push_back(Piece {
                at: before.max(now + delay),
                bytes: piece.to_vec(),
                ends: what.take_if(|_| rest.is_empty()),
            });
        }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.pieces.front().map(|piece| piece.at)
    }

    pub fn poll(&mut self, now: Instant) -> Option<Piece<T>> {
        let piece = self.pieces.pop_front_if(|piece| piece.at <= now)?;
        self.middle = piece.ends.is_none();
        Some(piece)
    }

    /// What is on its way, in whole or in part.
    pub fn under_way(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().filter_map(|piece| piece.ends.as_ref())
    }

    /// Whether a part of a message has arrived.
    pub fn is_in_the_middle(&self) -> bool {
        self.middle
    }

    /// The line is cut: what was on its way is lost.
    pub fn cut(&mut self) -> Vec<T> {
        self.middle = false;
        self.pieces
            .drain(..)
            .filter_map(|piece| piece.ends)
            .collect()
    }
}
