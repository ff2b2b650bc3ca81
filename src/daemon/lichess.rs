//! Plays on Lichess at a board, once there is a token.

use tracing::warn;

use super::{Daemon, running::Running, sessions::Restored};
use crate::{
    bus::BoardHandle,
    front_end::lichess::{
        account::{self, Entrance},
        login::{SCOPE, SCOPE_WITH_BROADCASTS},
        server::Table,
        settings::{LichessConfig, Settings},
        token::Place,
    },
    vocabulary::BoardName,
};

impl Daemon {
    /// Takes logins, and plays on Lichess at this board once there is a token.
    pub(super) fn lichess(
        &mut self,
        running: &mut Running,
        entry: &LichessConfig,
        board: Option<&BoardName>,
    ) {
        let handle = board.and_then(|board| self.bus.board(board.as_str()));
        if let (Some(board), None) = (&entry.board, &handle) {
            warn!("no games on Lichess: {board} is not run");
        }
        let none = || match board {
            Some(board) => format!("{board} is not run: games on Lichess need their board"),
            None => "there is no board yet to play on: add one first".to_owned(),
        };
        let entrance = Entrance {
            table: handle
                .map(|handle| self.table(running, entry, handle))
                .ok_or_else(none),
            always: entry.board.is_some() || entry.token_file.is_some(),
            token: Place::new(entry, self.store.path()),
            url: entry.server().to_owned(),
            scope: if entry.broadcasts {
                SCOPE_WITH_BROADCASTS
            } else {
                SCOPE
            },
            bus: self.bus.clone(),
        };
        running
            .tasks
            .spawn(account::serve(entrance, running.stop.clone()));
    }

    fn table(&mut self, running: &mut Running, entry: &LichessConfig, board: BoardHandle) -> Table {
        let Restored { memory, shelf } = self
            .sessions
            .lichess
            .take(&self.store, &board.name.to_string());
        let client = memory.as_ref().map(|memory| memory.seat.client);
        let client = client.unwrap_or_else(|| self.clients.client());
        running.clients.push((client, board.clone()));
        Table {
            board,
            client,
            memory,
            shelf,
            bus: self.bus.clone(),
            settings: Settings {
                accept: entry.accept,
                take_backs: entry.take_backs,
                url: entry.server().to_owned(),
            },
            token: Place::new(entry, self.store.path()),
        }
    }
}
