//! Lets boards play each other.

use tracing::warn;

use super::{Daemon, sessions::Kept};
use crate::{
    config::{Config, LinkConfig, board::CORRECTION_WAIT},
    link::{self, Player, server::Pair, session::Memory},
    uci::server,
    vocabulary::{BoardName, ClientName},
};

impl Daemon {
    /// Lets two boards play each other.
    pub(super) fn link(
        &self,
        config: &Config,
        entry: &LinkConfig,
        kept: Kept<Memory>,
        shared: &server::Shared,
    ) {
        let name = |index: usize| match (entry.boards.get(index), &entry.with) {
            (Some(board), _) => Some(board.clone()),
            (None, Some(_)) => entry.boards.first().map(BoardName::far),
            (None, None) => None,
        };
        let called = |index: usize| match (entry.boards.get(index), &entry.with) {
            (None, Some(with)) => with.to_string(),
            (board, _) => board.map(ToString::to_string).unwrap_or_default(),
        };
        let Kept { memory, shelf } = kept;
        let clients = match &memory {
            Some(memory) => memory.clients(),
            None => [shared.client(), shared.client()],
        };
        let player = |index: usize| {
            let board = name(index).and_then(|name| config.boards.get(&name));
            Player {
                client: clients[index],
                label: ClientName::Link(called(1 - index).into()),
                name: called(index).into(),
                tells_all: board
                    .is_some_and(|board| !board.driver().capabilities().tells_moves_only),
                correction_wait: board.map_or(CORRECTION_WAIT, |board| board.correction_wait),
            }
        };
        let handle = |index: usize| self.bus.board(name(index)?.as_str()).cloned();
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
        self.tasks
            .spawn(link::server::serve(pair, self.stop.clone()));
    }
}
