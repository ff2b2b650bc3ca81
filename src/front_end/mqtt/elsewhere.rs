//! A board of another daemon as this one has it: what is heard of it, where that is published, and what is kept over a restart.

use tracing::info;

use super::{
    broker::Filter,
    remote::{News, Remote},
    settings::FarBoard,
    standing::Asked,
    topics::{Part, Topic},
};
use crate::{
    bus::{Bus, Publisher},
    state::Shelf,
    vocabulary::Event,
};

/// A board of another daemon, for the broker's task.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which board.
    pub far: FarBoard,
    /// Where it is published here.
    pub publisher: Publisher,
}

/// A board of another daemon.
#[derive(Debug)]
pub(super) struct Elsewhere {
    /// What is heard of it and said to it.
    pub remote: Remote,
    /// Which it is, and where it is published here.
    pub wanted: Wanted,
    shelf: Shelf,
    /// What is on the shelf.
    kept: Option<Asked>,
}

impl Elsewhere {
    /// A board of which `shelf` has what was kept.
    pub fn new(mut remote: Remote, wanted: Wanted, mut shelf: Shelf) -> Self {
        let kept = shelf.read();
        remote.goes_on(kept);
        Self {
            remote,
            wanted,
            shelf,
            kept,
        }
    }

    /// Keeps what its daemon has to be asked for again, before it is asked.
    pub async fn keep(&mut self) {
        let asked = self.remote.asked();
        if asked == self.kept {
            return;
        }
        match &asked {
            Some(asked) => self.shelf.keep_at_once(asked).await,
            None => self.shelf.forget().await,
        }
        self.kept = asked;
    }

    /// What is listened to.
    pub fn filters(&self) -> [Filter; 2] {
        [Part::State, Part::Events].map(|part| self.filter(part))
    }

    /// What is listened to of this part. Whoever asks for the state again is told the one that the broker has kept.
    pub fn filter(&self, part: Part) -> Filter {
        let far = self.remote.far();
        Filter::of(&Topic::board(&far.daemon, &far.board, part))
    }

    /// Publishes what is heard of it.
    pub fn publish(&self, bus: &Bus, news: Option<News>) {
        let Some(News {
            events,
            state,
            pairing,
        }) = news
        else {
            return;
        };
        bus.pairings().mirror(&state.board, pairing);
        let comes_or_goes =
            |event: &&Event| matches!(event, Event::Connected | Event::Disconnected { .. });
        if let Some(event) = events.iter().find(comes_or_goes) {
            info!(board = %state.board, "{}: {event}", self.wanted.far);
        }
        self.wanted.publisher.publish(events, Some(state));
    }
}
