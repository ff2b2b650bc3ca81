//! What happens on our boards, as messages: the state after it with the events that led there, and every event once, with its number.

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
    front_end::objects::{Sans, lines::event_line},
    vocabulary::{BoardName, ClientId, Event, Snapshot},
};

/// What is published of a board.
#[derive(Debug)]
struct Told {
    numbers: Numbers,
    sans: Sans,
}

/// What is published of our boards.
#[derive(Debug)]
pub struct Outward {
    daemon: DaemonName,
    /// Where a board begins to count: beyond those that are gone, for it may be one of them that is back.
    first: Numbers,
    boards: BTreeMap<BoardName, Told>,
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

    /// From now on everything is said with this epoch.
    pub fn begins(&mut self, epoch: u64) {
        self.first.epoch = epoch;
        for told in self.boards.values_mut() {
            told.numbers.epoch = epoch;
        }
    }

    /// Whether others know something of this board that stands later than all that we have said of it.
    pub fn is_behind(&mut self, board: &BoardName, known: Numbers) -> bool {
        let said = self.told(board).numbers;
        known.epoch == said.epoch
            && (known.sequence > said.sequence || known.revision > said.revision)
    }

    /// The boards that are published.
    pub fn boards(&self) -> impl Iterator<Item = &BoardName> {
        self.boards.keys()
    }

    /// The messages about a publication: first the state with its events, for programs elsewhere wait for it, then every event with a
    /// number of its own.
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
        let Told { numbers, .. } = self.told(&board.name);
        let first = numbers.sequence + 1;
        numbers.sequence += publication.events.len() as u64;
        let epoch = numbers.epoch;
        let mut messages = Vec::with_capacity(publication.events.len() + 1);
        messages.push(self.state_after(bus, board, state, &publication.events, guest));
        for (sequence, event) in (first..).zip(&*publication.events) {
            let mut line = event_line(publication, event);
            if let Value::Object(line) = &mut line {
                line.insert("epoch".to_owned(), epoch.into());
                line.insert("sequence".to_owned(), sequence.into());
            }
            messages.push(Message::once(&topic, line.to_string()));
        }
        messages
    }

    /// Events of this board were lost here. Their number is given to nobody, so others see from the gap that they have to tell the moves
    /// from the next state.
    pub fn lost(&mut self, board: &BoardName) {
        self.told(board).numbers.sequence += 1;
    }

    /// The message with a board's state.
    pub fn state(
        &mut self,
        bus: &Bus,
        board: &BoardHandle,
        state: &Arc<Snapshot>,
        guest: impl Fn(ClientId) -> Option<Guest>,
    ) -> Message {
        self.state_after(bus, board, state, &[], guest)
    }

    fn state_after(
        &mut self,
        bus: &Bus,
        board: &BoardHandle,
        state: &Arc<Snapshot>,
        events: &[Event],
        guest: impl Fn(ClientId) -> Option<Guest>,
    ) -> Message {
        let topic = Topic::board(&self.daemon, &board.name, Part::State);
        let Told { numbers, sans } = self.told(&board.name);
        numbers.revision += 1;
        let object = state::write(bus, board, state, *numbers, events, sans, guest);
        Message::retained(&topic, object.to_string())
    }

    /// The messages that take a board off the broker.
    pub fn gone(&mut self, board: &BoardName) -> Vec<Message> {
        if let Some(Told { numbers: last, .. }) = self.boards.remove(board) {
            // The next number is given to nobody: from the gap others see that something may be missing.
            self.first.sequence = self.first.sequence.max(last.sequence + 1);
            self.first.revision = self.first.revision.max(last.revision);
        }
        let topic = Topic::board(&self.daemon, board, Part::State);
        vec![Message::retained(&topic, "")]
    }

    fn told(&mut self, board: &BoardName) -> &mut Told {
        let numbers = self.first;
        let new = || Told {
            numbers,
            sans: Sans::default(),
        };
        self.boards.entry(board.clone()).or_insert_with(new)
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
        front_end::mqtt::{messages::Ours, remote::Remote, settings::FarBoard},
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
