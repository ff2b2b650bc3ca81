//! Plays on Lichess at a board.

use std::sync::PoisonError;

use tracing::warn;

use super::{Daemon, running::Running, sessions::Restored};
use crate::front_end::lichess::{
    server::{self, Table},
    settings::{LichessConfig, Settings},
    token,
};

impl Daemon {
    /// Plays on Lichess at a board.
    pub(super) fn lichess(&mut self, running: &mut Running, entry: &LichessConfig) {
        let Restored { memory, shelf } = self.sessions.lichess(&self.store, entry);
        let left = self.sessions.left();
        let memory = left
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .or(memory);
        let Some(board) = self.bus.board(entry.board.as_str()) else {
            warn!("no games on Lichess: {} is not run", entry.board);
            return;
        };
        let client = memory.as_ref().map(|memory| memory.seat.client);
        let client = client.unwrap_or_else(|| self.clients.client());
        running.clients.push((client, board.clone()));
        let table = Table {
            board,
            client,
            memory,
            left,
            shelf,
            bus: self.bus.clone(),
            settings: Settings {
                accept: entry.accept,
                take_backs: entry.take_backs,
                url: entry.server().to_owned(),
            },
            token: token::place(entry.token_file.as_deref()),
        };
        running
            .tasks
            .spawn(server::serve(table, running.stop.clone()));
    }
}
