//! Decides which possibility was made, how certain that is, and how long to wait before it is reported.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board};

use super::{
    Next, Puzzle, Recogniser,
    compare::differing,
    evidence::Evidence,
    hypothesis::{Ambiguity, Hypotheses, Hypothesis, Meaning},
    placements::{Made, Placement},
};

/// What the placements show about the possibilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Nothing that could be reported.
    Nothing,
    /// The pieces stand as after this possibility. `within`: other pieces are still in the hand.
    Made { index: usize, within: bool },
    /// The pieces stand as after this one if some lifts or placements were not seen.
    Unseen(usize),
    /// A later move proves this one.
    Confirmed(usize),
}

/// How a placement compares with a possibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// Other pieces are in the hand.
    Within,
    Whole,
}

impl Recogniser {
    /// Records for each placement which possibility it matches, and computes what may follow that.
    pub(super) fn note_made(&mut self, now: Instant) {
        let (up, filled) = self.evidence.disturbed();
        let list = &self.hypotheses;
        for placement in self.placements.iter_mut() {
            if (up | filled).is_empty() && placement.pieces == self.standing {
                placement.made = None;
                continue;
            }
            let fits = placement
                .made
                .map_or(Fit::No, |made| fit(list, made.index, placement, up, filled));
            if let Some(made) = &mut placement.made {
                if fits == Fit::Whole {
                    made.whole.get_or_insert(now);
                } else if let Some(since) = made.whole.take() {
                    made.rested |= since + self.waits.touch <= now;
                }
            }
            if fits != Fit::No || followed(&self.nexts, list, placement, &self.evidence).is_some() {
                continue;
            }
            let stands = standing_on(list, placement, up, filled);
            if let Some((index, fits)) = stands.filter(|(index, _)| !placement.has_made(*index)) {
                placement.made = Some(Made {
                    index,
                    since: now,
                    whole: (fits == Fit::Whole).then_some(now),
                    rested: false,
                });
            }
        }
        self.look_ahead();
        // Possibilities made before cannot follow it.
        for placement in self.placements.iter_mut() {
            let fresh = placement.made.is_some_and(|made| made.since == now);
            if fresh && followed(&self.nexts, &self.hypotheses, placement, &self.evidence).is_some()
            {
                placement.made = None;
            }
        }
    }

    /// Computes what may follow each possibility that matches a placement.
    fn look_ahead(&mut self) {
        for placement in self.placements.iter() {
            let Some(Made { index, .. }) = placement.made else {
                continue;
            };
            if self.nexts.iter().any(|next| next.after == Some(index)) {
                continue;
            }
            let made = |after: usize| {
                self.placements
                    .iter()
                    .any(|placement| placement.has_made(after))
            };
            let spare = |next: &&mut Next| !next.after.is_some_and(made);
            if let Some(next) = self.nexts.iter_mut().find(spare) {
                next.after = Some(index);
                next.list
                    .collect_next(&self.game, &self.standing, &self.hypotheses, index);
            }
        }
    }

    /// The possibility that has come true, if any.
    pub(super) fn find(&self) -> Judgement {
        let (up, filled) = self.evidence.disturbed();
        let resumed = self.resuming.is_some();
        let list = &self.hypotheses;
        let mut found = Judgement::Nothing;
        let mut clear = true;
        let mut calm = false;
        let mut best = Fit::No;
        for placement in self.placements.iter() {
            calm |= placement.pieces == self.standing && placement.is_known() && !resumed;
            if let Some(Made { index, .. }) = placement.made {
                let fit = fit(list, index, placement, up, filled);
                let missing = self.evidence.fell & !list.get(index).vacates;
                if fit != Fit::No && fit >= best && !(resumed && missing.any()) {
                    let made = Judgement::Made {
                        index,
                        within: fit == Fit::Within,
                    };
                    clear = fit > best || found == Judgement::Nothing || found == made;
                    (best, found) = (fit, made);
                }
            }
        }
        if best == Fit::Whole {
            return if clear { found } else { Judgement::Nothing };
        }
        if calm && self.sensing.goes_dark {
            return Judgement::Nothing;
        }
        if !self.is_shaky()
            && !resumed
            && let Some(index) = self.confirmed()
        {
            return Judgement::Confirmed(index);
        }
        if found != Judgement::Nothing {
            return if clear { found } else { Judgement::Nothing };
        }
        let unseen = if self.evidence.pictured {
            self.find_unseen()
        } else {
            None
        };
        unseen
            .or_else(|| self.find_hidden())
            .map_or(Judgement::Nothing, Judgement::Unseen)
    }

