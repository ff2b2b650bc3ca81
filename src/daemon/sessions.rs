//! What apps, links, opponents and a game on Lichess have kept through a restart.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    config::Config,
    front_end::{
        broadcast::{round::SavedBoard, server::Left},
        lichess,
        link::{self, settings::LinkConfig},
        opponent::{self, settings::OpponentConfig},
        seat::serve::Keeper,
        whitepawn::{self, settings::WhitePawnConfig},
    },
    state::{Kind, Store},
    vocabulary::{BoardName, ClientId},
};

/// One session as it was kept, and where it is kept.
#[derive(Debug)]
pub(super) struct Restored<T> {
    pub memory: Option<T>,
    pub shelf: Keeper<T>,
}

impl<T: DeserializeOwned + PartialEq + Serialize> Restored<T> {
    fn read(store: &Store, kind: Kind, name: &str) -> Self {
        let mut shelf = store.shelf(kind, name);
        Self {
            memory: shelf.read(),
            shelf: Keeper::new(shelf),
        }
    }
}

/// All of them, until their parts start.
#[derive(Debug)]
pub(super) struct Sessions {
    apps: BTreeMap<String, Restored<whitepawn::session::SavedApp>>,
    links: BTreeMap<String, Restored<link::session::SavedLink>>,
    opponents: BTreeMap<String, Restored<opponent::session::SavedOpponent>>,
    lichess: BTreeMap<String, Restored<lichess::session::SavedAccount>>,
    /// The game that was played on Lichess until a reload.
    left: lichess::server::Left,
    broadcasts: BTreeMap<String, Restored<SavedBoard>>,
    /// The games of rounds that were pushed until a reload.
    left_games: Left,
}

impl Sessions {
    /// Reads them. Those that are no longer configured are forgotten.
    pub async fn read(config: &Config, store: &Store) -> Self {
        let app = |entry| (app(entry), Restored::read(store, Kind::App, &app(entry)));
        let link = |entry| (link(entry), Restored::read(store, Kind::Link, &link(entry)));
        let opponent = |entry: &OpponentConfig| {
            let name = entry.board.to_string();
            let kept = Restored::read(store, Kind::Opponent, &name);
            (name, kept)
        };
        let online = |board: BoardName| {
            let name = board.to_string();
            let kept = Restored::read(store, Kind::Lichess, &name);
            (name, kept)
        };
        let names = config.names();
        let boards = config.broadcast.iter().flat_map(|entry| {
            let boards = entry.boards(names.iter());
            boards.into_iter().map(|board| game(&entry.round, &board))
        });
        let broadcasts = boards.map(|name| {
            let kept = Restored::read(store, Kind::Broadcast, &name);
            (name, kept)
        });
        let sessions = Self {
            apps: config.whitepawn.iter().map(app).collect(),
            links: config.link.iter().map(link).collect(),
            opponents: config.opponent.iter().map(opponent).collect(),
            lichess: config.lichess_board().into_iter().map(online).collect(),
            left: Arc::default(),
            broadcasts: broadcasts.collect(),
            left_games: Left::default(),
        };
        for kind in [
            Kind::App,
            Kind::Link,
            Kind::Opponent,
            Kind::Lichess,
            Kind::Broadcast,
        ] {
            store.forget_rest(kind).await;
        }
        sessions
    }

    /// The session of an app: what it kept before the restart, or nothing.
    pub fn app(
        &mut self,
        store: &Store,
        entry: &WhitePawnConfig,
    ) -> Restored<whitepawn::session::SavedApp> {
        let name = app(entry);
        let kept = self.apps.remove(&name);
        kept.unwrap_or_else(|| Restored::read(store, Kind::App, &name))
    }

    /// The session of a link.
    pub fn link(
        &mut self,
        store: &Store,
        entry: &LinkConfig,
    ) -> Restored<link::session::SavedLink> {
        let name = link(entry);
        let kept = self.links.remove(&name);
        kept.unwrap_or_else(|| Restored::read(store, Kind::Link, &name))
    }

    /// The session of an opponent.
    pub fn opponent(
        &mut self,
        store: &Store,
        entry: &OpponentConfig,
    ) -> Restored<opponent::session::SavedOpponent> {
        let name = entry.board.to_string();
        let kept = self.opponents.remove(&name);
        kept.unwrap_or_else(|| Restored::read(store, Kind::Opponent, &name))
    }

    /// The session of a game on Lichess.
    pub fn lichess(
        &mut self,
        store: &Store,
        board: &BoardName,
    ) -> Restored<lichess::session::SavedAccount> {
        let name = board.to_string();
        let kept = self.lichess.remove(&name);
        kept.unwrap_or_else(|| Restored::read(store, Kind::Lichess, &name))
    }

    /// A board's games in a round of a broadcast.
    pub fn broadcast(
        &mut self,
        store: &Store,
        round: &str,
        board: &BoardName,
    ) -> Restored<SavedBoard> {
        let name = game(round, board);
        let kept = self.broadcasts.remove(&name);
        kept.unwrap_or_else(|| Restored::read(store, Kind::Broadcast, &name))
    }

    /// Where a broadcast's task leaves its games at a reload, for its successor.
    pub fn left_games(&self) -> Left {
        self.left_games.clone()
    }

    /// The games that the task of this round has left.
    pub fn take_left_games(&self, round: &str) -> BTreeMap<BoardName, SavedBoard> {
        let mut left = self
            .left_games
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        left.remove(round).unwrap_or_default()
    }

    /// Where the Lichess task leaves its game at a reload, for its successor.
    pub fn left(&self) -> lichess::server::Left {
        self.left.clone()
    }

    /// Drops that game: it belongs to another board or server.
    pub fn drop_left(&self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The highest number of a client among them.
    pub fn last_client(&self) -> Option<ClientId> {
        let apps = self.apps.values().filter_map(|kept| kept.memory.as_ref());
        let links = self.links.values().filter_map(|kept| kept.memory.as_ref());
        let links = links.flat_map(link::session::SavedLink::clients);
        let opponents = self.opponents.values();
        let opponents = opponents.filter_map(|kept| Some(kept.memory.as_ref()?.seat.client));
        let lichess = self.lichess.values();
        let lichess = lichess.filter_map(|kept| Some(kept.memory.as_ref()?.seat.client));
        let apps = apps.map(|memory| memory.seat.client);
        apps.chain(links).chain(opponents).chain(lichess).max()
    }
}

/// The name under which an app's session is kept.
fn app(entry: &WhitePawnConfig) -> String {
    format!("{} {}", entry.board, entry.way())
}

/// The name under which a link's session is kept.
fn link(entry: &LinkConfig) -> String {
    let boards = entry.boards.iter().map(ToString::to_string);
    let far = entry.with.as_ref().map(ToString::to_string);
    boards.chain(far).collect::<Vec<_>>().join(" ")
}

/// The name under which a board's games in a round are kept.
fn game(round: &str, board: &BoardName) -> String {
    format!("{round} {board}")
}
