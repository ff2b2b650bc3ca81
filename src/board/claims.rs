//! Which clients have the board.
//!
//! The rules, in order:
//!
//! 1. The board belongs to one address at a time; this machine is one, and the app and the links are of it. Clients from
//!    another address wait until the last client there leaves or makes way.
//! 2. A client makes way when it has only looked on for [`LOOKS_ON`], when it plays and neither it nor the hand has done
//!    anything for [`IDLE`], when it says so (an engine whose game has not begun), when it is disconnected, for other
//!    addresses after [`AWAY`], and when it is put out. A chess program also makes way [`OVER`] after its game ended. Until
//!    another client wants the board it keeps it all the same, unless it was put out.
//! 3. A free board goes to the first client that states a target.
//! 4. A client that states the very game the board is led through joins: one hand plays both colours.
//! 5. A client that has the board may state any other game (the next move, a take-back, a new game) while no other
//!    client of the board awaits a move, or only those that have played on it for less long. A client that only looks
//!    on has not played. Clients whose game is thereby left wait from then on.
//! 6. Every other client waits, is told which clients have the board, and gets it when it is free: at once if it awaits
//!    a move then, first come first served, otherwise when it does. Between chess programs of one address the board is
//!    also free for one that has announced a new game and awaits its move, while those that have the board await none:
//!    UCI does not tell an engine that its game is over, so a program that was left open looks like one that thinks.
//!    Whoever loses the board so gets it back in the same way, or when it is free: two programs do not take it from one
//!    another move by move.
//! 7. A disconnected client is answered, until another client has the board; then it waits, and gets it again only when
//!    its connection is back. A chess program comes back as another client: for it the board is kept for its address.
//! 8. A new game that a client announces while others have the board begins when that client leads; it is never reached
//!    by taking back another client's moves, and no other client stays in it unless it states the same game.
//! 9. A client that was put out waits, and gets the board again only for a new game: one that it announces, or that
//!    shares no move with the game it was put out of. A program that connects again is another client. A link cannot
//!    begin a game by itself: it goes on when the board is free.
//! 10. After a restart of the daemon, the clients that had the board have it still, as if they were connected. Each comes
//!     back as a new connection and takes its own claim over ([`Claims::adopt`]). One that does not come within
//!     [`RETURN_WAIT`] has left, as after a lost connection.
//! 11. A game on Lichess has the board for itself until it is over or put out: no other client joins it, takes the board, or
//!     stays there, for Lichess forbids the help of programs. It does not make way by itself.
//!
//! A client has the board until it leaves, turns to another board, or its game is left. Awaiting a move counts as
//! stating the game again.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize, Serializer};
use shakmaty::{Move, Position, Role, uci::UciMove};

use crate::{
    chess::game::{Game, MAX_PLIES, uci},
    vocabulary::{ClientId, ClientName, Occasion, Opponent},
};

/// Clients that may follow one board at once; further ones are told that it is taken. More than the UCI server lets in.
pub const MAX_CLAIMS: usize = 512;

/// A client that only looks on makes way after this long: it has not asked for a move, or has withdrawn that.
pub const LOOKS_ON: Duration = Duration::from_mins(1);
/// A client that plays makes way after this long without a sign of its own and without a move: players at a tournament
/// think for less.
pub const IDLE: Duration = Duration::from_hours(1);
/// A disconnected client makes way for other addresses after this long: a program that was started again, or a phone
/// that was out of reach, is back before.
pub const AWAY: Duration = Duration::from_mins(5);
/// A chess program makes way this long after its game ended: its own next game, or a take-back of the last move, is
/// usually stated before, and kings that were in the centre by mistake are put back.
pub const OVER: Duration = Duration::from_secs(5);

/// Moves of the hand that may already stand on the board when a program comes and still answer it: the hand was quick,
/// or played while the daemon was away.
pub const MOVES_BEFORE: usize = 1;

/// How long a client that had the board may take to come back after a restart of the daemon. A relay tries every 5 s at
/// most, and waits 15 s for an answer.
pub const RETURN_WAIT: Duration = Duration::from_secs(30);
/// Clients of one board that are saved for a restart: those that have it. There are seldom more than two.
pub const MAX_KEPT: usize = 8;

/// Whether a client has the board, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Seat {
    /// It waits for the board.
    Waits,
    /// It has the board, and has not awaited the hand since it got it.
    LooksOn,
    /// It has awaited the hand since it got the board; this many others had before.
    Plays(u64),
}

/// One client's claim to the board.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Its identity.
    pub client: ClientId,
    /// Its name in messages.
    pub label: ClientName,
    /// The client's number for its target.
    pub number: u64,
    /// The game it follows.
    pub game: Game,
    /// The purpose of the game.
    occasion: Occasion,
    /// Moves of the hand from this ply on can be its answer: it knew none of them when it stated its game.
    fresh_from: usize,
    /// It has come to a game that it did not play on, and what the board held then has not been checked yet.
    comes: bool,
    /// Whether it awaits the hand's move.
    awaiting: bool,
    /// It awaits the move only to analyse: it takes it when it stops.
    #[serde(skip)]
    analyses: bool,
    /// What the hand has made: the client may still await `stop`, but nothing can disturb the answer any more.
    #[serde(skip)]
    answered: Option<Move>,
    /// It was given what the hand has made, and has not said that it took it.
    #[serde(skip)]
    given: bool,
    seat: Seat,
    /// It begins a new game when it leads.
    begins: bool,
    /// It is disconnected, but may come back.
    away: bool,
    /// It had the board when the daemon ended, and has not come back yet.
    #[serde(skip)]
    returns: bool,
    /// It has done nothing at the board since then; `None` if it has just done something.
    #[serde(skip)]
    quiet: Option<Instant>,
    /// It has the board only until another client awaits a move there.
    makes_way: bool,
    /// It was put out of its game, and has not begun another.
    put_out: bool,
    /// Its game is over: it has the board only until the last move is shown.
    finished: bool,
    /// What a pawn becomes where the board cannot tell.
    #[serde(with = "role")]
    promotion: Role,
}

/// A role is kept as its letter.
mod role {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use shakmaty::Role;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub fn serialize<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
        role.char().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
        let letter = char::deserialize(deserializer)?;
        Role::from_char(letter).ok_or_else(|| de::Error::custom("not a piece"))
    }
}

impl Claim {
    /// Whether it has the board; otherwise it waits for it.
    pub fn is_joined(&self) -> bool {
        self.seat != Seat::Waits
    }

