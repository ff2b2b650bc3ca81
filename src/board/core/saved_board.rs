//! What a board's core must know to go on after a restart of the daemon, or in place of a core that has failed.

use std::time::Instant;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value;
use shakmaty::uci::UciMove;

use super::{
    Core, game_identity::Identity, hand::Hand, leading::Leading, move_times::MoveTimes,
    placement::Placement, ply::Ply, verdict::Verdict,
};
use crate::{
    board::{
        claims::{Claims, RETURN_WAIT},
        held_game::Held,
    },
    chess::game::{relative_to, uci},
    driver::Step,
    state::{Long, Text},
    vocabulary::ClientId,
};

/// What a board's core must know to go on: what it knows while the board is away.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct SavedBoard {
    held: Held,
    claims: Claims,
    verdict: Verdict,
    leading: Leading,
    hand: Hand,
    #[serde(default)]
    identity: Identity,
    move_times: MoveTimes,
    /// A move that was shown after this many plies, and may or may not have reached the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<(usize, Text<UciMove>)>,
    /// Where the pieces stand, where the hand was asked to move them and nothing proves that it did.
    #[serde(default, skip_serializing_if = "Placement::is_as_held")]
    placement: Placement,
    /// What the driver knows of the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    driver: Option<Value>,
}

/// How soon a change must be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Before anybody is told: the game, its certainty or the sent move has changed.
    AtOnce,
    /// As soon as the disk may be written.
    Soon,
    /// With the next change, or when the daemon stops. The board stands where its clients want it, and they say what they say
    /// now again when they come back: a program that goes on from the hand's move and awaits the next one.
    Later,
}

/// All of a [`SavedBoard`] but its plies. Games are written relative to the game of these plies, so it does not grow.
#[derive(Debug)]
pub struct Rest<'a>(&'a SavedBoard);

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(memory) = self;
        relative_to(memory.move_times.game(), || {
            SavedBoard::serialize(memory, serializer)
        })
    }
}

impl Serialize for SavedBoard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Long::new(self.plies(), self.rest()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SavedBoard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kept: Long<Value> = Long::deserialize(deserializer)?;
        let plies: Vec<Ply> = kept.past().map_err(D::Error::custom)?;
        let move_times = MoveTimes::deserialize(&kept.rest["move_times"]);
        let move_times = move_times.map_err(D::Error::custom)?.with(&plies);
        let move_times = move_times.ok_or_else(|| D::Error::custom("an illegal move"))?;
        let memory = relative_to(move_times.game(), || Self::deserialize(kept.rest));
        let memory = memory.map_err(D::Error::custom)?;
        Ok(Self {
            move_times,
            ..memory
        })
    }
}

impl SavedBoard {
    /// The moves of the game on the board. They grow in number, and are saved separately.
    pub fn plies(&self) -> &[Ply] {
        self.move_times.plies()
    }

    /// All else.
    pub fn rest(&self) -> Rest<'_> {
        Rest(self)
    }

    /// How soon this must be saved, if `before` was saved or left for later.
    pub fn urgency(&self, before: &Self) -> Urgency {
        let sent = |memory: &Self| memory.sent.map(|(plies, Text(m))| (plies, m));
        let moved = self.held.game() != before.held.game()
            || self.held.certainty() != before.held.certainty()
            || sent(self) != sent(before);
        if moved {
            return Urgency::AtOnce;
        }
        let stands = self.claims.target() == Some(self.held.game())
            && self.claims.has_holders_of(&before.claims)
            && self.held == before.held
            && self.move_times.has_plies_of(&before.move_times)
            && self.verdict == before.verdict
            && self.leading == before.leading
            && self.hand.times_at_start() == before.hand.times_at_start()
            && self.identity == before.identity
            && self.placement == before.placement
            && self.driver == before.driver;
        if stands {
            Urgency::Later
        } else {
            Urgency::Soon
        }
    }

    /// The highest number among its clients: new clients are numbered from there.
    pub fn last_client(&self) -> Option<ClientId> {
        self.claims.iter().map(|claim| claim.client).max()
    }
}

impl Core {
    /// What this core must know to go on, if it ended now.
    pub fn memory(&self) -> SavedBoard {
        let mut held = self.held.clone();
        let plies = held.game().len();
        if matches!(self.current_step.step(), Some(Step::SetUp(_))) {
            held.suspect();
        }
        let sent = self.current_step.may_have_sent(plies);
        SavedBoard {
            held,
            claims: self.claims.clone(),
            verdict: self.verdict.clone(),
            leading: self.leading.clone(),
            hand: self.hand.clone(),
            identity: self.identity.clone(),
            move_times: self.move_times.clone(),
            sent: sent.map(|(plies, m)| (plies, Text(uci(m)))),
            placement: self.current_step.placement().clone(),
            driver: self.driver.memory(),
        }
    }

    /// Whether the driver's memory differs from the saved one.
    pub fn has_other_knowledge(&self, memory: &SavedBoard) -> bool {
        self.driver.memory() != memory.driver
    }

    /// Begins no step toward a target before this time: the state changes faster than it may be saved.
    pub fn spare(&mut self, until: Option<Instant>) {
        self.waits.spare(until);
    }

    /// Goes on after a restart of the daemon: its clients have to come back. Call it on a new core, before its link is up.
    pub fn recall(&mut self, now: Instant, mut memory: SavedBoard) {
        memory.claims = memory.claims.recalled();
        self.resume(now, memory);
    }

    /// Continues in place of another core, whose clients are still there. Call it on a new core, before its link is up.
    pub fn resume(&mut self, now: Instant, memory: SavedBoard) {
        self.held = memory.held.recalled();
        self.contact.recall(self.held.is_known());
        self.claims = memory.claims;
        self.verdict = memory.verdict;
        self.leading = memory.leading;
        self.hand = memory.hand;
        self.hand.forget_take_back();
        self.identity = memory.identity;
        self.move_times = memory.move_times;
        let position = self.held.game().position();
        let sent = memory
            .sent
            .and_then(|(plies, Text(m))| Some((plies, m.to_move(position).ok()?)));
        let plies = self.held.game().len();
        self.current_step
            .recall(sent.filter(|(after, _)| *after == plies), memory.placement);
        if let Some(driver) = memory.driver {
            self.driver.recall(driver);
        }
        self.returns_by = self.claims.awaits_return().then(|| now + RETURN_WAIT);
        self.published.changed();
    }

    /// Clients that had the board before a restart and have not come back in time have left.
    pub(super) fn release_absent(&mut self, now: Instant) {
        if self.returns_by.take_if(|by| *by <= now).is_none() {
            return;
        }
        if let Some(plies) = self.claims.untold_absent() {
            self.held.made_from(plies);
        }
        if self.claims.release_absent() {
            self.target_changed();
        }
    }
}
