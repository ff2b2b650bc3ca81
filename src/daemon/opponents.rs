//! Gives boards an opponent.

use super::{Daemon, running::Running, sessions::Restored};
use crate::front_end::opponent::{
    server::{Table, serve},
    settings::OpponentConfig,
};

impl Daemon {
    /// Lets an engine play at a board, or two hands.
    pub(super) fn opponent(&mut self, running: &mut Running, entry: &OpponentConfig) {
        let Some(board) = self.bus.board(entry.board.as_str()) else {
            return;
        };
        let Restored { memory, shelf } = self
            .sessions
            .opponents
            .take(&self.store, entry.board.as_str());
        let engine = entry.engine();
        let hand = engine.as_ref().map(|(_, hand)| *hand);
        let client = memory.as_ref().map(|memory| memory.seat.client);
        let client = client.unwrap_or_else(|| self.clients.client());
        running.clients.push((client, board.clone()));
        let table = Table {
            client,
            board,
            engine,
            names: entry.names(),
            cgroup: self.inherited.cgroup().cloned(),
            player: self.player.subscribe(),
            // With other colours it is another game.
            memory: memory.filter(|memory| memory.suits(hand)),
            shelf,
            bus: self.bus.clone(),
        };
        running.tasks.spawn(serve(table, running.stop.clone()));
    }
}