    /// What the hand has played in the last position of its game, if this game is on the board.
    pub fn answer<'a>(&self, held: &'a Game) -> &'a [Move] {
        let plies = self.game.len();
        let fresh = self.given || !self.comes && self.fresh_from <= plies;
        if self.is_joined() && fresh && held.continues(&self.game) {
            &held.moves()[plies..]
        } else {
            &[]
        }
    }

    /// Whether the hand plays both colours of its game, and it states the very position after which no client knew the
    /// hand's moves. An earlier or later one of a game that nobody plays is a position like any other.
    fn is_where_clients_left(&self) -> bool {
        self.occasion.opponent == Opponent::Nobody && self.fresh_from == self.game.len()
    }

    /// Whether a client of this name that states this game is the one that had this claim before a restart. A program
    /// has another port then: it is known by its address and its game, which it continues, took back, or has left
    /// meanwhile for a new one that it announces.
    fn is_of(&self, label: &ClientName, game: &Game, begins: bool) -> bool {
        match (&self.label, label) {
            (ClientName::Program(was), ClientName::Program(is)) => {
                let related = game.continues(&self.game) || self.game.continues(game);
                was.ip() == is.ip() && (begins || related)
            }
            // A page states the position on its board, and takes the place of the page before it.
            (ClientName::LiveChess(was), ClientName::LiveChess(is)) => was.ip() == is.ip(),
            (was, is) => was == is,
        }
    }

    /// Whether it was put out, and gets the board again only for a new game.
    pub fn is_put_out(&self) -> bool {
        self.put_out
    }

    /// Whether it has the board for itself.
    fn is_alone(&self) -> bool {
        self.is_joined() && !self.finished && self.label == ClientName::Lichess
    }

    /// Whether it is a chess program.
    fn is_program(&self) -> bool {
        matches!(self.label, ClientName::Program(_))
    }

    /// How long it keeps the board without any activity. `over`: the game on the board has ended.
    fn patience(&self, over: bool) -> Duration {
        match self.seat {
            _ if self.away => AWAY,
            _ if over && self.is_program() => OVER,
            Seat::Plays(_) => IDLE,
            Seat::LooksOn | Seat::Waits => LOOKS_ON,
        }
    }

    /// It does something.
    fn stirs(&mut self) {
        self.quiet = None;
        self.makes_way = false;
    }

    /// Whether a game is a new one for a client that was put out of its own.
    fn is_new(&self, game: &Game) -> bool {
        !game.continues(&self.game) && matches!(game.common_plies(&self.game), None | Some(0))
    }

    /// It waits for the board from now on.
    fn stands_up(&mut self) {
        self.withdraw();
        self.seat = Seat::Waits;
    }

    /// What it was given is still to be given. `false` if it was given nothing, or has taken it.
    fn withdraw(&mut self) -> bool {
        let given = std::mem::take(&mut self.given);
        if given {
            self.awaiting = true;
            self.fresh_from = self.game.len();
        }
        given
    }

    /// Whether it has played on the board longer than a client in this seat.
    fn is_before(&self, seat: Seat) -> bool {
        match (self.seat, seat) {
            (Seat::Plays(mine), Seat::Plays(other)) => mine < other,
            (Seat::Plays(_), Seat::LooksOn | Seat::Waits) => true,
            (Seat::LooksOn | Seat::Waits, _) => false,
        }
    }
}

/// A board that is kept for an address in mid-game.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptForAddress {
    /// The client that was disconnected.
    label: ClientName,
    /// Since when; after a restart it begins again.
    #[serde(skip)]
    since: Option<Instant>,
}

/// Whether a game is this one with one move more.
fn is_next(game: &Game, before: &Game) -> bool {
    game.len() == before.len() + 1 && game.continues(before)
}

/// All claims to one board.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Claims {
    #[serde(serialize_with = "holders")]
    all: Vec<Claim>,
    /// The game the board is led through.
    target: Option<Game>,
    /// How many times a client has begun to play on the board.
    players: u64,
    /// Clients that announced a new game while another has the board, and have not stated it yet.
    #[serde(skip)]
    announced: Vec<ClientId>,
    /// A client leads that did not have the board before, or that announced a new game before it could lead; the value
    /// says whether it announced one.
    #[serde(skip)]
    came: Option<bool>,
    #[serde(default)]
    kept: Option<KeptForAddress>,
    /// The game on the board has ended.
    #[serde(skip)]
    over: bool,
}

/// Kept for a restart are the clients that have the board.
fn holders<S: Serializer>(all: &[Claim], serializer: S) -> Result<S::Ok, S::Error> {
    let holders = all.iter().filter(|claim| claim.is_joined());
    serializer.collect_seq(holders.take(MAX_KEPT))
}

impl Claims {
    /// Restores saved claims after a restart of the daemon.
    pub fn recalled(mut self) -> Self {
        self.all.retain(Claim::is_joined);
        self.all.truncate(MAX_KEPT);
        for claim in &mut self.all {
            claim.returns = true;
            // A client that was put out does not have the board.
            claim.put_out = false;
        }
        if self.all.is_empty() {
            self.target = None;
        }
        self
    }

    /// Whether a client that had the board before a restart has not come back yet.
    pub fn awaits_return(&self) -> bool {
        self.all.iter().any(|claim| claim.returns)
    }

    /// Clients that have not come back by now have left, as after a lost connection. `true` if the board's target changed.
    pub fn release_absent(&mut self) -> bool {
        let mut changed = false;
        while let Some(claim) = self.all.iter_mut().find(|claim| claim.returns) {
            let client = claim.client;
            changed |= self.remove(client, true);
        }
        changed
    }

    /// A client that has kept its number through a restart is back. `true` if it has a claim.
    pub fn is_back(&mut self, client: ClientId) -> bool {
        let claim = self.get(client);
        claim.map(|claim| claim.returns = false).is_some()
    }

