//! How the board deviates from the game on it, as far as the game that it holds does not tell.

use shakmaty::{Board, Chess, Position};

use crate::{
    board::held::carried,
    vocabulary::{Misplaced, Reported},
};

/// Moves that cannot be played, told one after the other by a board that tells of moves only, before it is only heard in
/// the debug log.
pub const MAX_MISTAKES: u8 = 10;

/// Moves that cannot be played, made one after the other, that are remembered so as to know when all are taken back: a player
/// makes two, for the kings.
const MAX_UNPLAYABLE: usize = 16;

/// How the board deviates from the game on it.
#[derive(Debug, Default)]
pub(super) struct Deviation {
    /// Something else than the awaited was done.
    mistake: Option<Reported>,
    /// Moves in a row that could not be played.
    in_a_row: u8,
    /// Moves that cannot be played and were not taken back, on a board that tells of moves only.
    unplayable: Vec<Reported>,
    /// Where the pieces stand after those.
    stray: Option<Board>,
    /// What a board that sees its squares tells.
    misplaced: Option<Misplaced>,
}

/// What a move that cannot be played, on a board that tells of moves only, turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unplayable {
    /// With it the pieces stand right again.
    Mends,
    /// It takes one such move back, and others are left.
    Undoes,
    /// The last one again.
    Again,
    /// One more.
    Another,
}

impl Deviation {
    /// What was done wrong.
    pub fn mistake(&self) -> Option<Reported> {
        self.mistake
    }

    /// Where the pieces stand on a board that tells of moves only, while they do not stand as in the game.
    pub fn stray(&self) -> Option<&Board> {
        self.stray.as_ref()
    }

    /// What stands wrong by the word of a board that sees its squares.
    pub fn misplaced(&self) -> Option<&Misplaced> {
        self.misplaced.as_ref()
    }

    /// This was done wrong.
    pub fn mistaken(&mut self, made: Option<Reported>) {
        self.mistake = made;
    }

    /// What was done wrong is past.
    pub fn corrected(&mut self) {
        self.mistake = None;
        self.unplayable.clear();
    }

    /// And the pieces stand right, as far as moves tell.
    pub fn mended(&mut self) {
        self.corrected();
        self.stray = None;
    }

    /// A move of the game was made.
    pub fn played(&mut self) {
        self.mended();
        self.in_a_row = 0;
    }

    /// Another game is on the board, or the board is away: nothing is known to stand wrong.
    pub fn forget(&mut self) {
        *self = Self {
            in_a_row: self.in_a_row,
            ..Self::default()
        };
    }

    /// The board sees these pieces stand wrong.
    pub fn sees(&mut self, misplaced: Misplaced) {
        self.misplaced = Some(misplaced);
    }

    /// The board sees all pieces stand right, or it matters no more. `false` if they did.
    pub fn stands(&mut self) -> bool {
        self.misplaced.take().is_some()
    }

    /// A board that tells of moves only made one that cannot be played in this position.
    pub fn unplayable(&mut self, reported: Reported, position: &Chess) -> Unplayable {
        let stands = self.stray.take();
        let stands = stands.unwrap_or_else(|| position.board().clone());
        let stands = carried(stands, reported, position.turn());
        self.stray = stands.filter(|stands| stands != position.board());
        let undoes = |made: &Reported| made.undoes(reported);
        let undone = self.unplayable.iter().rposition(undoes);
        let undone = undone.map(|at| self.unplayable.remove(at)).is_some();
        if self.stray.is_none() || undone && self.unplayable.is_empty() {
            self.mended();
            return Unplayable::Mends;
        }
        if undone {
            self.mistake = self.unplayable.last().copied();
            return Unplayable::Undoes;
        }
        if self.unplayable.len() < MAX_UNPLAYABLE {
            self.unplayable.push(reported);
        }
        if self.mistake.replace(reported) == Some(reported) {
            Unplayable::Again
        } else {
            Unplayable::Another
        }
    }

    /// Counts a move that could not be played: whether it is one of the first in a row, which are told.
    pub fn is_to_be_told(&mut self) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.in_a_row <= MAX_MISTAKES
    }
}
