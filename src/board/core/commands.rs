//! Commands from front-ends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::uci::UciMove;

use super::{
    Core,
    current_step::{Asked, Following},
    game_identity::MAX_TAKEN_BACK,
};
use crate::{
    board::{claims::MOVES_BEFORE, held_game::Certainty},
    chess::game::{Game, uci},
    vocabulary::{
        ClientId, ClientName, Clocks, Command, Event, GameEnd, Judge, Occasion, Opponent,
    },
};

/// What may have been played when a program comes to a new game: a move of each side.
const FIRST_PLIES: usize = 2;

impl Core {
    /// Handles a front-end's command.
    pub fn command(&mut self, now: Instant, command: Command) {
        self.commands(now, [command]);
    }

    /// Handles commands that have come together, such as a game and that its next move is awaited.
    pub fn commands(&mut self, now: Instant, commands: impl IntoIterator<Item = Command>) {
        let mut news = false;
        for command in commands {
            news |= self.absorb_command(now, command);
        }
        if news {
            self.pass(now);
        }
    }

    /// `false` if it changes nothing. A client that has taken its answer only lets other clients have the board.
    fn absorb_command(&mut self, now: Instant, command: Command) -> bool {
        let mut pressed = false;
        let is_taken = match command {
            Command::Answered {
                client,
                number,
                answer,
            } => {
                pressed = self.claims.press_clock(now, client);
                (self.claims).take(client, number, answer, &self.held)
            }
            Command::Clocks { client, clocks } => {
                // They say nothing about the game.
                self.claims.set_clocks(now, client, clocks);
                self.note_clocks(client, clocks);
                return true;
            }
            _ => false,
        };
        if is_taken {
            let waited_for = self.claims.waiting().next().is_some();
            if waited_for {
                self.admit_waiting();
            }
            return waited_for || pressed;
        }
        self.published.changed();
        self.release_absent(now);
        if let Some(client) = command.client() {
            self.withdraw(client);
        }
        self.note_answers();
        match command {
            Command::Target {
                client,
                label,
                number,
                game,
                occasion,
            } => self.stated(now, client, label, number, *game, occasion),
            Command::Await { client, on } => self.awaits(client, on),
            Command::Analyse { client } => self.claims.analyse(client),
            Command::Answered {
                client,
                number,
                answer,
            } => self.was_told(client, number, answer),
            Command::Refuse { client, number } => self.refuses(now, client, number),
            Command::NewGame { client } => self.announces(client),
            Command::Ready { client } if self.claims.has(client) => self.pressed(now),
            Command::Ready { .. } => {}
            Command::Promotion { client, role } => self.claims.set_promotion(client, role),
            Command::Clocks { .. } => {}
            Command::Away { client, on } => self.is_away(client, on),
            Command::Yield { client } => {
                self.claims.make_way(client);
                self.admit_waiting();
            }
            Command::Ended { client, end } => self.ended(client, end),
            Command::PutOut => self.is_put_out(),
            Command::Release { client } => self.leaves(client),
            Command::Lost { client } => self.is_lost(client),
        }
        true
    }

    /// A client that has the board told its clocks. They go out with the next publication: that its move is awaited follows.
    fn note_clocks(&mut self, client: ClientId, clocks: Option<Clocks>) {
        let claim = self.claims.holders().find(|claim| claim.client == client);
        if let (Some(claim), Some(clocks)) = (claim, clocks) {
            self.clock_times.note(&claim.game, &clocks);
        }
    }

    /// A client that sends anything but the confirmation of its answer may not have seen the answer. Its command is handled
    /// first; if it still awaits that answer afterwards, it is given it again.
    fn withdraw(&mut self, client: ClientId) {
        if let Some(plies) = self.claims.withdraw(client) {
            // Another client's game may go on from there.
            if self.claims.target().is_some_and(|on| on.len() == plies) {
                self.held.made_from(plies);
            }
            self.tell_target();
        }
    }

    /// The board holds this many plies; any later move will be new to every client.
    pub(super) fn taken_back_to(&mut self, plies: usize) {
        if self.claims.taken_back_to(plies) {
            self.tell_target();
        }
    }

    fn stated(
        &mut self,
        now: Instant,
        client: ClientId,
        label: ClientName,
        number: u64,
        game: Game,
        occasion: Occasion,
    ) {
        self.tell_ending(now);
        let game = game.rebased(self.held.game());
        let game = match self.claims.target() {
            Some(target) => game.rebased(target),
            None => game,
        };
        let game = game.before_double_step();
        let untold = self.claims.adopt(client, &label, &game);
        if let Some(plies) = untold {
            self.held.made_from(plies);
        }
        let changed = self.claims.state(client, label, number, game, occasion);
        if self.claims.has(client) {
            if changed || untold.is_some() {
                self.target_changed();
            } else {
                self.target_stated();
            }
        }
        self.admit_waiting();
    }