    /// The only possibility that fits if a piece was replaced by another without its square reading empty.
    fn find_hidden(&self) -> Option<usize> {
        if !self.sensing.hides_captures {
            return None;
        }
        let list = &self.hypotheses;
        let fits = |index: &usize| {
            let h = list.get(*index);
            let hidden = |placement: &Placement| {
                let wrong = differing(&placement.pieces, list.after(*index));
                placement.is_known() && wrong.is_subset(h.swaps)
            };
            self.is_hidden(&h) && self.placements.iter().all(hidden)
        };
        let mut fitting = (0..list.len()).filter(fits);
        fitting.next().filter(|_| fitting.next().is_none())
    }

    /// Whether the readings are as after this possibility, in which a piece leaves its square and replaces another, although nothing was
    /// put down there.
    pub(super) fn is_hidden(&self, h: &Hypothesis) -> bool {
        let seen = h.vacates.any() && (h.vacates, h.fills) == self.evidence.disturbed();
        seen && h.swaps.any() && (h.swaps & self.evidence.landed).is_empty()
    }

    /// Whether this may be reported: it is more than what the player was asked to undo.
    pub(super) fn counts(&self, found: Judgement) -> bool {
        match found {
            Judgement::Nothing => true,
            // The later move that proves it was made on squares that count, or not at all.
            Judgement::Confirmed(_) => self.counting.any(),
            Judgement::Made { index, .. } | Judgement::Unseen(index) => {
                self.changes_what_counts(&self.hypotheses.get(index))
            }
        }
    }

    /// Whether a possibility changes a square that counts. Carrying out what the game already has always counts.
    pub(super) fn changes_what_counts(&self, h: &Hypothesis) -> bool {
        h.meaning == Meaning::Executed || (h.touches() & self.counting).any()
    }

    /// The possibility after which another move was made.
    fn confirmed(&self) -> Option<usize> {
        let mut confirmed = self.placements.iter().filter_map(|placement| {
            followed(&self.nexts, &self.hypotheses, placement, &self.evidence)
        });
        let first = confirmed.next()?;
        let otherwise = |placement: &Placement| {
            placement
                .made
                .is_some_and(|made| made.rested && made.index != first)
        };
        (confirmed.all(|other| other == first) && !self.placements.iter().any(otherwise))
            .then_some(first)
    }

