//! Acts on what the recogniser reports about the squares.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Move, Position, Role};

use super::{Squares, Work, touched::Touched};
use crate::{chess::recognise::Recognised, vocabulary::Misplaced};

/// Plies of a game that a hand takes back one by one, while a move is to be carried out: more are a new game.
const TAKEN_BACK: usize = 2;

impl Squares {
    /// Pieces put on their starting squares in the middle of something else mean a new game, also while a move of the program's is to
    /// be carried out. `busy`: the board moves pieces itself.
    pub fn mind_new_game(&mut self, picture: Bitboard, busy: bool) {
        let start = Board::new();
        let other = self.recogniser.standing().occupied() != start.occupied();
        let follower = &self.follower;
        let game = follower.game();
        // What the hand is to do, or to take back, may lead there.
        let leads =
            game.len() <= TAKEN_BACK || game.position().board().occupied() == start.occupied();
        let free = follower.is_free() || follower.is_awaited() && !leads;
        let free = follower.is_known() && free && self.recogniser.is_disturbed();
        let exchanged = self.touched.others(&start).any();
        let shown = picture == start.occupied() && other && free && !busy && !exchanged;
        if self.reading.show_start(shown) {
            self.stand_anew(start);
            self.follower.new_game();
        }
    }

    /// What the hand was to carry out may be done unseen, and more than that: once the rest is put right, the squares show it.
    pub fn mind_shown(&mut self, picture: Bitboard) {
        let follower = &self.follower;
        let told = follower.is_known() && follower.is_awaited() && follower.correction().is_told();
        let board = follower.game().position().board();
        let shown = told && picture == board.occupied() && self.touched.others(board).is_empty();
        if self.reading.show_game(shown) {
            self.stand_anew(board.clone());
            self.follower.executed();
        }
    }

    /// Handles the recogniser's reports.
    pub(super) fn recognised(&mut self, now: Instant, work: Work) {
        if work == Work::Moves {
            return;
        }
        while let Some(recognised) = self.recogniser.poll() {
            match recognised {
                Recognised::Played(m) => {
                    self.follower.fall_behind();
                    if m.is_promotion() && self.by_gesture {
                        self.gesture.begin(now, m);
                    } else {
                        self.played(m, None);
                    }
                }
                Recognised::Executed => self.follower.executed(),
                Recognised::TookBack(m) => self.follower.took_back(m),
                Recognised::Puzzled { lacking, surplus } => {
                    self.follower.correction_mut().puzzle();
                    self.tell_puzzle(lacking, surplus, work);
                }
                // The squares are right; whether the pieces are is checked below.
                Recognised::Mended if self.follower.correction().is_puzzled() => {}
                Recognised::Mended => self.follower.mended(),
            }
        }
        // Once the player was told about misplaced pieces, each touch updates the report at once.
        let correction = self.follower.correction();
        if correction.is_puzzled() && correction.is_told() {
            let (lacking, surplus) = self.recogniser.disturbed();
            self.tell_puzzle(lacking, surplus, work);
        }
    }

    fn tell_puzzle(&mut self, lacking: Bitboard, surplus: Bitboard, work: Work) {
        let standing = self.recogniser.standing();
        let half_done =
            work != Work::Rests || !self.follower.is_free() || self.gesture.is_awaited();
        // Pieces that only a hand can bring may be there by now, or some of them.
        let wanted = if half_done || !self.follower.is_up_to_date() {
            standing.clone()
        } else {
            self.game().position().board().clone()
        };
        let full = (standing.occupied() & !lacking) | surplus;
        let (lacking, surplus) = (wanted.occupied() & !full, full & !wanted.occupied());
        let misplaced = Misplaced::on(&wanted, lacking, surplus, self.touched.known());
        if misplaced.is_right() {
            if *self.recogniser.standing() != wanted && *self.touched.known() == wanted {
                self.stand(wanted);
            } else if *self.recogniser.standing() == wanted {
                self.recogniser.put_right();
            }
            self.follower.mended();
        } else {
            self.follower.tell(misplaced);
        }
    }

    /// The pieces misplaced on these squares, compared with how they last stood.
    fn misplaced(&self, lacking: Bitboard, surplus: Bitboard) -> Misplaced {
        let standing = self.recogniser.standing();
        Misplaced::on(standing, lacking, surplus, self.touched.known())
    }

    /// All squares may read right although pieces are known to have been exchanged. The player has to correct that, and until
    /// then no move is recognised.
    pub(super) fn mind_touched(&mut self, now: Instant, work: Work) {
        let standing = self.recogniser.standing();
        let known = self.follower.is_known();
        let exchanged = known && self.touched.others(standing).any();
        let told = self.follower.correction().is_told();
        // Until a link's first picture, nobody knows what happened before it.
        let read = known && self.reading.are_read();
        let seen = read && !self.recogniser.is_resuming();
        let rests = seen && !self.recogniser.is_disturbed() && !told;
        if rests && !exchanged && !self.touched.stands_as(standing) {
            // All lifts and placements were understood.
            self.touched = Touched::pieces(standing.clone());
        }
        if rests && exchanged && work != Work::Moves {
            self.follower.correction_mut().puzzle();
            self.tell_puzzle(Bitboard::EMPTY, Bitboard::EMPTY, work);
        }
        let puzzled = self.follower.correction().is_puzzled();
        self.recogniser.pause(now, puzzled && exchanged);
    }

    /// Reports again if the same squares are wrong, because other pieces may stand there now.
    pub(super) fn look_again(&mut self) {
        let (lacking, surplus) = self.recogniser.disturbed();
        let standing = self.recogniser.standing();
        if self
            .follower
            .correction()
            .is_about(standing, lacking, surplus)
        {
            self.follower.tell(self.misplaced(lacking, surplus));
        }
    }

    pub(super) fn played(&mut self, m: Move, promotion: Option<Role>) {
        self.reading.forget_put();
        self.follower.moved(m, promotion);
    }
}
