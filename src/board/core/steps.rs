//! The course of a step: it begins, the board takes it or not, the hand follows it.

use std::time::Instant;

use shakmaty::{Board, Move, Position};

use super::{
    Core,
    current_step::{Asked, Following},
};
use crate::{
    board::held_game::Certainty,
    chess::game::{Game, uci},
    driver::{Step, StepFailure},
    vocabulary::{Advice, Beginning, By, Event},
};

impl Core {
    /// A step toward the target begins.
    pub(super) fn begin(&mut self, now: Instant, step: Step) {
        self.ask_hand(&step);
        self.deviation.mended();
        self.hand.forget_take_back();
        self.current_step.begin(step.clone(), false);
        if matches!(step, Step::NewGame(_)) {
            // The previous game is over, whether or not its last move was shown.
            self.tell_ending(now);
        }
        self.driver.start(now, step);
        self.published.changed();
    }

    /// Notes what the hand has to do for this step, and how the pieces should then stand.
    pub(super) fn ask_hand(&mut self, step: &Step) {
        if let Some(wanted) = self.asked_by(step) {
            let before = if self.stood_as(&wanted) {
                Some(wanted.clone())
            } else {
                self.picture()
            };
            self.current_step.move_wood(before, &wanted);
        }
        let board = self.driver.profile();
        // One that drives to positions may give up, and the hand is asked then.
        let takes_back_itself = board.moves_itself() && !board.sets_up_itself();
        let following = match step {
            Step::Show(_) => None,
            Step::TakeBack(_) if takes_back_itself => None,
            Step::TakeBack(m) => Some(Following {
                advice: Advice::TakeBack(*m),
                game: self
                    .held
                    .game()
                    .truncated(self.held.game().len().saturating_sub(1)),
            }),
            Step::NewGame(_) => Some(self.following_to(Game::standard())),
            Step::SetUp(game) => Some(self.following_to((**game).clone())),
        };
        self.current_step.ask(following);
    }

    /// The hand is to put up where this game has come to.
    fn following_to(&self, game: Game) -> Following {
        let may_move = self.may_move_on(&game);
        let advice = if game.is_standard() && game.is_empty() {
            Advice::NewGame { may_move }
        } else {
            let fen = game.fen();
            Advice::SetUp { fen, may_move }
        };
        Following { advice, game }
    }

    /// Whether the hand makes the next move of this game.
    fn may_move_on(&self, game: &Game) -> bool {
        let target = self.claims.target();
        self.claims.occasion().hand_next && target.is_none_or(|target| target == game)
    }

    /// How the pieces should stand once the hand has followed a step, on a board that does not itself report its
    /// progress.
    pub(super) fn asked_by(&self, step: &Step) -> Option<Board> {
        if self.driver.profile().senses() {
            return None;
        }
        match step {
            Step::NewGame(_) => Some(Board::new()),
            Step::SetUp(game) => Some(game.position().board().clone()),
            Step::TakeBack(_) => Some(self.before_last()),
            Step::Show(_) => None,
        }
    }

    pub(super) fn tell_position(&mut self, now: Instant) {
        let held = self.held.game();
        let game = match self.claims.target() {
            Some(target) if self.is_answer_to(target) => held.clone(),
            Some(target) => target.clone(),
            // A board that is switched on while no client plays begins a new game.
            None if self.held.certainty() == Certainty::Unsure => Game::standard(),
            None => held.clone(),
        };
        // The double step is shown, or made again, after the position before it.
        let game = game.without_en_passant();
        let new_to_board = game != *held || !self.stood_as(game.position().board());
        // Replaces what the hand was following: that step is no longer under way.
        self.current_step
            .ask(new_to_board.then(|| self.following_to(game.clone())));
        if new_to_board {
            let before = self.picture();
            self.current_step.move_wood(before, game.position().board());
        }
        self.waits.at_once();
        self.published.changed();
        self.driver
            .tell_position(now, game.position(), new_to_board);
        // Once the board has the last line of the position it holds this game, whatever it reported before.
        self.current_step.begin(Step::SetUp(Box::new(game)), true);
    }

