//! Which clients have the board.
//!
//! The rules, in order:
//!
//! 1. The board belongs to one address at a time; this machine is one, with the app and the links. Clients from
//!    another address wait until the last client there leaves or makes way.
//! 2. A client makes way when it has only looked on for [`LOOKS_ON`]; when it plays and neither it nor the hand has done
//!    anything for [`IDLE`]; when it says so (an engine whose game has not begun); when it is disconnected, at once
//!    for its own address and after [`AWAY`] for others; and when it is put out. A chess program also makes way [`OVER`]
//!    after its game ended. Unless it was put out, it keeps the board until another client wants it.
//! 3. A free board goes to the first client that states a target.
//! 4. A client that states the very game the board is led through joins: one hand plays both colours.
//! 5. A client that has the board may state any other game (the next move, a take-back, a new game) while no other
//!    client of the board awaits a move, or only those that have played on it for less long. A client that only looks
//!    on has not played. Clients whose game is thereby left wait from then on.
//! 6. Every other client waits, is told which clients have the board, and gets it when it is free: at once if it awaits
//!    a move then, first come first served, otherwise when it does. Between chess programs of one address the board is
//!    also free for one that has announced a new game and awaits its move, while those that have the board await none:
//!    UCI does not tell an engine that its game is over, so a program that was left open looks like one that thinks.
//!    A program that loses the board this way gets it back in the same way, or when it is free: two programs do not
//!    take it from one another move by move.
//! 7. A disconnected client is answered, until another client has the board; then it waits, and gets it again only when
//!    its connection is back. A chess program comes back as another client: for it the board is kept for its address. When
//!    the hand puts the pieces up for another game, and only such clients have the board, they lose it.
//! 8. A new game that a client announces while others have the board begins when that client leads; it is never reached
//!    by taking back another client's moves, and no other client stays in it unless it states the same game.
//! 9. A client that was put out waits, and gets the board again only for a new game: one that it announces, or that
//!    shares no move with the game it was put out of. A program that connects again is another client. A link cannot
//!    begin a game by itself: it goes on when the board is free.
//! 10. After a restart of the daemon, the clients that had the board still have it, as if they were connected. Each comes
//!     back as a new connection and takes over its own claim ([`Claims::adopt`]). One that does not come within
//!     [`RETURN_WAIT`] counts as lost.
//! 11. A game on Lichess has the board for itself until it is over or put out: no other client joins it, takes the board, or
//!     stays there, for Lichess forbids the help of programs. It does not make way by itself.
//!
//! A client has the board until it leaves, turns to another board, or its game is left. Awaiting a move counts as
//! stating the game again.

mod admission;
mod answers;
mod claim;
mod presence;
mod restart;

#[cfg(test)]
mod tests;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use shakmaty::{Position, Role};

use self::{
    answers::Answer,
    claim::{Place, Wish},
    presence::{Presence, Rest},
};
pub use self::{
    answers::MOVES_BEFORE,
    claim::Claim,
    presence::{AWAY, IDLE, LOOKS_ON, OVER, RETURN_WAIT},
};
use crate::{
    board::held_game::Held,
    chess::game::Game,
    vocabulary::{ClientId, ClientName, Clocks, ClocksSince, Occasion},
};

/// Clients that may follow one board at once; further ones are told that it is taken. More than the UCI server lets in.
pub const MAX_CLAIMS: usize = 512;

/// A board that is kept for an address in mid-game.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptForAddress {
    /// The client that was disconnected.
    label: ClientName,
    /// Since when; after a restart it begins again.
    #[serde(skip)]
    since: Option<Instant>,
}

/// All claims to one board.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Claims {
    #[serde(serialize_with = "restart::holders")]
    all: Vec<Claim>,
    /// The game the board is led through.
    target: Option<Game>,
    /// How many plies of the game on the board front-ends know.
    #[serde(default)]
    known: usize,
    /// How many times a client has begun to play on the board.
    players: u64,
    /// Clients that announced a new game while another has the board, and have not stated it yet.
    #[serde(skip)]
    announced: Vec<ClientId>,
    /// A client has just got the board, or may now lead it after it announced a new game; the value says whether it announced
    /// one.
    #[serde(skip)]
    came: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<KeptForAddress>,
    /// The game on the board has ended.
    #[serde(skip)]
    over: bool,
}

impl Claims {
    /// The game the board should be led to, while a client has it.
    pub fn target(&self) -> Option<&Game> {
        self.target.as_ref()
    }

    /// Every claim.
    pub fn iter(&self) -> impl Iterator<Item = &Claim> {
        self.all.iter()
    }

    /// The clients that have the board.
    pub fn holders(&self) -> impl Iterator<Item = &Claim> {
        self.all.iter().filter(|claim| claim.is_joined())
    }

    /// Whether a client has the board only until the last move of its game is shown.
    pub fn ends(&self) -> bool {
        self.holders().any(Claim::ends)
    }

