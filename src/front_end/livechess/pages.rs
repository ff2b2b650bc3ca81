//! The pages and their boards: which page plays where, and how long a board is kept for one that is gone.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Semaphore, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    bus::{BoardHandle, Bus},
    vocabulary::{BoardName, ClientId, Command, Snapshot},
};

/// Boards in a list: a page takes the first, and a person chooses among a few.
pub const MAX_LISTED: usize = 256;
/// How long a board is kept for a client that is gone: a page that is reloaded is back after seconds.
pub const RETURN_WAIT: Duration = Duration::from_mins(1);
/// Disconnected clients for which this front-end keeps a board, at once. For a further one only the board itself keeps its game,
/// as after a lost connection.
pub const MAX_GONE: usize = 64;

/// Makes the number of a new client.
pub type Number = Arc<dyn Fn() -> ClientId + Send + Sync>;

/// What all requests share: the boards, the admitted sites and the players.
pub struct Pages {
    pub(super) bus: Bus,
    /// The board that is listed first.
    first: Option<BoardName>,
    /// Further sites whose pages may connect.
    pub(super) origins: Vec<String>,
    pub(super) number: Number,
    players: Mutex<BTreeMap<Place, Player>>,
    /// Limits the disconnected clients for which a board is kept.
    pub(super) gone: Semaphore,
    pub(super) stop: CancellationToken,
}

/// A board, and the address of the client that has set up a game on it: the address itself, not its IPv6 network.
type Place = (BoardName, IpAddr);

/// The client that has set up a game at its place, until another one does.
struct Player {
    client: ClientId,
    replaced: CancellationToken,
}

impl Pages {
    /// Serves the boards of this bus, `first` before the others.
    pub fn new(
        bus: Bus,
        first: Option<BoardName>,
        origins: Vec<String>,
        number: Number,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            bus,
            first,
            origins,
            number,
            players: Mutex::default(),
            gone: Semaphore::new(MAX_GONE),
            stop,
        })
    }

    pub(super) fn boards(&self) -> Vec<Arc<Snapshot>> {
        let mut boards: Vec<_> = self.bus.boards().iter().map(BoardHandle::state).collect();
        // Pages take the first.
        boards.sort_by_key(|state| Some(&state.board) != self.first.as_ref());
        boards.truncate(MAX_LISTED);
        boards
    }

    pub(super) async fn ask(&self, board: &BoardName, command: Command) {
        if let Some(board) = self.bus.board(board.as_str()) {
            // A board that was removed meanwhile needs nothing.
            let _ = board.commands.send(command).await;
        }
    }

    /// Gives a client its place at a board; an earlier client from the same machine leaves it.
    pub(super) async fn takes(&self, board: &BoardName, client: ClientId, from: IpAddr) {
        let before = {
            let mut players = self.players();
            let place = (board.clone(), from);
            if players.get(&place).is_some_and(|is| is.client == client) {
                return;
            }
            let replaced = CancellationToken::new();
            players.insert(place, Player { client, replaced })
        };
        if let Some(before) = before {
            before.replaced.cancel();
            let client = before.client;
            // `Lost` keeps the board for this address: no other one gets it in between.
            self.ask(board, Command::Lost { client }).await;
        }
    }

    /// A client leaves its place, if it still has it.
    pub(super) fn leaves(&self, board: &BoardName, client: ClientId, from: IpAddr) {
        let mut players = self.players();
        let place = (board.clone(), from);
        if players.get(&place).is_some_and(|is| is.client == client) {
            players.remove(&place);
        }
    }

    /// Keeps a board for a disconnected client, until it has been away for too long or another one has taken its place.
    /// Without `room` this does not wait; the board itself keeps the game for the client's address in any case.
    pub(super) async fn keep(&self, board: &BoardName, client: ClientId, from: IpAddr, room: bool) {
        let replaced = {
            let players = self.players();
            let player = players.get(&(board.clone(), from));
            let player = player.filter(|player| player.client == client);
            player.map(|player| player.replaced.clone())
        };
        let Some(replaced) = replaced else { return };
        self.ask(board, Command::Away { client, on: true }).await;
        if !room {
            return;
        }
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = replaced.cancelled() => {}
            () = sleep(RETURN_WAIT) => {}
        }
    }

    fn players(&self) -> MutexGuard<'_, BTreeMap<Place, Player>> {
        self.players.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
