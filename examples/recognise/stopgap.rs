//! A recogniser that waits for quiet and believes what it senses: right on a tidy board, and nowhere else. It shows that
//! the harness can be passed, and that it can be failed.

use std::time::{Duration, Instant};

use boardbridge::chess::{game::Game, sense::Sensed};
use rig::noise::gesture;
use shakmaty::{Bitboard, Board, Move, Position, Role};

use crate::plug::{Recognised, Recogniser};

/// So long nothing may be touched before it judges.
const QUIET: Duration = Duration::from_millis(1_500);

/// See the module's introduction.
#[derive(Debug, Default)]
pub struct Patient {
    game: Game,
    /// What should be occupied, and what is.
    standing: Board,
    occupied: Bitboard,
    lifted: Bitboard,
    quiet_at: Option<Instant>,
    said: Option<Recognised>,
}

impl Patient {
    fn judge(&self) -> Option<Recognised> {
        let position = self.game.position();
        if self.standing != *position.board() {
            let m = self.game.last()?;
            return (position.board().occupied() == self.occupied)
                .then_some(Recognised::Executed(m));
        }
        let fits = |m: &Move| {
            let mut board = self.standing.clone();
            gesture::apply(&mut board, *m);
            let queen = m.promotion().is_none_or(|role| role == Role::Queen);
            let touched = gesture::victim(*m).is_none_or(|square| self.lifted.contains(square));
            queen && touched && board.occupied() == self.occupied
        };
        if let Some(m) = position.legal_moves().into_iter().find(fits) {
            return Some(Recognised::Played(m));
        }
        let last = self.game.last()?;
        let before = self.game.position_at(self.game.len() - 1);
        (before.board().occupied() == self.occupied).then_some(Recognised::TookBack(last))
    }
}

impl Recogniser for Patient {
    fn follow(&mut self, _now: Instant, game: &Game, standing: &Board) {
        self.game = game.clone();
        self.standing = standing.clone();
        self.occupied = standing.occupied();
        self.lifted = Bitboard::EMPTY;
        self.quiet_at = None;
    }

    fn sense(&mut self, now: Instant, sensed: Sensed) {
        match sensed {
            Sensed::Lifted(square) => {
                self.occupied.discard(square);
                self.lifted.add(square);
            }
            Sensed::Placed(square) => self.occupied.add(square),
            Sensed::Occupied(_) => return,
        }
        self.quiet_at = Some(now + QUIET);
    }

    fn timeout(&mut self, now: Instant) {
        if self.quiet_at.is_some_and(|at| at <= now) {
            self.quiet_at = None;
            self.said = self.judge();
            if let Some(Recognised::Executed(_)) = self.said {
                self.standing = self.game.position().board().clone();
                self.lifted = Bitboard::EMPTY;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.quiet_at
    }

    fn poll(&mut self) -> Option<Recognised> {
        self.said.take()
    }
}
