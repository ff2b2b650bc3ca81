//! The recogniser: lifts, placements and pictures in, moves out.
//!
//! For boards that know squares, not pieces, and not even those for certain. It is pure, knows no protocol, and
//! takes one thing sensed without allocating: everything the hand may do is worked out beforehand
//! ([`Recogniser::follow`]), as the squares it would change.
//!
//! A possibility has come true when the squares it vacates were lifted, those it fills were put on, the ones
//! that change their piece were put on after the mover was lifted, and nothing else is disturbed. Where one step
//! of that was not seen (an event was lost), the pictures may stand in for it, if they leave one possibility
//! only. What may still go on (a piece that slides, a rook before its king) is given a moment: [`Waits`]. It
//! never reports a move that was not made; where it cannot tell, it says which squares puzzle it
//! ([`Recognised::Puzzled`]).

mod evidence;
mod hypothesis;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Board, Move, Role, Square};

use self::{
    evidence::Evidence,
    hypothesis::{Ambiguity, Hypotheses, Hypothesis, Meaning},
};
use crate::{game::Game, sense::Sensed};

/// Possibilities there is room for from the start: a position has at most 218 legal moves, and those of the
/// position before are looked at too.
const POSSIBILITIES: usize = 512;
/// Pictures after an absence that may tell by themselves what happened in it.
const PICTURES_TO_RESUME: u8 = 3;
/// Things recognised that may wait to be fetched: what one thing sensed can make.
const WAITING: usize = 8;

/// How long what may still go on is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// A piece that has other squares to go to may still be in the hand, or sliding over this one. Longest time
    /// a touched square was left again after in the captured game: 0.36 s.
    pub touch: Duration,
    /// Two pieces were in the air, and one was put down: the hand may put the other back. Longest pause within an
    /// adjustment in the captured game: 0.9 s.
    pub swap: Duration,
    /// A rook stands where castling would put it: the king may follow.
    pub castling: Duration,
    /// A king in the centre may be the first half of a result sign.
    pub sign: Duration,
    /// Part of it was not seen: longer than one period of the pictures (2.04 s at most in the captured game),
    /// so that a second one agrees.
    pub unseen: Duration,
    /// The hand seems to have tried it, or something else, before: as long as it takes until pictures would have
    /// shown that a piece was put back unseen.
    pub doubtful: Duration,
    /// Pieces stand where no possibility puts them.
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
            doubtful: Duration::from_millis(4_500),
            puzzled: Duration::from_secs(3),
            in_the_air: Duration::from_secs(10),
        }
    }
}

impl Waits {
    /// The same, with this long for two pieces in the air, and half of it for one that may still be in the hand.
    #[must_use]
    pub fn settling(self, swap: Duration) -> Self {
        Self {
            touch: swap / 2,
            swap,
            ..self
        }
    }
}

/// What was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// The hand made this legal move of the game followed.
    Played(Move),
    /// The hand carried out what the game already had: a shown move, or a take-back.
    Executed,
    /// The hand took the last move back.
    TookBack(Move),
    /// These squares lack their piece, and those hold one too many: ask the player.
    Puzzled {
        /// Squares whose piece is missing.
        lacking: Bitboard,
        /// Squares that should be empty.
        surplus: Bitboard,
    },
    /// Nothing puzzles any more.
    Mended,
}

/// A possibility that came true, and may be reported then.
#[derive(Clone, Copy, Debug)]
struct Pending {
    index: usize,
    due: Instant,
    seen: bool,
}

/// The recogniser. See the module's introduction.
#[derive(Clone, Debug)]
pub struct Recogniser {
    waits: Waits,
    standing: Board,
    game: Game,
    may_replace: bool,
    evidence: Evidence,
    hypotheses: Hypotheses,
    pending: Option<Pending>,
    /// A king's move to the centre that may be a sign, while the other king is in the air.
    sign: Option<usize>,
    puzzle_due: Option<Instant>,
    puzzle: Option<(Bitboard, Bitboard)>,
    /// Since when nothing explains what is disturbed.
    puzzling: Option<Instant>,
    /// Pictures since [`Self::resume`], while they alone tell what happened.
    resuming: Option<u8>,
    /// Something was recognised, and the game has not followed yet.
    behind: bool,
    out: VecDeque<Recognised>,
}