    /// The clients that wait for the board.
    pub fn waiting(&self) -> impl Iterator<Item = &Claim> {
        self.all.iter().filter(|claim| !claim.is_joined())
    }

    /// Whether this client has the board.
    pub fn has(&self, client: ClientId) -> bool {
        self.holders().any(|claim| claim.client == client)
    }

    /// Whether a client that has the board awaits a move.
    pub fn awaiting(&self) -> bool {
        self.holders().any(Claim::awaits)
    }

    /// The disconnected client that the board is kept for, while others wait.
    pub fn kept(&self) -> Option<&ClientName> {
        let waited_for = self.holders().next().is_none() && self.waiting().next().is_some();
        self.kept
            .as_ref()
            .map(|kept| &kept.label)
            .filter(|_| waited_for)
    }

    /// Whether the board is kept for a disconnected client.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Whether the board's game is that of a client, connected or not.
    pub fn has_game(&self) -> bool {
        self.kept.is_some() || self.holders().next().is_some()
    }

    /// Puts out the clients that have the board or for which it is kept. `true` if the board's target changed.
    pub fn put_out(&mut self) -> bool {
        self.kept = None;
        self.stand_up(Place::PutOut, |_| true);
        let changed = self.admit_waiting();
        // A link cannot begin a game by itself: it goes on when the board is free again.
        for claim in &mut self.all {
            if matches!(claim.label, ClientName::Link(_)) {
                claim.forgive();
            }
        }
        changed
    }

