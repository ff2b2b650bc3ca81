//! One of the two boards of a link: its state, and the commands that wait for it.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Instant,
};

use serde::{Deserialize, Serialize};
use shakmaty::Move;

pub use super::presence::{AWAY_WAIT, Presently};
use super::presence::{Absence, Presence};
use crate::{
    game::{Game, uci},
    restating::Restating,
    vocabulary::{ClientId, ClientName, ClientPlace, Command, GameEnd, Occasion, Snapshot},
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

/// Something that holds for a while, of which the players are told once.
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

/// A take-back that the link follows at that time, if the pieces still stand so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TakeBack {
    at: Instant,
    /// Plies left of the game.
    left: usize,
    /// Plies on the board, including moves played after the take-back.
    on_board: usize,
}

/// What an end of the link must know to go on after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndMemory {
    /// The link's number as a client of this board: the board has kept its claim under it.
    pub client: ClientId,
    number: u64,
    #[serde(default)]
    begun: u64,
    put_to_start: u64,
    has_begun: bool,
    told: BTreeSet<Matter>,
    absence: Absence,
}

/// One end of the link.
#[derive(Debug)]
pub struct End {
    /// Who plays here.
    pub player: Player,
    /// See [`Snapshot::tells_all`], as last seen.
    pub tells_all: bool,
    presence: Presence,
    /// Counts the targets given to the board.
    number: u64,
    /// The number of the first target of this game.
    begun: u64,
    /// Commands for the board. A target makes those before it needless, so that no more than a few ever wait.
    commands: VecDeque<Command>,
    take_back: Option<TakeBack>,
    /// How many times the hand had put all pieces at the start, when last checked.
    put_to_start: u64,
    /// All pieces stand at the start, as last seen.
    at_start: bool,
    /// Where the hand last put the pieces up for a game.
    start: Game,
    /// The hand's move out of turn has been refused.
    refused: bool,
    /// When the game is stated again to a board that is free and does not take it.
    pub restating: Restating,
    /// The board has been seen in this game before the game ended.
    has_begun: bool,
    /// What holds now, and was told.
    told: BTreeSet<Matter>,
}

impl End {
    /// A board that has not been told of the link yet.
    pub fn new(now: Instant, player: Player, board: &Snapshot) -> Self {
        Self {
            player,
            tells_all: board.tells_all,
            presence: Presence::unheard(now, Absence::default()),
            number: 0,
            begun: 0,
            commands: VecDeque::new(),
            take_back: None,
            put_to_start: 0,
            at_start: false,
            start: Game::standard(),
            refused: false,
            restating: Restating::default(),
            has_begun: false,
            told: BTreeSet::new(),
        }
    }

    /// An end after a restart. Its board was told nothing since.
    pub fn restored(now: Instant, player: Player, memory: EndMemory, board: &Snapshot) -> Self {
        Self {
            presence: Presence::unheard(now, memory.absence),
            number: memory.number,
            begun: memory.begun,
            // A board that has forgotten how often counts from 0 again.
            put_to_start: memory.put_to_start.min(board.put_to_start),
            has_begun: memory.has_begun,
            told: memory.told,
            ..Self::new(now, player, board)
        }
    }

    /// What it must know to go on after a restart.
    pub fn memory(&self) -> EndMemory {
        EndMemory {
            client: self.player.client,
            number: self.number,
            begun: self.begun,
            put_to_start: self.put_to_start,
            has_begun: self.has_begun,
            told: self.told.clone(),
            absence: self.presence.absence(),
        }
    }

    /// The client's number for its target.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next command for the board.
    pub fn poll_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    /// Whether a command waits for the board.
    pub fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    /// Whether the board is there.
    pub fn is_up(&self) -> bool {
        self.presence.is_here()
    }

    /// Notes that the other player is told of the board's absence. `false` if that player was told already.
    pub fn tell_away(&mut self) -> bool {
        self.presence.tell_away()
    }

    /// Whether other clients may have the other board.
    pub fn has_yielded(&self) -> bool {
        self.presence.has_yielded()
    }

    /// Notes whether the board is there, and what it can tell.
    pub fn seen(&mut self, now: Instant, board: &Snapshot) -> Option<Presently> {
        self.tells_all = board.tells_all;
        self.presence.seen(now, board.link.is_open())
    }

    /// Whether the other board's claim must change: `None`, or whether other clients may have that board now.
    pub fn yields(&mut self, now: Instant) -> Option<bool> {
        self.presence.yields(now)
    }

