//! The daemon: one task per board, the bus, the front-ends at their ports.

mod app;
mod boards;
mod front_ends;
mod links;
mod service;
mod sessions;
mod signals;

use std::net::SocketAddr;

use tokio::sync::broadcast;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{boards::Boards, sessions::Sessions, signals::outlive_file_limit};
pub use self::{
    service::{Service, StartError},
    signals::stop_signal,
};
use crate::{
    bus::{Bus, CAPACITY, Publication},
    config::Config,
    state::Store,
    transport::ble::Radio,
    uci::server,
};

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    bus: Bus,
    tasks: TaskTracker,
    radio: Radio,
    stop: CancellationToken,
    ports: Vec<(Service, SocketAddr)>,
    store: Store,
}

impl Daemon {
    /// Starts everything the configuration asks for.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        Self::start_on(config, broadcast::channel(CAPACITY).0).await
    }

    /// The same, on this bus.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start_on(
        config: &Config,
        bus: broadcast::Sender<Publication>,
    ) -> Result<Self, StartError> {
        outlive_file_limit();
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        let tasks = TaskTracker::new();
        let radio = Radio::default();
        let store = config.state.path().map_or_else(Store::off, Store::open);
        let boards = Boards {
            config,
            bus: &bus,
            tasks: &tasks,
            stop: &stop,
            store: &store,
        };
        let (handles, last) = boards.start(&radio);
        let sessions = Sessions::read(config, &store).await;
        let last = sessions.last_client().map_or(last, |one| one.max(last));
        let mut daemon = Self {
            bus: Bus::new(bus, handles),
            tasks,
            radio,
            stop,
            ports: Vec::new(),
            store,
        };
        let shared = server::Shared::after(last);
        daemon.listen(config, shared, sessions).await?;
        daemon.keep_games(config);
        guard.disarm();
        Ok(daemon)
    }

    /// Every port taken, and what it is for.
    pub fn ports(&self) -> &[(Service, SocketAddr)] {
        &self.ports
    }

    /// The bus.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Stops everything and waits for it.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.radio.close().await;
        self.store.close().await;
    }
}
