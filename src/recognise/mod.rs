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
mod judging;
mod waits;

use std::{collections::VecDeque, time::Instant};

use shakmaty::{Bitboard, Board, Move, Role, Square};

pub use self::waits::Waits;
pub(crate) use self::{evidence::BOUNCE, hypothesis::CENTRE};
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
    /// The pieces are known to stand otherwise: nothing is recognised.
    paused: bool,
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
            paused: false,
            out: VecDeque::with_capacity(WAITING),
        }
    }

    /// The pieces as they stand, as far as known.
    pub fn standing(&self) -> &Board {
        &self.standing
    }

    /// Squares that hold a piece but read empty in a picture younger than what was last seen of them.
    pub fn dim(&self) -> Bitboard {
        self.evidence.dim_since_touched()
    }

    /// Whether the hand has disturbed anything that is not understood yet.
    pub fn is_disturbed(&self) -> bool {
        self.evidence.is_disturbed() || self.pending.is_some()
    }

    /// The squares that lack their piece and those that hold one too many, as sensed now.
    pub fn disturbed(&self) -> (Bitboard, Bitboard) {
        let e = &self.evidence;
        // What was told to be missing after an absence is missing until it reads full or is touched.
        let told = self.puzzle.map_or(Bitboard::EMPTY, |(lacking, _)| lacking);
        let missing = if self.resuming.is_some() {
            e.fell
        } else {
            e.fell & told
        };
        (e.up | missing, e.filled)
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
        // What puzzled may have been this.
        self.puzzle = None;
        self.puzzle_due = None;
        self.behind = true;
    }

    /// Recognises nothing while this is on: whoever knows the pieces knows that they stand otherwise, whatever the squares say.
    pub fn pause(&mut self, now: Instant, on: bool) {
        if std::mem::replace(&mut self.paused, on) != on {
            self.weigh(now, true);
        }
    }

    /// Nothing was sensed for a while, and begins to be sensed again.
    pub fn resume(&mut self) {
        self.evidence.resume();
        self.pending = None;
        // The player was told of another state of the board, if at all.
        self.puzzle = None;
        self.puzzle_due = None;
        self.resuming = Some(0);
    }

    /// Takes in one thing sensed.
    pub fn sense(&mut self, now: Instant, sensed: Sensed) {
        match sensed {
            Sensed::Lifted(square) => self.let_go(now, square),
            Sensed::Placed(square) => {
                if let Some(index) = self.sign.take()
                    && !CENTRE.contains(square)
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
            let next = matches!(other.meaning, Meaning::ExecutedAndPlayed(_));
            !(next && h.meaning == Meaning::Executed)
                && h.vacates.is_subset(other.vacates)
                && (other.swaps | other.vacates).contains(square)
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
        if self.paused {
            self.puzzle_due = None;
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
