//! One of the two boards of a link: its place, and what it is still to be told.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::Move;

use super::presence::Presence;
pub use super::presence::{AWAY_WAIT, Presently};
use crate::{
    game::{Game, uci},
    vocabulary::{ClientId, ClientName, Command, GameEnd, LinkState, Occasion, Snapshot},
};

/// Which of the two boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The board named first.
    First,
    /// The other one.
    Second,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Its place in a pair.
    pub fn index(self) -> usize {
        usize::from(self == Self::Second)
    }
}

/// Who plays on one side.
#[derive(Clone, Debug)]
pub struct Player {
    /// The link's number as a client of this board.
    pub client: ClientId,
    /// What the link is called in this board's messages: `the link with neo`.
    pub label: ClientName,
    /// What the board is called in the other's messages.
    pub name: Arc<str>,
    /// Whether the board can be told of take-backs, and its hand can tell of take-backs and new games: not by SWPP.
    pub tells_all: bool,
    /// How long the hand may take to mend what it did before its board is led back.
    pub correction_wait: Duration,
}

/// A take-back that the link follows at that time, if the pieces stand so until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TakeBack {
    at: Instant,
    /// What is left of the game.
    left: usize,
    /// Plies on the board, with what was played anew.
    on_board: usize,
}

/// One end of the link.
#[derive(Debug)]
pub struct End {
    /// Who plays here.
    pub player: Player,
    presence: Presence,
    /// Counts the targets given to the board.
    number: u64,
    /// What the board is to be told. A target makes those before it needless, so that no more than a few ever wait.
    commands: VecDeque<Command>,
    take_back: Option<TakeBack>,
    /// Times the hand had put all pieces to the start, when that was last looked at.
    put_to_start: u64,
    /// All pieces stand at the start, as last seen.
    at_start: bool,
    /// The hand's move out of turn has been refused.
    pub refused: bool,
    /// That a take-back cannot be followed has been said.
    pub told_no_take_back: bool,
    /// That the board is in others' hands has been said.
    pub told_to_wait: bool,
    /// That the board reports what cannot be played has been said.
    pub told_illegal: bool,
    /// The board has been seen in this game without an end to it.
    pub has_begun: bool,
}

impl End {
    /// A board that has not been heard of.
    pub fn new(now: Instant, player: Player) -> Self {
        Self {
            player,
            presence: Presence::unheard(now),
            number: 0,
            commands: VecDeque::new(),
            take_back: None,
            put_to_start: 0,
            at_start: false,
            refused: false,
            told_no_take_back: false,
            told_to_wait: false,
            told_illegal: false,
            has_begun: false,
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

    /// The other player is told that the board is not there. `false` if that was said already.
    pub fn tell_away(&mut self) -> bool {
        self.presence.tell_away()
    }

    /// Whether others may have the other board.
    pub fn has_yielded(&self) -> bool {
        self.presence.has_yielded()
    }

    /// Takes in whether the board is there.
    pub fn seen(&mut self, now: Instant, link: &LinkState) -> Option<Presently> {
        self.presence.seen(now, link.is_open())
    }

    /// Whether the other board's claim is to be changed: nothing, or whether others may have it now.
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

    /// Takes in whether all pieces stand at the start. `true` if they have just been put there by the hand.
    pub fn put_to_start(&mut self, snapshot: &Snapshot) -> bool {
        let game = &snapshot.game;
        self.at_start =
            snapshot.link.is_open() && snapshot.sure && game.is_standard() && game.is_empty();
        let before = std::mem::replace(&mut self.put_to_start, snapshot.put_to_start);
        self.at_start && before != self.put_to_start
    }

    /// Whether all pieces stand at the start.
    pub fn is_at_start(&self) -> bool {
        self.at_start
    }

    /// The hand has taken back all but so many plies of the game.
    pub fn takes_back(&mut self, now: Instant, left: usize, on_board: usize) {
        let same = |t: &TakeBack| t.left == left && t.on_board == on_board;
        if !self.take_back.as_ref().is_some_and(same) {
            // Before its board is led back.
            let at = now + self.player.correction_wait / 2;
            self.take_back = Some(TakeBack { at, left, on_board });
        }
    }

    /// The hand has taken nothing back, or has put it back.
    pub fn took_nothing_back(&mut self) {
        self.take_back = None;
        self.told_no_take_back = false;
    }

    /// The take-back that is to be followed now: what is left of the game.
    pub fn taken_back(&mut self, now: Instant) -> Option<usize> {
        self.take_back.take_if(|t| t.at <= now).map(|t| t.left)
    }

    /// Whether the hand has just taken back.
    pub fn is_taking_back(&self) -> bool {
        self.take_back.is_some()
    }

    /// The board is to be told this besides.
    fn ask(&mut self, command: Command) {
        self.commands.push_back(command);
    }

    /// A new game begins here, and nothing that stands on the board is a move.
    pub fn announce(&mut self) {
        self.commands.clear();
        self.ask(Command::NewGame {
            client: self.player.client,
        });
    }

    /// The board is to be led to this game, and the hand to move if it is its turn.
    pub fn state(&mut self, game: &Game, occasion: Occasion, awaits: bool, yields: bool) {
        // What it knows of the game before, if it knows of it yet, is needed to tell what is new.
        self.commands.retain(|c| {
            !matches!(
                c,
                Command::Target { .. } | Command::Await { .. } | Command::Refuse { .. }
            )
        });
        self.number += 1;
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

    /// Others may have the board, or no longer.
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

    /// The hand's move is none of the game.
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
