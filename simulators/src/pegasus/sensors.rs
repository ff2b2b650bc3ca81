//! What the sensors see: squares that are occupied, and a captured piece that is seen to go late or never.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Square};

use crate::pieces::Change;

/// How long a piece that is gone is seen at most: longer than a hand needs from the victim to the square (2.8 s).
const HIDDEN: Duration = Duration::from_secs(3);

/// The sensors of all squares. Its squares are the true ones, whichever way round the board lies.
#[derive(Debug)]
pub(super) struct Sensors {
    occupied: Bitboard,
    /// How long a piece that is lifted while another is in the hand is still seen, at most; `None`: not at all.
    hides: Option<Duration>,
    /// Until when the piece that was lifted last may be in the hand.
    in_hand: Option<Instant>,
    /// Pieces that are gone and still seen, and until when.
    hidden: Vec<(Instant, Square)>,
    seen: VecDeque<(Square, bool)>,
}

impl Sensors {
    /// Sensors below these pieces. `hides`: how many times faster than a real person the hand is, if captures are
    /// hidden.
    pub(super) fn new(occupied: Bitboard, hides: Option<f64>) -> Self {
        Self {
            occupied,
            hides: hides.map(|speed| HIDDEN.div_f64(speed)),
            in_hand: None,
            hidden: Vec::new(),
            seen: VecDeque::new(),
        }
    }

    /// Other pieces stand there, and nothing is seen of how they came.
    pub(super) fn found(&mut self, occupied: Bitboard) {
        self.occupied = occupied;
        self.in_hand = None;
        self.hidden.clear();
    }

    /// The squares that they see occupied.
    pub(super) fn occupied(&self) -> Bitboard {
        self.occupied
    }

    /// Takes a change of the pieces.
    pub(super) fn change(&mut self, change: Change) {
        let Change { at, square, piece } = change;
        if piece.is_some() {
            self.in_hand = None;
            let hidden = self.hidden.iter().position(|(_, other)| *other == square);
            if let Some(index) = hidden {
                self.hidden.swap_remove(index);
            } else {
                self.see(square, true);
            }
            for (_, square) in std::mem::take(&mut self.hidden) {
                self.see(square, false);
            }
            return;
        }
        let is_another = self.in_hand.is_some_and(|until| at < until);
        match self.hides {
            Some(hides) if is_another => self.hidden.push((at + hides, square)),
            _ => self.see(square, false),
        }
        self.in_hand = self.hides.map(|hides| at + hides);
    }

    /// When [`Self::timeout`] is to be called next.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.hidden.iter().map(|(at, _)| *at).min()
    }

    /// What is hidden for too long is seen.
    pub(super) fn timeout(&mut self, now: Instant) {
        let (due, hidden) = self.hidden.drain(..).partition(|(at, _)| *at <= now);
        self.hidden = hidden;
        let due: Vec<(Instant, Square)> = due;
        for (_, square) in due {
            self.see(square, false);
        }
    }

    /// The next square that is seen to change, and whether it is occupied.
    pub(super) fn poll_seen(&mut self) -> Option<(Square, bool)> {
        self.seen.pop_front()
    }

    fn see(&mut self, square: Square, occupied: bool) {
        self.occupied.set(square, occupied);
        self.seen.push_back((square, occupied));
    }
}
