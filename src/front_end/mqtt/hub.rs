//! How the daemon's parts find the broker's task: boards of other daemons come and go, and what is said to them goes there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{
    elsewhere::{Elsewhere, Wanted},
    settings::FarBoard,
};
use crate::{
    bus::{BoardHandle, COMMANDS, Publication, Publisher},
    vocabulary::{Advice, BoardName, Command, LinkState, Snapshot},
};
use tokio::sync::broadcast;

/// Commands that may wait for the broker's task, from all boards.
const SAID: usize = 1_024;

/// What is said to boards of other daemons.
pub type Said = (BoardName, Command);

/// What the task that speaks to the broker leaves to the next one.
#[derive(Debug)]
pub(super) struct Taken {
    /// What is said to them.
    pub said: mpsc::Receiver<Said>,
    /// The boards with what their clients have stated.
    pub remotes: BTreeMap<BoardName, Elsewhere>,
}

/// Boards of other daemons, and what is said to them.
#[derive(Clone, Debug)]
pub struct Hub {
    wanted: Arc<watch::Sender<BTreeMap<BoardName, Wanted>>>,
    said: mpsc::Sender<Said>,
    /// For the broker's task, while none runs.
    left: Arc<Mutex<Option<Taken>>>,
}

impl Default for Hub {
    fn default() -> Self {
        let (said, heard) = mpsc::channel(SAID);
        let left = Taken {
            said: heard,
            remotes: BTreeMap::new(),
        };
        Self {
            wanted: Arc::default(),
            said,
            left: Arc::new(Mutex::new(Some(left))),
        }
    }
}

impl Hub {
    /// A board of another daemon: the handle for front-ends, and the task that passes on what they say, until `stop` is cancelled.
    pub fn board(
        &self,
        name: BoardName,
        far: FarBoard,
        bus: broadcast::Sender<Publication>,
        stop: CancellationToken,
    ) -> (BoardHandle, impl Future<Output = ()> + Send + 'static) {
        let why = format!(
            "{} has not been heard yet: the broker has not been reached",
            far.daemon
        );
        let snapshot = Snapshot {
            link: LinkState::Down(why.clone()),
            advice: Advice::NoLink(why),
            ..Snapshot::new(name.clone())
        };
        let publisher = Publisher::new(bus, snapshot);
        let (commands, mut given) = mpsc::channel(COMMANDS);
        let handle = BoardHandle {
            name: name.clone(),
            way: format!("{far} over the broker").into(),
            commands,
            publisher: publisher.clone(),
        };
        self.wanted.send_modify(|wanted| {
            wanted.insert(name.clone(), Wanted { far, publisher });
        });
        let hub = self.clone();
        let passes = async move {
            loop {
                let command = tokio::select! {
                    biased;
                    () = stop.cancelled() => break,
                    command = given.recv() => command,
                };
                let Some(command) = command else { break };
                // What is not passed on by then is about a board that ends.
                tokio::select! {
                    biased;
                    () = stop.cancelled() => break,
                    sent = hub.said.send((name.clone(), command)) => if sent.is_err() { break },
                }
            }
            hub.wanted.send_modify(|wanted| {
                wanted.remove(&name);
            });
        };
        (handle, passes)
    }

    /// The boards there are, to wait for changes.
    pub fn wanted(&self) -> watch::Receiver<BTreeMap<BoardName, Wanted>> {
        self.wanted.subscribe()
    }

    /// What the one task that speaks to the broker needs; given back by [`Self::give_back`].
    pub(super) fn take(&self) -> Option<Taken> {
        self.left().take()
    }

    /// The task that speaks to the broker ends.
    pub(super) fn give_back(&self, taken: Taken) {
        *self.left() = Some(taken);
    }

    fn left(&self) -> std::sync::MutexGuard<'_, Option<Taken>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
