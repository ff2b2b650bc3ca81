//! One board without I/O: its driver, the game it holds, its clients, and the steps between.
//!
//! Bytes, commands and time go in; bytes, events, a snapshot and the next deadline come out. The actor supplies a
//! transport and a clock, a replay supplies a transcript, and a test supplies both by hand.
//!
//! | what | where |
//! |---|---|
//! | the way through | `pass` |
//! | what comes in | `commands`; `reports`, the driver's events, with `moves`, `obeying`, `kings` and `learning` (the board's own account of its game) |
//! | what goes out | `next_step`, `steps` (how a step ends), `advice`, `guidance` (what the hand should do) |
//! | what is kept | `contact`, `verdict`, `current_step` with `placement`, `leading`, `step_waits`, `hand`, `deviation`, `game_identity`, `move_times`, `clock_times`, `published`; through a restart: `saved_board`, with a `ply` for each move |
//! | what takes precedence | `precedence` |

mod advice;
mod clock_times;
mod commands;
mod contact;
mod current_step;
mod deviation;
mod game_identity;
mod guidance;
mod hand;
mod kings;
mod leading;
mod learning;
mod move_times;
mod moves;
mod next_step;
mod obeying;
mod pass;
mod placement;
mod ply;
mod precedence;
mod published;
mod reports;
mod saved_board;
mod step_waits;
mod steps;
mod verdict;

#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use shakmaty::Move;

use self::{
    clock_times::ClockTimes, contact::Contact, current_step::CurrentStep, deviation::Deviation,
    game_identity::Identity, hand::Hand, leading::Leading, move_times::MoveTimes,
    published::Published, step_waits::StepWaits, verdict::Verdict,
};
pub use self::{
    ply::Ply,
    saved_board::{SavedBoard, Urgency},
};
use super::{
    claims::{Claim, Claims},
    held_game::{Certainty, Held, Listed},
};
use crate::{
    driver::Driver,
    vocabulary::{
        BoardName, By, Channel, ClientName, ClientPlace, Event, Outgoing, Reply, Snapshot, played,
    },
};

/// One board, without I/O. See the module documentation.
pub struct Core {
    name: BoardName,
    driver: Box<dyn Driver>,
    contact: Contact,
    held: Held,
    claims: Claims,
    verdict: Verdict,
    current_step: CurrentStep,
    leading: Leading,
    waits: StepWaits,
    hand: Hand,
    /// How the board's last list was understood.
    listed: Listed,
    deviation: Deviation,
    identity: Identity,
    move_times: MoveTimes,
    clock_times: ClockTimes,
    published: Published,
    /// Clients that had the board before a restart of the daemon have until then to come back.
    returns_by: Option<Instant>,
}

impl Core {
    /// A board that is not connected. The hand has `correction_wait` to mend what it did, before the board is led back.
    pub fn new(name: BoardName, driver: Box<dyn Driver>, correction_wait: Duration) -> Self {
        Self {
            name,
            driver,
            contact: Contact::default(),
            held: Held::default(),
            claims: Claims::default(),
            verdict: Verdict::default(),
            current_step: CurrentStep::default(),
            leading: Leading::default(),
            waits: StepWaits::new(correction_wait),
            hand: Hand::default(),
            listed: Listed::Followed,
            deviation: Deviation::default(),
            identity: Identity::default(),
            move_times: MoveTimes::default(),
            clock_times: ClockTimes::default(),
            published: Published::default(),
            returns_by: None,
        }
    }

    /// The link is up.
    pub fn link_up(&mut self, now: Instant) {
        self.contact.up();
        self.waits.link_up();
        self.event(Event::Connected);
        self.driver.link_up(now);
        self.pass(now);
    }

    /// The link is lost, or could not be opened; `why` is for the player.
    pub fn link_down(&mut self, now: Instant, why: String) {
        if self.contact.down(why.clone()) {
            self.event(Event::Disconnected { why });
        }
        self.driver.link_down();
        self.held.doubt();
        self.drop_step();
        self.current_step.link_down(self.driver.profile().senses());
        self.hand.forget_take_back();
        self.deviation.forget();
        self.move_times.interrupted();
        self.pass(now);
    }

