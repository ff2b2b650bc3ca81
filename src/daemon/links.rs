//! Lets boards play each other.

use tracing::warn;

use super::{
    Daemon,
    running::Running,
    sessions::{self, Restored},
};
use crate::{
    front_end::link::{self, Player, server::Pair, settings::LinkConfig},
    vocabulary::{BoardName, ClientName},
};

impl Daemon {
    /// Lets two boards play each other.
    pub(super) fn link(&mut self, running: &mut Running, entry: &LinkConfig) {
        let name = |index: usize| match (entry.boards.get(index), &entry.with) {
            (Some(board), _) => Some(board.clone()),
            (None, Some(_)) => entry.boards.first().map(BoardName::far),
            (None, None) => None,
        };
        let called = |index: usize| match (entry.boards.get(index), &entry.with) {
            (None, Some(with)) => with.to_string(),
            (board, _) => board.map(ToString::to_string).unwrap_or_default(),
        };
        let Restored { memory, shelf } = self
            .sessions
            .links
            .take(&self.store, &sessions::link(entry));
        let clients = memory.as_ref().map_or_else(
            || [self.clients.client(), self.clients.client()],
            link::session::SavedLink::clients,
        );
        let player = |index: usize| Player {
            client: clients[index],
            label: ClientName::Link(called(1 - index).into()),
            name: called(index).into(),
        };
        let handle = |index: usize| self.bus.board(name(index)?.as_str());
        let (Some(first), Some(second)) = (handle(0), handle(1)) else {
            warn!(
                "no link of {} and {}: not both are run",
                called(0),
                called(1)
            );
            return;
        };
        let pair = Pair {
            boards: [first, second],
            players: [player(0), player(1)],
            white: entry.white(),
            // With other colours it is another game.
            memory: memory.filter(|memory| memory.white() == entry.white()),
            shelf,
            bus: self.bus.clone(),
        };
        for (player, board) in pair.players.iter().zip(&pair.boards) {
            running.clients.push((player.client, board.clone()));
        }
        running
            .tasks
            .spawn(link::server::serve(pair, running.stop.clone()));
    }
}
