//! What happens on our boards, as messages: every event once, with its number, and the state after it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    guests::Guest,
    outbox::Message,
    settings::DaemonName,
    state::{self, Numbers},
    topics::{Part, Topic},
};
use crate::{
    bus::{BoardHandle, Bus, Publication},
    front_end::objects::lines::event_line,
    vocabulary::{BoardName, ClientId, Snapshot},
};

/// What is published of our boards.
#[derive(Debug)]
pub struct Outward {
    daemon: DaemonName,
    /// Where a board begins to count: beyond those that are gone, for it may be one of them that is back.
    first: Numbers,
    boards: BTreeMap<BoardName, Numbers>,
}

impl Outward {
    /// Nothing is published yet.
    pub fn new(daemon: DaemonName, epoch: u64) -> Self {
        Self {
            daemon,
            first: Numbers {
                epoch,
                sequence: 0,
                revision: 0,
            },
            boards: BTreeMap::new(),
        }
    }

    /// The boards that are published.
    pub fn boards(&self) -> impl Iterator<Item = &BoardName> {
        self.boards.keys()
    }

    /// The messages about a publication: its events, each with a number of its own, then the state that has them.
    pub fn published(
        &mut self,
        bus: &Bus,
        board: &BoardHandle,
        publication: &Publication,
        guest: impl Fn(ClientId) -> Option<Guest>,
    ) -> Vec<Message> {
        let Some(state) = &publication.state else {
            return Vec::new();
        };
        let topic = Topic::board(&self.daemon, &board.name, Part::Events);
        let numbers = self.numbers(&board.name);
        let mut messages = Vec::with_capacity(publication.events.len() + 1);
        for event in &*publication.events {
            numbers.sequence += 1;
            let mut line = event_line(publication, event);
            if let Value::Object(line) = &mut line {
                line.insert("epoch".to_owned(), numbers.epoch.into());
                line.insert("sequence".to_owned(), numbers.sequence.into());
            }
            messages.push(Message::once(&topic, line.to_string()));
        }
        messages.push(self.state(bus, board, state, guest));
        messages
    }

    /// Events of this board were lost here. Their number is given to nobody, so others see from the gap that they have to tell the moves
    /// from the next state.
    pub fn lost(&mut self, board: &BoardName) {
        self.numbers(board).sequence += 1;
    }

    /// The message with a board's state.
    pub fn state(
        &mut self,
        bus: &Bus,
        board: &BoardHandle,
        state: &Arc<Snapshot>,
        guest: impl Fn(ClientId) -> Option<Guest>,
    ) -> Message {
        let topic = Topic::board(&self.daemon, &board.name, Part::State);
        let numbers = self.numbers(&board.name);
        numbers.revision += 1;
        let object = state::write(bus, board, state, *numbers, guest);
        Message::retained(&topic, object.to_string())
    }

    /// The messages that take a board off the broker.
    pub fn gone(&mut self, board: &BoardName) -> Vec<Message> {
        if let Some(last) = self.boards.remove(board) {
            // The next number is given to nobody: from the gap others see that something may be missing.
            self.first.sequence = self.first.sequence.max(last.sequence + 1);
            self.first.revision = self.first.revision.max(last.revision);
        }
        let topic = Topic::board(&self.daemon, board, Part::State);
        vec![Message::retained(&topic, "")]
    }

    fn numbers(&mut self, board: &BoardName) -> &mut Numbers {
        self.boards.entry(board.clone()).or_insert(self.first)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::sync::{broadcast, mpsc};

    use super::*;
    use crate::{
        bus::{CAPACITY, COMMANDS, Publisher},
        chess::game::Game,
        front_end::mqtt::{
            remote::{Ours, Remote},
            settings::FarBoard,
        },
        vocabulary::Event,
    };

    #[test]
    fn a_move_whose_event_was_lost_here_is_told_there_and_a_board_that_was_gone_is_heard_again() {
        let (publications, _) = broadcast::channel(CAPACITY);
        let name: BoardName = "table".parse().unwrap();
        let publisher = Publisher::new(publications.clone(), Snapshot::new(name.clone()));
        let board = BoardHandle {
            name: name.clone(),
            way: "in a test".into(),
            commands: mpsc::channel(COMMANDS).0,
            publisher,
        };
        let bus = Bus::new(publications, vec![board.clone()]);
        let daemon: DaemonName = "hall-1".parse().unwrap();
        let mut outward = Outward::new(daemon.clone(), 1);
        let far = FarBoard {
            daemon,
            board: name.clone(),
        };
        let ours = Ours {
            daemon: "hall-2".parse().unwrap(),
            epoch: 1,
        };
        let mut remote = Remote::new(name.clone(), far, ours);
        let mut hears = |outward: &mut Outward| {
            let state = outward.state(&bus, &board, &board.state(), |_| None);
            remote.state(Instant::now(), &state.payload, true).unwrap()
        };
        hears(&mut outward);
        let mut game = Game::standard();
        game.play_uci(["e2e4"]).unwrap();
        let moved = Snapshot {
            game: Arc::new(game),
            ..Snapshot::new(name.clone())
        };
        board.publisher.publish([], Some(moved));
        outward.lost(&name);
        let events = hears(&mut outward).unwrap().events;
        assert!(
            matches!(&events[..], [Event::Moved { ply: 1, .. }]),
            "{events:?}"
        );
        // The board is taken away, and comes back with its game begun anew.
        let gone = outward.gone(&name);
        remote
            .state(Instant::now(), &gone[0].payload, true)
            .unwrap()
            .unwrap();
        board
            .publisher
            .publish([], Some(Snapshot::new(name.clone())));
        let state = outward.state(&bus, &board, &board.state(), |_| None);
        let news = remote.state(Instant::now(), &state.payload, true);
        let game = news.unwrap().map(|news| news.state.game.len());
        assert_eq!(game, Some(0), "it is not taken for old");
    }
}
