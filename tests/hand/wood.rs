//! A board as its protocol describes it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::vocabulary::{Channel, Outgoing, Reply};
use shakmaty::{Board, Square};

use super::gesture::Touch;

/// A board at the end of its link.
pub trait Wood {
    /// What the configuration says of it.
    fn keys(&self) -> &'static str;
    /// How long a piece may rest where it is not to stay, ms: shorter than the settle time with a scan.
    fn rests(&self) -> u64;
    /// Takes a request; the answer, if the link gives one.
    fn takes(&mut self, now: Instant, outgoing: &Outgoing, board: &Board) -> Option<Reply>;
    /// The hand has touched a piece; this is what stands now.
    fn touched(&mut self, now: Instant, touch: Touch, board: &Board);
    fn next(&self) -> Option<Instant>;
    fn passes(&mut self, now: Instant, board: &Board);
    fn air(&mut self) -> &mut Air;
    /// It is switched off and on: it knows nothing of what it was told.
    fn off(&mut self, board: &Board);
    /// It can be switched off while its link stays.
    fn dies_silently(&self) -> bool {
        false
    }
}

/// What is on its way from the board.
#[derive(Default)]
pub struct Air {
    on_way: VecDeque<(Instant, Channel, Vec<u8>)>,
    rng: fastrand::Rng,
}

impl Air {
    pub fn new(seed: u64) -> Self {
        Self {
            on_way: VecDeque::new(),
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// This comes after up to so long, and nothing overtakes.
    pub fn send(&mut self, now: Instant, most: u64, channel: Channel, bytes: Vec<u8>) {
        let at = now + Duration::from_millis(self.rng.u64(5..=most));
        let at = self.on_way.back().map_or(at, |(last, ..)| at.max(*last));
        self.on_way.push_back((at, channel, bytes));
    }

    /// The link is lost, with what is on its way.
    pub fn clear(&mut self) {
        self.on_way.clear();
    }

    pub fn next(&self) -> Option<Instant> {
        self.on_way.front().map(|(at, ..)| *at)
    }

    pub fn comes(&mut self, now: Instant) -> Option<(Channel, Vec<u8>)> {
        if self.next()? > now {
            return None;
        }
        self.on_way
            .pop_front()
            .map(|(_, channel, bytes)| (channel, bytes))
    }
}

/// The number of a square on a DGT board: from a8 to h1.
pub fn field(square: Square) -> u8 {
    u8::try_from(u32::from(square.flip_vertical())).unwrap()
}
