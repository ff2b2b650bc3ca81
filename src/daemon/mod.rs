//! The daemon: one task per board, the bus, the front-ends at their ports.
//!
//! It runs parts, each with the configuration it depends on. Starting and reloading are the same: what is wanted
//! and does not run is started, what runs and is not wanted is stopped.

mod app;
mod boards;
mod front_ends;
mod health;
mod links;
mod part;
mod running;
mod serve;
mod service;
mod sessions;
mod signals;
pub mod systemd;

use std::{collections::BTreeMap, fmt, net::SocketAddr};

use tokio::{net::TcpListener, sync::broadcast};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

pub use self::{
    health::Health,
    running::STOP_WAIT,
    serve::{ServeError, serve},
    service::{Inherited, Service, StartError},
    signals::stop_signal,
};
use self::{part::Part, running::Running, sessions::Sessions, signals::outlive_file_limit};
use crate::{
    board::actor::Actor,
    bus::{BoardHandle, Bus, CAPACITY, Publication},
    config::Config,
    pgn::folder::Writer,
    state::Store,
    transport::ble::Radio,
    uci::server,
    vocabulary::BoardName,
};

/// A port that was taken.
type Port = (TcpListener, SocketAddr);
/// A part to be started; its port, unless that is about to be freed.
type Ready = (Part, Option<Option<Port>>);
/// Boards whose tasks were stopped.
type Stopped = BTreeMap<BoardName, (BoardHandle, Actor)>;

/// A running daemon.
pub struct Daemon {
    bus: Bus,
    /// The clients' numbers, and room for them.
    clients: server::Shared,
    radio: Radio,
    /// The thread that writes games, once there are any to write.
    writer: Option<Writer>,
    inherited: Inherited,
    health: Health,
    stop: CancellationToken,
    running: Vec<Running>,
    store: Store,
    /// What apps and links kept through a restart, until they start.
    sessions: Sessions,
}

impl Daemon {
    /// Starts everything the configuration asks for.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        Self::start_with(config, Inherited::default()).await
    }

    /// The same, with a listener that exists already.
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
        inherited: Inherited,
    ) -> Result<Self, StartError> {
        outlive_file_limit();
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        let store = config.state.path().map_or_else(Store::off, Store::open);
        let sessions = Sessions::read(config, &store).await;
        let clients = server::Shared::default();
        if let Some(last) = sessions.last_client() {
            clients.count_after(last);
        }
        let mut daemon = Self {
            bus: Bus::new(bus, Vec::new()),
            clients,
            radio: Radio::default(),
            writer: None,
            inherited,
            health: Health::default(),
            stop,
            running: Vec::new(),
            store,
            sessions,
        };
        daemon.reload(config).await?;
        if config.games.folder().is_none() {
            info!("games are not saved");
        }
        guard.disarm();
        Ok(daemon)
    }

    /// Changes to this configuration. Only the parts whose configuration has changed are stopped or started; a board that
    /// has changed keeps its clients.
    ///
    /// # Errors
    /// [`StartError`] if a new port cannot be had; nothing has changed then.
    pub async fn reload(&mut self, config: &Config) -> Result<(), StartError> {
        let wanted = Part::all(config);
        let runs = |part: &Part| self.running.iter().any(|running| running.part == *part);
        let new: Vec<Part> = wanted.iter().filter(|part| !runs(part)).cloned().collect();
        let going = self
            .running
            .iter()
            .filter(|running| !wanted.contains(&running.part));
        let freed: Vec<u16> = going.filter_map(Running::port_number).collect();
        let new = self.with_ports(new, &freed).await?;
        let keeps_games = |(part, _): &(Part, _)| matches!(part, Part::Games(..));
        if let (Some(path), true) = (config.games.folder(), new.iter().any(keeps_games)) {
            info!("games are saved in {}", path.display());
        }
        let (going, staying): (Vec<_>, Vec<_>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running| !wanted.contains(&running.part));
        self.running = staying;
        let stopped = self.take_out(going).await;
        self.bring_in(new, stopped).await;
        Ok(())
    }

    /// Takes the ports of new parts; one of those that are about to be freed is taken later: `None`.
    async fn with_ports(&self, new: Vec<Part>, freed: &[u16]) -> Result<Vec<Ready>, StartError> {
        let mut with = Vec::new();
        for part in new {
            let number = part.listens().and_then(|(_, listen)| listen.port());
            let port = if number.is_some_and(|port| freed.contains(&port)) {
                None
            } else {
                Some(self.port(&part).await?)
            };
            with.push((part, port));
        }
        Ok(with)
    }

    /// Takes the port of a part, if it has one.
    async fn port(&self, part: &Part) -> Result<Option<Port>, StartError> {
        let Some((what, listen)) = part.listens() else {
            return Ok(None);
        };
        match service::bind(&what, &listen, &self.inherited).await {
            Err(error) if part.may_lack_port() => {
                warn!("{error}");
                Ok(None)
            }
            taken => taken,
        }
    }

    /// Stops these parts, the front-ends first. Returns the boards, which may continue.
    async fn take_out(&mut self, going: Vec<Running>) -> Stopped {
        let (boards, front_ends): (Vec<_>, Vec<_>) = going
            .into_iter()
            .partition(|running| running.part.board().is_some());
        let mut stopped = Stopped::new();
        for group in [front_ends, boards] {
            for running in &group {
                running.stop.cancel();
                if let Some(board) = running.part.board() {
                    self.health.forget(board);
                }
            }
            for running in group {
                let board = running.take_out().await;
                stopped.extend(board.map(|(handle, actor)| (handle.name.clone(), (handle, actor))));
            }
        }
        stopped
    }

    /// Starts these parts: the boards, then the front-ends, which find them on the bus.
    async fn bring_in(&mut self, new: Vec<Ready>, mut stopped: Stopped) {
        let (boards, front_ends): (Vec<_>, Vec<_>) = new
            .into_iter()
            .partition(|(part, _)| part.board().is_some());
        for (part, _) in boards {
            let mut running = Running::new(part, &self.stop);
            let before = running.part.board().and_then(|name| stopped.remove(name));
            running.board = self.board(&running.part, before, running.stop.clone());
            self.running.push(running);
        }
        // In the order of the configuration; those of others come last.
        let boards = self
            .running
            .iter()
            .filter_map(|running| running.board.as_ref());
        let mut boards: Vec<BoardHandle> = boards.map(|board| board.handle.clone()).collect();
        boards.sort_by_cached_key(|board| (board.name.is_far(), board.name.clone()));
        self.bus.set_boards(boards);
        // Clients of a removed board see that it has ended.
        drop(stopped);
        for (part, port) in front_ends {
            let port = match port {
                Some(port) => port,
                None => match self.port(&part).await {
                    Ok(port) => port,
                    Err(error) => {
                        error!("{error}");
                        continue;
                    }
                },
            };
            let mut running = Running::new(part, &self.stop);
            self.front_end(&mut running, port);
            self.running.push(running);
        }
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
