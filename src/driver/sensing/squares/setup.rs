//! Sets up a position by hand: the start of every game.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Position, Square};

use super::{Squares, touched::Touched};
use crate::{chess::game::Game, vocabulary::Misplaced};

/// How long a set-up that lacks a few pieces must be unchanged to be accepted: the squares may read wrong.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a set-up whose squares are right, but with pieces known to be wrong, must be unchanged to be accepted: a lift may
/// have been missed.
const OTHERS_PATIENCE: Duration = Duration::from_mins(1);
/// How many squares may read wrong at once. The captured game had three.
const MAX_LACKING: usize = 4;

/// What is wrong with a set-up, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong {
    lacking: Bitboard,
    surplus: Bitboard,
    /// Squares known to hold another piece.
    others: Bitboard,
    since: Instant,
}

impl Wrong {
    /// When the set-up is accepted nevertheless: squares may read wrong, and a lift may have been missed.
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
    /// The player is to set up the last position of this game.
    pub fn set_up(&mut self, now: Instant, game: Game) {
        if !self.reading.are_read() {
            // Pieces may have been moved while the link was lost.
            self.touched = Touched::nothing();
        }
        // The pieces are placed differently, and the game is another one.
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

    /// A square of the set-up that lacks its piece: the next one for the player, as the lights show it.
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

    /// When an incomplete set-up is accepted.
    pub(super) fn setup_deadline(&self) -> Option<Instant> {
        self.follower.setup()?;
        self.reading.picture()?;
        self.wrong?.believed()
    }

    /// Checks the progress of a set-up.
    pub(super) fn mind_setup(&mut self, now: Instant) {
        let (Some(game), Some(full)) = (self.follower.setup(), self.reading.full()) else {
            return;
        };
        let board = game.position().board();
        let wanted = board.occupied();
        let known = self.touched.known().occupied();
        // A piece seen on a square where none belongs, and not lifted since: the square reads wrong.
        let misread = known & self.reading.stood() & !wanted & !full;
        let mut wrong = Wrong {
            lacking: wanted & !full,
            surplus: full & !wanted | misread,
            others: self.touched.others(board) & full | misread,
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

    /// The pieces are set up.
    pub(super) fn close(&mut self) {
        if let Some(board) = self.follower.close() {
            self.stand_anew(board);
        }
    }

    /// Begins the game with the position that was set up. `false` if there is none.
    pub fn begin(&mut self) -> bool {
        let begins = self.follower.begin();
        if begins {
            self.reading.forget_put();
            self.wrong = None;
        }
        begins
    }
}