    /// A client that was put out begins another game.
    pub fn forgive(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.forgive();
        }
    }

    /// A client that [may not begin](Self::may_begin) a new game announces one: it begins when the client leads.
    pub fn announce(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.begins = true;
        } else if !self.announced.contains(&client) && self.announced.len() < MAX_CLAIMS {
            self.announced.push(client);
        }
    }

    /// Whether the board has just gone to a client that did not have it or could not lead it, and whether that client
    /// has announced a new game. Returned once.
    pub fn take_came(&mut self) -> Option<bool> {
        self.came.take()
    }

    fn get(&mut self, client: ClientId) -> Option<&mut Claim> {
        self.all.iter_mut().find(|claim| claim.client == client)
    }

    fn take_announced(&mut self, client: ClientId) -> bool {
        let before = self.announced.len();
        self.announced.retain(|one| *one != client);
        before != self.announced.len()
    }

    /// A client states its target. `true` if the board's target changed.
    pub fn state(
        &mut self,
        client: ClientId,
        label: ClientName,
        number: u64,
        game: Game,
        occasion: Occasion,
    ) -> bool {
        let begins = self.take_announced(client);
        let known = self.known;
        if let Some(claim) = self.get(client) {
            claim.begins |= begins;
            claim.stirs();
            if claim.is_new(&game) {
                claim.forgive();
            }
            claim.goes_on();
            claim.number = number;
            // An engine tells its name only when it has been started.
            claim.label = label;
            let comes = !game.continues(&claim.game);
            claim.answer.states(known, comes);
            claim.game = game;
            claim.occasion = occasion;
            claim.wish = Wish::Nothing;
        } else if self.all.len() < MAX_CLAIMS {
            let mut answer = Answer::default();
            answer.states(known, true);
            self.all.push(Claim {
                client,
                label,
                number,
                game,
                occasion,
                place: Place::Waits,
                presence: Presence::Here,
                wish: Wish::Nothing,
                rest: Rest::Stirs,
                begins,
                answer,
                clocks: None,
                promotion: Role::Queen,
            });
        } else {
            return false;
        }
        self.admit(client)
    }

    /// A client's connection is lost, or back.
    pub fn set_away(&mut self, client: ClientId, away: bool) {
        if let Some(claim) = self.get(client) {
            claim.stirs();
            claim.presence = match claim.presence {
                Presence::Returns => Presence::Returns,
                _ if away => Presence::Away,
                _ => Presence::Here,
            };
        }
    }

    /// A client makes way for others, until it does something again.
    pub fn make_way(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.rest = Rest::MakesWay;
        }
    }

    /// The game of a client that has the board is over.
    pub fn finish(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client).filter(|claim| claim.is_joined()) {
            claim.place = Place::Ends(match claim.place {
                Place::Plays(before) => Some(before),
                Place::Ends(before) => before,
                _ => None,
            });
            claim.wish = Wish::Nothing;
        }
    }

    /// The board has reached its target: clients whose game is over leave. `true` if the board's target changed.
    pub fn leave_finished(&mut self) -> bool {
        let before = self.all.len();
        self.all.retain(|claim| !claim.ends());
        before != self.all.len() && self.admit_waiting()
    }

    /// A client awaits a move, or no longer does. `true` if the board's target changed.
    pub fn set_awaiting(&mut self, client: ClientId, on: bool, held: &Held) -> bool {
        let target = self.target.clone();
        let Some(claim) = self.get(client) else {
            return false;
        };
        claim.stirs();
        claim.wish = Wish::from(on);
        if on {
            claim.goes_on();
        }
        // The hand may already have answered other clients: that is no reason to leave the game.
        let passed = target.is_some_and(|target| target.continues(&claim.game));
        let answered = claim.is_joined() && passed && claim.is_news(held);
        match claim.place {
            Place::LooksOn if on => self.sit(client, true),
            Place::Plays(_) if !on => self.sit(client, false),
            _ => {}
        }
        on && !answered && self.admit(client)
    }

    /// A client that awaits a move only analyses.
    pub fn analyse(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client).filter(|claim| claim.awaits()) {
            claim.wish = Wish::Analysis;
        }
    }

    /// The client that analyses, if no other client plays.
    pub fn analyst(&self) -> Option<&Claim> {
        let analyses = |claim: &Claim| claim.wish == Wish::Analysis;
        let plays = |claim: &Claim| matches!(claim.place, Place::Plays(_)) && !analyses(claim);
        let mut holders = self.holders();
        holders.find(|claim| analyses(claim) && !self.holders().any(plays))
    }

    /// The purpose of the target's game, as given by a client that states it.
    pub fn occasion(&self) -> Occasion {
        let states = |claim: &&Claim| self.target.as_ref() == Some(&claim.game);
        let claim = self.holders().find(states);
        claim.map_or(Occasion::default(), |claim| claim.occasion)
    }

    /// What a pawn becomes where the board cannot tell, as set by the client that awaits the move.
    pub fn promotion(&self) -> Role {
        let awaiting = self.holders().find(|claim| claim.awaits());
        let claim = awaiting.or_else(|| self.holders().next());
        claim.map_or(Role::Queen, |claim| claim.promotion)
    }

    /// A client sets what a pawn becomes where the board cannot tell.
    pub fn set_promotion(&mut self, client: ClientId, role: Role) {
        if let Some(claim) = self.get(client) {
            claim.promotion = role;
        }
    }

    /// The clocks of a client's game are these now.
    pub fn set_clocks(&mut self, now: Instant, client: ClientId, clocks: Option<Clocks>) {
        if let Some(claim) = self.get(client) {
            claim.clocks = clocks.map(|clocks| ClocksSince { clocks, since: now });
        }
    }

    /// A client has taken the hand's move: the other side's clock runs from now on. `true` if the clocks run. What the hand gets for
    /// its move comes with the client's next clocks.
    pub fn press_clock(&mut self, now: Instant, client: ClientId) -> bool {
        let running = self.get(client).and_then(|claim| claim.clocks.as_mut());
        let Some(shown) = running.filter(|shown| shown.clocks.runs.is_some()) else {
            return false;
        };
        let clocks = shown.at(now);
        let runs = clocks.runs.map(|runs| !runs);
        *shown = ClocksSince {
            clocks: Clocks { runs, ..clocks },
            since: now,
        };
        true
    }

    /// The clocks of the game on the board, as its client knows them.
    pub fn clocks(&self) -> Option<ClocksSince> {
        self.holders().find_map(|claim| claim.clocks)
    }

    /// A client leaves. `true` if the board's target changed.
    pub fn release(&mut self, client: ClientId) -> bool {
        self.remove(client, false)
    }

    /// A client's connection is lost for good: in mid-game the board is kept for its address. `true` if the board's target changed.
    pub fn lose(&mut self, client: ClientId) -> bool {
        if let Some(claim) = self.get(client) {
            claim.stirs();
        }
        self.remove(client, true)
    }

    fn remove(&mut self, client: ClientId, lost: bool) -> bool {
        self.take_announced(client);
        let Some(index) = self.all.iter().position(|claim| claim.client == client) else {
            return false;
        };
        let claim = self.all.remove(index);
        let plays = matches!(claim.place, Place::Plays(_)) && claim.rest != Rest::MakesWay;
        if lost && plays && !claim.game.position().is_game_over() {
            self.kept = Some(KeptForAddress {
                label: claim.label,
                since: None,
            });
        }
        self.admit_waiting()
    }

    /// The pieces are put up for another game: if only disconnected clients have the board, they lose it. `true` if the board's
    /// target changed.
    pub fn drop_absent(&mut self) -> bool {
        let was_kept = self.kept.take().is_some();
        let stays = |label: &ClientName| matches!(label, ClientName::Link(_) | ClientName::Lichess);
        let gone = |claim: &Claim| claim.presence == Presence::Away && !stays(&claim.label);
        let left = self.holders().next().is_some() && self.holders().all(gone);
        if !was_kept && !left {
            return false;
        }
        self.stand_up(Place::Waits, |_| true);
        self.admit_waiting()
    }

    /// Restates the claims in terms of a game now known: see [`Game::rebased`].
    pub fn rebase(&mut self, known: &Game) {
        for claim in &mut self.all {
            claim.game = claim.game.clone().rebased(known);
        }
        if let Some(target) = self.target.take() {
            self.target = Some(target.rebased(known));
        }
    }
}
