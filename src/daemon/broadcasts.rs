//! Pushes running games to a round of a broadcast.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Daemon,
    part::Part,
    running::Running,
    sessions::{self, Restored},
};
use crate::{
    front_end::{
        broadcast::{
            server::{Table, serve},
            settings::{BroadcastConfig, TOKEN},
        },
        lichess::token::KEPT,
    },
    vocabulary::BoardName,
};

/// The file with the token of a login, if this broadcast may be pushed with it.
fn login_for(entry: &BroadcastConfig, state: Option<&Path>) -> Option<PathBuf> {
    let state = state.filter(|_| entry.token_file.is_none());
    state.map(|state| state.join(KEPT))
}

/// The boards whose games are told with a delay, and the round that tells each: that with the longest.
pub(super) fn delayed(parts: &[Part]) -> BTreeMap<BoardName, String> {
    let mut delayed: BTreeMap<&BoardName, (Duration, &str)> = BTreeMap::new();
    for part in parts {
        let Part::Broadcast(entry, boards) = part else {
            continue;
        };
        for board in boards.iter().filter(|_| !entry.delay.is_zero()) {
            let longest = delayed.entry(board).or_default();
            if longest.0 < entry.delay {
                *longest = (entry.delay, &entry.round);
            }
        }
    }
    let rounds = delayed.into_iter();
    rounds
        .map(|(board, (_, round))| (board.clone(), round.to_owned()))
        .collect()
}

impl Daemon {
    /// Pushes the games of these boards.
    pub(super) fn broadcast(
        &mut self,
        running: &mut Running,
        entry: &BroadcastConfig,
        boards: &[BoardName],
    ) {
        let shelves = boards.iter().map(|board| {
            let name = sessions::game(&entry.round, board);
            let Restored { memory, shelf } = self.sessions.broadcasts.take(&self.store, &name);
            (board.clone(), (memory, shelf))
        });
        let table = Table {
            shelves: shelves.collect(),
            round: entry.round.clone(),
            url: entry.server().to_owned(),
            token: TOKEN.place(entry.token_file.as_deref()),
            login: login_for(entry, self.store.path()),
            boards: boards.to_vec(),
            pairings: entry.pairings.clone(),
            delay: entry.delay,
            bus: self.bus.clone(),
        };
        running.tasks.spawn(serve(table, running.stop.clone()));
    }
}
