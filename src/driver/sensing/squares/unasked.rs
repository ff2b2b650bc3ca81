//! The squares that the hand has touched unasked during a list of corrections: until it obeys, only a move on these
//! squares counts.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Square};

use crate::chess::recognise::BOUNCE;

/// A touch that a list asks for counts as obeying it once the list is this old. A capture empties a square and fills it again,
/// which a list asks for as soon as the square is empty; a hand takes 1.5 s at most for that in the harness.
const READ: Duration = Duration::from_secs(2);

/// The squares that the hand has touched unasked since it last obeyed a list of corrections.
#[derive(Debug)]
pub(super) struct Unasked {
    squares: Bitboard,
    /// The time of the last unasked touch, or of the list if later; `None` while there is no list.
    since: Option<Instant>,
    /// The last touch. Another one on its square, too soon for a hand, is part of it.
    last: Option<(Square, Instant)>,
}

impl Default for Unasked {
    fn default() -> Self {
        Self {
            squares: Bitboard::FULL,
            since: None,
            last: None,
        }
    }
}

impl Unasked {
    /// Notes whether there is a list of corrections.
    pub fn mind_list(&mut self, now: Instant, is_told: bool) {
        if is_told {
            self.since.get_or_insert(now);
        } else {
            *self = Self::default();
        }
    }

    /// The hand touches a square. `asked`: the list asks for that.
    pub fn touch(&mut self, now: Instant, square: Square, asked: bool) {
        let last = self.last.replace((square, now));
        let bounces =
            last.is_some_and(|(at, when)| at == square && now.duration_since(when) < BOUNCE);
        let Some(since) = self.since.as_mut().filter(|_| !bounces) else {
            return;
        };
        if !asked {
            *since = now;
            self.squares.add(square);
        } else if now.duration_since(*since) >= READ {
            self.squares = Bitboard::EMPTY;
        }
    }

    /// The square touched last.
    pub fn last(&self) -> Option<Square> {
        self.last.map(|(square, _)| square)
    }

    /// A move counts if it changes one of these squares.
    pub fn squares(&self) -> Bitboard {
        self.squares
    }
}
