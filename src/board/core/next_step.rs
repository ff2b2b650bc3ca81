//! The next step toward the target, if one is needed.

use std::time::Instant;

use shakmaty::{Board, Position};

use super::{Core, current_step::Following, precedence::Standing};
use crate::{
    board::{
        held_game::Certainty,
        plan::{Circumstances, Plan, plan},
    },
    chess::game::Game,
    driver::{Profile, Step},
    vocabulary::Advice,
};

impl Core {
    /// Starts the next step toward the target, if there is one. `true` if something was started.
    pub(super) fn lead(&mut self, now: Instant) -> bool {
        self.mind_list();
        let shown = self.claims.target() == Some(self.held.game()) && !self.driver.stepping();
        let certainty = self.held.certainty();
        // Even if the hand still has to make the last move.
        let sure = self.contact.is_open() && certainty == Certainty::Sure;
        if shown && sure && self.finish(now) {
            return true;
        }
        let unsure = certainty == Certainty::Unsure;
        match self.standing() {
            // The kings may have been put back meanwhile.
            Standing::KingsUp if unsure => self.driver.learn(now),
            Standing::Led(_) if self.waits.waits() || !self.driver.takes_position() => {}
            Standing::Led(_) if unsure && self.driver.profile().answers() => {
                self.driver.learn(now);
            }
            Standing::Led(target) => {
                let target = self.with_answer(target);
                let plan = plan(
                    &self.held,
                    target,
                    self.driver.profile(),
                    self.circumstances(target),
                );
                let is_position = matches!(plan, Plan::Do(Step::SetUp(_) | Step::NewGame(_)));
                return (self.driver.idle() || is_position) && self.follow(now, plan);
            }
            Standing::Free => self.guess_from_squares(),
            Standing::Away | Standing::KingsUp | Standing::ByHand(_) | Standing::Rests(_) => {}
        }
        false
    }

    /// If no client has the board and its pieces are unknown, assumes the start position if the squares are as in it. A board that sees
    /// every piece shows it.
    fn guess_from_squares(&mut self) {
        let start = Board::new();
        let lost = self.held.certainty() == Certainty::Lost;
        if !self.driver.profile().senses() || self.held.is_known() && !lost {
            return;
        }
        if self.driver.stands_as(&start) {
            self.driver.assume(Some(&start));
            self.guess_start();
            if matches!(self.driver.profile(), Profile::Pieces { .. }) {
                self.held.prove();
            }
        }
    }

    /// The target, or, on a board in doubt, the held game that extends it by the hand's answer known when the daemon ended: a
    /// board that cannot be asked is given the position after that answer.
    fn with_answer<'a>(&'a self, target: &'a Game) -> &'a Game {
        let held = &self.held;
        let unsure = held.certainty() == Certainty::Unsure && held.has_been_made();
        if unsure && self.is_answer_to(target) {
            held.game()
        } else {
            target
        }
    }

    fn circumstances(&self, target: &Game) -> Circumstances {
        let beginning = self.claims.occasion().beginning(target.turn());
        let at_start = self.held.game().is_empty() && self.held.game().is_standard();
        let cost = |board: &Board| self.driver.set_up_cost(board);
        let sensed_costs = cost(&Board::new()).zip(cost(target.position().board()));
        Circumstances {
            sensed_costs,
            answered: self.news_from() <= target.len(),
            new_game: self.leading.is_new_game(),
            afresh: at_start && target.is_standard() && !self.driver.knows_of(beginning),
            forgotten: self.has_left(target),
            set_up_refused: self.waits.refuses_set_ups(),
            stands: self.stands_in(target),
            sent: self.was_sent(target),
            beginning,
        }
    }

    /// Whether the pieces stand already where the target has come to, while the hand was asked for something on the way, or elsewhere:
    /// the new game has its first moves there, a move that was to be taken back is made again, or the hand has put up at once where
    /// several moves lead. There is nothing to go back for.
    pub(super) fn is_overtaken(&self) -> bool {
        let Standing::Led(target) = self.standing() else {
            return false;
        };
        let held = self.held.game();
        let goes_on = match self.current_step.following().map(|asked| &asked.advice) {
            Some(Advice::NewGame { .. }) => self.driver.stepping() && !target.is_empty(),
            Some(Advice::TakeBack(_)) => !held.continues(target),
            Some(_) => false,
            None => self.held.unconfirmed().is_some() && held != target,
        };
        if !goes_on || self.driver.profile() != (Profile::Pieces { motor: false }) {
            return false;
        }
        !self.waits.refuses_set_ups() && self.driver.stands_as(target.position().board())
    }

