//! The recogniser: lifts, placements and pictures in, moves out.
//!
//! For boards that sense squares, not pieces, and even those unreliably. It is pure, knows no protocol, and
//! takes a sensed input without allocating: everything the player may do is computed beforehand
//! ([`Recogniser::follow`]), as a placement of the pieces.
//!
//! The pieces are tracked: a lift takes a piece from its square into the hand, a landing puts it down. If
//! either of two may have been put down, both readings are kept. A move is made when it leads from the game to the present
//! placement; a later move proves it. If an event is known to be lost, the pictures may replace it, provided that they
//! leave only one possibility. A move that may still continue (a piece that slides, a rook before its king) is given
//! time: [`Waits`]. A wrong move is reported only where two actions are sensed alike (`docs/recogniser.md` lists them);
//! if the recogniser cannot decide, it reports the unclear squares ([`Recognised::Puzzled`]).
//!
//! ```
//! use std::time::Instant;
//!
//! use boardbridge::chess::game::{Game, uci};
//! use boardbridge::chess::recognise::{Recognised, Recogniser, Waits};
//! use boardbridge::chess::sense::Sensed;
//! use shakmaty::{Position, Square};
//!
//! let now = Instant::now();
//! let game = Game::standard();
//! let mut recogniser = Recogniser::new(Waits::default(), game.position().board().clone());
//! recogniser.follow(now, &game, false);
//!
//! // The hand lifts the pawn of e2 and puts it on e4.
//! recogniser.sense(now, Sensed::Lifted(Square::E2));
//! recogniser.sense(now, Sensed::Placed(Square::E4));
//! assert_eq!(recogniser.poll(), None);
//!
//! // The pawn may still be sliding over that square: after a while it is not.
//! let later = recogniser.deadline().ok_or("nothing is expected")?;
//! recogniser.timeout(later);
//! let Some(Recognised::Played(played)) = recogniser.poll() else {
//!     return Err("not recognised".into());
//! };
//! assert_eq!(uci(played).to_string(), "e2e4");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod evidence;
mod hypothesis;
mod judging;
mod move_waits;
mod placements;
mod sensing;

use std::{collections::VecDeque, time::Instant};

use shakmaty::{Bitboard, Board, Move, Position, Role, Square};

pub(crate) use self::{evidence::BOUNCE, hypothesis::CENTRE};
use self::{
    evidence::Evidence,
    hypothesis::{Ambiguity, Hypotheses, Meaning},
    judging::{Judgement, set_as},
    placements::{May, Placement, Placements},
};
pub use self::{move_waits::Waits, sensing::Sensing};
use crate::chess::{game::Game, sense::Sensed};

/// Possibilities allocated at the start: a position has at most 218 legal moves, and those of the
/// position before are considered too.
const POSSIBILITIES: usize = 512;
/// Possibilities whose next moves are computed at a time: a rook sliding along its file makes six moves before its last.
const AHEAD: usize = 8;
/// Moves that may follow one: a position has at most 218.
const FOLLOWING: usize = 220;
/// Pictures after an absence that may alone decide what happened during it.
const PICTURES_TO_RESUME: u8 = 3;
/// Recognised actions that may wait to be polled: as many as one sensed input can cause.
const WAITING: usize = 8;

/// What was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// The player made this legal move of the game followed.
    Played(Move),
    /// The player carried out a change that the game already had: a shown move, or a take-back.
    Executed,
    /// The player took the last move back.
    TookBack(Move),
    /// Some squares lack their piece or hold a surplus one: ask the player.
    Puzzled {
        /// Squares whose piece is missing.
        lacking: Bitboard,
        /// Squares that should be empty.
        surplus: Bitboard,
    },
    /// Nothing is unclear any more.
    Mended,
}

/// A possibility that was made, and when it may be reported.
#[derive(Clone, Copy, Debug)]
struct Pending {
    index: usize,
    due: Instant,
    seen: bool,
    /// It may not be reported yet: the pieces in the hand may still turn it into another one.
    held: bool,
}

/// What may follow one of the possibilities.
#[derive(Clone, Debug)]
struct Next {
    after: Option<usize>,
    list: Hypotheses,
}

/// What the player was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Puzzle {
    lacking: Bitboard,
    surplus: Bitboard,
    /// The readings are in order, but something may have been done unseen.
    suspected: bool,
}

