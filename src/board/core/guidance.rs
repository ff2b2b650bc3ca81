//! Finds what the player has to put right.

use shakmaty::{Board, Move, Position};

use super::{Core, placement::Placement, precedence::Standing, published::Scene};
use crate::{
    board::held_game::Certainty,
    chess::game::{Game, is_chess960_castling},
    vocabulary::{Advice, Misplaced},
};

/// What the player has to put right: the first of these that applies.
enum Matter<'a> {
    /// What the board sees standing wrong.
    Misplaced(&'a Misplaced),
    /// How the pieces should stand after the step that the hand follows.
    Followed(Board),
    /// How the pieces stand according to the held game, which follows wrong moves square by square.
    MisplacedInGame(&'a Board),
    /// How the pieces stand, according to a board that reports moves only.
    MisplacedByMoves(&'a Board),
    /// The player has to set this target up.
    ByHand(&'a Game),
    /// How the pieces stood when the hand was asked to move them, while nothing proves that it did.
    Asked(Board),
    /// This move was taken back but is still in the program's game.
    PutBack(Move),
}

impl Core {
    /// Whether the hand takes back a castling king first: neither piece is in the other's way.
    pub(super) fn king_first(&self) -> bool {
        let asked = self
            .current_step
            .following()
            .map(|following| &following.advice);
        matches!(asked, Some(Advice::TakeBack(m)) if m.is_castle() && !is_chess960_castling(*m))
    }

    /// The pieces as they are and as they should be, if the player has to move any.
    pub(super) fn scene(&self) -> Option<Scene> {
        let held = self.held.game();
        let position = held.position().board();
        let sure = self.held.certainty() == Certainty::Sure;
        match self.matter()? {
            Matter::Misplaced(misplaced) => {
                Some((misplaced.stands.clone(), misplaced.wanted.clone()))
            }
            Matter::Followed(wanted) => {
                let was = self.was().filter(|_| self.claims.target().is_some());
                Some((was?.into(), wanted))
            }
            Matter::MisplacedInGame(board) => {
                Some((board.clone().into(), self.held.nearest(board)))
            }
            Matter::MisplacedByMoves(board) => Some((board.clone().into(), position.clone())),
            Matter::ByHand(target) => {
                Some((self.picture()?.into(), target.position().board().clone()))
            }
            Matter::Asked(was) => {
                Some((was.into(), self.as_asked())).filter(|_| sure && self.goes_on())
            }
            Matter::PutBack(made) => {
                let mut after = held.position().clone();
                after.play_unchecked(made);
                Some((position.clone().into(), after.board().clone())).filter(|_| sure)
            }
        }
    }

    fn matter(&self) -> Option<Matter<'_>> {
        match self.standing() {
            Standing::Away => return None,
            Standing::KingsUp if self.is_off() => return None,
            _ => {}
        }
        if self.current_step.following().is_some() && self.driver.profile().sets_up_itself() {
            return None;
        }
        if let Some(misplaced) = self.deviation.misplaced() {
            return Some(Matter::Misplaced(misplaced));
        }
        let followed = self.current_step.followed_step();
        if let Some(wanted) = followed.and_then(|step| self.asked_by(step)) {
            return Some(Matter::Followed(wanted));
        }
        if let Some(target) = self.claims.target().filter(|_| self.leading.is_by_hand()) {
            return Some(Matter::ByHand(target));
        }
        if let Some(board) = self.held.misplaced().filter(|_| self.goes_on()) {
            return Some(Matter::MisplacedInGame(board));
        }
        if let Some(board) = self
            .deviation
            .misplaced_by_moves()
            .filter(|_| self.goes_on())
        {
            return Some(Matter::MisplacedByMoves(board));
        }
        self.claims.target()?;
        // If the pieces stood then as they should stand now, there is nothing to do, whether or not the hand did as
        // asked.
        let position = self.held.game().position().board();
        if let Some(was) = self.was().filter(|was| was != position) {
            return Some(Matter::Asked(was));
        }
        match self.advice() {
            Advice::PutBack { made, .. } => Some(Matter::PutBack(made)),
            _ => None,
        }
    }

    /// Whether the target belongs to the game on the board. Otherwise the board is about to be led elsewhere, and
    /// corrections for the game that was left are not shown.
    pub(super) fn goes_on(&self) -> bool {
        let target = self.claims.target();
        target.is_none_or(|target| target.is_in_line_with(self.held.game()))
    }

    /// The pieces as the hand was asked to put them, which is before any move shown since.
    pub(super) fn as_asked(&self) -> Board {
        match self.held.unconfirmed() {
            Some(_) => self.before_last(),
            None => self.held.game().position().board().clone(),
        }
    }

    /// The pieces before the last move of the game on the board.
    pub(super) fn before_last(&self) -> Board {
        let game = self.held.game();
        let plies = game.len().saturating_sub(1);
        game.position_at(plies).board().clone()
    }

    /// How the pieces stood when the hand was asked to move them, if nothing proves that it did.
    fn was(&self) -> Option<Board> {
        match self.current_step.placement() {
            Placement::Was(board) => Some(board.clone()),
            Placement::AsHeld | Placement::Unknown => None,
        }
    }

    /// Whether the pieces stand differently from the game.
    pub(super) fn is_off(&self) -> bool {
        self.deviation.misplaced().is_some() || self.misplaced_board().is_some()
    }

    /// Whether the pieces stood as on `wanted` when last known, and nothing has contradicted that since.
    pub(super) fn stood_as(&self, wanted: &Board) -> bool {
        match self.current_step.placement() {
            Placement::Was(board) => board == wanted,
            Placement::Unknown => false,
            Placement::AsHeld => {
                let known = self.held.is_known() && self.held.certainty() != Certainty::Lost;
                known && self.last_seen() == wanted
            }
        }
    }

    /// How the pieces stand, as far as the board has reported.
    fn last_seen(&self) -> &Board {
        let as_held = self.held.game().position().board();
        self.misplaced_board().unwrap_or(as_held)
    }

    /// Where the pieces stand as far as the board has reported, while that differs from the game.
    pub(super) fn misplaced_board(&self) -> Option<&Board> {
        self.held
            .misplaced()
            .or(self.deviation.misplaced_by_moves())
    }

    /// How the pieces stand now, if known.
    pub(super) fn picture(&self) -> Option<Board> {
        match self.current_step.placement() {
            Placement::Was(board) => Some(board.clone()),
            Placement::Unknown => None,
            Placement::AsHeld => {
                let known = self.held.certainty() == Certainty::Sure;
                known.then(|| self.last_seen().clone())
            }
        }
    }
}
