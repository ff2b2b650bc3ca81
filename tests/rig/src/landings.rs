//! No move is reported without a landing on its square after the previous one.

use boardbridge::chess::{recognise::Recognised, sense::Sensed};
use shakmaty::Square;
use simulators::gesture;

/// When a piece was last put on each square, counted in sensed inputs; a picture may show it, too.
#[derive(Debug)]
pub struct Landings {
    at: [u64; 64],
    now: u64,
    last: u64,
}

impl Default for Landings {
    fn default() -> Self {
        Self {
            at: [0; 64],
            now: 0,
            last: 0,
        }
    }
}

impl Landings {
    /// Takes a sensed input.
    pub fn note(&mut self, sensed: Sensed) {
        self.now += 1;
        let squares = match sensed {
            Sensed::Placed(square) => square.into(),
            Sensed::Occupied(picture) => picture,
            Sensed::Lifted(_) => return,
        };
        for square in squares {
            self.at[usize::from(square)] = self.now;
        }
    }

    /// Whether there was a landing for what is reported.
    pub fn explain(&mut self, said: Recognised) -> bool {
        let legs = match said {
            Recognised::Played(m) => gesture::legs(m),
            _ => return true,
        };
        let landed = |(_, to): &(Square, Square)| self.at[usize::from(*to)];
        let at = legs.iter().map(landed).max().unwrap_or(0);
        let explained = at > self.last;
        self.last = at;
        explained
    }
}
