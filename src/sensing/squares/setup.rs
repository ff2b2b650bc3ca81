//! A position is set up by hand: the start of every game.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Position, Square};

use super::{Squares, touched::Touched};
use crate::{game::Game, vocabulary::Misplaced};

/// A set-up that lacks a few pieces and does not change for this long is believed: the squares may read wrong.
const PATIENCE: Duration = Duration::from_secs(20);
/// A set-up whose squares are right, but with pieces that are known to be others, is believed after this long without a
/// change: a lift may not have been heard.
const OTHERS_PATIENCE: Duration = Duration::from_mins(1);
/// So many squares may read wrong at once. The captured game had three.
const MAX_LACKING: usize = 4;

/// What is wrong with a set-up, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong {
    lacking: Bitboard,
    surplus: Bitboard,
    /// Squares where another piece is known to stand.
    others: Bitboard,
    since: Instant,
}

impl Wrong {
    /// When it is believed to be right after all: squares may read wrong, and a lift may not have been heard.
    fn believed(&self) -> Option<Instant> {
        let few = (self.surplus & !self.others).is_empty() && self.lacking.count() <= MAX_LACKING;
        let patience = if self.others.is_empty() {
            PATIENCE
        } else {
            OTHERS_PATIENCE
        };
        few.then(|| self.since + patience)
    }

    fn is_nothing(&self) -> bool {
        (self.lacking | self.surplus | self.others).is_empty()
    }

    fn squares(&self) -> (Bitboard, Bitboard, Bitboard) {
        (self.lacking, self.surplus, self.others)
    }
}

impl Squares {
    /// The last position of this game is to be set up by hand.
    pub fn set_up(&mut self, now: Instant, game: Game) {
        if !self.reading.are_read() {
            // Pieces may have been moved while the link was lost.
            self.touched = Touched::nothing();
        }
        // The pieces are put otherwise, and the game is another one.
        self.forget(self.recogniser.standing().clone());
        let wanted = game.position().board().occupied();
        let full = self.reading.full().unwrap_or(wanted);
        self.wrong = Some(Wrong {
            lacking: wanted & !full,
            surplus: full & !wanted,
            others: Bitboard::EMPTY,
            since: now,
        });
        self.follower.set_up(game);
    }

    /// A square of the set-up that lacks its piece: the next to be put down, as the lights show it.
    pub fn next_lacking(&self) -> Option<Square> {
        self.follower.setup()?;
        let lacking = self.wrong?.lacking;
        let mut guidance = self.follower.correction().guidance().iter();
        let next = guidance.find_map(|action| action.to);
        next.filter(|next| lacking.contains(*next))
            .or(lacking.first())
    }

    /// The first square of the set-up that lacks its piece.
    pub fn first_lacking(&self) -> Option<Square> {
        self.wrong?.lacking.first()
    }

    /// When what is wrong is believed to be right.
    pub(super) fn setup_deadline(&self) -> Option<Instant> {
        self.follower.setup()?;
        self.reading.picture()?;
        self.wrong?.believed()
    }

    /// Looks how far a set-up is.
    pub(super) fn mind_setup(&mut self, now: Instant) {
        let (Some(game), Some(full)) = (self.follower.setup(), self.reading.full()) else {
            return;
        };
        let board = game.position().board();
        let wanted = board.occupied();
        let known = self.touched.known().occupied();
        // Nobody lifted what was seen to stand where no piece belongs: its square reads wrong.
        let strays = known & self.reading.stood() & !wanted & !full;
        let mut wrong = Wrong {
            lacking: wanted & !full,
            surplus: full & !wanted | strays,
            others: self.touched.others(board) & full | strays,
            since: now,
        };
        if let Some(before) = self
            .wrong
            .filter(|before| before.squares() == wrong.squares())
        {
            wrong.since = before.since;
        }
        self.wrong = Some(wrong);
        if wrong.is_nothing() || wrong.believed().is_some_and(|at| at <= now) {
            self.close();
        } else {
            let known = self.touched.known();
            let misplaced = Misplaced::on(board, wrong.lacking, wrong.surplus, known);
            self.follower.tell(misplaced);
        }
    }

    /// The pieces stand.
    pub(super) fn close(&mut self) {
        if let Some(board) = self.follower.close() {
            self.stand_anew(board);
        }
    }

    /// The game whose position was set up begins. `false` if none was.
    pub fn begin(&mut self) -> bool {
        let begins = self.follower.begin();
        if begins {
            self.reading.forget_put();
            self.wrong = None;
        }
        begins
    }
}
