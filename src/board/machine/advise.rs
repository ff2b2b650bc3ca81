//! What the player is to know or do, as the board stands.

use shakmaty::Move;

use super::Machine;
use crate::{
    board::{advice::Advice, held::Certainty, snapshot::LinkState},
    driver::Misplaced,
};

impl Machine {
    /// What the player is to know or do now.
    pub(super) fn advice(&self) -> Advice {
        match self.contact.state() {
            LinkState::Down(why) => return Advice::NoLink(why.clone()),
            LinkState::Silent { garbled } => return Advice::Silent { garbled: *garbled },
            LinkState::Stranger(kind) => return Advice::Stranger(*kind),
            LinkState::Asking => return Advice::Nothing,
            LinkState::Unheard { .. } | LinkState::Up => {}
        }
        if self.verdict.kings_are_up() {
            return Advice::Nothing;
        }
        // While a position is being set up, the guidance tells what is missing.
        let set_up = |_: &&Misplaced| self.errand.following().is_none();
        if let Some(misplaced) = self.deviation.misplaced().filter(set_up) {
            return Advice::Misplaced(misplaced.clone());
        }
        let held = self.held.game();
        let target = self.claims.target();
        // What was to be done for a game that the program has left is told to nobody.
        let shown = |_: &Move| target.is_none_or(|target| target.continues(held));
        let shown = self.held.unconfirmed().filter(shown);
        let is_left = target.is_some_and(|t| !t.continues(held) && !held.continues(t));
        if let Some(made) = self.deviation.mistake().filter(|_| !is_left) {
            // A board that tells of moves only does not tell that a shown one was made.
            let tells = !self.driver.capabilities().tells_moves_only;
            return Advice::Mistake {
                made,
                expected: shown.filter(|_| tells),
            };
        }
        if let Some(following) = self.errand.following().filter(|_| target.is_some()) {
            return following.advice.clone();
        }
        if let Some(target) = target.filter(|_| self.course.is_by_hand()) {
            return Advice::SetUpByHand(target.fen());
        }
        // A board that moves its own pieces asks the player for nothing.
        let by_hand = !self.driver.capabilities().moves_itself;
        if let Some(m) = shown.filter(|_| by_hand) {
            return Advice::Make(m);
        }
        let Some(target) = target else {
            return Advice::Nothing;
        };
        let next = target.moves().get(held.len()).copied();
        match next
            .filter(|_| self.course.leads() && target.continues(held) && !self.has_left(target))
        {
            Some(made) if self.hand.has_taken_back() => Advice::PutBack {
                made,
                takes_back: self.claims.occasion().takes_back,
            },
            Some(m) if by_hand => Advice::Make(m),
            Some(_) => Advice::Nothing,
            None if self.held.certainty() != Certainty::Sure => Advice::Nothing,
            // Not while the board is on its way to a position that the program has left.
            None if self.claims.awaiting() && held == target && self.errand.step().is_none() => {
                Advice::YourMove(held.turn())
            }
            None => Advice::Nothing,
        }
    }
}
