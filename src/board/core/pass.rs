//! The way of a move through the core, always forward: absorb, answer, plan, publish.
//!
//! One pass follows whatever comes in (bytes, an outcome, commands, the time). It absorbs the driver's reports and judges which
//! legal move each one means; answers the clients that await a move; plans the next step toward the target; and notes what is
//! new for the one publication that follows.

use std::time::Instant;

use super::{Core, labels, move_times::Standing};
use crate::board::held_game::Certainty;

impl Core {
    /// The one pass after something came in.
    pub(super) fn pass(&mut self, now: Instant) {
        self.release_absent(now);
        if self.claims.pass(now) {
            self.published.changed();
            self.admit_waiting();
        }
        self.absorb(now);
        // A step that the board takes at once makes room for the next one.
        while self.plan(now) {
            self.absorb(now);
        }
        self.note_news(now);
    }

    /// Absorbs the reports of the driver until it has no more. The driver may understand earlier input only once it follows the
    /// new game, and then reports again.
    fn absorb(&mut self, now: Instant) {
        loop {
            while let Some(event) = self.driver.poll_event() {
                self.driver_event(now, event);
                // Judged at once: the next event may be the board's own verdict on this move.
                self.judge();
                self.taken_back_to(self.held.game().len());
            }
            self.meet();
            // Before the driver follows: a move that a client was given may not be replaced by another.
            self.answer();
            if !self
                .driver
                .follow(now, self.held.game(), self.may_replace())
            {
                break;
            }
        }
    }

    /// Decides what answers a client that has just come, once it is known what the board holds.
    fn meet(&mut self) {
        // Not while the board is asked: it may hold more than is known, or less.
        let known = self.held.certainty() == Certainty::Sure && !self.driver.is_asked();
        let on_the_way = self.driver.stepping();
        if known {
            self.claims.meet(&self.held, on_the_way);
        }
    }

    /// Gives the hand's move to each client that awaits it and takes it at once. From then on the client's game has the move,
    /// and so does the next published snapshot.
    fn answer(&mut self) {
        if !self.held.has_been_made() {
            return;
        }
        let Some(goes_on) = self.claims.give(&self.held) else {
            return;
        };
        self.published.changed();
        if goes_on {
            self.front_ends_know();
            self.tell_target();
        }
    }

    /// Clears what is over, and begins the next step toward the target if there is one. `true` if something was begun.
    fn plan(&mut self, now: Instant) -> bool {
        if !self.driver.stepping() {
            self.drop_step();
        }
        if self.driver.idle() && self.current_step.unask() {
            self.published.changed();
        }
        self.waits.pass(now);
        // Before a move is shown: a clock shows one thing after the other.
        let mut clocks = self.claims.clocks();
        if let Some(over) = clocks.as_mut().filter(|_| self.verdict.end().is_some()) {
            over.clocks.runs = None;
        }
        self.driver.clocks(now, clocks);
        let in_game = self.claims.target().is_some() && !self.is_over();
        self.driver.in_game(now, in_game);
        if self.claims.ends() {
            // The last move of its game may never be shown.
            self.admit_waiting();
        }
        if self.leading.take_turned() {
            self.driver.abandon(self.claims.target());
        } else if self.is_overtaken() {
            self.driver.abandon(None);
        }
        self.lead(now)
    }

    /// Notes for the next publication what is new: the end of the game, its players, what the player should know or do.
    fn note_news(&mut self, now: Instant) {
        self.judge();
        self.claims.set_over(self.is_over(), now);
        let players = [self.holders(), labels(self.claims.waiting())];
        self.published.players(players);
        let advice = self.advice();
        let standing = Standing {
            awaiting: self.claims.awaiting(),
            free: self.is_free() && self.contact.is_open(),
        };
        self.move_times
            .note(now, &advice, self.held.game(), standing);
        self.published.advice(advice);
        // After the advice it belongs to.
        self.published.scene(self.scene(), self.king_first());
    }
}