/// The recogniser. See the module documentation.
#[derive(Clone, Debug)]
pub struct Recogniser {
    waits: Waits,
    sensing: Sensing,
    standing: Board,
    game: Game,
    may_replace: bool,
    evidence: Evidence,
    placements: Placements,
    hypotheses: Hypotheses,
    nexts: [Next; AHEAD],
    pending: Option<Pending>,
    puzzle_due: Option<Instant>,
    puzzle: Option<Puzzle>,
    /// Since when the disturbance is unexplained.
    puzzling: Option<Instant>,
    /// Since when something may have been done unseen.
    suspecting: Option<Instant>,
    /// Pictures since [`Self::resume`], while only they show what happened.
    resuming: Option<u8>,
    /// Something was recognised that is not in the game yet.
    behind: bool,
    /// Where the player has promoted a pawn: which piece it became is not sensed, and the game will say it.
    unnamed: Bitboard,
    /// The placement is known to differ: nothing is recognised.
    paused: bool,
    /// A move or a take-back counts only if it changes one of these squares.
    counting: Bitboard,
    out: VecDeque<Recognised>,
}

impl Recogniser {
    /// A recogniser with the placement `standing`. It recognises nothing before it follows a game.
    pub fn new(waits: Waits, standing: Board) -> Self {
        Self {
            waits,
            sensing: Sensing::default(),
            evidence: Evidence::new(standing.occupied(), Sensing::default().period),
            placements: Placements::new(standing.clone()),
            standing,
            game: Game::standard(),
            may_replace: false,
            hypotheses: Hypotheses::with_capacity(POSSIBILITIES),
            nexts: std::array::from_fn(|_| Next {
                after: None,
                list: Hypotheses::with_capacity(FOLLOWING),
            }),
            pending: None,
            puzzle_due: None,
            puzzle: None,
            puzzling: None,
            suspecting: None,
            resuming: None,
            behind: true,
            unnamed: Bitboard::EMPTY,
            paused: false,
            counting: Bitboard::FULL,
            out: VecDeque::with_capacity(WAITING),
        }
    }

    /// Sets how the board senses.
    #[must_use]
    pub fn sensing(mut self, sensing: Sensing) -> Self {
        self.evidence = Evidence::new(self.standing.occupied(), sensing.period);
        self.sensing = sensing;
        self
    }

    /// The placement of the pieces, as far as known.
    pub fn standing(&self) -> &Board {
        &self.standing
    }

    /// Squares that hold a piece but read empty in a picture newer than the last event on them.
    pub fn dim(&self) -> Bitboard {
        self.evidence.dim_since_touched()
    }

    /// Squares that hold a piece and have read empty for long.
    pub fn long_dim(&self) -> Bitboard {
        self.evidence.long_dim()
    }

    /// The capture that is under way, from and to which square, as far as lifts and landings show.
    pub fn begun(&self) -> Option<(Square, Square)> {
        self.evidence.begun()
    }

    /// Restores the occupied squares that already read empty before the link was lost, and the capture under way then.
    /// Call [`Self::resume`] next.
    pub fn remember(&mut self, dim: Bitboard, begun: Option<(Square, Square)>) {
        self.evidence.remember(dim, begun);
    }

    /// Whether the player has disturbed something that is not understood yet.
    pub fn is_disturbed(&self) -> bool {
        self.evidence.is_disturbed() || self.pending.is_some()
    }

    /// Whether only the pictures show what has happened, and have not decided that yet.
    pub fn is_resuming(&self) -> bool {
        self.resuming.is_some()
    }

    /// The squares that lack their piece and those that hold a surplus one, as sensed now.
    pub fn disturbed(&self) -> (Bitboard, Bitboard) {
        let (lacking, surplus) = self.misplaced();
        (lacking | self.still_suspected(), surplus)
    }

    /// Squares that the player was asked about because something may have been done unseen, and that still read empty.
    fn still_suspected(&self) -> Bitboard {
        let suspected = self.puzzle.filter(|puzzle| puzzle.suspected);
        suspected.map_or(Bitboard::EMPTY, |puzzle| puzzle.lacking) & self.evidence.fell
    }