impl Recogniser {
    /// A recogniser for pieces that stand so. It recognises nothing before it follows a game.
    pub fn new(waits: Waits, standing: Board) -> Self {
        Self {
            waits,
            evidence: Evidence::new(standing.occupied()),
            standing,
            game: Game::standard(),
            may_replace: false,
            hypotheses: Hypotheses::with_capacity(POSSIBILITIES),
            pending: None,
            sign: None,
            puzzle_due: None,
            puzzle: None,
            puzzling: None,
            resuming: None,
            behind: true,
            out: VecDeque::with_capacity(WAITING),
        }
    }

    /// The pieces as they stand, as far as known.
    pub fn standing(&self) -> &Board {
        &self.standing
    }

    /// Squares that hold a piece but read empty.
    pub fn dim(&self) -> Bitboard {
        self.evidence.dim()
    }

    /// Whether the hand has disturbed anything that is not understood yet.
    pub fn is_disturbed(&self) -> bool {
        self.evidence.is_disturbed() || self.pending.is_some()
    }

    /// The squares that lack their piece and those that hold one too many, as sensed now.
    pub fn disturbed(&self) -> (Bitboard, Bitboard) {
        let e = &self.evidence;
        let fell = if self.resuming.is_some() {
            e.fell
        } else {
            Bitboard::EMPTY
        };
        (e.up | fell, e.filled)
    }

