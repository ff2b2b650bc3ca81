//! What front-ends ask of the board.

use std::time::Instant;

use super::{Machine, answer_to};
use crate::{board::command::Command, bus::Event};

impl Machine {
    /// Takes a front-end's command.
    pub fn command(&mut self, now: Instant, command: Command) {
        self.changed = true;
        let held = &self.held;
        self.claims
            .note_answers(|claim| !answer_to(held, claim).is_empty());
        match command {
            Command::Target {
                client,
                label,
                number,
                game,
                occasion,
            } => {
                self.tell_ending(now);
                let game = game.rebased(self.held.game());
                let game = match self.claims.target() {
                    Some(target) => game.rebased(target),
                    None => game,
                };
                let game = game.before_double_step();
                let fresh_from = self.held.fresh_from();
                let claims = &mut self.claims;
                let changed = claims.state(client, label, number, game, occasion, fresh_from);
                if self.claims.has(client) {
                    self.target_stated(changed);
                }
                self.admit_waiting();
            }
            Command::Await { client, on } => {
                if self.claims.set_awaiting(client, on) {
                    self.target_stated(true);
                }
                self.leading |= on && self.claims.has(client);
                self.admit_waiting();
            }
            Command::Answered {
                client,
                number,
                answer,
            } => {
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
            Command::Refuse { client, number } => {
                if self.claims.refuse(client, number) {
                    self.held.known_to_front_ends(self.held.game().len());
                    self.lead_after = Some(now + self.correction_wait);
                }
            }
            Command::NewGame { client } => {
                if self.claims.may_lead(client) {
                    self.given.new_game = true;
                    self.leading = false;
                    self.forget_old_game();
                }
            }
            Command::Ready { client } => {
                if self.claims.has(client) {
                    self.ready(now);
                }
            }
            Command::Promotion { client, role } => {
                self.claims.set_promotion(client, role);
            }
            Command::Away { client, on } => {
                self.claims.set_away(client, on);
                self.admit_waiting();
            }
            Command::Ended { client, end } => {
                if self.claims.has(client) {
                    // The board is told when it shows the last move.
                    self.ending = Some(end);
                    self.event(Event::Ended { end });
                    self.claims.finish(client);
                    self.admit_waiting();
                } else if self.claims.release(client) {
                    self.target_stated(true);
                }
            }
            Command::Release { client } => {
                if self.claims.release(client) {
                    self.target_stated(true);
                }
            }
        }
        if std::mem::take(&mut self.abandon) {
            self.driver.abandon(self.claims.target());
        }
        self.drive(now);
    }

    /// Tells the board how the last game ended, if it has not been told.
    pub(super) fn tell_ending(&mut self, now: Instant) {
        if let Some(end) = self.ending.take() {
            self.driver.game_ended(now, end);
        }
    }

    /// While a new game is announced, what stands on the board is nobody's move.
    pub(super) fn forget_old_game(&mut self) {
        if self.given.new_game {
            self.held.known_to_front_ends(self.held.game().len());
            self.claims.forget_answers();
        }
    }

    pub(super) fn admit_waiting(&mut self) {
        if self.claims.admit_waiting() {
            self.target_stated(true);
        }
    }

    /// A client stated a target; it may be the one the board is led to already.
    pub(super) fn target_stated(&mut self, changed: bool) {
        if changed {
            self.lead_after = None;
            self.by_hand = false;
            self.hand_took_back = false;
            self.failures = 0;
            self.abandon = true;
            self.tell_target();
        }
        self.leading = self.claims.target().is_some();
        if !self.leading {
            self.hand = None;
        }
        self.front_ends_know();
        if let Some(target) = self.claims.target()
            && self.held.may_be_told_better(target)
        {
            self.held.doubt();
        }
    }

    pub(super) fn tell_target(&mut self) {
        let game = self.claims.target().map(ToString::to_string);
        self.event(Event::Target { game });
    }

    /// What the target has of the held game is known to front-ends.
    pub(super) fn front_ends_know(&mut self) {
        if let Some(target) = self.claims.target()
            && let Some(common) = target.common_plies(self.held.game())
        {
            self.held.known_to_front_ends(common);
        }
    }

    /// The player says that the board stands as it should.
    pub(super) fn ready(&mut self, now: Instant) {
        if self.by_hand
            && let Some(target) = self.claims.target().cloned()
        {
            self.held.replace(target);
        }
        if let Some(target) = self.claims.target() {
            self.hand = self.claims.occasion().beginning(target.turn()).hand;
        }
        self.by_hand = false;
        self.mistake = None;
        self.held.confirm();
        self.confirm(now);
        self.lead_after = None;
    }
}
