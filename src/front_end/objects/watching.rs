//! What a watcher is told, and when: first the current state, then every event; the current state again when the watcher
//! has missed events, or when boards have come or gone.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::{
    board as object,
    lines::{Present, event_line, lagged_line, pairing_line, text},
};
use crate::{
    bus::{
        self, Bus, News, Publication, Subscription,
        pairings::{self, Pairing},
    },
    vocabulary::{BoardName, Event},
};

/// What one watcher has been told, and what comes next.
#[derive(Debug)]
pub struct Watching {
    bus: Bus,
    subscription: Subscription,
    boards: bus::Changes,
    pairings: pairings::Changes,
    present: Present,
    /// What has happened, until its lines are asked for: then those that wait for a move have been woken.
    untold: Option<Publication>,
    /// The lines of one publication, or of the pairings that have changed.
    next: VecDeque<String>,
    /// The pairings that the watcher knows.
    paired: BTreeMap<BoardName, Arc<Pairing>>,
    /// The watcher is told a board's state after everything that happens on it.
    states: bool,
}

impl Watching {
    /// A watcher that has not been told anything yet.
    pub fn of(bus: Bus) -> Self {
        Self {
            subscription: bus.subscribe(),
            boards: bus.changes(),
            pairings: bus.pairings().changes(),
            present: Present::of(&bus),
            untold: None,
            next: VecDeque::new(),
            paired: paired(&bus),
            states: false,
            bus,
        }
    }

    /// A watcher that wants the state, too, after what happens.
    #[must_use]
    pub fn with_states(self) -> Self {
        Self {
            states: true,
            ..self
        }
    }

    /// The next line, if there is one now. `watchers` is the number of those connected.
    pub fn ready(&mut self, watchers: usize) -> Option<String> {
        self.tell();
        self.next.pop_front().or_else(|| {
            self.present
                .next(&self.bus, &mut self.subscription, watchers)
        })
    }

    /// Waits until something has happened that may make lines. Cancel safe.
    pub async fn more(&mut self) {
        tokio::select! {
            () = self.boards.next() => self.begin_again(),
            () = self.pairings.next() => self.tell_pairings(),
            news = self.subscription.next() => match news {
                News::Published(publication) => {
                    self.tell();
                    self.untold = Some(publication);
                }
                News::Lagged(missed) => {
                    self.tell();
                    self.next.push_back(text(&lagged_line(missed)));
                    self.begin_again();
                }
            },
        }
    }

    fn begin_again(&mut self) {
        self.present = Present::of(&self.bus);
        self.paired = paired(&self.bus);
    }

    /// Makes the lines of what has happened.
    fn tell(&mut self) {
        let Some(publication) = &self.untold.take() else {
            return;
        };
        if publication
            .board()
            .is_some_and(|name| !self.bus.shows(name))
        {
            return;
        }
        let events = publication.events.iter();
        let lines = events.map(|event| text(&event_line(publication, event)));
        self.next.extend(lines);
        let Some(state) = &publication.state else {
            return;
        };
        // Another daemon's board comes with a game that was not told here.
        let comes = publication.events.contains(&Event::Connected);
        if (self.states || comes && self.bus.elsewhere().has(&state.board))
            && let Some(board) = self.bus.board(state.board.as_str())
        {
            let line = object(&self.bus, &board, state);
            self.next.push_back(text(&line));
        }
    }

    fn tell_pairings(&mut self) {
        self.tell();
        let now = paired(&self.bus);
        for board in self.bus.boards() {
            let (before, after) = (self.paired.get(&board.name), now.get(&board.name));
            if before != after {
                let line = pairing_line(&board.name, after.map(|pairing| &**pairing));
                self.next.push_back(text(&line));
            }
        }
        self.paired = now;
    }
}

fn paired(bus: &Bus) -> BTreeMap<BoardName, Arc<Pairing>> {
    let boards = bus.boards().into_iter();
    let paired = boards.filter_map(|board| Some((bus.pairings().at(&board.name)?, board.name)));
    paired.map(|(pairing, name)| (name, pairing)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::sync::{broadcast, mpsc};

    use super::*;
    use crate::{
        bus::{BoardHandle, CAPACITY, COMMANDS, Publisher},
        vocabulary::{By, Snapshot},
    };

    /// The events that a watcher is told after a new game on a board, which may be elsewhere.
    async fn told(states: bool, elsewhere: bool, happened: Event) -> Vec<String> {
        let (publications, _) = broadcast::channel(CAPACITY);
        let name: BoardName = "table".parse().unwrap();
        let publisher = Publisher::new(publications.clone(), Snapshot::new(name.clone()));
        let (commands, _) = mpsc::channel(COMMANDS);
        let board = BoardHandle {
            name: name.clone(),
            way: "in a test".into(),
            commands,
            publisher: publisher.clone(),
        };
        let bus = Bus::new(publications, vec![board]);
        if elsewhere {
            bus.elsewhere().set([name], &mpsc::channel(1).0);
        }
        let mut watching = Watching::of(bus);
        if states {
            watching = watching.with_states();
        }
        while watching.ready(0).is_some() {}
        publisher.publish([happened], None);
        watching.more().await;
        let lines = std::iter::from_fn(|| watching.ready(0));
        let lines = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
        lines
            .map(|line| line["event"].as_str().unwrap().to_owned())
            .collect()
    }

    #[tokio::test]
    async fn a_state_follows_what_happened_for_those_that_want_it_and_where_a_board_comes_with_its_game()
     {
        let new = || Event::NewGame { by: By::Hand };
        assert_eq!(told(false, false, new()).await, ["new-game"]);
        assert_eq!(told(true, false, new()).await, ["new-game", "snapshot"]);
        assert_eq!(told(false, true, new()).await, ["new-game"]);
        let comes = || Event::Connected;
        assert_eq!(told(false, false, comes()).await, ["connected"]);
        assert_eq!(told(false, true, comes()).await, ["connected", "snapshot"]);
    }
}
