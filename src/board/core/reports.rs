//! Events from the driver.

use std::time::{Duration, Instant};

use shakmaty::Board;

use super::Core;
use crate::{
    board::{
        claims::Claim,
        held_game::{List, Listed},
    },
    chess::game::Game,
    driver::DriverEvent,
    vocabulary::{
        Advice, BoardKind, BoardResult, By, ClientName, Event, Judge, Misplaced, Reported,
    },
};

/// What the player is told of a battery that will not last.
const EMPTY: &str =
    "the board's battery is almost empty: plug in its charger, or the board will soon switch off";

impl Core {
    /// Handles an event from the driver.
    pub(super) fn driver_event(&mut self, now: Instant, event: DriverEvent) {
        match event {
            DriverEvent::Answers { id } => self.answers(id),
            DriverEvent::Unheard => self.unheard(),
            DriverEvent::Silent => self.silent(),
            DriverEvent::Stranger(kind) => self.stranger(kind),
            DriverEvent::Restarted => self.restarted(now),
            DriverEvent::AsksPosition => self.tell_position(now),
            DriverEvent::Moved(reported) => self.moved(now, reported),
            DriverEvent::TookBack(reported) => self.took_back(now, reported),
            DriverEvent::NewGame => self.put_to_start(now),
            DriverEvent::Ready => self.stands_ready(now),
            DriverEvent::Accepted => self.accepted(now),
            DriverEvent::Failed(failure) => self.failed(now, failure),
            DriverEvent::Listed {
                skipped,
                ref moves,
                full,
            } => self.listed(
                now,
                List {
                    skipped,
                    moves,
                    full,
                },
            ),
            DriverEvent::Placed { board, turn } => self.placed(now, &board, turn),
            DriverEvent::PutUp(board) => self.put_up(now, &board),
            DriverEvent::NoList => self.not_listed(now),
            DriverEvent::ListUnreadable => self.list_unreadable(now),
            DriverEvent::NoPicture => self.not_placed(),
            DriverEvent::AsksTakeBack => self.event(Event::AsksTakeBack),
            DriverEvent::Trouble(text) => self.event(Event::Mistake {
                text: text.to_owned(),
            }),
            DriverEvent::Ended(result) => self.board_ended(result),
            DriverEvent::Unplaced => self.lost(),
            DriverEvent::Misplaced(misplaced) => self.misplaced(now, misplaced),
            DriverEvent::Stands => self.stands(),
            DriverEvent::Stuck => self.stuck(),
            DriverEvent::Battery { percent, is_empty } => self.battery(percent, is_empty),
            DriverEvent::Unreadable(text) => self.unreadable(text),
        }
    }

    fn answers(&mut self, id: Option<String>) {
        if self.contact.answers(id.clone()) {
            self.event(Event::Answers { id });
        }
    }

    fn unheard(&mut self) {
        self.contact.unheard();
        self.event(Event::Unheard);
    }

    fn silent(&mut self) {
        self.held.doubt();
        if self.contact.silent() {
            self.event(Event::Silent);
        }
    }

    fn stranger(&mut self, kind: BoardKind) {
        if self.contact.stranger(kind) {
            self.event(Event::Stranger { kind });
        }
    }

    fn restarted(&mut self, now: Instant) {
        self.held.restarted();
        self.current_step.unask();
        self.waits.restarted(now);
        self.event(Event::Restarted);
    }

    fn took_back(&mut self, now: Instant, reported: Option<Reported>) {
        let meaning = self.held.hand_took_back(reported);
        self.meant(now, reported, meaning);
    }

    fn put_to_start(&mut self, now: Instant) {
        self.waits.takes_set_ups();
        let before = self.held.game().clone();
        if self.driver.is_asked() {
            // Its answer will show where the game begins, if it can.
            self.held.begins();
            self.listed = Listed::Followed;
        } else {
            self.held.replace(Game::standard());
        }
        self.begun_by_hand(now);
        self.went_to_start(before);
        self.event(Event::NewGame { by: By::Hand });
    }

    /// Another position than that of the game stands on the board. While a client has it, that is a mistake; an engine of the
    /// daemon's plays on from it, unless a game is under way.
    fn put_up(&mut self, now: Instant, board: &Board) {
        let before = self.held.game().clone();
        let engine = |claim: &Claim| matches!(claim.label, ClientName::Engine(_));
        let under_way = !before.is_empty() && self.verdict.end().is_none();
        let follows = !under_way && self.claims.holders().all(engine);
        if (self.is_free() || follows) && self.held.put_up(board) {
            self.went_to_start(before);
            self.begun_elsewhere(now);
        }
    }

    /// The pieces are put up for another game: disconnected clients lose the board. A board that does not sense its pieces reports the
    /// same when it is switched on, which means nothing.
    pub(super) fn drop_absent(&mut self) {
        if self.driver.profile().senses() && self.claims.drop_absent() {
            self.target_changed();
        }
    }

    /// The hand has put the pieces where the game on the board begins.
    pub(super) fn begun_by_hand(&mut self, now: Instant) {
        self.drop_absent();
        self.verdict.goes_on();
        self.deviation.corrected();
        self.hand.put_to_start();
        self.confirm(now);
        self.waits.after_hand(now, Duration::ZERO);
        // An answer that was not taken yet no longer counts.
        self.taken_back_to(self.held.game().len());
        // Pieces put back after a game are the next game's start; while a client waits for a move they are a mistake.
        let leads = self.leading.leads() && self.claims.awaiting();
        self.leading.lead(leads);
    }

    /// The pieces stand as the hand was asked to put them. This proves nothing about a shown move.
    pub(super) fn stands_ready(&mut self, now: Instant) {
        if self.current_step.following().is_some() {
            self.confirm(now);
            self.event(Event::Mended);
        } else if self.current_step.to_place().is_some() {
            // A move was shown since; the player may still have to make it.
            self.current_step.confirm();
            self.event(Event::Mended);
        }
    }

    fn board_ended(&mut self, result: BoardResult) {
        self.verdict.board_says(result);
        self.event(Event::Result { result });
        self.over(result.end(self.held.game().turn()), Judge::Board);
    }

    fn misplaced(&mut self, now: Instant, misplaced: Misplaced) {
        let before = self.advice();
        self.deviation.sees(misplaced);
        if self.current_step.following().is_none() && !self.ends_by_kings(now) {
            let advice = self.advice();
            // Reported once: the guidance shows what is wrong, and what is left of it.
            if !matches!(before, Advice::Misplaced(_)) {
                let text = advice.to_string();
                self.event(Event::Mistake { text });
            }
        }
        self.published.changed();
    }

    fn stands(&mut self) {
        if self.deviation.stands() {
            self.event(Event::Mended);
        }
    }

    /// The motors have given up: what was not to be asked of the hand is asked now.
    fn stuck(&mut self) {
        let advice = self.advice();
        let text = format!("the board has not moved its pieces there: {advice}");
        self.event(Event::Mistake { text });
        self.published.changed();
    }

    fn battery(&mut self, percent: u8, is_empty: bool) {
        if self.contact.charged(percent) {
            self.event(Event::Battery { percent });
        }
        if self.contact.empties(is_empty) {
            self.event(Event::Mistake {
                text: EMPTY.to_owned(),
            });
        }
    }

    fn unreadable(&mut self, text: String) {
        self.contact.unreadable();
        self.event(Event::Unreadable { text });
    }
}