    /// The board has taken the step under way.
    pub(super) fn accepted(&mut self, now: Instant) {
        self.waits.forgive();
        // The first step toward a new game is done; later take-backs belong to the new game.
        let new_game = self.leading.stepped();
        self.verdict.goes_on();
        self.deviation.forget();
        self.note_answers();
        let outrun = self.current_step.is_outrun();
        let may_tell_again = outrun && self.driver.takes_position();
        let early = self.current_step.take_early();
        let step = self.current_step.accepted();
        let wanted = step.as_ref().and_then(|step| self.asked_by(step));
        if wanted.is_some_and(|wanted| self.stood_as(&wanted)) {
            // The hand has nothing left to do.
            self.driver.confirm(now);
        }
        match step {
            None => {}
            Some(Step::Show(m)) => self.has_shown(now, m),
            Some(Step::TakeBack(m)) => self.has_taken_back(m),
            Some(Step::NewGame(beginning)) => self.has_begun(beginning),
            Some(Step::SetUp(game)) if may_tell_again && self.has_played_on(&game) => {
                self.set_up_again(now);
            }
            Some(Step::SetUp(game)) => self.has_set_up(*game, new_game),
        }
        // Whatever the hand does next will be new to every client.
        self.taken_back_to(self.held.game().len());
        self.front_ends_know();
        if let Some(made) = early {
            self.moved(now, made);
        }
    }

    fn has_shown(&mut self, now: Instant, m: Move) {
        let before = self.held.unconfirmed().map(Asked::Move);
        self.current_step.shown(now, before);
        let ply = self.held.game().len() + 1;
        self.held.shown(m);
        self.event(Event::Moved {
            uci: uci(m),
            ply,
            by: By::Target,
            took: None,
        });
    }

    fn has_taken_back(&mut self, m: Move) {
        let ply = self.held.game().len();
        self.held.taken_back();
        self.event(Event::TookBack {
            uci: uci(m),
            ply,
            by: By::Target,
        });
    }

    fn has_begun(&mut self, beginning: Beginning) {
        self.hand.play(beginning.hand);
        if self.claims.awaiting() {
            self.hand_is_awaited();
        }
        self.held.replace(Game::standard());
        self.event(Event::NewGame { by: By::Target });
    }

    /// Whether the hand has played on from this position, in the game of the clients that have the board.
    pub(super) fn has_played_on(&self, game: &Game) -> bool {
        let held = self.held.game();
        let expressible = held.position().legal_ep_square().is_none();
        let goes_on = |target: &Game| target.continues(held) || self.is_answer_to(target);
        self.claims.target().is_none_or(goes_on) && expressible && held.continues(game)
    }

    /// The board was told a position while the hand played on from it: it is told where that has led.
    fn set_up_again(&mut self, now: Instant) {
        let step = Step::SetUp(Box::new(self.held.game().clone()));
        self.driver.start(now, step.clone());
        self.current_step.begin(step, false);
    }

    pub(super) fn has_set_up(&mut self, game: Game, new_game: bool) {
        self.hand.play(None);
        self.waits.takes_set_ups();
        let fen = game.fen();
        if game == *self.held.game() {
            self.held.assure();
            let asked = self.current_step.following().is_some();
            if asked && !self.current_step.placement().is_as_held() {
                // The hand was asked for the shown move with the position.
                self.held.confirm();
            }
        } else {
            // The same game, taken back or played on, keeps its times.
            let common = game.common_plies(self.held.game());
            let kept = common.filter(|_| !new_game).unwrap_or(0);
            self.move_times.forget_from(kept);
            self.held.replace(game);
        }
        self.event(Event::SetUp { fen });
    }

    pub(super) fn failed(&mut self, now: Instant, failure: StepFailure) {
        self.current_step.unask();
        if matches!(self.current_step.step(), Some(Step::SetUp(_)))
            && failure == StepFailure::Refused
        {
            self.current_step.refused();
            // From now on it is unknown where its list begins.
            self.waits.refused();
            self.held.suspect();
            self.held.lose();
        } else {
            self.drop_step();
            self.held.doubt();
        }
        // What the board holds is asked at once; a step it did not take is retried later.
        if self.driver.profile().answers() && self.held.certainty() == Certainty::Unsure {
            self.driver.learn(now);
        }
        self.waits.failed(now);
        self.published.changed();
    }

    /// Drops the step under way.
    pub(super) fn drop_step(&mut self) {
        if self.current_step.drop_step(self.held.game().len()) {
            self.held.suspect();
        }
    }

    pub(super) fn confirm(&mut self, now: Instant) {
        self.current_step.confirm();
        self.driver.confirm(now);
    }
}