    /// The only possibility that fits if part of it was not seen: the pictures show which squares became empty.
    fn find_unseen(&self) -> Option<usize> {
        let e = &self.evidence;
        let (gone, dim) = (e.fell_lately() | e.faint(), e.dim() | e.dark);
        let resumed = self.resuming.is_some();
        let begun = e.begun().filter(|_| resumed);
        // The best one so far: its rank, its index, and whether another one ranks equally.
        let mut best: Option<(u8, usize, bool)> = None;
        for placement in self.placements.iter() {
            let holds = placement.pieces.occupied();
            for (index, h) in self.hypotheses.iter().enumerate() {
                let after = self.hypotheses.after(index);
                let full = after.occupied();
                let strange = placement.strangers;
                let surplus = holds & !strange & !full;
                let missing = full & !holds & !strange;
                if missing.any() || !strange.is_subset(h.fills | h.swaps) {
                    continue;
                }
                let is_begun = begun.is_some_and(|(from, to)| {
                    h.vacates == from.into() && h.swaps == to.into() && h.fills.is_empty()
                });
                let grade = if is_begun && surplus.is_subset(gone) {
                    0
                } else if surplus.is_subset(gone) {
                    1
                } else if h.fills.any() && surplus.is_subset(gone | dim) {
                    2
                } else {
                    continue;
                };
                let wrong = differing(&placement.pieces, after) & holds & full & !strange;
                // A piece that was adjusted may be the capturing one, lifted unseen.
                let dark = self.sensing.goes_dark && surplus.any();
                let took = wrong.is_subset(h.swaps & e.landed) && !dark;
                let taken = took || (resumed && wrong.is_subset(h.swaps));
                if !(wrong.is_empty() || (taken && (surplus | strange).any())) {
                    continue;
                }
                // If something is known to have been done unseen, every change must be explained.
                if (e.fell_lately() & !h.vacates).any() && (resumed || self.is_shaky()) {
                    continue;
                }
                let stood = !resumed
                    && h.swaps
                        .into_iter()
                        .any(|to| surplus.into_iter().any(|from| e.stood_after(from, to)));
                if stood || (surplus | strange).is_empty() {
                    continue;
                }
                best = match best {
                    Some((least, first, more)) if least == grade => {
                        Some((least, first, more || first != index))
                    }
                    Some(better) if better.0 < grade => Some(better),
                    _ => Some((grade, index, false)),
                };
            }
        }
        best.filter(|(_, _, more)| !more).map(|(_, index, _)| index)
    }

    /// Squares from which a piece may have been lifted unseen to capture one that seemed to be only adjusted. A
    /// square whose sensor failed at the same time reads the same.
    pub(super) fn suspected(&self) -> Bitboard {
        let e = &self.evidence;
        let mut all = Bitboard::EMPTY;
        if e.fell.is_empty() || !self.sensing.loses_events || self.resuming.is_some() {
            return all;
        }
        for h in self.hypotheses.iter() {
            let taken = h.swaps.any() && h.fills.is_empty() && h.swaps.is_subset(e.landed);
            let unseen = h.vacates & e.fell;
            if taken && h.vacates == unseen {
                let stood = |from| h.swaps.into_iter().any(|to| e.stood_after(from, to));
                if !unseen.into_iter().any(stood) {
                    all |= unseen;
                }
            }
        }
        all
    }

    /// Whether the player seems to have tried this before.
    pub(super) fn is_doubtful(&self, h: &Hypothesis) -> bool {
        // A pawn is put down and replaced by its piece.
        h.promotes.is_none() && (h.swaps & self.evidence.tried()).any()
    }

    fn last_promoted_on(&self, squares: Bitboard) -> bool {
        let last = self.game.last().filter(|last| last.is_promotion());
        last.is_some_and(|last| squares.contains(last.to()))
    }

    /// Whether something was not seen, or the player has already been asked.
    pub(super) fn is_shaky(&self) -> bool {
        self.puzzle.is_some_and(|puzzle| !puzzle.suspected) || self.placements.holds_stranger()
    }

    /// Whether the pieces in the hand may still turn it into another possibility.
    pub(super) fn may_go_on(&self, h: &Hypothesis) -> bool {
        let (up, _) = self.evidence.disturbed();
        let held = up & !h.vacates;
        match h.ambiguity {
            Ambiguity::Castling => self.castling_goes_on(h, held),
            Ambiguity::Sign => (held & self.standing.kings()).any(),
            _ => false,
        }
    }

    /// Whether castling begins like this and continues with one of these squares.
    pub(super) fn castling_goes_on(&self, h: &Hypothesis, with: Bitboard) -> bool {
        self.hypotheses.iter().any(|other| {
            other.castling && h.vacates.is_subset(other.vacates) && (other.vacates & with).any()
        })
    }

