//! What the hand is to put right.

use shakmaty::{Board, Position};

use super::{Machine, told::Scene, wood::Wood};
use crate::{board::held::Certainty, game::is_chess960_castling, vocabulary::Advice};

impl Machine {
    /// Whether a castling is taken back by a hand that moves the king and the rook: neither is in the other's way.
    pub(super) fn king_first(&self) -> bool {
        let asked = self.errand.following().map(|following| &following.advice);
        matches!(asked, Some(Advice::TakeBack(m)) if m.is_castle() && !is_chess960_castling(*m))
    }

    /// What stands on the board and what should, where the hand is to put it right.
    pub(super) fn scene(&self) -> Option<Scene> {
        if !self.contact.is_open() || self.verdict.kings_are_up() && self.is_off() {
            return None;
        }
        if let Some(misplaced) = self.deviation.misplaced() {
            return Some((misplaced.stands.clone(), misplaced.wanted.clone()));
        }
        let held = self.held.game();
        let position = held.position().board();
        let target = self.claims.target();
        let followed = self.errand.followed_step();
        if let Some(wanted) = followed.and_then(|step| self.asked_by(step)) {
            return Some((self.was()?.into(), wanted)).filter(|_| target.is_some());
        }
        // The board is about to be led elsewhere: what was to be put right for a game that was left is told to nobody.
        let goes_on = target.is_none_or(|t| t.continues(held) || held.continues(t));
        if let Some(astray) = self.held.astray().filter(|_| goes_on) {
            let wanted = self.held.nearest(astray);
            return Some((astray.clone().into(), wanted));
        }
        if let Some(stray) = self.deviation.stray().filter(|_| goes_on) {
            return Some((stray.clone().into(), position.clone()));
        }
        let target = target?;
        let sure = self.held.certainty() == Certainty::Sure;
        if self.course.is_by_hand() {
            return Some((self.picture()?.into(), target.position().board().clone()));
        }
        // Where it stood as it is to stand now, nothing is to be done, whether or not the hand did what it was asked.
        if let Some(was) = self.was().filter(|was| was != position) {
            // A move that was shown since comes after that.
            let wanted = match self.held.unconfirmed() {
                Some(_) => self.before_last(),
                None => position.clone(),
            };
            return Some((was.into(), wanted)).filter(|_| sure && goes_on);
        }
        if let Advice::PutBack { made, .. } = self.advice() {
            let mut after = self.held.game().position().clone();
            after.play_unchecked(made);
            return Some((position.clone().into(), after.board().clone())).filter(|_| sure);
        }
        None
    }

    /// The pieces before the last move of the game on the board.
    pub(super) fn before_last(&self) -> Board {
        let game = self.held.game();
        let plies = game.len().saturating_sub(1);
        game.position_at(plies).board().clone()
    }

    /// How the pieces stood when the hand was asked to put them otherwise, where nothing proves that it did.
    fn was(&self) -> Option<Board> {
        match self.errand.wood() {
            Wood::Was(board) => Some(board.clone()),
            Wood::AsHeld | Wood::Unknown => None,
        }
    }

    /// Whether the pieces stand otherwise than in the game.
    pub(super) fn is_off(&self) -> bool {
        self.deviation.misplaced().is_some() || self.astray().is_some()
    }

    /// Whether the pieces stood so when anything was known of them last, and nothing has contradicted that since.
    pub(super) fn stood_as(&self, wanted: &Board) -> bool {
        match self.errand.wood() {
            Wood::Was(board) => board == wanted,
            Wood::Unknown => false,
            Wood::AsHeld => self.held.certainty() != Certainty::Lost && self.last_seen() == wanted,
        }
    }

    /// How the pieces stand by what the board has reported.
    fn last_seen(&self) -> &Board {
        let as_held = self.held.game().position().board();
        self.astray().unwrap_or(as_held)
    }

    /// Where the pieces stand by what the board has reported, while they do not stand as in the game.
    pub(super) fn astray(&self) -> Option<&Board> {
        self.held.astray().or(self.deviation.stray())
    }

    /// What stands now, as far as that is known.
    pub(super) fn picture(&self) -> Option<Board> {
        match self.errand.wood() {
            Wood::Was(board) => Some(board.clone()),
            Wood::Unknown => None,
            Wood::AsHeld => {
                let known = self.held.certainty() == Certainty::Sure;
                known.then(|| self.last_seen().clone())
            }
        }
    }
}
