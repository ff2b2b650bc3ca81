//! How the board deviates from its game, beyond what the held game itself knows.

use shakmaty::{Board, Chess, Position};

use crate::{
    board::held_game::carried,
    vocabulary::{Misplaced, Reported},
};

/// Unplayable moves in a row, from a board that reports moves only, before further ones go to the debug log only.
pub const MAX_MISTAKES: u8 = 10;

/// Unplayable moves in a row that are remembered, to know when all are taken back. A player makes two of them to put
/// the kings in the centre.
const MAX_UNPLAYABLE: usize = 16;

/// How the board deviates from its game.
#[derive(Debug, Default)]
pub(super) struct Deviation {
    /// Something other than what was awaited was done.
    mistake: Option<Reported>,
    /// Unplayable moves in a row.
    in_a_row: u8,
    /// Unplayable moves not taken back yet, on a board that reports moves only.
    unplayable: Vec<Reported>,
    /// Where the pieces stand after those unplayable moves.
    misplaced_by_moves: Option<Board>,
    /// What a board that sees its squares reports.
    misplaced: Option<Misplaced>,
}

/// What an unplayable move turned out to be, on a board that reports moves only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unplayable {
    /// It puts the pieces back in place.
    Mends,
    /// It takes back one unplayable move, and others are left.
    Undoes,
    /// The last one again.
    Again,
    /// Another one.
    Another,
}

impl Deviation {
    /// What was done wrong.
    pub fn mistake(&self) -> Option<Reported> {
        self.mistake
    }

    /// Where the pieces stand on a board that reports moves only, while that differs from the game.
    pub fn misplaced_by_moves(&self) -> Option<&Board> {
        self.misplaced_by_moves.as_ref()
    }

    /// The misplaced pieces, according to a board that sees its squares.
    pub fn misplaced(&self) -> Option<&Misplaced> {
        self.misplaced.as_ref()
    }

    /// This was done wrong.
    pub fn mistaken(&mut self, made: Option<Reported>) {
        self.mistake = made;
    }

    /// What was done wrong has been put right.
    pub fn corrected(&mut self) {
        self.mistake = None;
        self.unplayable.clear();
    }

    /// As `corrected`, and the moves show no misplaced piece.
    pub fn mended(&mut self) {
        self.corrected();
        self.misplaced_by_moves = None;
    }

    /// A move of the game was made.
    pub fn played(&mut self) {
        self.mended();
        self.in_a_row = 0;
    }

    /// Another game is on the board, or the board is disconnected: no piece is known to be misplaced.
    pub fn forget(&mut self) {
        *self = Self {
            in_a_row: self.in_a_row,
            ..Self::default()
        };
    }

    /// The board sees these misplaced pieces.
    pub fn sees(&mut self, misplaced: Misplaced) {
        self.misplaced = Some(misplaced);
    }

    /// The board sees no misplaced piece, or it no longer matters. `false` if none was known.
    pub fn stands(&mut self) -> bool {
        self.misplaced.take().is_some()
    }

    /// The hand has carried a piece to where it is asked to put it: now the pieces stand like this.
    pub fn carried(&mut self, stands: Board, position: &Board) {
        self.misplaced_by_moves = Some(stands).filter(|stands| stands != position);
    }

    /// A board that reports moves only has reported one that cannot be played in this position.
    pub fn unplayable(&mut self, reported: Reported, position: &Chess) -> Unplayable {
        let before = self.misplaced_by_moves.take();
        let stands = before.clone().unwrap_or_else(|| position.board().clone());
        let stands = carried(stands, reported, position.turn());
        let mends = stands.as_ref() == Some(position.board());
        // From an empty square nothing was carried.
        self.misplaced_by_moves = stands.or(before).filter(|_| !mends);
        let undoes = |made: &Reported| made.undoes(reported);
        let undone = self.unplayable.iter().rposition(undoes);
        let undone = undone.map(|at| self.unplayable.remove(at)).is_some();
        if mends || undone && self.unplayable.is_empty() {
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

    /// Counts an unplayable move. `true` if it is one of the first in a row, which are reported.
    pub fn is_to_be_told(&mut self) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.in_a_row <= MAX_MISTAKES
    }
}