    /// How long to wait once all of a possibility's pieces are in place.
    pub(super) fn wait_for(&self, index: usize, seen: bool) -> Duration {
        let h = self.hypotheses.get(index);
        let e = &self.evidence;
        if self.resuming.is_some() {
            // A piece put down unseen is accepted after a short wait; one that is only missing, at the second picture.
            return if h.fills.any() {
                self.waits.touch
            } else {
                self.waits.unseen
            };
        }
        if !seen {
            return if self.is_hidden(&h) {
                self.waits.hidden
            } else {
                self.waits.unseen
            };
        }
        if self.is_shaky() {
            // A player who holds a piece for long may simply be thinking.
            let thinks = |puzzle: Puzzle| puzzle.surplus.is_empty() && puzzle.lacking.count() == 1;
            return if !self.placements.holds_stranger() && self.puzzle.is_none_or(thinks) {
                self.waits.unseen
            } else {
                self.waits.doubtful
            };
        }
        if self.is_doubtful(&h) {
            return self.waits.tried;
        }
        match h.ambiguity {
            // A pawn put down and replaced by its piece looks like a capture of the pawn.
            Ambiguity::Swap if self.last_promoted_on(h.swaps) => self.waits.castling,
            Ambiguity::Swap => self.waits.swap,
            Ambiguity::Castling => self.waits.castling,
            Ambiguity::Sign => self.waits.sign,
            _ if (h.fills & e.filled_by_picture).any() => self.waits.swap,
            // A player who comes back to a square means it: in the captured game the mating queen was put down
            // for 0.36 s and lifted again, four times.
            Ambiguity::Touch if (h.fills & e.tried()).any() => Duration::ZERO,
            Ambiguity::Touch => self.waits.touch,
            Ambiguity::None => Duration::ZERO,
        }
    }
}

/// Compares a placement with a possibility; `up` and `filled` are the squares that have lost and gained a piece.
fn fit(
    list: &Hypotheses,
    index: usize,
    placement: &Placement,
    up: Bitboard,
    filled: Bitboard,
) -> Fit {
    let back = list.get(index).meaning.takes_back();
    if placement.returned.any() && !back {
        return Fit::No;
    }
    fit_pieces(list, index, placement, up, filled)
}

/// The same, regardless of where the pieces come from.
fn fit_pieces(
    list: &Hypotheses,
    index: usize,
    placement: &Placement,
    up: Bitboard,
    filled: Bitboard,
) -> Fit {
    let h = list.get(index);
    if h.fills != filled || !h.vacates.is_subset(up) || !placement.is_known() {
        return Fit::No;
    }
    let differs = differing(&placement.pieces, list.after(index));
    if differs.is_empty() {
        Fit::Whole
    } else if differs.is_subset(up & !h.touches()) {
        Fit::Within
    } else {
        Fit::No
    }
}

/// The possibility that matched a placement, if another one that follows it matches now.
fn followed(
    nexts: &[Next],
    list: &Hypotheses,
    placement: &Placement,
    evidence: &Evidence,
) -> Option<usize> {
    let first = placement.made?.index;
    let next = nexts.iter().find(|next| next.after == Some(first))?;
    // A captured piece comes back only when a capture is taken back.
    if placement.returned.any() && !list.get(first).meaning.takes_back() {
        return None;
    }
    let (up, filled) = evidence.against(list.after(first).occupied());
    (0..next.list.len())
        .any(|index| fit_pieces(&next.list, index, placement, up, filled) == Fit::Whole)
        .then_some(first)
}

/// The possibility that matches a placement: completely, or as the only one that does apart from other pieces in the
/// hand.
fn standing_on(
    list: &Hypotheses,
    placement: &Placement,
    up: Bitboard,
    filled: Bitboard,
) -> Option<(usize, Fit)> {
    let mut within = None;
    let mut more = false;
    for index in 0..list.len() {
        match fit(list, index, placement, up, filled) {
            Fit::Whole => return Some((index, Fit::Whole)),
            Fit::Within => {
                more |= within.is_some();
                within = Some((index, Fit::Within));
            }
            Fit::No => {}
        }
    }
    within.filter(|_| !more)
}

/// Sets these squares as on another board.
pub(super) fn set_as(pieces: &mut Board, squares: Bitboard, like: &Board) {
    for square in squares {
        match like.piece_at(square) {
            Some(piece) => pieces.set_piece_at(square, piece),
            None => pieces.discard_piece_at(square),
        }
    }
}