    fn awaits(&mut self, client: ClientId, on: bool) {
        if self.claims.set_awaiting(client, on, &self.held) {
            self.target_changed();
        }
        if on && self.claims.has(client) {
            self.leading.lead(true);
            // The program continues.
            self.verdict.kings_down();
            self.hand_is_awaited();
        }
        self.admit_waiting();
    }

    fn was_told(&mut self, client: ClientId, number: u64, answer: UciMove) {
        let claim = self.claims.iter().find(|c| c.client == client);
        let played = claim.and_then(|c| answer.to_move(c.game.position()).ok());
        if let Some(m) = played
            && self.claims.answered(client, number, m)
        {
            self.front_ends_know();
            self.tell_target();
        }
        self.admit_waiting();
    }

    fn refuses(&mut self, now: Instant, client: ClientId, number: u64) {
        let plies = self.held.game().len();
        if self.claims.refuse(client, number, plies) {
            self.waits.after_hand(now, Duration::ZERO);
        }
    }

    fn announces(&mut self, client: ClientId) {
        self.claims.forgive(client);
        self.claims.is_back(client);
        if self.claims.may_begin(client) {
            self.leading.announced();
            self.identity.begins();
            self.verdict.kings_down();
            if self.held.game().is_empty() {
                self.verdict.begins();
            }
            self.forget_old_game();
        } else {
            self.claims.announce(client);
        }
    }

    fn is_away(&mut self, client: ClientId, on: bool) {
        self.claims.set_away(client, on);
        self.admit_waiting();
    }

    fn ended(&mut self, client: ClientId, end: GameEnd) {
        if self.claims.has(client) {
            // The board is told once it shows the last move.
            let game = self.claims.target().unwrap_or(self.held.game());
            self.verdict.program_says(end, game.clone());
            self.over(end, Judge::Program);
            self.claims.finish(client);
            self.admit_waiting();
        } else {
            self.leaves(client);
        }
    }

    fn is_put_out(&mut self) {
        if self.claims.put_out() {
            self.target_changed();
        }
    }

    fn leaves(&mut self, client: ClientId) {
        if self.claims.release(client) {
            self.target_changed();
        }
    }

    fn is_lost(&mut self, client: ClientId) {
        if self.claims.lose(client) {
            self.target_changed();
        }
    }

    /// Tells the board how the last game ended, unless it has been told.
    pub(super) fn tell_ending(&mut self, now: Instant) {
        if let Some(end) = self.verdict.take_untold() {
            self.driver.game_ended(now, end);
        }
    }

    /// A program that awaits a move states by this which side the hand plays. Several programs that await moves in turns state
    /// that the hand plays both. An earlier position may have been an analysis for the other side.
    pub(super) fn hand_is_awaited(&mut self) {
        let alone = self.claims.holders().count() == 1;
        let plays_one = alone && self.claims.occasion().opponent != Opponent::Nobody;
        let target = self.claims.target().filter(|_| plays_one);
        self.hand.play(target.map(Game::turn));
    }

    /// While a new game is announced, no move on the board counts as any client's answer.
    pub(super) fn forget_old_game(&mut self) {
        if self.leading.is_new_game() {
            let plies = self.held.game().len();
            if self.claims.begin_anew(plies) {
                self.tell_target();
            }
        }
    }

    pub(super) fn admit_waiting(&mut self) {
        if !self.shows_ending() && self.claims.admit_waiting() {
            self.target_changed();
        }
    }

    /// Whether a client has the board for the last move of a game that is over, and nothing prevents showing it.
    pub(super) fn shows_ending(&self) -> bool {
        let sure = self.held.certainty() == Certainty::Sure;
        self.claims.ends()
            && self.may_lead()
            && !self.leading.is_by_hand()
            && sure
            && !self.is_off()
    }

    /// The board is to be led to another game than before, or to none.
    pub(super) fn target_changed(&mut self) {
        let other_game = self.is_of_another_game();
        if self
            .claims
            .take_came()
            .is_some_and(|begins| begins || other_game)
        {
            self.leading.begins();
            self.identity.begins();
            self.forget_old_game();
            let held = self.held.game();
            if self
                .claims
                .target()
                .is_some_and(|t| t != held || t.is_empty())
            {
                self.verdict.begins();
            }
        }
        self.end_guess();
        if let Some(target) = self.claims.target() {
            self.identity.goes_on(target);
            self.verdict.led_to(target);
        }
        self.waits.at_once();
        self.waits.forgive();
        self.leading.turn();
        self.hand.forget_take_back();
        let target = self.claims.target();
        let left = |on: &Following| target.is_some_and(|t| !t.continues(&on.game));
        if self.current_step.following().is_some_and(left) {
            self.current_step.unask();
            self.deviation.stands();
        }
        // A program continues: what the kings signalled no longer applies. One that leaves the game lets its end stand.
        if self.claims.target().is_some() {
            self.verdict.kings_down();
        }
        self.tell_target();
        self.target_stated();
    }

