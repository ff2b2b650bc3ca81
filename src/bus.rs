//! The bus: what happens on every board, told to whoever listens.
//!
//! Events go over a `tokio::sync::broadcast`; a consumer that lags loses the oldest ones, never holds up a
//! board, and reads the [`Snapshot`] to know where things stand.

use std::{sync::Arc, time::SystemTime};

use tokio::sync::{broadcast, mpsc, watch};

use crate::{
    clients::Clients,
    vocabulary::{BoardName, Command, Event, Snapshot},
};

/// Events a consumer may be behind before it loses the oldest. A flooded board makes some hundred a second;
/// a hand makes one.
pub const CAPACITY: usize = 256;
/// Commands that may wait for one board. Clients beyond that wait their turn; the board does not.
pub const COMMANDS: usize = 64;

/// An event with its time, and its board if it has one.
#[derive(Clone, Debug)]
pub struct BoardEvent {
    /// Which board; none for a client that has not chosen one.
    pub board: Option<BoardName>,
    /// When.
    pub at: SystemTime,
    /// What.
    pub event: Event,
}

/// A front-end's way to one board.
#[derive(Clone, Debug)]
pub struct BoardHandle {
    /// Which board.
    pub name: BoardName,
    /// How it is reached, in words.
    pub way: Arc<str>,
    /// What the front-end asks of it.
    pub commands: mpsc::Sender<Command>,
    /// How it stands.
    pub snapshot: watch::Receiver<Arc<Snapshot>>,
}

/// The bus and every board on it.
#[derive(Clone, Debug)]
pub struct Bus {
    events: broadcast::Sender<BoardEvent>,
    boards: Arc<[BoardHandle]>,
    clients: Clients,
}

impl Bus {
    /// A bus that carries these boards' events.
    pub fn new(events: broadcast::Sender<BoardEvent>, boards: Vec<BoardHandle>) -> Self {
        Self {
            events,
            boards: boards.into(),
            clients: Clients::default(),
        }
    }

    /// Every board.
    pub fn boards(&self) -> &[BoardHandle] {
        &self.boards
    }

    /// One board.
    pub fn board(&self, name: &str) -> Option<&BoardHandle> {
        self.boards.iter().find(|board| board.name.as_str() == name)
    }

    /// The same bus, with this board alone.
    pub fn only(&self, name: &BoardName) -> Self {
        let boards = self.boards.iter().filter(|board| board.name == *name);
        Self {
            events: self.events.clone(),
            boards: boards.cloned().collect(),
            clients: self.clients.clone(),
        }
    }

    /// The same bus, without these boards.
    pub fn without(&self, names: &[BoardName]) -> Self {
        let boards = self
            .boards
            .iter()
            .filter(|board| !names.contains(&board.name));
        Self {
            boards: boards.cloned().collect(),
            ..self.clone()
        }
    }

    /// Who is connected, over all boards.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// Tells everybody what happened on a board, or to one of its clients.
    pub fn tell(&self, board: &BoardName, event: Event) {
        self.tell_all(Some(board), event);
    }

    /// Tells everybody what happened, where it may have happened to a client that has no board.
    pub fn tell_all(&self, board: Option<&BoardName>, event: Event) {
        // Nobody listening is not an error.
        let _ = self.events.send(BoardEvent {
            board: board.cloned(),
            at: SystemTime::now(),
            event,
        });
    }

    /// The events from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<BoardEvent> {
        self.events.subscribe()
    }
}
