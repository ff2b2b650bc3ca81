//! Claims across a restart of the daemon: clients that had the board still have it, and must come back.

use serde::Serializer;

use super::{Claim, Claims, Presence, answers::is_next};
use crate::{
    chess::game::Game,
    vocabulary::{ClientId, ClientName},
};

/// Clients of one board that are saved for a restart: those that have it. There are seldom more than two.
pub const MAX_KEPT: usize = 8;

/// Saves the clients that have the board, for a restart.
pub(super) fn holders<S: Serializer>(all: &[Claim], serializer: S) -> Result<S::Ok, S::Error> {
    let holders = all.iter().filter(|claim| claim.is_joined());
    serializer.collect_seq(holders.take(MAX_KEPT))
}

impl Claim {
    /// Whether a client with this name that states this game is the one that had this claim before the restart. A program has
    /// another port now: it is recognised by its address, and by a game that continues the claimed one, takes moves back from
    /// it, or is announced as new.
    fn is_of(&self, label: &ClientName, game: &Game, begins: bool) -> bool {
        if let (Some(was), Some(is)) = (self.label.program(), label.program()) {
            return was == is && (begins || game.is_in_line_with(&self.game));
        }
        match (&self.label, label) {
            // A page states the position on its board, and takes the place of the page before it.
            (ClientName::LiveChess(was), ClientName::LiveChess(is)) => was.ip() == is.ip(),
            // By what is shown of them: a name that was kept is read from that, and another daemon's link is not one of ours.
            (was, is) => was.to_string() == is.to_string(),
        }
    }

    fn returns(&self) -> bool {
        self.presence == Presence::Returns
    }
}

impl Claims {
    /// Restores saved claims after a restart of the daemon.
    pub fn recalled(mut self) -> Self {
        self.all.retain(Claim::is_joined);
        self.all.truncate(MAX_KEPT);
        for claim in &mut self.all {
            claim.presence = Presence::Returns;
        }
        if self.all.is_empty() {
            self.target = None;
        }
        self
    }

    /// Whether the same clients have the board, in the same places.
    pub fn has_holders_of(&self, before: &Self) -> bool {
        let places = |claim: &Claim| (claim.client, claim.place, bool::from(claim.rest));
        self.holders().map(places).eq(before.holders().map(places))
    }

    /// Whether a client that had the board before a restart has not come back yet.
    pub fn awaits_return(&self) -> bool {
        self.all.iter().any(Claim::returns)
    }

    /// Clients that have not come back by now have left, as after a lost connection. `true` if the board's target changed.
    pub fn release_absent(&mut self) -> bool {
        let mut changed = false;
        while let Some(claim) = self.all.iter_mut().find(|claim| claim.returns()) {
            let client = claim.client;
            changed |= self.remove(client, true);
        }
        changed
    }

    /// A client that has kept its number through a restart is back.
    pub fn is_back(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client).filter(|claim| claim.returns()) {
            claim.presence = Presence::Here;
        }
    }

    /// A client that may have had the board before a restart states this game: it takes its claim over.
    ///
    /// If it states the game to which it was given an answer, it never received that answer, which must be given again: returns
    /// the number of plies of that game.
    pub fn adopt(&mut self, client: ClientId, label: &ClientName, game: &Game) -> Option<usize> {
        let begins = self.announced.contains(&client);
        let is_known = self.all.iter().any(|claim| claim.client == client);
        let kept = self.all.iter_mut().filter(|claim| claim.returns());
        let its = kept.filter(|claim| {
            claim.client == client || !is_known && claim.is_of(label, game, begins)
        });
        // Several programs of one address may have had the board: the one that was in this game is meant, and of those the one of this
        // name.
        let claim = its.min_by_key(|claim| (claim.game != *game, claim.label != *label))?;
        claim.client = client;
        claim.label = label.clone();
        claim.presence = Presence::Here;
        let goes_on = !begins && claim.game == *game;
        goes_on.then(|| self.untold(game)).flatten()
    }

    /// Clients that are not back count as lost now, and with them the answer that one was given: whoever states its game is given it
    /// again. Returns the number of plies of that game.
    pub fn untold_absent(&mut self) -> Option<usize> {
        let mut absent = self.all.iter().filter(|claim| claim.returns());
        let game = absent.next()?.game.clone();
        // It may have been another client that led the board on.
        if self.is_led_by_another(&game) {
            return None;
        }
        self.untold(&game)
    }

    /// The answer to this game, if the board was led on by one, was not told.
    fn untold(&mut self, game: &Game) -> Option<usize> {
        let is_led = self.is_led_by_another(game);
        let target = self.target.as_mut().filter(|on| is_next(on, game))?;
        if !is_led {
            target.pop();
        }
        self.known = self.known.min(game.len());
        Some(game.len())
    }
}
