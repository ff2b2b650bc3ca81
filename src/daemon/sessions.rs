//! What apps, links, opponents, a game on Lichess and broadcasts have kept through a restart, or a reload.

use std::collections::BTreeMap;

use serde::{Serialize, de::DeserializeOwned};

use super::part::Part;
use crate::{
    config::Config,
    front_end::{
        broadcast::round::SavedBoard,
        lichess,
        link::{self, settings::LinkConfig},
        opponent,
        seat::serve::{Keeper, Latest},
        whitepawn::{self, settings::WhitePawnConfig},
    },
    state::{Kind, Shelf, Store},
    vocabulary::{BoardName, ClientId},
};

/// One session as it was kept, and where it is kept.
#[derive(Debug)]
pub(super) struct Restored<T> {
    pub memory: Option<T>,
    pub shelf: Keeper<T>,
}

/// The sessions of one kind.
#[derive(Debug)]
pub(super) struct Kept<T> {
    kind: Kind,
    /// Read at the start, until their parts start.
    found: BTreeMap<String, Keeper<T>>,
    /// Those whose parts run, or go on in another part.
    latest: BTreeMap<String, Latest<T>>,
}

impl<T: Clone + DeserializeOwned + PartialEq + Serialize> Kept<T> {
    /// Reads those of these names; the others are forgotten.
    async fn read(store: &Store, kind: Kind, names: impl IntoIterator<Item = String>) -> Self {
        let found = names.into_iter().map(|name| {
            let keeper = keeper(store.shelf(kind, &name), None);
            (name, keeper)
        });
        let found = found.collect();
        store.forget_rest(kind).await;
        Self {
            kind,
            found,
            latest: BTreeMap::new(),
        }
    }

    /// The session of this name: as its last part left it, as it was before the restart, or nothing.
    pub fn take(&mut self, store: &Store, name: &str) -> Restored<T> {
        let shelf = self.found.remove(name).unwrap_or_else(|| {
            let before = self.latest.get(name).and_then(Latest::get);
            keeper(store.shelf(self.kind, name), before)
        });
        let latest = shelf.latest();
        let memory = latest.get();
        self.latest.insert(name.to_owned(), latest);
        Restored { memory, shelf }
    }

    /// A later session of this name does not go on from this one.
    fn forget(&mut self, name: &str) {
        self.latest.remove(name);
    }

    /// What was read at the start.
    fn memories(&self) -> impl Iterator<Item = T> {
        self.found
            .values()
            .filter_map(|keeper| keeper.latest().get())
    }
}

/// Goes on from this value, or from what is on the shelf.
fn keeper<T: DeserializeOwned + PartialEq + Serialize>(
    mut shelf: Shelf,
    before: Option<T>,
) -> Keeper<T> {
    let value = before.or_else(|| shelf.read());
    Keeper::new(shelf, value)
}

/// All of them.
#[derive(Debug)]
pub(super) struct Sessions {
    pub apps: Kept<whitepawn::session::SavedApp>,
    pub links: Kept<link::session::SavedLink>,
    pub opponents: Kept<opponent::session::SavedOpponent>,
    pub lichess: Kept<lichess::session::SavedAccount>,
    pub broadcasts: Kept<SavedBoard>,
}

impl Sessions {
    /// Reads them. Those that are no longer configured are forgotten.
    pub async fn read(config: &Config, store: &Store) -> Self {
        let opponents = config.opponent.iter().map(|entry| entry.board.to_string());
        let online = config.lichess_board().map(|board| board.to_string());
        let names = config.names();
        let broadcasts = config.broadcast.iter().flat_map(|entry| {
            let boards = entry.boards(names.iter());
            boards.into_iter().map(|board| game(&entry.round, &board))
        });
        Self {
            apps: Kept::read(store, Kind::App, config.whitepawn.iter().map(app)).await,
            links: Kept::read(store, Kind::Link, config.link.iter().map(link)).await,
            opponents: Kept::read(store, Kind::Opponent, opponents).await,
            lichess: Kept::read(store, Kind::Lichess, online).await,
            broadcasts: Kept::read(store, Kind::Broadcast, broadcasts).await,
        }
    }

    /// This part has stopped, and no other goes on with its game.
    pub fn forget(&mut self, part: &Part) {
        match part {
            Part::WhitePawn(entry) => self.apps.forget(&app(entry)),
            Part::Link(entry) => self.links.forget(&link(entry)),
            Part::Opponent(entry) => self.opponents.forget(entry.board.as_str()),
            Part::Lichess(_, Some(board)) => self.lichess.forget(board.as_str()),
            _ => {}
        }
    }

    /// This board has another name now: its games in rounds are kept under that.
    pub fn renamed(&mut self, from: &BoardName) {
        let is_its = |name: &str| {
            name.split_once(' ')
                .is_some_and(|(_, of)| of == from.as_str())
        };
        self.broadcasts.latest.retain(|name, _| !is_its(name));
    }

    /// The highest number of a client among them.
    pub fn last_client(&self) -> Option<ClientId> {
        let apps = self.apps.memories().map(|memory| memory.seat.client);
        let links = self.links.memories().flat_map(|memory| memory.clients());
        let opponents = self.opponents.memories();
        let opponents = opponents.map(|memory| memory.seat.client);
        let lichess = self.lichess.memories().map(|memory| memory.seat.client);
        apps.chain(links).chain(opponents).chain(lichess).max()
    }
}

/// The name under which an app's session is kept.
pub(super) fn app(entry: &WhitePawnConfig) -> String {
    format!("{} {}", entry.board, entry.way())
}

/// The name under which a link's session is kept.
pub(super) fn link(entry: &LinkConfig) -> String {
    let boards = entry.boards.iter().map(ToString::to_string);
    let far = entry.with.as_ref().map(ToString::to_string);
    boards.chain(far).collect::<Vec<_>>().join(" ")
}

/// The name under which a board's games in a round are kept.
pub(super) fn game(round: &str, board: &BoardName) -> String {
    format!("{round} {board}")
}
