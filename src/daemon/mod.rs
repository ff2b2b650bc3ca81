//! The daemon: one task per board, the bus, the front-ends at their ports.
//!
//! It runs parts, each with the configuration it depends on. Starting and reloading are the same: what is wanted
//! and does not run is started, what runs and is not wanted is stopped.

mod announced;
mod app;
mod boards;
mod broadcasts;
mod desk;
mod front_ends;
mod health;
mod inherited;
mod lichess;
mod links;
mod memory;
mod mqtt;
mod opponents;
mod part;
mod ports;
mod recording;
mod reload;
mod running;
mod serve;
mod service;
mod sessions;
mod signals;
pub mod systemd;

use std::{fmt, net::SocketAddr, sync::Arc};

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tracing::info;

use self::{
    announced::Announced, inherited::Wanted, part::Part, reload::rename, running::Running,
    sessions::Sessions, signals::outlive_file_limit,
};
pub use self::{
    health::Health,
    inherited::Inherited,
    memory::{files_wanted, memory_limit, memory_wanted},
    running::STOP_WAIT,
    serve::{ServeError, serve},
    service::{Service, StartError},
    signals::stop_signal,
};
use crate::{
    bus::{Bus, CAPACITY, Publication, clients::Presence},
    config::Config,
    front_end::{mqtt::hub::Hub, pgn::folder::Writer, uci::slots, web},
    state::{Kind, Store},
    transport::ble::Radio,
};

/// A running daemon.
pub struct Daemon {
    bus: Bus,
    /// The clients' numbers and slots.
    clients: slots::Shared,
    radio: Radio,
    /// Boards of other daemons.
    hub: Hub,
    /// The thread that writes games, once there are any to write.
    writer: Option<Writer>,
    inherited: Inherited,
    health: Health,
    stop: CancellationToken,
    running: Vec<Running>,
    store: Store,
    /// The name of the player at the boards, if it is configured.
    player: watch::Sender<Option<String>>,
    /// Where games are saved, for the page.
    kept: watch::Sender<web::SavedGames>,
    /// The phones that may use the page.
    pairing: Arc<web::Pairing>,
    /// What apps, links, opponents and the Lichess account kept through a restart, until they start.
    sessions: Sessions,
    /// What the configuration names and cannot be run, listed among the clients.
    left_out: Vec<Presence>,
    /// What the network is told, once there is something to tell.
    announced: Option<Announced>,
    /// The name of this machine, while it is announced.
    host: watch::Sender<Option<String>>,
}

impl Daemon {
    /// Starts everything the configuration asks for.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        Self::start_with(config, Inherited::default()).await
    }

    /// The same, with listeners that exist already.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start_with(config: &Config, inherited: Inherited) -> Result<Self, StartError> {
        Self::started(config, broadcast::channel(CAPACITY).0, inherited).await
    }

    /// The same, on this bus.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start_on(
        config: &Config,
        bus: broadcast::Sender<Publication>,
    ) -> Result<Self, StartError> {
        Self::started(config, bus, Inherited::default()).await
    }

    async fn started(
        config: &Config,
        bus: broadcast::Sender<Publication>,
        mut inherited: Inherited,
    ) -> Result<Self, StartError> {
        outlive_file_limit();
        let wanted = Wanted::by_all(&Part::all(config)).await;
        let wanted: Vec<Wanted> = wanted.into_iter().flatten().collect();
        inherited.close_others(&wanted, &[]).await;
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        let store = config.state.path().map_or_else(Store::off, Store::open);
        if let Some(state) = store.path() {
            if let Some(renamed) = desk::left_renamed(state) {
                rename(&store, config, &renamed).await;
            }
            desk::end(state);
        }
        let sessions = Sessions::read(config, &store).await;
        let pairing = Arc::new(web::Pairing::new(store.shelf(Kind::Web, "phones")));
        let clients = slots::Shared::default();
        if let Some(last) = sessions.last_client() {
            clients.count_after(last);
        }
        let mut daemon = Self {
            bus: Bus::new(bus, Vec::new()),
            clients,
            radio: Radio::default(),
            hub: Hub::default(),
            writer: None,
            inherited,
            health: Health::default(),
            stop,
            running: Vec::new(),
            store,
            player: watch::Sender::default(),
            kept: watch::Sender::default(),
            pairing,
            sessions,
            left_out: Vec::new(),
            announced: None,
            host: watch::Sender::default(),
        };
        daemon.reload(config).await?;
        if config.games.folder().is_none() {
            info!("games are not saved");
        }
        guard.disarm();
        Ok(daemon)
    }

    /// Every port taken, and what it is for.
    pub fn ports(&self) -> Vec<(Service, SocketAddr)> {
        let ports = self.running.iter().map(|running| running.port.clone());
        ports.flatten().collect()
    }

    /// The bus.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Whether the boards' tasks answer.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Stops everything and waits for it.
    pub async fn stop(self) {
        self.stop.cancel();
        for running in self.running {
            running.stopped().await;
        }
        if let Some(announced) = self.announced {
            announced.ended().await;
        }
        self.radio.close().await;
        self.store.close().await;
    }
}

impl fmt::Debug for Daemon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Daemon")
            .field("ports", &self.ports())
            .finish_non_exhaustive()
    }
}
