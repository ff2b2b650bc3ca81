//! A hand that carries pieces to where it is asked to put them, on a board that reports each carry.

use std::time::Instant;

use shakmaty::{Board, Chess, Position};

use super::{Core, placement::Placement};
use crate::{
    board::held_game::carried,
    vocabulary::{Reported, Wording},
};

impl Core {
    /// The board reports that the hand has carried a piece to where it was asked to: neither a move of the game nor a mistake.
    /// The guidance gets shorter. `false` if the report is something else.
    pub(super) fn obeys(&mut self, now: Instant, reported: Reported) -> bool {
        let Wording::Squares { from, to, .. } = reported.wording else {
            return false;
        };
        let Some((stands, position, wanted)) = self.carries_toward() else {
            return false;
        };
        let promotion = self.claims.promotion();
        // Nor a move of the game that the board may still hold.
        let held = self.held.game().position();
        let is_move = [&position, held]
            .iter()
            .any(|position| reported.resolve(position, promotion).is_some());
        let was = stands.piece_at(from);
        let after = carried(stands, reported, position.turn());
        let Some(after) = after.filter(|_| !is_move && was != wanted.piece_at(from)) else {
            return false;
        };
        if after.piece_at(to) != wanted.piece_at(to) {
            return false;
        }
        self.published.changed();
        if after != wanted || self.leading.is_by_hand() {
            // A position that is set up by hand may have to be set up in the board too, which only the player knows.
            self.stands_so(after);
        } else {
            self.stands_ready(now);
        }
        true
    }

    /// While the hand is asked to move pieces: how they stand, the position in which the game then continues, and how they
    /// should stand. `None` on boards that report more than moves, and while a step is under way.
    fn carries_toward(&self) -> Option<(Board, Chess, Board)> {
        if !self.driver.profile().reports_moves() || self.current_step.step().is_some() {
            return None;
        }
        if self.leading.is_by_hand() {
            let position = self.claims.target()?.position().clone();
            let wanted = position.board().clone();
            return Some((self.picture()?, position, wanted));
        }
        let Placement::Was(stands) = self.current_step.placement() else {
            return None;
        };
        let position = self.held.game().position().clone();
        Some((stands.clone(), position, self.as_asked()))
    }

    /// The pieces stand like this now, and the hand has more of them to move.
    fn stands_so(&mut self, stands: Board) {
        if let Placement::Was(_) = self.current_step.placement() {
            self.current_step.carried(stands);
        } else {
            let held = self.held.game().position().board();
            self.deviation.carried(stands, held);
        }
    }
}
