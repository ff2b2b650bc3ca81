//! How long the recogniser waits.

use std::time::Duration;

/// How long to wait for a move that may still continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// A piece that has other squares to go to may still be in the hand, or sliding over this one. Longest time
    /// before a touched square was left again in the captured game: 0.36 s.
    pub touch: Duration,
    /// Two pieces were in the air, and one was put down: the player may put the other back. Longest pause within an
    /// adjustment in the captured game: 0.9 s.
    pub swap: Duration,
    /// A rook is on its square after castling: the king may follow.
    pub castling: Duration,
    /// A king in the centre may be the first half of a result sign.
    pub sign: Duration,
    /// Part of a move was not seen: longer than one period of the pictures (2.04 s at most in the captured game),
    /// so that a second one agrees.
    pub unseen: Duration,
    /// A capturing piece was lifted again and put back: it was adjusted, or the captured one came back.
    pub tried: Duration,
    /// A piece is in the air that may have captured without the board seeing that: the hand may also be thinking. Twice what a
    /// hand takes to carry a piece (2.8 s in the harness): a move that was not made is worse than one that is told late.
    pub hidden: Duration,
    /// An event is known to be lost: long enough for pictures to show that a piece was put back unseen.
    pub doubtful: Duration,
    /// The pieces match no possibility.
    pub puzzled: Duration,
    /// A piece is in the air.
    pub in_the_air: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            touch: Duration::from_millis(500),
            swap: Duration::from_secs(1),
            castling: Duration::from_secs(3),
            sign: Duration::from_secs(2),
            unseen: Duration::from_millis(2_200),
            tried: Duration::from_secs(2),
            hidden: Duration::from_secs(6),
            doubtful: Duration::from_millis(4_500),
            puzzled: Duration::from_secs(3),
            in_the_air: Duration::from_secs(10),
        }
    }
}

impl Waits {
    /// The same, with this `swap` wait and half of it as `touch`.
    #[must_use]
    pub fn settling(self, swap: Duration) -> Self {
        Self {
            touch: swap / 2,
            swap,
            ..self
        }
    }
}