    /// Whether the target's next move may have reached the board before the link was lost.
    fn was_sent(&self, target: &Game) -> bool {
        let plies = self.held.game().len();
        let next = target.moves().get(plies);
        let sent = self.current_step.sent();
        sent.is_some_and(|(after, m)| after == plies && next == Some(&m))
    }

    /// Carries out the plan. `true` if it changed something, so that the core must plan again.
    fn follow(&mut self, now: Instant, plan: Plan) -> bool {
        let goes_on = matches!(plan, Plan::There | Plan::Do(Step::Show(_)));
        let unmade = self.held.unconfirmed().is_some();
        if goes_on && unmade && self.driver.light_again(now, self.held.game()) {
            return false;
        }
        let next = match plan {
            Plan::Do(Step::Show(m)) => Some(m),
            _ => None,
        };
        let by_moves = goes_on || matches!(plan, Plan::Do(Step::TakeBack(_)));
        if by_moves && let Some(m) = self.driver.ask_take_back_again(now, next) {
            self.current_step.ask(Some(Following {
                advice: Advice::TakeBack(m),
                game: self.held.game().clone(),
            }));
            self.published.changed();
            return false;
        }
        match plan {
            Plan::There => {
                self.leading.stepped();
                self.finish(now)
            }
            Plan::Do(step) => {
                self.begin(now, step);
                true
            }
            Plan::ByHand => {
                self.leading.by_hand();
                self.published.changed();
                false
            }
        }
    }

    /// The board shows the last move of its target: tells it how that game ended, and releases the clients that had the
    /// board for that. `true` if the target changed.
    fn finish(&mut self, now: Instant) -> bool {
        self.tell_ending(now);
        let left = self.claims.leave_finished();
        if left {
            self.target_changed();
        }
        left
    }

    /// A list that ends with a move of the program shows that the move was sent to the board, not that it was shown or
    /// made by the hand.
    fn mind_list(&mut self) {
        let held = &self.held;
        let sure = held.certainty() == Certainty::Sure;
        let Some(target) = self.claims.target().filter(|_| sure) else {
            return;
        };
        let hand = self.claims.occasion().beginning(target.turn()).hand;
        let is_programs = hand.is_none_or(|hand| hand == held.game().turn());
        // A resumed game is shown move by move, the hand's own moves too.
        let was_shown = is_programs || target.len() > held.game().len() + 1;
        if held.is_only_listed() && was_shown && target.continues(held.game()) {
            self.held.await_execution();
            self.published.changed();
        }
    }

    /// Whether the program continues the game that the board no longer holds, so that it must be given a position: the pieces
    /// may stand at the start or as before, and a position is right in both cases.
    pub(super) fn has_left(&self, target: &Game) -> bool {
        let board = self.driver.profile();
        let sets_up = board.set_up_cost().is_some() && !self.waits.refuses_set_ups();
        // A game that only begins the same way is another one.
        let goes_on = |before: &Game| {
            let common = target.common_plies(before).unwrap_or(0);
            common > 0 && common * 2 >= before.len()
        };
        sets_up
            && !board.senses()
            && !self.leading.is_new_game()
            && self.leading.left().is_some_and(goes_on)
    }

    /// If the position is lost: the last ply of the target after which the pieces stand as they do now.
    fn stands_in(&self, target: &Game) -> Option<usize> {
        if self.held.certainty() != Certainty::Lost {
            return None;
        }
        let mut position = target.start().clone();
        let mut found = None;
        for plies in 0..=target.len() {
            if self.driver.stands_as(position.board()) {
                found = Some(plies);
            }
            if let Some(&m) = target.moves().get(plies) {
                position.play_unchecked(m);
            }
        }
        found
    }

    /// The board returned to the start without being led; it held this game before.
    pub(super) fn went_to_start(&mut self, before: Game) {
        if before.is_empty() && before.is_standard() {
            return;
        }
        if self.driver.profile().answers() {
            // A board with its own memory can have lost that without any piece having moved.
            self.current_step.lose_wood();
        }
        // Only a program can continue it.
        if self.claims.has_game() {
            self.leading.leave(before);
        }
    }
}
