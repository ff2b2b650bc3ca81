//! The clients connected to the daemon, with or without a board: chess programs, apps, links to other boards.
//!
//! A front-end registers each client and keeps its [`Presence`], through which it reports changes. Dropping the
//! presence removes the client. The board's snapshot, not this list, says whether a client has its board.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use serde::Serialize;
use tokio::sync::watch;

use crate::{
    system::clock,
    vocabulary::{BoardName, ClientId, ClientName, MAX_BOARDS, Opponent},
};

/// Clients listed at once: all admitted GUIs of as many boards as there may be, and a configured front-end for each. Further
/// ones are served, but not listed.
pub const MAX_LISTED: usize = 3 * MAX_BOARDS;

/// The kind of client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// A chess program, by the UCI server.
    Gui,
    /// A phone's app.
    App,
    /// A link to another board.
    Link,
    /// An engine that the daemon runs.
    Engine,
    /// A game on Lichess.
    Lichess,
    /// A program that takes the board by `LiveChess`.
    #[serde(rename = "livechess")]
    LiveChess,
    /// A client of another daemon, over a broker.
    Remote,
    /// Not a client: a part of the configuration that cannot be run.
    LeftOut,
}

/// One client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its number.
    pub id: ClientId,
    /// Its name in messages.
    pub label: ClientName,
    /// Its kind.
    pub kind: ClientKind,
    /// Its remote address; `None` while it is disconnected and may come back.
    pub peer: Option<Arc<str>>,
    /// When it connected, or when its connection was lost; `None` before the first connection.
    pub since: Option<SystemTime>,
    /// Why it cannot connect, and what to do.
    pub why: Option<Arc<str>>,
    /// The board it has chosen.
    pub board: Option<BoardName>,
    /// Its board until it chooses one.
    pub default_board: Option<BoardName>,
    /// Whether it awaits the hand's move.
    pub awaiting: bool,
    /// The opponent in its game, if known.
    pub opponent: Option<Opponent>,
}

impl Client {
    /// A client that has just connected, or for which a place is reserved.
    pub fn new(id: ClientId, label: ClientName, kind: ClientKind) -> Self {
        Self {
            id,
            label,
            kind,
            peer: None,
            since: Some(clock::now()),
            why: None,
            board: None,
            default_board: None,
            awaiting: false,
            opponent: None,
        }
    }
}

/// All current clients.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    listed: Arc<watch::Sender<BTreeMap<ClientId, Client>>>,
}

impl Clients {
    /// Lists a client until its presence is dropped.
    pub fn enter(&self, client: Client) -> Presence {
        let id = client.id;
        self.listed.send_if_modified(|listed| {
            let room = listed.len() < MAX_LISTED;
            if room {
                listed.insert(id, client);
            }
            room
        });
        Presence {
            clients: self.clone(),
            id,
        }
    }

    /// All of them, by number.
    pub fn list(&self) -> Vec<Client> {
        self.listed.borrow().values().cloned().collect()
    }

    /// The list, to wait for changes.
    pub fn subscribe(&self) -> watch::Receiver<BTreeMap<ClientId, Client>> {
        self.listed.subscribe()
    }
}

/// A client's entry in the list.
#[derive(Debug)]
pub struct Presence {
    clients: Clients,
    id: ClientId,
}

impl Presence {
    /// Changes the entry.
    pub fn change(&self, change: impl FnOnce(&mut Client)) {
        self.clients.listed.send_if_modified(|listed| {
            let Some(client) = listed.get_mut(&self.id) else {
                return false;
            };
            let before = client.clone();
            change(client);
            *client != before
        });
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.clients
            .listed
            .send_if_modified(|listed| listed.remove(&self.id).is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(id: u64) -> Client {
        Client::new(ClientId(id), "somebody".into(), ClientKind::Gui)
    }

    #[test]
    fn a_client_is_listed_as_long_as_its_presence_lasts() {
        let clients = Clients::default();
        let first = clients.enter(client(1));
        let second = clients.enter(client(2));
        second.change(|client| client.awaiting = true);
        let listed: Vec<_> = clients
            .list()
            .iter()
            .map(|c| (c.id.0, c.awaiting))
            .collect();
        assert_eq!(listed, [(1, false), (2, true)]);
        drop(first);
        assert_eq!(clients.list().len(), 1);
        drop(second);
        assert_eq!(clients.list(), []);
    }

    #[test]
    fn only_what_is_different_wakes_those_who_wait() {
        let clients = Clients::default();
        let presence = clients.enter(client(1));
        let mut list = clients.subscribe();
        presence.change(|client| client.awaiting = false);
        assert!(!list.has_changed().unwrap());
        presence.change(|client| client.awaiting = true);
        assert!(list.has_changed().unwrap());
        list.mark_unchanged();
        drop(presence);
        assert!(list.has_changed().unwrap());
    }

    #[test]
    fn the_list_does_not_grow_beyond_its_bound() {
        let clients = Clients::default();
        let many: Vec<_> = (0..)
            .take(MAX_LISTED + 3)
            .map(|id| clients.enter(client(id)))
            .collect();
        assert_eq!(clients.list().len(), MAX_LISTED);
        drop(many);
        assert_eq!(clients.list(), []);
    }
}
