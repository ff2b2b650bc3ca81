//! Who gets the board next: the order of the rules in [`super`].

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use super::{AWAY, Claim, Claims, KeptForAddress, Place, Presence, Rest};
use crate::vocabulary::{ClientId, ClientName};

impl Claims {
    /// Time has passed. `true` if a client makes way now; then call [`Self::admit_waiting`].
    pub fn pass(&mut self, now: Instant) -> bool {
        let over =
            |since: Instant, patience: Duration| now.saturating_duration_since(since) >= patience;
        let is_over = |kept: &mut KeptForAddress| over(*kept.since.get_or_insert(now), AWAY);
        let mut makes_way = self.kept.take_if(is_over).is_some();
        for claim in &mut self.all {
            let patience = claim.patience(self.over);
            match claim.rest {
                Rest::Stirs => claim.rest = Rest::Since(now),
                Rest::Since(since) if over(since, patience) && claim.may_have_to_go() => {
                    claim.rest = Rest::MakesWay;
                    makes_way = true;
                }
                Rest::Since(_) | Rest::MakesWay => {}
            }
        }
        makes_way
    }

    /// When to call [`Self::pass`]: when the board is no longer kept, or the first holder makes way, if a client that waits for
    /// the board awaits a move.
    pub fn deadline(&self) -> Option<Instant> {
        let kept = self.kept.as_ref().and_then(|kept| Some(kept.since? + AWAY));
        let is_awaited = self.waiting().any(Claim::awaits);
        let holders = self
            .all
            .iter()
            .filter(|claim| is_awaited && claim.may_have_to_go());
        let holders = holders.filter_map(|claim| match claim.rest {
            Rest::Since(since) => Some(since + claim.patience(self.over)),
            Rest::Stirs | Rest::MakesWay => None,
        });
        holders.chain(kept).min()
    }

    /// Notes whether the game on the board has ended. If it continues after all, its client keeps the board.
    pub fn set_over(&mut self, over: bool, now: Instant) {
        if std::mem::replace(&mut self.over, over) != over {
            for claim in self.all.iter_mut().filter(|claim| claim.is_program()) {
                claim.rest = Rest::Since(now);
            }
        }
    }

    /// Whether the board belongs to another address, or to a client that shares it with no one.
    fn is_elsewhere(&self, client: ClientId) -> bool {
        let mut holders = self.holders();
        if holders.any(|claim| claim.client != client && claim.is_alone()) {
            return true;
        }
        let mine = self.all.iter().find(|claim| claim.client == client);
        let mine = mine.map(|claim| claim.label.address());
        let is_other = |address: IpAddr| mine != Some(address);
        let kept = self.kept.as_ref();
        kept.is_some_and(|kept| is_other(kept.label.address()))
            || self
                .holders()
                .any(|claim| !claim.lets_others() && is_other(claim.label.address()))
    }

    /// Whether this client may change the course of the game: it has the board, or the board is free, and no client that has
    /// played on it longer awaits a move.
    pub fn may_lead(&self, client: ClientId) -> bool {
        let begins = self.all.iter().any(|claim| {
            claim.client == client && claim.is_program() && claim.begins && claim.awaits()
        });
        let rests = |claim: &Claim| {
            // A client that has not come back after a restart may await a move by now.
            let awaits = claim.awaits() || claim.answer.is_given();
            claim.is_program() && !awaits && claim.presence != Presence::Returns
        };
        let is_free = |claim: &Claim| {
            claim.presence == Presence::Away || claim.lets_others() || (begins && rests(claim))
        };
        let free = self.holders().all(is_free);
        (free || self.has(client)) && !self.is_elsewhere(client) && !self.other_awaits(client)
    }

    /// Whether this client can announce a new game without leaving another client's game. A disconnected client keeps
    /// its game until the new one is stated, and so does a client whose game is over.
    pub fn may_begin(&self, client: ClientId) -> bool {
        let nobodys = self.holders().next().is_none();
        (nobodys || self.has(client)) && self.may_lead(client)
    }

    fn other_awaits(&self, client: ClientId) -> bool {
        let mine = self.holders().find(|claim| claim.client == client);
        let place = mine.map_or(Place::Waits, |claim| claim.place);
        self.holders().any(|claim| {
            let awaits = claim.awaits() && !claim.answer.is_made();
            let is_there = claim.presence != Presence::Away && !claim.lets_others();
            claim.is_before(place) && awaits && is_there
        })
    }

    /// Applies the rule to one client's claim. `true` if the board's target changed.
    pub(super) fn admit(&mut self, client: ClientId) -> bool {
        let leads = self.may_lead(client);
        let elsewhere = self.is_elsewhere(client);
        let target = self.target.clone();
        let Some(claim) = self.get(client) else {
            return false;
        };
        let same = target.as_ref() == Some(&claim.game);
        if claim.is_put_out() || elsewhere || (!leads && !same) {
            self.stand_up(Place::Waits, |claim| claim.client == client);
            return false;
        }
        let had = claim.is_joined();
        let (plays, begins) = (claim.awaits(), std::mem::take(&mut claim.begins));
        let (game, label) = (claim.game.clone(), claim.label.clone());
        if !had {
            self.sit(client, plays);
        }
        self.kept = None;
        // Those of another address have made way, and a game on Lichess is played without others.
        let alone = label == ClientName::Lichess;
        self.stand_up(Place::Waits, |other| {
            other.client != client && (alone || other.label.address() != label.address())
        });
        if same {
            return false;
        }
        if !had || begins {
            self.came = Some(begins);
        }
        let anew = !had && begins;
        self.stand_up(Place::Waits, |other| {
            other.client != client && (anew || !game.continues(&other.game))
        });
        self.target = Some(game);
        true
    }

    /// A client that has the board begins to play on it, or only looks on.
    pub(super) fn sit(&mut self, client: ClientId, plays: bool) {
        self.players = self.players.wrapping_add(plays.into());
        let place = if plays {
            Place::Plays(self.players)
        } else {
            Place::LooksOn
        };
        if let Some(claim) = self.get(client) {
            claim.stirs();
            claim.place = place;
        }
    }

    /// These clients lose the board. One whose game is over leaves.
    pub(super) fn stand_up(&mut self, place: Place, which: impl Fn(&Claim) -> bool) {
        let leaves = |claim: &Claim| claim.ends() && which(claim);
        self.all.retain(|claim| !leaves(claim));
        for claim in &mut self.all {
            if claim.is_joined() && which(claim) {
                claim.withdraw();
                claim.place = place;
            }
        }
    }

    /// Admits clients whose turn has come. `true` if the board's target changed.
    pub fn admit_waiting(&mut self) -> bool {
        let mut changed = false;
        if self.holders().next().is_none() {
            changed = self.target.take().is_some();
        }
        let waiting: Vec<ClientId> = self
            .all
            .iter()
            .filter(|claim| !claim.is_joined() && claim.awaits())
            .filter(|claim| claim.presence == Presence::Here)
            .map(|claim| claim.client)
            .collect();
        for client in waiting {
            changed |= self.admit(client);
        }
        changed
    }
}
