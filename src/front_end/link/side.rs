//! One of the two boards of a link: the link's seat there, and what it knows of the board.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use serde::{Deserialize, Serialize};

pub use super::presence::{AWAY_WAIT, Presently};
use super::presence::{Absence, Presence};
use crate::{
    chess::game::Game,
    front_end::seat::{SavedSeat, Seat},
    vocabulary::{ClientId, ClientName, GameEnd, Occasion, Snapshot},
};

/// Which of the two boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The board named first.
    First,
    /// The other one.
    Second,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The opposite side.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Its index in a pair.
    pub fn index(self) -> usize {
        usize::from(self == Self::Second)
    }
}

/// The player on one side.
#[derive(Clone, Debug)]
pub struct Player {
    /// The link's number as a client of this board.
    pub client: ClientId,
    /// The link's name in this board's messages: `the link with neo`.
    pub label: ClientName,
    /// The board's name in the other board's messages.
    pub name: Arc<str>,
}

/// A condition that may last: the players are told of it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matter {
    /// Other clients have the board.
    Occupied,
    /// The board reports an unplayable move.
    Illegal,
    /// A take-back cannot be followed.
    NoTakeBack,
}

/// What an end of the link must know to go on after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndMemory {
    /// The link's seat at this board.
    #[serde(flatten)]
    pub seat: SavedSeat,
    put_to_start: u64,
    /// The position that the hand last set up for a game.
    #[serde(default)]
    start: Game,
    has_begun: bool,
    told: BTreeSet<Matter>,
    absence: Absence,
}

/// One end of the link.
#[derive(Debug)]
pub struct End {
    /// The link's seat at this board.
    pub seat: Seat,
    /// The board's name in the other board's messages.
    pub name: Arc<str>,
    /// See [`Snapshot::tells_all`], as last seen.
    pub tells_all: bool,
    pub(super) presence: Presence,
    /// How many times the hand had put all pieces at the start, when the board's game was last known.
    put_to_start: u64,
    /// All pieces stand at the start, as last seen.
    at_start: bool,
    /// The position that the hand last set up for a game.
    start: Game,
    /// The board has been seen in this game before the game ended.
    has_begun: bool,
    /// The conditions that hold now and were reported.
    told: BTreeSet<Matter>,
}

impl End {
    /// A board that has not been told of the link yet.
    pub fn new(now: Instant, player: Player, board: &Snapshot) -> Self {
        Self {
            seat: Seat::new(player.client, player.label),
            name: player.name,
            tells_all: board.tells_all,
            presence: Presence::unheard(now, Absence::default()),
            put_to_start: board.put_to_start,
            at_start: false,
            start: Game::standard(),
            has_begun: false,
            told: BTreeSet::new(),
        }
    }

    /// An end after a restart. Its board was told nothing since.
    pub fn restored(now: Instant, player: Player, memory: EndMemory, board: &Snapshot) -> Self {
        Self {
            presence: Presence::unheard(now, memory.absence),
            seat: Seat::restored(memory.seat, player.label.clone()),
            put_to_start: memory.put_to_start,
            start: memory.start,
            has_begun: memory.has_begun,
            told: memory.told,
            ..Self::new(now, player, board)
        }
    }

    /// What it must know to go on after a restart.
    pub fn memory(&self) -> EndMemory {
        EndMemory {
            seat: self.seat.saved(),
            put_to_start: self.put_to_start,
            start: self.start.clone(),
            has_begun: self.has_begun,
            told: self.told.clone(),
            absence: self.presence.absence(),
        }
    }

    /// Notes whether the board is there, and what it can tell.
    pub fn seen(&mut self, now: Instant, board: &Snapshot) -> Option<Presently> {
        self.tells_all = board.tells_all;
        self.presence.seen(now, board.link.is_open())
    }

    /// When to check this side again.
    pub fn deadline(&self) -> Option<Instant> {
        let deadlines = [self.seat.deadline(), self.presence.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Whether all pieces stood at the start when that was last noted.
    pub fn is_at_start(&self) -> bool {
        self.at_start
    }

    /// Notes whether all pieces stand at the start, or where the hand has set them up. `true` if it has just done so, and
    /// perhaps moved since. While the board's game is in doubt it is not known where that was.
    pub fn put_to_start(&mut self, snapshot: &Snapshot) -> bool {
        let game = &snapshot.game;
        self.at_start = false;
        if !(snapshot.link.is_open() && snapshot.sure) {
            return false;
        }
        // A board that has lost its count begins again at 0.
        let before = std::mem::replace(&mut self.put_to_start, snapshot.put_to_start);
        let set_up = before < self.put_to_start;
        if set_up {
            self.start = game.truncated(0);
        }
        let begins = game.is_standard() || game.start() == self.start.start();
        self.at_start = begins && game.is_empty();
        set_up
    }

    /// That the hand has put all pieces at the start is not heeded yet: the next snapshot tells it anew.
    pub fn heed_later(&mut self) {
        self.put_to_start = self.put_to_start.saturating_sub(1);
    }

    /// The position that the hand last set up for a game.
    pub fn start(&self) -> &Game {
        &self.start
    }

    /// Whether the board reports that the pieces no longer stand at the start.
    pub fn has_left_start(&self, snapshot: &Snapshot) -> bool {
        snapshot.link.is_open() && snapshot.sure && !self.at_start
    }

    /// Notes whether this holds. `true` if it does and the players must be told.
    pub fn is_news(&mut self, matter: Matter, holds: bool) -> bool {
        if holds {
            self.told.insert(matter)
        } else {
            self.told.remove(&matter);
            false
        }
    }

    /// A new game begins here, with the next target.
    pub fn begin(&mut self) {
        self.has_begun = false;
        self.seat.begin(self.at_start);
    }

    /// How the board reports that this game ended, once it has been seen before its end.
    pub fn ending(&mut self, snapshot: &Snapshot, game: &Game) -> Option<GameEnd> {
        self.has_begun |= snapshot.ending.is_none();
        let ours = self.has_begun && *snapshot.game == *game;
        snapshot.ending.filter(|_| ours)
    }

    /// The board should be led to this game, and the hand should move if it is its turn.
    pub fn state(&mut self, game: &Game, occasion: Occasion, awaits: bool, yields: bool) {
        self.seat.state(game, occasion, awaits);
        if yields {
            self.seat.is_away(true);
        }
    }
}
