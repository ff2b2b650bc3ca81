//! Writes scripts: tracks the time and the pieces.

use std::{ops::Range, time::Duration};

use shakmaty::{Board, Piece, Role, Square, attacks};

use super::{Deed, Script, Step, Touch};

/// From lift to landing, ms: 0.36 to 1.29 s in the captured game.
pub(super) const CARRY: Range<u64> = 300..1500;
/// Between two touches of one action, ms: 0.93 to 1.32 s in the captured game, and people can be faster.
pub(super) const GAP: Range<u64> = 300..1300;
/// How long an adjusted piece is up or down, ms: 0.18 to 0.9 s in the captured game.
const ADJUST: Range<u64> = 200..900;
/// How long a sliding piece stands on a square in between, ms.
const SLIDE: Range<u64> = 50..250;
/// How long a bouncing piece is in the air or down, ms.
const BOUNCE: Range<u64> = 20..120;
/// How many times an adjusted piece is lifted (captured: one to three times).
const CYCLES: Range<usize> = 1..4;

/// Writes a script.
pub(super) struct Pen<'a> {
    /// The placement after what is written.
    pub(super) board: Board,
    pub(super) rng: &'a mut fastrand::Rng,
    /// Squares whose pieces are never adjusted.
    pub(super) spare: Vec<Square>,
    at: Duration,
    script: Script,
}

impl<'a> Pen<'a> {
    pub(super) fn new(board: Board, rng: &'a mut fastrand::Rng) -> Self {
        Self {
            board,
            rng,
            spare: Vec::new(),
            at: Duration::ZERO,
            script: Script::new(),
        }
    }

    pub(super) fn finish(self) -> Script {
        self.script
    }

    pub(super) fn wait(&mut self, millis: Range<u64>) {
        self.at += Duration::from_millis(self.rng.u64(millis));
    }

    fn step(&mut self, step: Step) {
        self.script.push((self.at, step));
    }

    pub(super) fn committed(&mut self, deed: Deed) {
        self.step(Step::Committed(deed));
    }

    pub(super) fn made(&mut self, deed: Deed) {
        self.step(Step::Made(deed));
    }

    /// Lifts the piece on a square; does nothing if the square is empty.
    pub(super) fn lift(&mut self, square: Square) -> Option<Piece> {
        let piece = self.board.remove_piece_at(square)?;
        self.step(Step::Touch(Touch::Lift(square)));
        Some(piece)
    }

    pub(super) fn put(&mut self, square: Square, piece: Piece) {
        self.board.set_piece_at(square, piece);
        self.step(Step::Touch(Touch::Put(square, piece)));
    }

    /// A piece lands; it may bounce.
    pub(super) fn land(&mut self, square: Square, piece: Piece, bounces: bool) {
        self.put(square, piece);
        if bounces {
            for _ in 0..self.rng.usize(1..3) {
                self.wait(BOUNCE);
                self.lift(square);
                self.wait(BOUNCE);
                self.put(square, piece);
            }
        }
    }

    /// A piece in the hand slides over the empty squares in between.
    pub(super) fn slide(&mut self, from: Square, to: Square, piece: Piece) {
        if piece.role == Role::Knight {
            return;
        }
        let mut way: Vec<Square> = attacks::between(from, to).into_iter().collect();
        if to < from {
            way.reverse();
        }
        for square in way {
            if self.board.piece_at(square).is_none() {
                self.wait(SLIDE);
                self.put(square, piece);
                self.wait(SLIDE);
                self.lift(square);
            }
        }
    }

    /// Adjusts the piece on a square.
    pub(super) fn straighten(&mut self, square: Square) {
        self.wait(ADJUST);
        for _ in 0..self.rng.usize(CYCLES) {
            if let Some(piece) = self.lift(square) {
                self.wait(ADJUST);
                self.put(square, piece);
                self.wait(ADJUST);
            }
        }
    }

    /// Adjusts `count` standing pieces of either colour, but none on the `spare` squares.
    pub(super) fn adjust(&mut self, count: usize, spare: &[Square]) {
        for _ in 0..count {
            let standing: Vec<Square> = self
                .board
                .occupied()
                .into_iter()
                .filter(|square| !spare.contains(square) && !self.spare.contains(square))
                .collect();
            let Some(square) = self.rng.choice(standing) else {
                return;
            };
            self.straighten(square);
        }
    }
}
