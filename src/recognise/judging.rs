//! Which possibility has come true, how sure that is, and how long to wait for it.

use std::time::Duration;

use shakmaty::{Bitboard, Move};

use super::{
    Recogniser,
    hypothesis::{Ambiguity, Hypothesis, Meaning},
};

impl Recogniser {
    /// The possibility that has come true, and whether all of it was seen.
    pub(super) fn find(&self) -> Option<(usize, bool)> {
        let e = &self.evidence;
        let faint = e.faint();
        let dim = e.dim();
        let resumed = self.resuming.is_some();
        let mut seen: Option<(u32, usize)> = None;
        // The best of those only partly seen: how good, which, and how many are as good.
        let mut best: Option<(u8, usize, u8)> = None;
        for (index, h) in self.hypotheses.iter().enumerate() {
            let stray = e.filled & !h.fills;
            if !h.fills.is_subset(e.filled) || !e.up.is_subset(h.vacates) || !stray.is_subset(faint)
            {
                continue;
            }
            // Where events are known to be lost, everything must have its reason.
            if (e.fell & !h.vacates).any() && self.is_shaky(h) {
                continue;
            }
            let unseen = h.vacates & !e.up;
            let swapped = self.swapped(h) && self.arrived(h) && self.met(h);
            if unseen.is_empty() && stray.is_empty() && swapped {
                // Of two squares the mover may have gone to, it went to the first; the other was only adjusted.
                let when = e.first_landed(h.swaps);
                if seen.is_none_or(|(first, _)| when < first) {
                    seen = Some((when, index));
                }
                continue;
            }
            if !e.pictured {
                continue;
            }
            let grade = if unseen.is_subset(e.fell) {
                1
            } else if h.fills.any() && unseen.is_subset(e.fell | dim) {
                2
            } else {
                continue;
            };
            let believable = swapped || (resumed && unseen.any());
            let stood = !resumed
                && h.swaps
                    .into_iter()
                    .any(|to| unseen.into_iter().any(|from| e.stood_after(from, to)));
            if !believable || stood || (unseen | stray).is_empty() {
                continue;
            }
            best = match best {
                Some((least, first, count)) if least == grade => {
                    Some((least, first, count.saturating_add(1)))
                }
                Some(better) if better.0 < grade => Some(better),
                _ => Some((grade, index, 1)),
            };
        }
        if let Some((_, index)) = seen {
            let h = self.hypotheses.get(index);
            // It read empty ever since, and there is another square the piece may be on.
            let unlikely = (h.fills & faint).any() && self.has_rival(&h);
            return (!unlikely).then_some((index, true));
        }
        match best {
            Some((_, index, 1)) => Some((index, false)),
            _ => None,
        }
    }

    /// Whether every square that changes its piece was seen to: a piece was put on it after the mover was lifted.
    fn swapped(&self, h: &Hypothesis) -> bool {
        let e = &self.evidence;
        h.swaps.is_subset(e.landed)
            && h.swaps.into_iter().all(|square| {
                h.mover
                    .filter(|(from, to)| e.up.contains(*from) && *to == square)
                    .is_none_or(|(from, _)| e.landed_after(square, from))
            })
    }

    /// Whether each moving piece was put down after it was lifted, not another one before.
    fn arrived(&self, h: &Hypothesis) -> bool {
        let e = &self.evidence;
        let arrived = |(from, to)| {
            !(h.fills | h.swaps).contains(to) || !e.up.contains(from) || e.landed_after(to, from)
        };
        h.mover.into_iter().chain(h.shown).all(arrived)
    }

    /// Whether the hand seems to have tried this, or something else, before.
    pub(super) fn is_doubtful(&self, h: &Hypothesis) -> bool {
        // A pawn is put down and replaced by its piece.
        let promotes = matches!(h.meaning, Meaning::Played(m) if m.is_promotion());
        (!h.meets && !promotes && (h.swaps & self.evidence.tried()).any()) || self.has_rival(h)
    }

    /// Whether something was not seen that this does not explain, or the player was asked already.
    pub(super) fn is_shaky(&self, h: &Hypothesis) -> bool {
        self.puzzle.is_some() || (self.evidence.orphans() & !(h.fills | h.swaps)).any()
    }

    /// Whether the moving piece may have gone on to take another, its lift unseen.
    fn has_rival(&self, h: &Hypothesis) -> bool {
        let e = &self.evidence;
        let Some((from, to)) = h.mover.filter(|(_, to)| h.fills.contains(*to)) else {
            return false;
        };
        self.hypotheses.iter().any(|other| {
            other.mover.is_some_and(|(mover, _)| mover == from)
                && other.swaps.any()
                && other.vacates.is_subset(e.up)
                && other.swaps.is_subset(e.landed)
                && other
                    .swaps
                    .into_iter()
                    .all(|square| e.landed_later(square, to))
        })
    }

    /// Whether the shown piece was put down and then taken, where that is what it takes.
    fn met(&self, h: &Hypothesis) -> bool {
        let tried = self.evidence.tried();
        !h.meets || h.mover.is_some_and(|(_, to)| tried.contains(to))
    }

    pub(super) fn wait_for(&self, index: usize, seen: bool) -> Duration {
        let h = self.hypotheses.get(index);
        let e = &self.evidence;
        if self.resuming.is_some() {
            // A piece that was put somewhere unseen is believed at once, one only missing at the second picture.
            return if h.fills.any() {
                self.waits.touch
            } else {
                self.waits.unseen
            };
        }
        if !seen {
            return self.waits.unseen;
        }
        if self.is_doubtful(&h) {
            return self.waits.doubtful;
        }
        if self.is_shaky(&h) {
            let asked = |(lacking, surplus): (Bitboard, Bitboard)| {
                surplus.is_empty() && lacking.count() == 1
            };
            // A player who holds a piece for long may simply be thinking.
            return if e.orphans().is_empty() && self.puzzle.is_none_or(asked) {
                self.waits.unseen
            } else {
                self.waits.doubtful
            };
        }
        let by_picture = (h.fills & e.filled_by_picture) | (h.swaps & e.landed_by_picture);
        match h.ambiguity {
            Ambiguity::Swap => self.waits.swap,
            Ambiguity::Castling => self.waits.castling,
            // A pawn that was put down and replaced by its piece looks the same.
            Ambiguity::Meeting if self.game.last().is_some_and(Move::is_promotion) => {
                self.waits.castling
            }
            Ambiguity::Meeting => self.waits.swap,
            Ambiguity::Sign => self.waits.sign,
            _ if by_picture.any() => self.waits.swap,
            // A hand that comes back to a square means it: in the captured game the mating queen was put down
            // for 0.36 s and lifted again, four times.
            Ambiguity::Touch if (h.fills & e.tried()).any() => Duration::ZERO,
            Ambiguity::Touch => self.waits.touch,
            Ambiguity::None => Duration::ZERO,
        }
    }
}