    /// A client that may have had the board before a restart states this game: it takes its claim over.
    ///
    /// One that states the very game it was given an answer to has not received that answer. The plies of that game are
    /// returned then; the answer is still to be given.
    pub fn adopt(&mut self, client: ClientId, label: &ClientName, game: &Game) -> Option<usize> {
        let begins = self.announced.contains(&client);
        let is_known = self.all.iter().any(|claim| claim.client == client);
        let mut kept = self.all.iter_mut().filter(|claim| claim.returns);
        let claim = kept.find(|claim| {
            claim.client == client || !is_known && claim.is_of(label, game, begins)
        })?;
        claim.client = client;
        claim.label = label.clone();
        claim.returns = false;
        claim.away = false;
        let target = self.target.as_ref();
        let lost = target.is_some_and(|target| is_next(target, &claim.game));
        if begins || !lost || claim.game != *game {
            return None;
        }
        self.target = Some(game.clone());
        Some(game.len())
    }

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
        self.holders().any(|claim| claim.finished)
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
        self.holders().any(|claim| claim.awaiting)
    }

    /// The client that the board is kept for although it is disconnected, while others wait.
    pub fn kept(&self) -> Option<&ClientName> {
        let waited_for = self.holders().next().is_none() && self.waiting().next().is_some();
        self.kept
            .as_ref()
            .map(|kept| &kept.label)
            .filter(|_| waited_for)
    }

    /// Whether the board's game is that of a client, connected or not.
    pub fn has_game(&self) -> bool {
        self.kept.is_some() || self.holders().next().is_some()
    }

    /// Time has passed. `true` if a client makes way now: [`Self::admit_waiting`] says for which.
    pub fn pass(&mut self, now: Instant) -> bool {
        let over = |since: &mut Option<Instant>, patience: Duration| {
            now.saturating_duration_since(*since.get_or_insert(now)) >= patience
        };
        let mut makes_way = self
            .kept
            .take_if(|kept| over(&mut kept.since, AWAY))
            .is_some();
        for claim in &mut self.all {
            let patience = claim.patience(self.over);
            let may_go = claim.is_joined() && !claim.makes_way && !claim.is_alone();
            if over(&mut claim.quiet, patience) && may_go {
                claim.makes_way = true;
                makes_way = true;
            }
        }
        makes_way
    }

    /// When to call [`Self::pass`]: while other clients wait, when the last one that has the board makes way.
    pub fn deadline(&self) -> Option<Instant> {
        self.waiting().find(|claim| claim.awaiting)?;
        let kept = self.kept.as_ref().and_then(|kept| Some(kept.since? + AWAY));
        let may_go = |claim: &&Claim| !claim.makes_way && !claim.is_alone();
        let holders = self.holders().filter(may_go);
        let holders = holders.filter_map(|claim| Some(claim.quiet? + claim.patience(self.over)));
        holders.chain(kept).min()
    }

    /// Whether the game on the board has ended. One that goes on after all keeps the board.
    pub fn set_over(&mut self, over: bool, now: Instant) {
        if std::mem::replace(&mut self.over, over) != over {
            for claim in self.all.iter_mut().filter(|claim| claim.is_program()) {
                claim.stirs();
                claim.quiet = Some(now);
            }
        }
    }

    /// Puts out the clients that have the board or for which it is kept. `true` if the board's target changed.
    pub fn put_out(&mut self) -> bool {
        self.kept = None;
        for claim in self.all.iter_mut().filter(|claim| claim.is_joined()) {
            claim.stands_up();
            claim.put_out = true;
        }
        // They do not come back.
        self.all.retain(|claim| !(claim.put_out && claim.finished));
        let changed = self.admit_waiting();
        // A link cannot begin a game by itself: it goes on when the board is free again.
        for claim in &mut self.all {
            claim.put_out &= !matches!(claim.label, ClientName::Link(_));
        }
        changed
    }

    /// A client that was put out begins another game.
    pub fn forgive(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.put_out = false;
        }
    }

    /// Whether the board belongs to another address, or to a client that has it for itself.
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
                .any(|claim| !claim.makes_way && !claim.finished && is_other(claim.label.address()))
    }

    /// Whether this client may change the course of the game: it has the board, or the board is free, and no client
    /// that has played on it for as long awaits a move.
    pub fn may_lead(&self, client: ClientId) -> bool {
        let begins = self.all.iter().any(|claim| {
            claim.client == client && claim.is_program() && claim.begins && claim.awaiting
        });
        // One that has not come back after a restart may await a move by now.
        let rests =
            |claim: &Claim| claim.is_program() && !claim.awaiting && !claim.given && !claim.returns;
        let is_free = |claim: &Claim| {
            claim.away || claim.finished || claim.makes_way || (begins && rests(claim))
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
        let seat = mine.map_or(Seat::Waits, |claim| claim.seat);
        self.holders().any(|claim| {
            claim.is_before(seat)
                && claim.awaiting
                && claim.answered.is_none()
                && !claim.away
                && !claim.makes_way
        })
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

    /// A client states its target, while no client knows the hand's moves from `fresh_from` on. `true` if the board's
    /// target changed.
    pub fn state(
        &mut self,
        client: ClientId,
        label: ClientName,
        number: u64,
        game: Game,
        occasion: Occasion,
        fresh_from: usize,
    ) -> bool {
        let begins = self.take_announced(client);
        if let Some(claim) = self.get(client) {
            claim.begins |= begins;
            claim.stirs();
            claim.put_out &= !claim.is_new(&game);
            claim.number = number;
            // An engine tells its name only when it has been started.
            claim.label = label;
            claim.comes |= !game.continues(&claim.game);
            claim.game = game;
            claim.occasion = occasion;
            claim.fresh_from = fresh_from;
            claim.awaiting = false;
            claim.finished = false;
        } else if self.all.len() < MAX_CLAIMS {
            self.all.push(Claim {
                client,
                label,
                number,
                game,
                occasion,
                fresh_from,
                comes: true,
                awaiting: false,
                analyses: false,
                answered: None,
                given: false,
                seat: Seat::Waits,
                begins,
                away: false,
                returns: false,
                quiet: None,
                makes_way: false,
                put_out: false,
                finished: false,
                promotion: Role::Queen,
            });
        } else {
            return false;
        }
        self.admit(client)
    }

    /// Applies the rule to one client's claim. `true` if the board's target changed.
    fn admit(&mut self, client: ClientId) -> bool {
        let leads = self.may_lead(client);
        let elsewhere = self.is_elsewhere(client);
        let target = self.target.clone();
        let Some(claim) = self.get(client) else {
            return false;
        };
        let same = target.as_ref() == Some(&claim.game);
        if claim.put_out || elsewhere || (!leads && !same) {
            claim.stands_up();
            return false;
        }
        let had = claim.is_joined();
        let (plays, begins) = (claim.awaiting, std::mem::take(&mut claim.begins));
        let (game, label) = (claim.game.clone(), claim.label.clone());
        if !had {
            self.sit(client, plays);
        }
        self.kept = None;
        // Those of another address have made way, and a game on Lichess is played without others.
        let alone = label == ClientName::Lichess;
        for other in &mut self.all {
            let stays =
                other.client == client || !alone && other.label.address() == label.address();
            if other.is_joined() && !stays {
                other.stands_up();
            }
        }
        if same {
            return false;
        }
        if !had || begins {
            self.came = Some(begins);
        }
        let anew = !had && begins;
        for other in &mut self.all {
            if other.client != client && (anew || !game.continues(&other.game)) {
                other.stands_up();
            }
        }
        self.target = Some(game);
        true
    }

    /// A client that has the board begins to play on it, or only looks on.
    fn sit(&mut self, client: ClientId, plays: bool) {
        self.players = self.players.wrapping_add(plays.into());
        let seat = if plays {
            Seat::Plays(self.players)
        } else {
            Seat::LooksOn
        };
        if let Some(claim) = self.get(client) {
            claim.stirs();
            claim.seat = seat;
        }
    }

    /// A client's connection is lost, or back.
    pub fn set_away(&mut self, client: ClientId, away: bool) {
        if let Some(claim) = self.get(client) {
            claim.stirs();
            claim.away = away;
        }
    }

    /// A client makes way for others, until it does something again.
    pub fn make_way(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.makes_way = true;
        }
    }

    /// A client's game is over.
    pub fn finish(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.finished = true;
            claim.awaiting = false;
        }
    }

    /// The board has reached its target: clients whose game is over leave. `true` if the board's target changed.
    pub fn leave_finished(&mut self) -> bool {
        let before = self.all.len();
        self.all.retain(|claim| !claim.finished);
        before != self.all.len() && self.admit_waiting()
    }

    /// A client awaits a move, or no longer does. `true` if the board's target changed.
    pub fn set_awaiting(&mut self, client: ClientId, on: bool) -> bool {
        let target = self.target.clone();
        let Some(claim) = self.get(client) else {
            return false;
        };
        claim.stirs();
        claim.awaiting = on;
        claim.analyses = false;
        // The hand may have answered others already: the game is not left because of that, only because of the program.
        let passed = target.is_some_and(|target| target.continues(&claim.game));
        let answered = passed && claim.fresh_from <= claim.game.len();
        let seat = claim.seat;
        match seat {
            Seat::LooksOn if on => self.sit(client, true),
            Seat::Plays(_) if !on => self.sit(client, false),
            Seat::Waits | Seat::LooksOn | Seat::Plays(_) => {}
        }
        on && !(seat != Seat::Waits && answered) && self.admit(client)
    }

    /// A client that awaits a move only analyses.
    pub fn analyse(&mut self, client: ClientId) {
        if let Some(claim) = self.get(client) {
            claim.analyses = claim.awaiting;
        }
    }

    /// The client that analyses, if no other client plays.
    pub fn analyst(&self) -> Option<&Claim> {
        let plays = |claim: &Claim| matches!(claim.seat, Seat::Plays(_)) && !claim.analyses;
        let mut holders = self.holders();
        holders.find(|claim| claim.analyses && claim.awaiting && !self.holders().any(plays))
    }

    /// The purpose of the target's game, as given by a client that states it.
    pub fn occasion(&self) -> Occasion {
        let states = |claim: &&Claim| self.target.as_ref() == Some(&claim.game);
        let claim = self.holders().find(states);
        claim.map_or(Occasion::default(), |claim| claim.occasion)
    }

    /// What a pawn becomes where the board cannot tell, as set by the client that awaits the move.
    pub fn promotion(&self) -> Role {
        let awaiting = self.holders().find(|claim| claim.awaiting);
        let claim = awaiting.or_else(|| self.holders().next());
        claim.map_or(Role::Queen, |claim| claim.promotion)
    }

    /// A client sets what a pawn becomes where the board cannot tell.
    pub fn set_promotion(&mut self, client: ClientId, role: Role) {
        if let Some(claim) = self.get(client) {
            claim.promotion = role;
        }
    }

    /// Gives the hand's move in this game to each client that awaits it and can take it now. `None` if there is none, and
    /// otherwise whether the target goes on by it.
    pub fn give(&mut self, held: &Game) -> Option<bool> {
        let mut goes_on = None;
        for claim in &mut self.all {
            let takes = claim.awaiting && !claim.analyses && !claim.away && !claim.returns;
            let Some(&m) = claim.answer(held).first().filter(|_| takes) else {
                continue;
            };
            claim.stirs();
            claim.given = true;
            claim.awaiting = false;
            // A move it was told is not its answer again.
            claim.fresh_from = usize::MAX;
            let extended = self.target.as_mut().filter(|target| **target == claim.game);
            let extended = extended.is_some_and(|target| target.push(m));
            goes_on = Some(goes_on.unwrap_or(false) || extended);
        }
        goes_on
    }

    /// A client has taken this move, which it was given. `false` if it was given nothing, or the hand has made another move
    /// since.
    pub fn take(&mut self, client: ClientId, number: u64, answer: UciMove, held: &Game) -> bool {
        let claim = self.get(client).filter(|claim| claim.number == number);
        claim.is_some_and(|claim| {
            let given = claim.answer(held).first().copied();
            given.is_some_and(|m| uci(m) == answer) && std::mem::take(&mut claim.given)
        })
    }

    /// What a client was given and has not taken is still to be given: the plies of its game are returned.
    pub fn withdraw(&mut self, client: ClientId) -> Option<usize> {
        let claim = self.all.iter_mut().find(|claim| claim.client == client)?;
        if !claim.withdraw() {
            return None;
        }
        let game = claim.game.clone();
        let target = self.target.as_mut();
        if let Some(target) = target.filter(|target| is_next(target, &game)) {
            // Another client's game may go on from there.
            let needs = |other: &Claim| {
                let is_given = other.given && other.game == game;
                other.is_joined() && (is_given || other.game.continues(target))
            };
            if !self.all.iter().any(needs) {
                target.pop();
            }
        }
        Some(game.len())
    }

    /// A client was told the answer to its target, which extends its game. `true` if the target changed.
    pub fn answered(&mut self, client: ClientId, number: u64, answer: Move) -> bool {
        let target = self.target.clone();
        let Some(claim) = self.get(client).filter(|claim| claim.number == number) else {
            return false;
        };
        claim.stirs();
        claim.awaiting = false;
        let mut on = claim.game.clone();
        // A move it was told is not its answer again.
        claim.fresh_from = usize::MAX;
        if !claim.is_joined() || !on.push(answer) || target.as_ref() != Some(&claim.game) {
            return false;
        }
        self.target = Some(on);
        true
    }

    /// This client cannot take the hand's answer: it no longer answers any client.
    pub fn refuse(&mut self, client: ClientId, number: u64) -> bool {
        let refuses = |claim: &Claim| claim.client == client && claim.number == number;
        let holds = self.holders().any(refuses);
        if holds {
            self.forget_answers();
        }
        holds
    }

    /// No move on the board now is an answer to any client.
    pub fn forget_answers(&mut self) {
        self.withdraw_all(|_| true);
        for claim in &mut self.all {
            claim.fresh_from = usize::MAX;
        }
    }

    /// Withdraws what was given to these and not taken. `true` if that is anything.
    fn withdraw_all(&mut self, which: impl Fn(&Claim) -> bool) -> bool {
        let given = self.all.iter().filter(|claim| claim.given && which(claim));
        let given: Vec<ClientId> = given.map(|claim| claim.client).collect();
        for client in &given {
            self.withdraw(*client);
        }
        !given.is_empty()
    }

    /// The board is known to hold this game, in which `is_found` says which moves were on it when it was first asked.
    /// The rule for what the hand may have played before a program came:
    ///
    /// If a client joins a game instead of continuing its own, one further move on the board is its answer; if there
    /// are more, none is: then the board holds a different game that began the same way. In a game without a move, that
    /// move must have been seen being made. In a game with moves that the hand plays for both colours, all its later
    /// moves count if the client states the last position that clients knew: that is its own game, gone on meanwhile. A
    /// board that is disconnected or has not reported its game is checked once it has.
    ///
    /// While the board is led elsewhere (`on_the_way`) the client is checked again: a take-back may expose an earlier
    /// move that must not count.
    ///
    /// `true` if what it holds is not the client's answer.
    pub fn meet(
        &mut self,
        held: &Game,
        on_the_way: bool,
        is_found: impl Fn(usize) -> bool,
    ) -> bool {
        let mut another = false;
        for claim in &mut self.all {
            if claim.is_joined() && claim.comes {
                claim.comes = on_the_way;
                let plies = claim.game.len();
                let may_be = match plies {
                    0 if is_found(plies) => 0,
                    1.. if claim.is_where_clients_left() => MAX_PLIES,
                    _ => MOVES_BEFORE,
                };
                if held.len() > plies + may_be && held.continues(&claim.game) {
                    claim.comes = false;
                    claim.fresh_from = held.len();
                    another = true;
                }
            }
        }
        another
    }

    /// The held game now has this many plies: what comes after it will be new to every client. What was given to one that has
    /// not taken it yet, and is taken back, is not its answer. `true` if the target changed by that.
    pub fn taken_back_to(&mut self, plies: usize) -> bool {
        let changed = self.withdraw_all(|claim| claim.game.len() >= plies);
        for claim in &mut self.all {
            claim.fresh_from = claim.fresh_from.min(plies);
        }
        changed
    }

    /// A step of the program was carried out: what the board holds up to this ply answers no client, except one that
    /// the hand had already answered with the same move, whatever that client has stated meanwhile.
    pub fn stepped(&mut self, held: &Game, plies: usize) {
        for claim in &mut self.all {
            let made = held.moves().get(claim.game.len()).copied();
            if claim.answered.is_none() || claim.answered != made {
                claim.fresh_from = claim.fresh_from.max(plies);
            }
        }
    }

    /// Records the hand's answer to each client.
    pub fn note_answers(&mut self, answer: impl Fn(&Claim) -> Option<Move>) {
        for claim in &mut self.all {
            let answer = answer(claim);
            if claim.answered != answer {
                claim.answered = answer;
                claim.stirs();
            }
        }
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
        let plays = matches!(claim.seat, Seat::Plays(_)) && !claim.finished;
        if lost && plays && !claim.makes_way && !claim.game.position().is_game_over() {
            self.kept = Some(KeptForAddress {
                label: claim.label,
                since: None,
            });
        }
        self.admit_waiting()
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
            .filter(|claim| !claim.is_joined() && claim.awaiting && !claim.away && !claim.returns)
            .map(|claim| claim.client)
            .collect();
        for client in waiting {
            changed |= self.admit(client);
        }
        changed
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHITE: ClientId = ClientId(1);
    const BLACK: ClientId = ClientId(2);

    fn game(moves: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    }

    fn state(claims: &mut Claims, client: ClientId, moves: &str) -> bool {
        claims.state(
            client,
            "somebody".into(),
            1,
            game(moves),
            Occasion::default(),
            0,
        )
    }

    #[test]
    fn two_clients_of_one_game_share_the_board() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "");
        claims.set_awaiting(WHITE, true);
        let e4 = game("e2e4").last().unwrap();
        assert!(claims.answered(WHITE, 1, e4));
        assert!(!state(&mut claims, BLACK, "e2e4"));
        assert!(claims.has(BLACK));
        claims.set_awaiting(BLACK, true);
        assert!(state(&mut claims, WHITE, "d2d4"), "it came first");
        assert!(!claims.has(BLACK), "its game is left");
    }

    #[test]
    fn a_page_that_comes_back_after_a_restart_takes_its_claim_over() {
        let page = |port| ClientName::LiveChess(([192, 168, 1, 20], port).into());
        let mut claims = Claims::default();
        claims.state(WHITE, page(1), 1, game("e2e4"), Occasion::default(), 0);
        let kept = serde_json::to_string(&claims).unwrap();
        let kept: Claims = serde_json::from_str(&kept).unwrap();
        let mut claims = kept.recalled();
        let other = ClientName::LiveChess(([192, 168, 1, 21], 2).into());
        claims.adopt(BLACK, &other, &game(""));
        assert!(claims.awaits_return());
        claims.adopt(BLACK, &page(2), &game(""));
        assert!(claims.has(BLACK) && !claims.awaits_return());
    }

    #[test]
    fn a_game_on_lichess_has_the_board_for_itself() {
        let lichess = |claims: &mut Claims, moves| {
            let (label, occasion) = (ClientName::Lichess, Occasion::default());
            claims.state(WHITE, label, 1, game(moves), occasion, 0)
        };
        let mut claims = Claims::default();
        state(&mut claims, BLACK, "e2e4");
        lichess(&mut claims, "e2e4");
        assert!(
            claims.has(WHITE) && !claims.has(BLACK),
            "an engine looked on"
        );
        for moves in ["e2e4", "d2d4"] {
            state(&mut claims, BLACK, moves);
            claims.set_awaiting(BLACK, true);
            assert!(!claims.has(BLACK), "{moves}");
        }
        let now = Instant::now();
        claims.pass(now);
        claims.pass(now + 2 * IDLE);
        claims.admit_waiting();
        assert!(!claims.has(BLACK), "the opponent thinks for long");
        claims.finish(WHITE);
        claims.leave_finished();
        assert!(claims.has(BLACK), "the game is over");
    }

    #[test]
    fn who_came_first_keeps_the_board_and_who_joined_goes_on_while_nobody_minds() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        claims.set_awaiting(WHITE, true);
        state(&mut claims, BLACK, "e2e4");
        claims.set_awaiting(BLACK, true);
        assert!(
            !state(&mut claims, BLACK, "d2d4"),
            "the first awaits the hand"
        );
        assert!(!claims.has(BLACK));
        state(&mut claims, BLACK, "e2e4");
        assert!(claims.has(BLACK));
        let e5 = game("e2e4 e7e5").last().unwrap();
        assert!(claims.answered(WHITE, 1, e5));
        // It guesses the reply before the other client has stated it, and is wrong.
        assert!(state(&mut claims, BLACK, "e2e4 e7e5 h2h3"));
        claims.set_awaiting(BLACK, true);
        assert!(state(&mut claims, WHITE, "e2e4 e7e5 g1f3"));
        assert!(claims.has(WHITE) && !claims.has(BLACK));
    }

    #[test]
    fn who_only_looks_on_does_not_take_the_board_from_who_plays() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "");
        state(&mut claims, BLACK, "");
        claims.set_awaiting(BLACK, true);
        assert!(!state(&mut claims, WHITE, "e2e4"));
        assert!(claims.has(BLACK) && !claims.has(WHITE));
        // Nor a client that played before, and has stopped.
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "");
        claims.set_awaiting(WHITE, true);
        claims.set_awaiting(WHITE, false);
        state(&mut claims, BLACK, "");
        claims.set_awaiting(BLACK, true);
        assert!(!state(&mut claims, WHITE, "e2e4"));
    }

    #[test]
    fn a_new_game_announced_by_a_client_that_waits_begins_when_it_gets_the_board() {
        for before in [false, true] {
            let mut claims = Claims::default();
            state(&mut claims, WHITE, "e2e4 e7e5");
            claims.take_came();
            if before {
                state(&mut claims, BLACK, "e2e4");
            }
            claims.announce(BLACK);
            state(&mut claims, BLACK, "e2e4");
            claims.set_awaiting(BLACK, true);
            assert_eq!(claims.take_came(), None);
            assert!(claims.release(WHITE));
            assert_eq!(claims.take_came(), Some(true), "known before: {before}");
            assert_eq!(claims.take_came(), None);
        }
    }

    #[test]
    fn a_new_game_announced_while_the_other_holder_awaited_the_hand_is_no_take_back() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        claims.set_awaiting(WHITE, true);
        state(&mut claims, BLACK, "e2e4");
        claims.take_came();
        assert!(!claims.may_lead(BLACK));
        claims.announce(BLACK);
        claims.set_awaiting(WHITE, false);
        assert!(state(&mut claims, BLACK, ""));
        assert_eq!(claims.take_came(), Some(true));
    }

    #[test]
    fn every_client_that_announced_a_new_game_begins_one_unless_it_has_left() {
        const GONE: ClientId = ClientId(3);
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4 e7e5");
        claims.take_came();
        claims.announce(GONE);
        claims.announce(BLACK);
        claims.release(GONE);
        state(&mut claims, BLACK, "e2e4");
        claims.set_awaiting(BLACK, true);
        assert!(claims.release(WHITE));
        assert_eq!(claims.take_came(), Some(true));
        claims.release(BLACK);
        assert!(state(&mut claims, GONE, "e2e4"));
        assert_eq!(claims.take_came(), Some(false), "that was forgotten");
    }

    #[test]
    fn nobody_joins_by_playing_somebody_elses_game_on() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        assert!(!state(&mut claims, BLACK, "e2e4 c7c5"));
        assert!(!claims.has(BLACK));
        assert!(state(&mut claims, WHITE, "e2e4 e7e5"));
    }

    #[test]
    fn a_client_whose_game_is_left_waits_and_gets_the_board_back() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        state(&mut claims, BLACK, "e2e4");
        assert!(state(&mut claims, BLACK, "d2d4"));
        assert!(!claims.has(WHITE));
        claims.release(BLACK);
        assert_eq!(
            claims.target(),
            None,
            "nobody awaits a move: the board is left alone"
        );
        assert!(claims.set_awaiting(WHITE, true));
        assert!(claims.has(WHITE));
        assert_eq!(claims.target(), Some(&game("e2e4")));
    }

    #[test]
    fn awaiting_is_stating_the_game_again() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        state(&mut claims, BLACK, "e2e4");
        assert!(state(&mut claims, BLACK, "e2e4 e7e5 g1f3"));
        assert!(claims.has(WHITE), "the game went on");
        claims.forget_answers();
        assert!(
            claims.set_awaiting(WHITE, true),
            "the board goes back to it"
        );
        assert_eq!(claims.target(), Some(&game("e2e4")));
        assert!(!claims.has(BLACK));
    }

    #[test]
    fn another_game_waits_until_the_board_is_free() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        assert!(!state(&mut claims, BLACK, ""));
        assert!(!claims.has(BLACK));
        assert_eq!(claims.target(), Some(&game("e2e4")));
        claims.set_awaiting(BLACK, true);
        assert!(claims.release(WHITE));
        assert!(claims.has(BLACK));
        assert_eq!(claims.target(), Some(&game("")));
    }

    #[test]
    fn a_client_that_is_away_keeps_the_board_until_somebody_wants_it() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        claims.set_awaiting(WHITE, true);
        claims.set_away(WHITE, true);
        assert!(claims.has(WHITE));
        assert!(state(&mut claims, BLACK, "d2d4"));
        assert!(claims.has(BLACK) && !claims.has(WHITE));
        claims.set_away(WHITE, false);
        assert!(!claims.set_awaiting(WHITE, true), "it waits now");
        claims.set_away(BLACK, true);
        assert!(claims.admit_waiting());
        assert!(claims.has(WHITE));
    }

    #[test]
    fn of_two_clients_that_are_away_none_takes_the_board_from_the_other() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4");
        claims.set_awaiting(WHITE, true);
        claims.set_away(WHITE, true);
        state(&mut claims, BLACK, "d2d4");
        claims.set_awaiting(BLACK, true);
        claims.set_away(BLACK, true);
        assert!(!claims.admit_waiting());
        assert!(claims.has(BLACK));
    }

    const OWNER: &str = "192.168.1.5:50000";
    const STRANGER: &str = "192.168.1.6:50000";

    fn state_from(claims: &mut Claims, client: ClientId, from: &str, moves: &str) -> bool {
        claims.state(client, from.into(), 1, game(moves), Occasion::default(), 0)
    }

    /// The owner plays.
    fn played_by_the_owner(now: Instant) -> Claims {
        let mut claims = Claims::default();
        state_from(&mut claims, WHITE, OWNER, "e2e4");
        claims.set_awaiting(WHITE, true);
        claims.pass(now);
        claims
    }

    fn stranger_awaits(claims: &mut Claims, moves: &str) {
        state_from(claims, BLACK, STRANGER, moves);
        claims.set_awaiting(BLACK, true);
    }

    #[test]
    fn another_address_neither_takes_a_game_nor_joins_it() {
        let mut claims = played_by_the_owner(Instant::now());
        for awaits in [true, false] {
            claims.set_awaiting(WHITE, awaits);
            for moves in ["e2e4", "e2e4 e7e5", "d2d4", ""] {
                stranger_awaits(&mut claims, moves);
                assert!(claims.has(WHITE) && !claims.has(BLACK), "{moves}, {awaits}");
                claims.announce(BLACK);
            }
        }
        assert_eq!(claims.target(), Some(&game("e2e4")));
        claims.release(WHITE);
        assert!(claims.has(BLACK), "it waited");
    }

    #[test]
    fn the_app_and_the_links_are_of_this_machine() {
        for name in [
            ClientName::App("ble".into()),
            ClientName::Link("neo".into()),
        ] {
            assert_eq!(name.address(), ClientName::from("[::1]:1").address());
            assert_eq!(
                name.address(),
                ClientName::from("[::ffff:127.0.0.1]:1").address()
            );
            assert_ne!(name.address(), ClientName::from(STRANGER).address());
        }
    }

    #[test]
    fn a_client_that_looks_on_or_idles_makes_way_for_one_that_waits() {
        for (awaits, patience) in [(false, LOOKS_ON), (true, IDLE)] {
            for from in [OWNER, STRANGER] {
                let now = Instant::now();
                let mut claims = played_by_the_owner(now);
                claims.set_awaiting(WHITE, awaits);
                claims.pass(now);
                assert_eq!(claims.deadline(), None, "no other client waits");
                state_from(&mut claims, BLACK, from, "d2d4");
                claims.set_awaiting(BLACK, true);
                assert_eq!(claims.deadline(), Some(now + patience));
                assert!(!claims.pass(now + patience / 2));
                assert!(claims.pass(now + patience));
                assert!(claims.admit_waiting());
                assert!(claims.has(BLACK) && !claims.has(WHITE), "{awaits} {from}");
            }
        }
    }

    /// The owner's program has been told the hand's move, and awaits no other.
    fn answered_by_the_owner(now: Instant) -> Claims {
        let mut claims = played_by_the_owner(now);
        assert!(claims.answered(WHITE, 1, game("e2e4 e7e5").last().unwrap()));
        claims.pass(now);
        claims
    }

    /// Another program announces a new game, states it and awaits a move.
    fn begins_from(claims: &mut Claims, client: ClientId, from: &str, moves: &str) {
        claims.announce(client);
        state_from(claims, client, from, moves);
        claims.set_awaiting(client, true);
    }

    #[test]
    fn a_new_game_of_the_same_machine_does_not_wait_for_a_program_that_was_left_open() {
        let mut claims = answered_by_the_owner(Instant::now());
        claims.announce(BLACK);
        state_from(&mut claims, BLACK, OWNER, "");
        assert!(claims.has(WHITE), "it awaits no move yet");
        claims.set_awaiting(BLACK, true);
        assert!(claims.has(BLACK) && !claims.has(WHITE));
        assert_eq!(claims.take_came(), Some(true));
        // The old one waits with its old game, even between two moves of the new one.
        state_from(&mut claims, WHITE, OWNER, "e2e4 e7e5 g1f3");
        claims.set_awaiting(WHITE, true);
        assert!(claims.answered(BLACK, 1, game("d2d4").last().unwrap()));
        claims.admit_waiting();
        assert!(claims.has(BLACK) && !claims.has(WHITE));
    }

    #[test]
    fn a_new_game_that_begins_like_the_old_one_leaves_it_all_the_same() {
        let mut claims = Claims::default();
        state_from(&mut claims, WHITE, OWNER, "");
        claims.set_awaiting(WHITE, true);
        assert!(claims.answered(WHITE, 1, game("e2e4").last().unwrap()));
        begins_from(&mut claims, BLACK, OWNER, "");
        assert!(claims.has(BLACK) && !claims.has(WHITE));
    }

    #[test]
    fn a_new_game_waits_for_other_machines_open_searches_and_for_what_is_no_chess_program() {
        let now = Instant::now();
        let mut claims = answered_by_the_owner(now);
        begins_from(&mut claims, BLACK, STRANGER, "");
        assert!(claims.has(WHITE), "another machine");
        let mut claims = played_by_the_owner(now);
        begins_from(&mut claims, BLACK, OWNER, "");
        assert!(claims.has(WHITE), "an open search");
        let mut claims = answered_by_the_owner(now);
        state_from(&mut claims, BLACK, OWNER, "");
        claims.set_awaiting(BLACK, true);
        assert!(claims.has(WHITE), "no new game");
        // Not before it can have come back, after a restart.
        let mut claims = answered_by_the_owner(now).recalled();
        begins_from(&mut claims, BLACK, OWNER, "");
        assert!(claims.has(WHITE), "a restart");
        let here = "127.0.0.1:50000";
        for name in [
            ClientName::App("ble".into()),
            ClientName::Link("neo".into()),
            ClientName::Engine("Stockfish".into()),
            ClientName::LiveChess(here.parse().unwrap()),
        ] {
            let mut claims = Claims::default();
            claims.state(WHITE, name, 1, game("e2e4"), Occasion::default(), 0);
            claims.set_awaiting(WHITE, true);
            assert!(claims.answered(WHITE, 1, game("e2e4 e7e5").last().unwrap()));
            begins_from(&mut claims, BLACK, here, "");
            assert!(claims.has(WHITE), "its opponent thinks");
        }
    }

    #[test]
    fn a_program_whose_game_is_over_makes_way_for_any_other_unless_it_goes_on() {
        for from in [OWNER, STRANGER] {
            for goes_on in [false, true] {
                let begun = Instant::now();
                let mut claims = answered_by_the_owner(begun);
                let now = begun + IDLE / 2;
                claims.set_over(true, now);
                claims.pass(now);
                state_from(&mut claims, BLACK, from, "d2d4");
                claims.set_awaiting(BLACK, true);
                assert!(claims.has(WHITE));
                assert_eq!(claims.deadline(), Some(now + OVER));
                if goes_on {
                    claims.set_over(false, now);
                }
                let makes_way = claims.pass(now + OVER) && claims.admit_waiting();
                assert_eq!(makes_way, !goes_on);
                assert_eq!((claims.has(BLACK), claims.has(WHITE)), (!goes_on, goes_on));
            }
        }
    }

    proptest! {
        /// Three programs of one machine do anything.
        #[test]
        fn no_program_is_put_out_while_it_awaits_a_move_or_comes_back_without_a_new_game(
            history in prop::collection::vec((1..4_u64, 0..8, 0..4_usize), 1..60)
        ) {
            let mut claims = Claims::default();
            // Those that lost the board, and have announced no new game.
            let mut left = std::collections::BTreeSet::new();
            for (number, what, which) in history {
                let client = ClientId(number);
                let before: Vec<Claim> = claims.holders().cloned().collect();
                match what {
                    0..3 => {
                        let moves = ["", "e2e4", "e2e4 e7e5", "d2d4"][which];
                        state_from(&mut claims, client, OWNER, moves);
                    }
                    3..5 => {
                        claims.set_awaiting(client, true);
                    }
                    5 => {
                        let at = claims.get(client).map(|claim| claim.game.clone());
                        if let Some(at) = at && let Some(&m) = at.position().legal_moves().first() {
                            claims.answered(client, 1, m);
                            claims.admit_waiting();
                        }
                    }
                    6 => {
                        claims.set_awaiting(client, false);
                        claims.admit_waiting();
                    }
                    _ => {
                        left.remove(&client);
                        if !claims.may_begin(client) {
                            claims.announce(client);
                        }
                    }
                }
                for claim in before.iter().filter(|claim| claim.client != client) {
                    if claims.has(claim.client) {
                        continue;
                    }
                    // The first of several that share a game leads it, as before.
                    let shares = before.iter().any(|other| other.client == client);
                    prop_assert!(!claim.awaiting || shares, "{number} {what}");
                    if claims.iter().any(|one| one.client == claim.client && !one.begins) {
                        left.insert(claim.client);
                    }
                }
                for claim in claims.holders() {
                    let had = before.iter().any(|had| had.client == claim.client);
                    let back = !had && left.contains(&claim.client);
                    let free = before.is_empty();
                    // It states another client's game.
                    let joins = claims.holders().any(|other| {
                        other.client != claim.client && other.game == claim.game
                    });
                    let stays = before.iter().any(|had| claims.has(had.client));
                    prop_assert!(!back || free || joins || stays, "{number} {what}");
                }
                let holders: Vec<ClientId> = claims.holders().map(|claim| claim.client).collect();
                left.retain(|client| !holders.contains(client));
            }
        }
    }

    #[test]
    fn a_sign_of_a_client_begins_its_time_again() {
        let now = Instant::now();
        let mut claims = played_by_the_owner(now);
        stranger_awaits(&mut claims, "d2d4");
        let later = now + IDLE / 2;
        assert!(claims.answered(WHITE, 1, game("e2e4 e7e5").last().unwrap()));
        assert!(!claims.pass(later));
        assert!(!claims.pass(now + IDLE));
        assert_eq!(claims.deadline(), Some(later + IDLE));
    }

    #[test]
    fn a_game_whose_connection_is_lost_is_kept_for_its_address() {
        const BACK: ClientId = ClientId(3);
        let now = Instant::now();
        let lost = || {
            let mut claims = played_by_the_owner(now);
            claims.lose(WHITE);
            stranger_awaits(&mut claims, "d2d4");
            claims.pass(now);
            assert!(!claims.has(BLACK));
            claims
        };
        let mut claims = lost();
        assert_eq!(claims.kept(), Some(&OWNER.into()));
        assert_eq!(claims.deadline(), Some(now + AWAY));
        assert!(state_from(&mut claims, BACK, "192.168.1.5:50001", "e2e4"));
        assert!(claims.has(BACK));
        assert_eq!(claims.kept(), None);
        let mut claims = lost();
        assert!(claims.pass(now + AWAY) && claims.admit_waiting());
        assert!(claims.has(BLACK), "it has waited long enough");
        let mut claims = lost();
        claims.put_out();
        assert!(claims.has(BLACK), "the owner said so");
        // Also if the daemon is killed meanwhile.
        let kept = serde_json::to_string(&lost()).unwrap();
        let kept: Claims = serde_json::from_str(&kept).unwrap();
        let mut claims = kept.recalled();
        stranger_awaits(&mut claims, "d2d4");
        claims.pass(now);
        assert!(!claims.has(BLACK));
        assert!(state_from(&mut claims, BACK, "192.168.1.5:50001", "e2e4"));
        assert!(claims.has(BACK));
    }

    #[test]
    fn a_game_whose_program_is_not_back_after_a_restart_is_kept_for_its_address() {
        let now = Instant::now();
        let mut claims = played_by_the_owner(now).recalled();
        claims.release_absent();
        stranger_awaits(&mut claims, "d2d4");
        claims.pass(now);
        assert!(!claims.has(BLACK));
        assert_eq!(claims.kept(), Some(&OWNER.into()));
        assert!(claims.pass(now + AWAY) && claims.admit_waiting());
        assert!(claims.has(BLACK), "it has waited long enough");
    }

    #[test]
    fn a_kept_claim_that_has_the_board_is_not_put_out() {
        let mut kept = serde_json::to_value(played_by_the_owner(Instant::now())).unwrap();
        kept["all"][0]["put_out"] = true.into();
        let kept: Claims = serde_json::from_value(kept).unwrap();
        let mut claims = kept.recalled();
        claims.is_back(WHITE);
        assert!(!claims.iter().any(Claim::is_put_out));
        state_from(&mut claims, WHITE, OWNER, "e2e4");
        assert!(claims.has(WHITE));
    }

    #[test]
    fn a_client_that_leaves_in_order_keeps_nothing() {
        for away in [false, true] {
            let mut claims = played_by_the_owner(Instant::now());
            claims.set_away(WHITE, away);
            claims.release(WHITE);
            stranger_awaits(&mut claims, "d2d4");
            assert!(claims.has(BLACK), "away: {away}");
        }
    }

    #[test]
    fn a_client_that_is_away_makes_way_for_another_address_after_a_time() {
        let now = Instant::now();
        let mut claims = played_by_the_owner(now);
        claims.set_away(WHITE, true);
        claims.pass(now);
        stranger_awaits(&mut claims, "d2d4");
        assert!(!claims.has(BLACK));
        assert!(claims.pass(now + AWAY) && claims.admit_waiting());
        assert!(claims.has(BLACK) && !claims.has(WHITE));
    }

    #[test]
    fn who_was_put_out_gets_the_board_again_only_for_a_new_game() {
        for other in [false, true] {
            let mut claims = played_by_the_owner(Instant::now());
            if other {
                stranger_awaits(&mut claims, "d2d4");
            }
            claims.put_out();
            assert!(!claims.has(WHITE));
            assert_eq!(claims.has(BLACK), other, "whoever waits gets it");
            claims.release(BLACK);
            for moves in ["e2e4", "e2e4 e7e5 g1f3"] {
                state_from(&mut claims, WHITE, OWNER, moves);
                claims.set_awaiting(WHITE, true);
                assert!(!claims.has(WHITE), "{moves}");
                assert!(claims.iter().any(Claim::is_put_out));
            }
            state_from(&mut claims, WHITE, OWNER, "");
            assert!(claims.has(WHITE));
        }
        // Even the same game, if the program says that it is new.
        let mut claims = played_by_the_owner(Instant::now());
        claims.put_out();
        claims.forgive(WHITE);
        state_from(&mut claims, WHITE, OWNER, "e2e4");
        assert!(claims.has(WHITE));
    }

    #[test]
    fn a_link_that_was_put_out_goes_on_when_the_board_is_free() {
        let mut claims = Claims::default();
        let link = ClientName::Link("neo".into());
        claims.state(WHITE, link, 1, game("e2e4"), Occasion::default(), 0);
        claims.set_awaiting(WHITE, true);
        state(&mut claims, BLACK, "d2d4");
        claims.set_awaiting(BLACK, true);
        claims.put_out();
        assert!(claims.has(BLACK));
        claims.release(BLACK);
        assert!(claims.has(WHITE));
    }

    proptest! {
        /// Two clients at each of two addresses do anything.
        #[test]
        fn no_command_of_another_address_takes_the_board(
            history in prop::collection::vec((1..5_u64, 0..10, 0..4_usize, 0..4000_u64), 1..60)
        ) {
            let mut claims = Claims::default();
            let mut now = Instant::now();
            let address = |client: u64| if client < 3 { OWNER } else { STRANGER };
            for (number, what, game, seconds) in history {
                let client = ClientId(number);
                let mine = ClientName::from(address(number)).address();
                let stays = |claim: &&Claim| {
                    !claim.makes_way && !claim.finished && claim.label.address() != mine
                };
                let other = claims.holders().find(stays).map(|claim| claim.label.address());
                match what {
                    0..3 => {
                        let moves = ["", "e2e4", "e2e4 e7e5", "d2d4"][game];
                        state_from(&mut claims, client, address(number), moves);
                    }
                    3..5 => {
                        claims.set_awaiting(client, game > 0);
                    }
                    5 => claims.set_away(client, game > 1),
                    6 => claims.announce(client),
                    7 if game > 1 => {
                        claims.lose(client);
                    }
                    7 => {
                        claims.release(client);
                    }
                    8 => claims.finish(client),
                    _ => {
                        now += Duration::from_secs(seconds);
                        if claims.pass(now) {
                            claims.admit_waiting();
                        }
                    }
                }
                claims.pass(now);
                if what < 9 {
                    // Those of one address may take turns.
                    let mut holders = claims.holders().map(|claim| claim.label.address());
                    prop_assert!(other.is_none_or(|other| holders.any(|holder| holder == other)));
                }
                let addresses = claims.holders().map(|claim| claim.label.address());
                let addresses: std::collections::BTreeSet<_> = addresses.collect();
                prop_assert!(addresses.len() < 2);
                prop_assert!(claims.deadline().is_none_or(|deadline| deadline > now));
            }
        }
    }

    #[test]
    fn an_engine_that_makes_way_does_so_whether_or_not_a_game_was_over() {
        let mut claims = Claims::default();
        let engine = ClientName::Engine("Stockfish".into());
        claims.state(WHITE, engine, 1, game("e2e4"), Occasion::default(), 0);
        claims.set_awaiting(WHITE, true);
        claims.make_way(WHITE);
        let now = Instant::now();
        claims.set_over(true, now);
        claims.set_over(false, now);
        state(&mut claims, BLACK, "d2d4");
        claims.set_awaiting(BLACK, true);
        assert!(claims.has(BLACK) && !claims.has(WHITE));
    }

    #[test]
    fn a_client_that_makes_way_keeps_the_board_until_any_other_awaits_a_move() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "");
        claims.set_awaiting(WHITE, true);
        claims.make_way(WHITE);
        assert!(claims.has(WHITE) && claims.awaiting());
        state_from(&mut claims, BLACK, STRANGER, "d2d4");
        claims.set_awaiting(BLACK, true);
        assert!(claims.has(BLACK) && !claims.has(WHITE));
        // It is active again, so it no longer gives way.
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "");
        claims.make_way(WHITE);
        state(&mut claims, WHITE, "e2e4");
        claims.set_awaiting(WHITE, true);
        state_from(&mut claims, BLACK, STRANGER, "d2d4");
        claims.set_awaiting(BLACK, true);
        assert!(claims.has(WHITE) && !claims.has(BLACK));
    }

    #[test]
    fn the_holder_may_take_back_and_begin_anew() {
        let mut claims = Claims::default();
        state(&mut claims, WHITE, "e2e4 e7e5");
        assert!(state(&mut claims, WHITE, ""));
        assert!(state(&mut claims, WHITE, "d2d4"));
        assert!(claims.release(WHITE));
        assert_eq!(claims.target(), None);
    }
}
