//! What the player should know or do, given the state of the board.

use shakmaty::{Move, Position};

use super::{Core, answer_to, precedence::Standing};
use crate::{
    board::held_game::Certainty,
    chess::game::Game,
    vocabulary::{Advice, LinkState, Misplaced},
};

impl Core {
    /// What the player should know or do now.
    pub(super) fn advice(&self) -> Advice {
        let advice = match self.standing() {
            Standing::Away => self.connect(),
            Standing::KingsUp => None,
            Standing::Free => self
                .place()
                .or_else(|| self.correct())
                .or_else(|| self.make()),
            Standing::ByHand(target) => self
                .correct()
                .or_else(|| self.follow_up())
                .or_else(|| Some(Advice::SetUpByHand(target.fen()))),
            Standing::Rests(target) | Standing::Led(target) => self
                .correct()
                .or_else(|| self.follow_up())
                .or_else(|| self.make())
                .or_else(|| self.go_on(target)),
        };
        advice.unwrap_or_default()
    }

    /// Advice for when the link is not working.
    fn connect(&self) -> Option<Advice> {
        match self.contact.state() {
            LinkState::Down(why) | LinkState::Asking { why: Some(why) } => {
                Some(Advice::NoLink(why.clone()))
            }
            LinkState::Silent { garbled } => Some(Advice::Silent { garbled: *garbled }),
            LinkState::Mute => Some(Advice::Mute),
            LinkState::Stranger(kind) => Some(Advice::Stranger(*kind)),
            LinkState::Asking { why: None } | LinkState::Unheard { .. } | LinkState::Up => None,
        }
    }

    /// Advice for a board that no client has, while it is unknown how its pieces stand.
    fn place(&self) -> Option<Advice> {
        let lost = self.held.certainty() == Certainty::Lost;
        lost.then(|| Advice::Unplaced(self.deviation.mistake()))
    }

    /// Advice for correcting what was done wrong.
    fn correct(&self) -> Option<Advice> {
        // While a position is being set up, the guidance shows what is missing.
        let set_up = |_: &&Misplaced| self.current_step.following().is_none();
        if let Some(misplaced) = self.deviation.misplaced().filter(set_up) {
            return Some(Advice::Misplaced(misplaced.clone()));
        }
        let made = self.deviation.mistake().filter(|_| self.goes_on())?;
        // A board that reports moves only does not report that a shown one was made.
        let tells = !self.driver.profile().tells_moves_only();
        Some(Advice::Mistake {
            made,
            expected: self.shown().filter(|_| tells),
        })
    }

    /// Advice for following a step. A board that sets up positions itself asks the player for nothing.
    fn follow_up(&self) -> Option<Advice> {
        let following = self.current_step.following()?;
        Some(if self.driver.profile().sets_up_itself() {
            Advice::Nothing
        } else {
            following.advice.clone()
        })
    }

    /// Advice for making a shown move. A board that moves its own pieces asks the player for nothing, and one that does
    /// not see its squares cannot tell whether the move was made: the player may have made it long ago. Of a game that nobody
    /// goes on with, only a move that ends it by the rules is still asked for.
    fn make(&self) -> Option<Advice> {
        let board = self.driver.profile();
        let m = self.shown()?;
        let left = !self.claims.has_game() || self.verdict.end().is_some();
        if left && !self.held.game().position().is_game_over() {
            return None;
        }
        if board.moves_itself() {
            // It has taken the move, and its pieces may be on their way.
            return board.sets_up_itself().then_some(Advice::Nothing);
        }
        let held = self.held.game();
        let target = self.claims.target();
        let awaited = self.claims.awaiting() && target == Some(held);
        let is_last = target.is_none() || held.position().is_game_over();
        Some(if !board.senses() && (awaited || is_last) {
            Advice::Shown { m, awaited }
        } else {
            Advice::Make(m)
        })
    }

    /// The move that was shown and may not have been made yet. Steps for a game that the program has left do not count.
    fn shown(&self) -> Option<Move> {
        let held = self.held.game();
        let goes_on = |target: &Game| target.continues(held);
        let shown = self.held.unconfirmed();
        shown.filter(|_| self.claims.target().is_none_or(goes_on))
    }

    /// Advice for continuing the game.
    fn go_on(&self, target: &Game) -> Option<Advice> {
        let held = self.held.game();
        let goes_on =
            |_: &Move| self.leading.leads() && target.continues(held) && !self.has_left(target);
        let next = target.moves().get(held.len()).copied();
        match next.filter(goes_on) {
            Some(made) if self.hand.has_taken_back() => Some(Advice::PutBack {
                made,
                takes_back: self.claims.occasion().takes_back,
            }),
            Some(m) => Some(Advice::Make(m)).filter(|_| !self.driver.profile().moves_itself()),
            None => {
                let sure = self.held.certainty() == Certainty::Sure;
                // Not while the board is on its way to a position that the program has left.
                let awaited =
                    self.claims.awaiting() && held == target && self.current_step.step().is_none();
                let your_move = (sure && awaited).then(|| Advice::YourMove(held.turn()));
                your_move.or_else(|| self.analysed().map(Advice::Analysed))
            }
        }
    }

    /// The hand's move for a program that only analyses, and has not taken it yet.
    fn analysed(&self) -> Option<Move> {
        let analyst = self.claims.analyst()?;
        answer_to(&self.held, analyst).first().copied()
    }
}