    /// [`Self::disturbed`] without squares that are only suspected.
    fn misplaced(&self) -> (Bitboard, Bitboard) {
        let e = &self.evidence;
        // A square reported missing after an absence stays so until it reads full or is touched.
        let told = self.puzzle.filter(|puzzle| !puzzle.suspected);
        let told = told.map_or(Bitboard::EMPTY, |puzzle| puzzle.lacking);
        // A surplus piece came from a square that reads empty, and so did one that was lifted again.
        let surplus = e.filled.count() + self.placements.strangers_held();
        let more = |than: Bitboard| surplus > (e.up | than).count();
        let mut missing = if self.resuming.is_some() || more(e.fell & told) {
            e.fell
        } else {
            e.fell & told
        };
        if more(missing) {
            missing |= e.dim() & !e.landed;
        }
        (e.up | missing, e.filled)
    }

    /// The game as the program knows it. If its position differs from the placement, the player is
    /// expected to carry out the difference. `may_replace`: the last move may turn out to have been another one.
    pub fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) {
        self.game = game.clone();
        self.may_replace = may_replace;
        self.name_promoted();
        self.catch_up();
        self.weigh(now, Touched::Anything);
    }

    /// A pawn has become what the game says.
    fn name_promoted(&mut self) {
        for square in self.unnamed {
            let pieces =
                [&self.standing, self.game.position().board()].map(|board| board.piece_at(square));
            if let [Some(assumed), Some(piece)] = pieces
                && assumed.color == piece.color
            {
                self.unnamed.discard(square);
                self.standing.set_piece_at(square, piece);
                for placement in self.placements.iter_mut() {
                    placement.rename(square, assumed, piece);
                }
            }
        }
    }

    fn catch_up(&mut self) {
        self.hypotheses
            .collect(&self.game, &self.standing, self.may_replace);
        self.forget_nexts();
        for placement in self.placements.iter_mut() {
            placement.made = None;
        }
        self.pending = None;
        self.behind = false;
    }

    fn forget_nexts(&mut self) {
        for next in &mut self.nexts {
            next.after = None;
        }
    }

    /// The pieces were moved other than by hand, to the placement `standing`. Call [`Self::follow`] next.
    pub fn stand(&mut self, standing: Board) {
        self.evidence.moved(standing.occupied());
        let (up, filled) = self.evidence.disturbed();
        self.placements.stand(&standing, up, filled);
        self.standing = standing;
        self.pending = None;
        // This may have been the cause of the unclear squares.
        self.puzzle = None;
        self.puzzle_due = None;
        self.behind = true;
    }

    /// The player has put right all that was asked for, and every square reads right: the pieces stand as before, whatever else they might
    /// have been read as while many were in the hand.
    pub fn put_right(&mut self) {
        if !self.evidence.is_disturbed() {
            self.placements
                .stand(&self.standing, Bitboard::EMPTY, Bitboard::EMPTY);
            self.puzzle = None;
            self.puzzle_due = None;
            self.puzzling = None;
        }
    }

    /// While on, nothing is recognised: the caller knows that the placement differs, whatever the squares read.
    pub fn pause(&mut self, now: Instant, on: bool) {
        if std::mem::replace(&mut self.paused, on) != on {
            self.weigh(now, Touched::Anything);
        }
    }

    /// While the player is asked to correct the placement: these squares were touched unasked, and a move or a take-back counts
    /// only if it changes one of them. The other squares are what is to be undone.
    pub fn count_only(&mut self, squares: Bitboard) {
        self.counting = squares;
    }

    /// Nothing was sensed for a while, and sensing starts again.
    pub fn resume(&mut self) {
        self.evidence.resume();
        self.placements
            .stand(&self.standing, Bitboard::EMPTY, Bitboard::EMPTY);
        self.pending = None;
        // Any earlier question was about another state of the board.
        self.puzzle = None;
        self.puzzle_due = None;
        self.resuming = Some(0);
    }

    /// Takes one sensed input.
    pub fn sense(&mut self, now: Instant, sensed: Sensed) {
        match sensed {
            // After an absence a picture shows no single touch.
            Sensed::Occupied(picture) if !self.sensing.events && self.resuming.is_none() => {
                let holds = self.evidence.holds();
                for square in holds & !picture {
                    self.take_in(now, Sensed::Lifted(square));
                }
                for square in picture & !holds {
                    self.take_in(now, Sensed::Placed(square));
                }
            }
            _ => self.take_in(now, sensed),
        }
    }

    fn take_in(&mut self, now: Instant, sensed: Sensed) {
        let touched = match sensed {
            Sensed::Lifted(square) => {
                self.let_go(now, square);
                Touched::Square(square)
            }
            Sensed::Placed(square) => Touched::Square(square),
            Sensed::Occupied(_) => {
                if let Some(pictures) = &mut self.resuming {
                    *pictures = pictures.saturating_add(1);
                }
                Touched::Nothing
            }
        };
        let news = self.evidence.sense(now, sensed);
        for square in news.lifted {
            self.placements
                .lift(now, square, touched != Touched::Nothing);
        }
        for square in news.placed {
            let may = May {
                first: &self.hypotheses,
                nexts: &self.nexts,
            };
            self.placements.land(now, square, &self.standing, &may);
        }
        if news.tells {
            self.weigh(now, touched);
        }
        // The sensor of a square that reads empty for this long may be wrong. A possibility found before still gets its wait.
        let resumed = |pictures| pictures > PICTURES_TO_RESUME;
        if self.pending.is_none() && self.resuming.is_some_and(resumed) {
            self.resuming = None;
        }
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        if let Some(pending) = self.pending.filter(|p| !p.held && p.due <= now) {
            self.report(now, pending.index, pending.seen);
        }
        if self.puzzle_due.is_some_and(|due| due <= now) {
            self.puzzle_due = None;
            let (lacking, surplus) = self.misplaced();
            let suspected = (lacking | surplus).is_empty();
            let puzzle = Puzzle {
                lacking: if suspected { self.suspected() } else { lacking },
                surplus,
                suspected,
            };
            if self.pending.is_none() && self.puzzle != Some(puzzle) {
                self.puzzle = Some(puzzle);
                self.puzzling = None;
                let Puzzle {
                    lacking, surplus, ..
                } = puzzle;
                self.out.push_back(Recognised::Puzzled { lacking, surplus });
            }
        }
    }

    /// When [`Self::timeout`] must be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let pending = self.pending.filter(|p| !p.held).map(|pending| pending.due);
        pending.into_iter().chain(self.puzzle_due).min()
    }

    /// The next thing recognised.
    pub fn poll(&mut self) -> Option<Recognised> {
        self.out.pop_front()
    }

    /// Another piece is lifted while a move waits to be certain: the player has let go of the moved one.
    fn let_go(&mut self, now: Instant, square: Square) {
        let waits = self.pending.filter(|_| self.resuming.is_none());
        let Some(pending) = waits.filter(|_| self.evidence.stands(square)) else {
            return;
        };
        let h = self.hypotheses.get(pending.index);
        let other_king =
            h.ambiguity == Ambiguity::Sign && self.standing.role_at(square) == Some(Role::King);
        if h.touches().contains(square)
            || other_king
            || self.castling_goes_on(&h, square.into())
            || self.is_shaky()
            // The hand may be about to take another piece than the one that it seems to have taken unseen.
            || h.meaning != Meaning::Executed && !pending.seen && self.is_hidden(&h)
            || !self.changes_what_counts(&h)
        {
            return;
        }
        let color = |square| self.standing.color_at(square);
        let others = h
            .mover
            .is_some_and(|(from, _)| color(from) != color(square));
        if others || (pending.seen && !self.is_doubtful(&h)) {
            self.report(now, pending.index, pending.seen);
        }
    }

    /// Looks for the one possibility that was made. `touched`: the square just sensed.
    fn weigh(&mut self, now: Instant, touched: Touched) {
        let before = self.pending.take();
        if self.behind {
            return;
        }
        if self.paused {
            self.puzzle_due = None;
            return;
        }
        self.note_made(now);
        let (index, seen, within) = match self.find() {
            found if !self.counts(found) => return self.mind_puzzle(now, touched),
            Judgement::Nothing => return self.mind_puzzle(now, touched),
            Judgement::Confirmed(index) => return self.report(now, index, true),
            Judgement::Made { index, within } => (index, true, within),
            Judgement::Unseen(index) => (index, false, false),
        };
        let before = before.filter(|before| before.index == index);
        if within && before.is_none() {
            // While two pieces are in the hand, only a move made before one of them was lifted is reported.
            return self.mind_puzzle(now, touched);
        }
        let h = self.hypotheses.get(index);
        let wait = self.wait_for(index, seen);
        // Input that shows nothing new does not prolong the wait.
        let renewed = match touched {
            Touched::Nothing => false,
            Touched::Square(square) => h.touches().contains(square) || !seen,
            Touched::Anything => true,
        };
        let due = match before {
            Some(before) if !renewed => before.due.min(now + wait),
            _ => now + wait,
        };
        let held = within && self.may_go_on(&h);
        self.pending = Some(Pending {
            index,
            due,
            seen,
            held,
        });
        self.puzzle_due = None;
        self.puzzling = None;
        if due <= now && !held {
            self.report(now, index, seen);
        }
    }

    fn mind_puzzle(&mut self, now: Instant, touched: Touched) {
        let event = touched != Touched::Nothing;
        let (lacking, surplus) = self.misplaced();
        if (lacking | surplus).any() {
            self.suspecting = None;
            if event || self.puzzle_due.is_none() {
                self.await_an_answer(now, lacking, surplus);
            }
            return;
        }
        self.puzzling = None;
        if !event {
            self.resuming = self.resuming.filter(|pictures| *pictures == 0);
        }
        // On a board whose squares do not go dark all is right as soon as they are.
        if (!event || !self.sensing.goes_dark) && self.evidence.is_calm(now) {
            self.placements.forget_strangers(&self.standing);
        }
        let suspected = self.suspected().any();
        self.suspecting = suspected.then(|| self.suspecting.unwrap_or(now));
        self.puzzle_due = self.suspecting.map(|since| since + self.waits.doubtful);
        // A piece of unknown origin that was lifted again still has to go somewhere.
        let clear = !self.placements.holds_stranger() && self.still_suspected().is_empty();
        if clear && self.puzzle.take().is_some() {
            self.out.push_back(Recognised::Mended);
        }
    }

    fn await_an_answer(&mut self, now: Instant, lacking: Bitboard, surplus: Bitboard) {
        let known = |puzzle: Puzzle| (puzzle.lacking, puzzle.surplus) == (lacking, surplus);
        if self.puzzle.is_some_and(known) {
            return;
        }
        let wait = if surplus.any() || self.resuming.is_some() {
            self.waits.puzzled
        } else {
            self.waits.in_the_air
        };
        // The wait for a player who keeps moving is limited.
        let longest = *self.puzzling.get_or_insert(now) + 2 * self.waits.in_the_air;
        self.puzzle_due = Some(longest.max(now).min(now + wait));
    }

    fn report(&mut self, now: Instant, index: usize, seen: bool) {
        let h = self.hypotheses.get(index);
        self.pending = None;
        self.puzzle_due = None;
        self.puzzle = None;
        self.puzzling = None;
        self.suspecting = None;
        self.resuming = None;
        self.forget_nexts();
        self.behind = true;
        let raw = self.hypotheses.after(index);
        let mut standing = raw.clone();
        self.unnamed &= !h.touches();
        if let Some((to, piece)) = h.promotes {
            standing.set_piece_at(to, piece);
            self.unnamed.set(to, h.meaning != Meaning::Executed);
        }
        let told = |placement: &Placement| {
            let mut placement = placement.clone();
            if !seen {
                set_as(&mut placement.pieces, h.touches(), raw);
                placement.strangers &= !h.touches();
            } else if !placement.has_made(index) {
                return None;
            }
            if let Some((to, piece)) = h.promotes
                && placement.pieces.role_at(to) == Some(Role::Pawn)
            {
                placement.pieces.set_piece_at(to, piece);
            }
            Some(placement)
        };
        self.placements.rebase(&standing, told);
        self.evidence
            .rebase(now, standing.occupied(), self.placements.holds());
        self.standing = standing;
        self.out.extend(
            match h.meaning {
                Meaning::Played(m) => [Some(Recognised::Played(m)), None],
                Meaning::Executed => [Some(Recognised::Executed), None],
                Meaning::TookBack(m) => [Some(Recognised::TookBack(m)), None],
                Meaning::Replaced { last, m } => [
                    Some(Recognised::TookBack(last)),
                    Some(Recognised::Played(m)),
                ],
            }
            .into_iter()
            .flatten(),
        );
        if h.meaning == Meaning::Executed {
            // The game is unchanged.
            self.catch_up();
            self.weigh(now, Touched::Anything);
        }
    }
}

/// The subject of a sensed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touched {
    /// No square in particular: a picture.
    Nothing,
    Square(Square),
    /// The game changed.
    Anything,
}