    /// When something is due here.
    pub fn deadline(&self) -> Option<Instant> {
        let take_back = self.take_back.map(|t| t.at);
        [take_back, self.presence.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether all pieces stood at the start when that was last noted.
    pub fn is_at_start(&self) -> bool {
        self.at_start
    }

    /// Notes whether all pieces stand at the start, or where the hand has set them up. `true` if it has just done so, and
    /// perhaps moved since.
    pub fn put_to_start(&mut self, snapshot: &Snapshot) -> bool {
        let game = &snapshot.game;
        let known = snapshot.link.is_open() && snapshot.sure;
        let before = std::mem::replace(&mut self.put_to_start, snapshot.put_to_start);
        let set_up = known && before != self.put_to_start;
        if set_up {
            self.start = game.truncated(0);
        }
        let begins = game.is_standard() || game.start() == self.start.start();
        self.at_start = known && begins && game.is_empty();
        set_up && (self.at_start || !game.is_standard())
    }

    /// Where the hand last put the pieces up for a game.
    pub fn start(&self) -> &Game {
        &self.start
    }

    /// Whether the board reports that the pieces no longer stand at the start.
    pub fn has_left_start(&self, snapshot: &Snapshot) -> bool {
        snapshot.link.is_open() && snapshot.sure && !self.at_start
    }

    /// The hand has taken back all but `left` plies of the game.
    pub fn takes_back(&mut self, now: Instant, left: usize, board: &Snapshot) {
        let on_board = board.game.len();
        let same = |t: &TakeBack| t.left == left && t.on_board == on_board;
        if !self.take_back.as_ref().is_some_and(same) {
            // Before its board is led back.
            let at = now + board.correction_wait / 2;
            self.take_back = Some(TakeBack { at, left, on_board });
        }
    }

    /// The hand has taken nothing back, or has put it back.
    pub fn took_nothing_back(&mut self) {
        self.take_back = None;
        self.is_news(Matter::NoTakeBack, false);
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

    /// Whether a board that knows the target of this number knows that this game has begun.
    pub fn has_told(&self, number: u64) -> bool {
        number >= self.begun
    }

    /// A new game begins here, with the next target.
    pub fn begin(&mut self) {
        self.has_begun = false;
        self.begun = self.number.wrapping_add(1);
        // If the hand has set up the pieces already, its next move may come at once.
        if !self.at_start {
            self.announce();
        }
    }

    /// How the board reports that this game ended, once it has been seen before its end.
    pub fn ending(&mut self, snapshot: &Snapshot, game: &Game) -> Option<GameEnd> {
        self.has_begun |= snapshot.ending.is_none();
        let ours = self.has_begun && *snapshot.game == *game;
        snapshot.ending.filter(|_| ours)
    }

    /// The hand's answer, unless it has been refused.
    pub fn answer(&mut self, place: &ClientPlace) -> Option<Move> {
        let answer = place.answer.first().copied();
        self.refused &= answer.is_some();
        answer.filter(|_| !self.refused)
    }

    /// The take-back to follow now: the plies left of the game.
    pub fn taken_back(&mut self, now: Instant) -> Option<usize> {
        self.take_back.take_if(|t| t.at <= now).map(|t| t.left)
    }

    /// Whether the hand has just taken back.
    pub fn is_taking_back(&self) -> bool {
        self.take_back.is_some()
    }

    /// Queues a command for the board.
    fn ask(&mut self, command: Command) {
        self.commands.push_back(command);
    }

    /// A new game begins here, and what stands on the board does not count as a move.
    pub fn announce(&mut self) {
        self.commands.clear();
        self.ask(Command::NewGame {
            client: self.player.client,
        });
    }

    /// The board should be led to this game, and the hand should move if it is its turn.
    pub fn state(&mut self, game: &Game, occasion: Occasion, awaits: bool, yields: bool) {
        // What it knows of the previous game, if anything yet, is needed to see what is new.
        self.commands.retain(|c| {
            !matches!(
                c,
                Command::Target { .. } | Command::Await { .. } | Command::Refuse { .. }
            )
        });
        self.number = self.number.wrapping_add(1);
        self.take_back = None;
        self.refused = false;
        let client = self.player.client;
        self.ask(Command::Target {
            client,
            label: self.player.label.clone(),
            number: self.number,
            game: Box::new(game.clone()),
            occasion,
        });
        if awaits {
            self.ask(Command::Await { client, on: true });
        }
        if yields {
            self.yield_to_others(true);
        }
    }

    /// Whether other clients may have the board.
    pub fn yield_to_others(&mut self, on: bool) {
        self.commands.retain(|c| !matches!(c, Command::Away { .. }));
        self.ask(Command::Away {
            client: self.player.client,
            on,
        });
    }

    /// The hand's move is a move of the game.
    pub fn accept(&mut self, m: Move) {
        self.ask(Command::Answered {
            client: self.player.client,
            number: self.number,
            answer: uci(m),
        });
    }

    /// The hand's move is not a move of the game.
    pub fn refuse(&mut self) {
        self.refused = true;
        self.ask(Command::Refuse {
            client: self.player.client,
            number: self.number,
        });
    }

    /// The game is over.
    pub fn end(&mut self, end: GameEnd) {
        self.take_back = None;
        self.ask(Command::Ended {
            client: self.player.client,
            end,
        });
    }
}