    /// The game as the program knows it. Where its position is not the one the pieces stand in, the hand is
    /// awaited to carry out the difference. `may_replace`: the last move may turn out to have been another one.
    pub fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) {
        self.game = game.clone();
        self.may_replace = may_replace;
        self.catch_up();
        self.weigh(now, true);
    }

    fn catch_up(&mut self) {
        self.hypotheses
            .collect(&self.game, &self.standing, self.may_replace);
        self.pending = None;
        self.sign = None;
        self.behind = false;
    }

    /// The pieces were moved otherwise than by hand, and stand so now. Call [`Self::follow`] next.
    pub fn stand(&mut self, standing: Board) {
        self.evidence.moved(standing.occupied());
        self.standing = standing;
        self.pending = None;
        self.sign = None;
        self.behind = true;
    }

    /// Nothing was sensed for a while, and begins to be sensed again.
    pub fn resume(&mut self) {
        self.evidence.resume();
        self.pending = None;
        self.puzzle_due = None;
        self.resuming = Some(0);
    }

    /// Takes in one thing sensed.
    pub fn sense(&mut self, now: Instant, sensed: Sensed) {
        match sensed {
            Sensed::Lifted(square) => self.let_go(now, square),
            Sensed::Placed(square) => {
                if let Some(index) = self.sign.take()
                    && !hypothesis::CENTRE.contains(square)
                {
                    self.report(now, index);
                }
            }
            Sensed::Occupied(_) => {
                if let Some(pictures) = &mut self.resuming {
                    *pictures = pictures.saturating_add(1);
                }
            }
        }
        let event = !matches!(sensed, Sensed::Occupied(_));
        if self.evidence.sense(now, sensed) {
            self.weigh(now, event);
        }
        // A square that reads empty for this long may simply read wrong.
        if self
            .resuming
            .is_some_and(|pictures| pictures > PICTURES_TO_RESUME)
        {
            self.resuming = None;
        }
    }

    /// The time given by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        if let Some(pending) = self.pending.filter(|pending| pending.due <= now) {
            self.report(now, pending.index);
        }
        if self.puzzle_due.is_some_and(|due| due <= now) {
            self.puzzle_due = None;
            let puzzle = self.disturbed();
            if self.pending.is_none() && self.puzzle != Some(puzzle) {
                self.puzzle = Some(puzzle);
                self.puzzling = None;
                let (lacking, surplus) = puzzle;
                self.out.push_back(Recognised::Puzzled { lacking, surplus });
            }
        }
    }

    /// When [`Self::timeout`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let pending = self.pending.map(|pending| pending.due);
        pending.into_iter().chain(self.puzzle_due).min()
    }

    /// The next thing recognised.
    pub fn poll(&mut self) -> Option<Recognised> {
        self.out.pop_front()
    }

    /// Another piece is lifted while a move waits to be sure: the hand has let go of it.
    fn let_go(&mut self, now: Instant, square: Square) {
        let Some(pending) = self.pending.filter(|_| self.resuming.is_none()) else {
            return;
        };
        let h = self.hypotheses.get(pending.index);
        if !self.evidence.stands(square) {
            return;
        }
        let moved = h.vacates | h.fills | h.swaps;
        // The move may be a part of another one that goes on with this square.
        let goes_on = |other: &Hypothesis| {
            h.vacates.is_subset(other.vacates) && (other.swaps | other.vacates).contains(square)
        };
        if moved.contains(square) || self.hypotheses.iter().any(goes_on) {
            return;
        }
        if h.ambiguity == Ambiguity::Sign && self.standing.role_at(square) == Some(Role::King) {
            // Where the other king goes tells whether this is a sign.
            self.sign = Some(pending.index);
            return;
        }
        let color = |square| self.standing.color_at(square);
        let others = h
            .mover
            .is_some_and(|(from, _)| color(from) != color(square));
        if !self.is_shaky(&h) && (others || (pending.seen && !self.is_doubtful(&h))) {
            self.report(now, pending.index);
        }
    }

    /// Looks for the one possibility that has come true.
    fn weigh(&mut self, now: Instant, event: bool) {
        let before = self.pending.take();
        if self.behind {
            return;
        }
        let found = self.find();
        if let Some((index, seen)) = found {
            let wait = self.wait_for(index, seen);
            // A picture that tells nothing new does not prolong the wait.
            let due = match before {
                Some(before) if !event && before.index == index => before.due.min(now + wait),
                _ => now + wait,
            };
            self.pending = Some(Pending { index, due, seen });
            self.puzzle_due = None;
            self.puzzling = None;
            if due <= now {
                self.report(now, index);
            }
            return;
        }
        self.mind_puzzle(now, event);
    }

    fn mind_puzzle(&mut self, now: Instant, event: bool) {
        let (lacking, surplus) = self.disturbed();
        if (lacking | surplus).is_empty() {
            if !event {
                self.resuming = self.resuming.filter(|pictures| *pictures == 0);
            }
            self.puzzle_due = None;
            self.puzzling = None;
            if !event {
                self.evidence.calm(now);
            }
            // A piece from nowhere that is only lifted again has still to go somewhere.
            if self.evidence.orphans().any() {
                return;
            }
            if self.puzzle.take().is_some() {
                self.out.push_back(Recognised::Mended);
            }
        } else if event || self.puzzle_due.is_none() {
            let wait = if surplus.any() || self.resuming.is_some() {
                self.waits.puzzled
            } else {
                self.waits.in_the_air
            };
            if self.puzzle != Some((lacking, surplus)) {
                // A hand that goes on all the time is not waited for without end.
                let longest = *self.puzzling.get_or_insert(now) + 2 * self.waits.in_the_air;
                self.puzzle_due = Some(longest.max(now).min(now + wait));
            }
        }
    }

    /// The possibility that has come true, and whether all of it was seen.
    fn find(&self) -> Option<(usize, bool)> {
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
                    .filter(|(from, _)| e.up.contains(*from))
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
    fn is_doubtful(&self, h: &Hypothesis) -> bool {
        (!h.meets && (h.swaps & self.evidence.tried()).any()) || self.has_rival(h)
    }

    /// Whether something was not seen that this does not explain, or the player was asked already.
    fn is_shaky(&self, h: &Hypothesis) -> bool {
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

    fn wait_for(&self, index: usize, seen: bool) -> Duration {
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
            Ambiguity::Meeting if self.game.last().is_some_and(|m| m.is_promotion()) => {
                self.waits.castling
            }
            Ambiguity::Meeting => self.waits.swap,
            Ambiguity::Sign => self.waits.sign,
            _ if by_picture.any() => self.waits.swap,
            Ambiguity::Touch => self.waits.touch,
            Ambiguity::None => Duration::ZERO,
        }
    }

    fn report(&mut self, now: Instant, index: usize) {
        let h = self.hypotheses.get(index);
        self.pending = None;
        self.puzzle_due = None;
        self.puzzle = None;
        self.puzzling = None;
        self.resuming = None;
        self.behind = true;
        self.evidence.rebase(now, h.vacates, h.fills);
        self.out.extend(
            match h.meaning {
                Meaning::Played(m) => [Some(Recognised::Played(m)), None],
                Meaning::Executed => [Some(Recognised::Executed), None],
                Meaning::ExecutedAndPlayed(m) => {
                    [Some(Recognised::Executed), Some(Recognised::Played(m))]
                }
                Meaning::TookBack(m) => [Some(Recognised::TookBack(m)), None],
                Meaning::Replaced { last, m } => [
                    Some(Recognised::TookBack(last)),
                    Some(Recognised::Played(m)),
                ],
            }
            .into_iter()
            .flatten(),
        );
        self.standing = self.hypotheses.after(index).clone();
        if h.meaning == Meaning::Executed {
            // The game is the same as before.
            self.catch_up();
        }
    }
}
