//! The running game of a board, as a broadcast shows it: for those that poll and those that are pushed to.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use jiff::tz::TimeZone;
use shakmaty::Color;

use super::pgn_text::clock;
use crate::{
    bus::{BoardHandle, Bus, delayed::Told, pairings::Pairing},
    chess::game::Game,
    vocabulary::{BoardName, ClientName, GameEnd, Snapshot},
};

/// Names that a broadcast treats as missing.
const NO_NAMES: [&str; 2] = ["unknown", "bye"];
/// A name with fewer letters counts as missing too.
const MIN_LETTERS: usize = 2;

/// The game on a board.
#[derive(Clone, Debug)]
pub struct RunningGame {
    /// The board.
    pub board: BoardHandle,
    /// Its state.
    pub state: Arc<Snapshot>,
    /// Who plays whom, if a front-end knows.
    pub paired: Option<Arc<Pairing>>,
    /// Since when the game is known: no other game of this board has the same.
    pub since: SystemTime,
}

impl RunningGame {
    /// The game on a board; `None` before the board's first publication.
    pub fn of(bus: &Bus, board: &BoardHandle) -> Option<Self> {
        let state = board.state();
        let paired = bus.pairings().of_game(&state);
        Some(Self {
            since: state.since?,
            board: board.clone(),
            state,
            paired,
        })
    }

    /// What may be told of the game on a board by now: a broadcast may hold it back.
    pub fn told(bus: &Bus, board: &BoardHandle) -> Option<Self> {
        let Some(told) = bus.delayed().at(&board.name) else {
            return Self::of(bus, board);
        };
        let Told { state, paired } = told?;
        Some(Self {
            since: state.since?,
            board: board.clone(),
            state,
            paired,
        })
    }

    /// Whether it has a move, or a front-end knows its players.
    pub fn has_begun(&self) -> bool {
        !self.game().is_empty() || self.paired.is_some()
    }

    /// The game.
    pub fn game(&self) -> &Game {
        self.state.played()
    }

    /// How it ended, as far as the board knows.
    pub fn told_end(&self) -> Option<GameEnd> {
        // The known end is that of the game that the board holds.
        let ending = self.state.ending;
        ending.filter(|_| self.game().continues(&self.state.game))
    }

    /// What the mover's clock showed after this ply: as the opponent's side knows it, else as a client told the board.
    pub fn clock(&self, ply: usize) -> Option<Duration> {
        let at = |times: &[Option<Duration>]| times.get(ply).copied().flatten();
        let paired = self.paired.as_ref();
        let known = paired.and_then(|paired| at(&paired.clock_times));
        known.or_else(|| at(&self.state.left))
    }

    /// The board that this one is linked with, if both have this game.
    pub fn linked(&self, bus: &Bus) -> Option<BoardHandle> {
        match self.paired.as_ref()?.client.as_ref()? {
            ClientName::Link(with) => bus.board(with),
            _ => None,
        }
    }

    /// Two linked boards have one game: that of the first in the alphabet is told.
    pub fn is_told_elsewhere(&self, bus: &Bus) -> bool {
        let other = self
            .linked(bus)
            .filter(|other| other.name < self.board.name);
        let other = other.and_then(|other| Self::of(bus, &other));
        let other = other.filter(Self::has_begun);
        let with = other.and_then(|other| other.linked(bus));
        with.is_some_and(|with| with.name == self.board.name)
    }

    /// The same among games of which some are delayed: of two linked boards with one game, the delayed one tells it.
    pub fn is_told_elsewhere_or_later(&self, bus: &Bus) -> bool {
        let is_delayed = bus.delayed().has(&self.board.name);
        match self.linked(bus) {
            Some(other) if bus.delayed().has(&other.name) != is_delayed => !is_delayed,
            _ => self.is_told_elsewhere(bus),
        }
    }

    /// The tag `GameId`: no other game has the same, and the game keeps it.
    pub fn id(&self) -> String {
        let since = clock(self.since, &TimeZone::UTC, "%Y%m%d-%H%M%S");
        format!("{}-{since}", self.board.name)
    }

    /// The game's number for servers that do not know `GameId`: its time of day, and the board's place.
    pub fn number(&self, bus: &Bus) -> String {
        let boards = bus.boards();
        let place = boards
            .iter()
            .position(|board| board.name == self.board.name);
        let time = clock(self.since, &TimeZone::UTC, "%H%M%S");
        format!("{time}{:02}", place.map_or(0, |place| place + 1))
    }
}

/// Whether a broadcast takes this for a player's name.
pub fn is_name(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let is_it = |none: &&str| name.eq_ignore_ascii_case(none);
    letters >= MIN_LETTERS && !NO_NAMES.iter().any(is_it)
}

/// The name of a player who has none.
pub fn name_of_board(board: &BoardName, color: Color) -> String {
    format!("Board {board} {}", color.fold_wb("White", "Black"))
}
