//! What a watcher is told, and when: first the current state, then every event; the current state again when the watcher
//! has missed events, or when boards have come or gone.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::lines::{Present, event_line, lagged_line, pairing_line, text};
use crate::{
    bus::{
        self, Bus, News, Publication, Subscription,
        pairings::{self, Pairing},
    },
    vocabulary::BoardName,
};

/// What one watcher has been told, and what comes next.
#[derive(Debug)]
pub struct Watching {
    bus: Bus,
    subscription: Subscription,
    boards: bus::Changes,
    pairings: pairings::Changes,
    present: Present,
    /// The lines of one publication, or of the pairings that have changed.
    next: VecDeque<String>,
    /// The pairings that the watcher knows.
    paired: BTreeMap<BoardName, Arc<Pairing>>,
}

impl Watching {
    /// A watcher that has not been told anything yet.
    pub fn of(bus: Bus) -> Self {
        Self {
            subscription: bus.subscribe(),
            boards: bus.changes(),
            pairings: bus.pairings().changes(),
            present: Present::of(&bus),
            next: VecDeque::new(),
            paired: paired(&bus),
            bus,
        }
    }

    /// The next line, if there is one now. `watchers` is the number of those connected.
    pub fn ready(&mut self, watchers: usize) -> Option<String> {
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
                News::Published(publication) => self.tell(&publication),
                News::Lagged(missed) => {
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

    fn tell(&mut self, publication: &Publication) {
        if publication
            .board()
            .is_some_and(|name| !self.bus.shows(name))
        {
            return;
        }
        let events = publication.events.iter();
        let lines = events.map(|event| text(&event_line(publication, event)));
        self.next.extend(lines);
    }

    fn tell_pairings(&mut self) {
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