    /// Bytes came from the board.
    pub fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        self.driver.received(now, channel, bytes);
        self.pass(now);
    }

    /// What [`Self::poll_transmit`] returned on this channel was done, or refused.
    pub fn answered(&mut self, now: Instant, channel: Channel, outcome: Reply) {
        self.driver.answered(now, channel, outcome);
        self.pass(now);
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        self.driver.timeout(now);
        self.pass(now);
    }

    /// When to call [`Self::timeout`] or [`Self::poll_transmit`] next.
    pub fn deadline(&self) -> Option<Instant> {
        let may_lead = self.may_lead();
        let lead = self.waits.deadline().filter(|_| may_lead);
        let waits = [
            lead,
            self.returns_by,
            self.driver.deadline(),
            self.claims.deadline(),
        ];
        waits.into_iter().flatten().min()
    }

    /// The next thing to do on the link, now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let outgoing = self.driver.poll_transmit(now);
        if outgoing.is_some() {
            self.current_step.left();
            self.pass(now);
        }
        outgoing
    }

    /// Why the link is useless and must be reopened. Returned once.
    pub fn poll_hang_up(&mut self) -> Option<String> {
        let why = self.driver.poll_hang_up()?;
        self.contact.gives_up(why.clone());
        Some(why)
    }

    /// How long the board must be without a link, at least, before the next.
    pub fn pause_between_links(&self) -> Duration {
        self.driver.pause_between_links()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.published.poll_event()
    }

    /// Gives the calendar time, for the dates of games.
    pub fn dates(&mut self, now: SystemTime) {
        let held = self.held.game();
        let played = played(held, self.claims.target());
        let over = self.verdict.end().is_some() && played == held;
        let before = self.identity.since();
        if self.identity.follow(now, played, over) {
            self.published.changed();
        }
        let is_another = before.is_some() && before != self.identity.since();
        self.clock_times.settle(is_another);
    }

    /// A new snapshot, if anything changed since the last one was taken.
    pub fn poll_snapshot(&mut self) -> Option<Snapshot> {
        self.published.take_changed().then(|| self.snapshot())
    }

    /// The state of the board.
    pub fn snapshot(&self) -> Snapshot {
        let played = played(self.held.game(), self.claims.target());
        let stands = !self.held.is_misplaced() || self.verdict.kings_are_up();
        let sure = self.held.certainty() == Certainty::Sure && !self.held.is_guess() && stands;
        Snapshot {
            board: self.name.clone(),
            link: self.contact.state().clone(),
            id: self.contact.id(),
            tells_all: !self.driver.profile().tells_moves_only(),
            correction_wait: self.waits.correction_wait(),
            game: Arc::new(self.held.game().clone()),
            sure,
            remembered: self.held.is_remembered(),
            target: self.claims.target().cloned().map(Arc::new),
            awaiting: self.claims.awaiting(),
            advice: self.advice(),
            guidance: self.published.guidance(),
            by: self.move_times.by(self.held.game()),
            took: self.move_times.took(self.held.game()),
            left: self.clock_times.of(played),
            since: self.identity.since(),
            began: self.identity.began(),
            ending: self.verdict.end().map(|(end, _)| end),
            judge: self.verdict.end().map(|(_, judge)| judge),
            sign: self.verdict.sign(),
            taken_back: self.hand.has_taken_back(),
            repeated: self.hand.times_repeated(),
            put_to_start: self.hand.times_at_start(),
            result: self.verdict.result(),
            battery: self.contact.battery(),
            places: self
                .claims
                .iter()
                .map(|claim| ClientPlace {
                    client: claim.client,
                    number: claim.number,
                    joined: claim.is_joined(),
                    put_out: claim.is_put_out(),
                    answer: answer_to(&self.held, claim).to_vec(),
                })
                .collect(),
            holders: self.holders(),
            waiting: labels(self.claims.waiting()),
            kept: self.claims.is_kept(),
        }
    }

    /// The clients that have the board, or the one that it is kept for.
    fn holders(&self) -> Vec<ClientName> {
        let mut holders = labels(self.claims.holders());
        let kept = self.claims.kept();
        holders.extend(kept.map(|name| ClientName::Other(format!("{name} (disconnected)").into())));
        holders
    }

    fn event(&mut self, event: Event) {
        if let Event::NewGame { by } = event {
            if by != By::Target {
                self.identity.begins();
            }
            self.move_times.forget_from(0);
            self.verdict.begins();
        }
        let changes = matches!(
            event,
            Event::Moved { .. }
                | Event::TookBack { .. }
                | Event::NewGame { .. }
                | Event::SetUp { .. }
                | Event::Executed { .. }
                | Event::Mended
        );
        if changes {
            self.move_times.follow(self.held.game());
            self.verdict.doubt();
        }
        if let Event::Moved { ply, by, took, .. } = event {
            // What is shown on the way to the target's last move was made at some earlier time, by either side.
            let last = self.claims.target().is_some_and(|t| t.len() == ply);
            let seen = by != By::Target || last;
            self.move_times.made(ply, seen.then_some(by), took);
        }
        self.published.event(event);
    }

    /// Records the hand's answer to each client.
    fn note_answers(&mut self) {
        let held = &self.held;
        // While the game is in doubt, the hand's answers are left as they were.
        if held.has_been_made() {
            self.claims
                .note_answers(|claim| claim.answer(held).first().copied());
        }
    }
}

/// The clients' labels.
fn labels<'a>(claims: impl Iterator<Item = &'a Claim>) -> Vec<ClientName> {
    claims.map(|claim| claim.label.clone()).collect()
}

/// What the hand has played in the last position of a client's game.
fn answer_to<'a>(held: &'a Held, claim: &Claim) -> &'a [Move] {
    if held.has_been_made() {
        claim.answer(held)
    } else {
        &[]
    }
}