    /// A client stated a target; it may be the one the board is already led to.
    fn target_stated(&mut self) {
        self.leading.lead(self.claims.target().is_some());
        if !self.leading.leads() {
            self.hand.play(None);
        }
        self.front_ends_know();
        if let Some(target) = self.claims.target()
            && self.held.may_be_told_better(target)
        {
            self.held.doubt();
        }
    }

    /// A client has come to a board whose game is a guess. If it states that game, or that game without its last move by the
    /// hand, it continues it, even if it announced a new game: that is this one.
    fn end_guess(&mut self) {
        let Some(target) = self.claims.target().filter(|_| self.held.is_guess()) else {
            return;
        };
        let news = self.news_from() <= target.len();
        if self.held.prove_guess(target, MOVES_BEFORE, news) {
            self.leading.begun();
        } else {
            self.driver.assume(None);
        }
    }

    /// Whether the target shares no move with the game on the board, and that game is more than a quick hand's moves; or that game
    /// is over, and the target has only a game's first moves, too few of that one to be a look back at it.
    fn is_of_another_game(&self) -> bool {
        let held = self.held.game();
        let Some(target) = self.claims.target() else {
            return false;
        };
        let Some(common) = target.common_plies(held) else {
            return false;
        };
        let is_left = held.len() - common > MAX_TAKEN_BACK && self.verdict.end().is_some();
        common == 0 && self.news_from() > 0 || is_left && target.len() <= FIRST_PLIES
    }

    pub(super) fn tell_target(&mut self) {
        let game = self.claims.target().cloned().map(Arc::new);
        self.event(Event::Target { game });
    }

    /// The ply from which on the moves on the board were made by the hand and are known to no front-end.
    pub(super) fn news_from(&self) -> usize {
        self.held.by_hand_from().max(self.claims.known())
    }

    /// Whether the held game goes on from this one by the hand's answer, which is not known to any front-end.
    pub(super) fn is_answer_to(&self, game: &Game) -> bool {
        self.held.game().continues(game) && self.news_from() <= game.len()
    }

    /// Whether the hand may still make the last move another one: no client knows it yet, or it is one that was shown, is not made, and
    /// whose client has left.
    pub(super) fn may_replace(&self) -> bool {
        let fresh = self.news_from() < self.held.game().len();
        fresh || self.is_free() && self.held.unconfirmed().is_some()
    }

    /// Front-ends know the moves that the target shares with the held game.
    pub(super) fn front_ends_know(&mut self) {
        if let Some(target) = self.claims.target()
            && let Some(common) = target.common_plies(self.held.game())
        {
            self.claims.know(common);
        }
    }

    /// The player presses `Board ready`: confirms what was asked for when the player read it.
    fn pressed(&mut self, now: Instant) {
        let late = self.current_step.pressed_late(now);
        let by_hand = self.leading.is_by_hand() || self.deviation.mistake().is_some();
        let shown = self.held.unconfirmed().map(Asked::Move);
        let asked = late
            .or_else(|| by_hand.then_some(Asked::Position))
            .or(shown)
            .or(self.current_step.to_place());
        match late {
            Some(Asked::Position) => self.current_step.confirm(),
            // It counts as made already.
            Some(Asked::Move(_)) => {}
            None => self.ready(now),
        }
        match asked {
            Some(Asked::Position) => self.event(Event::Mended),
            Some(Asked::Move(m)) => self.event(Event::Executed { uci: uci(m) }),
            None => {}
        }
    }

    /// The board stands as it should.
    pub(super) fn ready(&mut self, now: Instant) {
        if self.leading.is_by_hand()
            && let Some(target) = self.claims.target().cloned()
        {
            let fen = (target != *self.held.game()).then(|| target.fen());
            self.held.replace(target);
            self.taken_back_to(self.held.game().len());
            if let Some(fen) = fen {
                self.event(Event::SetUp { fen });
            }
        }
        if let Some(target) = self.claims.target() {
            let beginning = self.claims.occasion().beginning(target.turn());
            self.hand.play(beginning.hand);
        }
        self.leading.set_up();
        self.deviation.mended();
        // It may be a different game now.
        self.verdict.doubt();
        self.held.confirm();
        self.confirm(now);
        self.waits.at_once();
    }
}
