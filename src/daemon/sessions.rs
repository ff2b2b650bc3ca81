//! What apps and links have kept through a restart.

use serde::de::DeserializeOwned;

use crate::{
    config::{Config, LinkConfig, WhitePawnConfig},
    link,
    state::{Kind, Shelf, Store},
    vocabulary::ClientId,
    whitepawn,
};

/// One session as it was kept, and where it is kept.
#[derive(Debug)]
pub(super) struct Kept<T> {
    pub memory: Option<T>,
    pub shelf: Shelf,
}

impl<T: DeserializeOwned> Kept<T> {
    fn read(store: &Store, kind: Kind, name: &str) -> Self {
        let mut shelf = store.shelf(kind, name);
        Self {
            memory: shelf.read(),
            shelf,
        }
    }
}

/// All of them, in the order of the configuration.
#[derive(Debug)]
pub(super) struct Sessions {
    pub apps: Vec<Kept<whitepawn::session::Memory>>,
    pub links: Vec<Kept<link::session::Memory>>,
}

impl Sessions {
    /// Reads them. Those that are no longer configured are forgotten.
    pub async fn read(config: &Config, store: &Store) -> Self {
        let app = |entry: &WhitePawnConfig| format!("{} {}", entry.board, entry.way());
        let link = |entry: &LinkConfig| {
            let boards = entry.boards.iter().map(ToString::to_string);
            let far = entry.with.as_ref().map(ToString::to_string);
            boards.chain(far).collect::<Vec<_>>().join(" ")
        };
        let apps = config.whitepawn.iter().map(app);
        let links = config.link.iter().map(link);
        let sessions = Self {
            apps: apps
                .map(|name| Kept::read(store, Kind::App, &name))
                .collect(),
            links: links
                .map(|name| Kept::read(store, Kind::Link, &name))
                .collect(),
        };
        for kind in [Kind::App, Kind::Link] {
            store.forget_rest(kind).await;
        }
        sessions
    }

    /// The highest number of a client among them.
    pub fn last_client(&self) -> Option<ClientId> {
        let apps = self.apps.iter().filter_map(|kept| kept.memory.as_ref());
        let links = self.links.iter().filter_map(|kept| kept.memory.as_ref());
        let links = links.flat_map(link::session::Memory::clients);
        apps.map(|memory| memory.client).chain(links).max()
    }
}
