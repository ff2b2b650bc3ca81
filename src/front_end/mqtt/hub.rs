//! How the daemon's parts find the broker's task: boards of other daemons come and go, and what is said to them goes there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::settings::FarBoard;
use crate::{
    bus::{BoardHandle, COMMANDS, Publication, Publisher},
    vocabulary::{Advice, BoardName, Command, LinkState, Snapshot},
};
use tokio::sync::broadcast;

/// Commands that may wait for the broker's task, from all boards.
const SAID: usize = 1_024;

/// A board of another daemon, for the broker's task.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which board.
    pub far: FarBoard,
    /// Where it is published here.
    pub publisher: Publisher,
}

/// What is said to boards of other daemons.
pub type Said = (BoardName, Command);

/// Boards of other daemons, and what is said to them.
#[derive(Clone, Debug)]
pub struct Hub {
    wanted: Arc<watch::Sender<BTreeMap<BoardName, Wanted>>>,
    said: mpsc::Sender<Said>,
    /// For the broker's task, while one runs.
    heard: Arc<Mutex<Option<mpsc::Receiver<Said>>>>,
}

impl Default for Hub {
    fn default() -> Self {
        let (said, heard) = mpsc::channel(SAID);
        Self {
            wanted: Arc::default(),
            said,
            heard: Arc::new(Mutex::new(Some(heard))),
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
                if hub.said.send((name.clone(), command)).await.is_err() {
                    break;
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

    /// What is said to them, for the one task that speaks to the broker; given back by [`Self::give_back`].
    pub fn take(&self) -> Option<mpsc::Receiver<Said>> {
        self.heard().take()
    }

    /// The task that speaks to the broker ends.
    pub fn give_back(&self, heard: mpsc::Receiver<Said>) {
        *self.heard() = Some(heard);
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Receiver<Said>>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
