//! Chooses the promotion piece by how often the piece is put on the last square.

use std::time::{Duration, Instant};

use shakmaty::{Move, Role, Square};

use crate::chess::recognise::BOUNCE;

/// How long the promoted piece may still be lifted and put back to choose another.
const PROMOTION_WAIT: Duration = Duration::from_secs(3);

/// A promotion that waits for the gesture.
#[derive(Clone, Copy, Debug)]
struct Promoting {
    m: Move,
    due: Instant,
}

/// Successive landings on one square.
#[derive(Clone, Copy, Debug)]
struct Landings {
    square: Square,
    count: u8,
    /// Since when a piece stands there; `None` if it was lifted again.
    stands: Option<Instant>,
}

/// The gesture that chooses the promotion piece. Landings are counted from the first on, because the recogniser may
/// take a moment to detect a promotion.
#[derive(Debug, Default)]
pub(super) struct PromotionGesture {
    promoting: Option<Promoting>,
    landings: Option<Landings>,
}

impl PromotionGesture {
    /// A piece was put down.
    pub fn placed(&mut self, now: Instant, square: Square) {
        let before = self.landings.filter(|landings| landings.square == square);
        let elsewhere = self.promoting.is_some_and(|p| p.m.to() != square);
        let again = before.is_some_and(|landings| landings.stands.is_some());
        // A board may tell everything twice.
        if !elsewhere && !again {
            let count = before.map_or(0, |landings| landings.count);
            self.landings = Some(Landings {
                square,
                count: count.saturating_add(1),
                stands: Some(now),
            });
        }
    }

    /// A piece was lifted.
    pub fn lifted(&mut self, now: Instant, square: Square) {
        match &mut self.landings {
            Some(landings) if landings.square == square => {
                let Some(since) = landings.stands.take() else {
                    return;
                };
                let bounced = now.saturating_duration_since(since) < BOUNCE;
                landings.count -= u8::from(bounced);
                if let Some(promoting) = &mut self.promoting {
                    promoting.due = now + PROMOTION_WAIT;
                }
            }
            _ if self.promoting.is_none() => self.landings = None,
            _ => {}
        }
    }

    /// A pawn was promoted.
    pub fn begin(&mut self, now: Instant, m: Move) {
        let due = now + PROMOTION_WAIT;
        self.promoting = Some(Promoting { m, due });
    }

    /// Whether a promotion waits for the gesture.
    pub fn is_awaited(&self) -> bool {
        self.promoting.is_some()
    }

    /// When the gesture is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.promoting.map(|promoting| promoting.due)
    }

    /// Takes the promotion whose gesture is over, and its piece.
    pub fn take_done(&mut self, now: Instant) -> Option<(Move, Role)> {
        let Promoting { m, .. } = self.promoting.take_if(|p| p.due <= now)?;
        let landings = self.landings.filter(|landings| landings.square == m.to());
        let role = match landings.map_or(0, |landings| landings.count) {
            0..=2 => Role::Queen,
            3 => Role::Knight,
            4 => Role::Rook,
            _ => Role::Bishop,
        };
        Some((m, role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_is_told_twice_has_been_put_down_and_lifted_once() {
        let (mut gesture, mut now) = (PromotionGesture::default(), Instant::now());
        let m = Move::Normal {
            role: Role::Pawn,
            from: Square::E7,
            capture: None,
            to: Square::E8,
            promotion: Some(Role::Queen),
        };
        // A bounce, and a knight's three landings.
        for landing in 0..4 {
            for _ in 0..2 {
                gesture.placed(now, Square::E8);
            }
            if landing == 0 {
                gesture.begin(now, m);
            }
            now += if landing == 0 { BOUNCE / 2 } else { 2 * BOUNCE };
            if landing < 3 {
                for _ in 0..2 {
                    gesture.lifted(now, Square::E8);
                }
            }
        }
        now += PROMOTION_WAIT;
        assert_eq!(gesture.take_done(now), Some((m, Role::Knight)));
    }
}
