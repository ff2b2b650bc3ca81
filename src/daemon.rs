//! The daemon: one task per board, the bus, the ports.

use std::{fmt, io, net::SocketAddr};

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio::{
    net::TcpListener,
    sync::{broadcast, mpsc},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{Instrument, info, warn};

use crate::{
    board::{actor::Actor, core::Core},
    bus::{BoardHandle, Bus, CAPACITY, Publication},
    config::{
        BoardConfig, Config, LinkConfig, Listen, WhitePawnConfig, board::CORRECTION_WAIT,
        link::With,
    },
    driver::swpp::Swpp,
    link::{self, Player, server::Pair},
    pgn::{
        self,
        folder::{Folder, Writer},
    },
    status, swpp,
    transcript::Recorder,
    transport::{
        Transport,
        ble::Radio,
        serial::SerialPort,
        tcp::{TcpPeer, bound_buffers},
    },
    uci::server,
    vocabulary::{BoardName, ClientName},
    whitepawn::{self, Availability, Connection, connection::MAX_WAITING, server::App},
};

/// What is served at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    /// GUIs, for every board.
    Uci,
    /// GUIs, for one board.
    UciFor(BoardName),
    /// The `WhitePawn` app, for one board.
    WhitePawn(BoardName),
    /// The event stream.
    Status,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uci => f.write_str("uci"),
            Self::UciFor(board) => write!(f, "uci for {board}"),
            Self::WhitePawn(board) => write!(f, "whitepawn for {board}"),
            Self::Status => f.write_str("status"),
        }
    }
}

/// Why the daemon cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A port cannot be had.
    #[error("{what} cannot listen at {address}: {}", listen_hint(.what, .source))]
    Listen {
        /// Which port.
        what: Service,
        /// Where.
        address: String,
        /// What the system says.
        source: io::Error,
    },
}

fn listen_hint(what: &Service, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::AddrInUse => {
            let another = match what {
                Service::Uci => {
                    ", for instance BOARDBRIDGE_UCI__LISTEN=127.0.0.1:9671, and start the engine as `boardbridge uci \
                     --connect 127.0.0.1:9671`"
                }
                Service::Status => {
                    ", for instance BOARDBRIDGE_STATUS__LISTEN=127.0.0.1:9681, and watch with `boardbridge watch \
                     --connect 127.0.0.1:9681`"
                }
                _ => " in the configuration",
            };
            format!(
                "the port is in use: is another BoardBridge running? Stop it, or take another port{another}"
            )
        }
        io::ErrorKind::PermissionDenied => "this user may not: take a port above 1023".to_owned(),
        _ => format!("this machine has no such address ({source}): write 127.0.0.1 or 0.0.0.0"),
    }
}

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    bus: Bus,
    tasks: TaskTracker,
    radio: Radio,
    stop: CancellationToken,
    ports: Vec<(Service, SocketAddr)>,
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
        let mut handles = Vec::new();
        for (name, board) in &config.boards {
            let transport = match board.transport(&radio) {
                Ok(transport) => transport,
                Err(error) => {
                    warn!(board = %name, "{error}");
                    continue;
                }
            };
            let recorder = recorder(name, board);
            let (called, config) = (name.clone(), board.clone());
            let make = move || {
                let driver = config.driver();
                Core::new(called.clone(), driver, config.correction_wait)
            };
            let (actor, handle) = Actor::new(name.clone(), make, transport, recorder, bus.clone());
            tasks.spawn(actor.run(stop.clone()));
            handles.push(handle);
        }
        for entry in &config.link {
            if let (Some(with), Some(board)) = (&entry.with, entry.boards.first()) {
                let (actor, handle) = far_board(board.far(), with, bus.clone());
                tasks.spawn(actor.run(stop.clone()));
                handles.push(handle);
            }
        }
        let mut daemon = Self {
            bus: Bus::new(bus, handles),
            tasks,
            radio,
            stop,
            ports: Vec::new(),
        };
        daemon.listen(config).await?;
        daemon.keep_games(config);
        guard.disarm();
        Ok(daemon)
    }

    /// Keeps what is played. A board is played on without that.
    fn keep_games(&self, config: &Config) {
        let Some(path) = config.games.folder() else {
            info!("no games are kept");
            return;
        };
        let writer = match Writer::start() {
            Ok(writer) => writer,
            Err(error) => {
                warn!("no games are kept: {error}");
                return;
            }
        };
        info!("games are kept in {}", path.display());
        for board in self.own(config).boards() {
            let folder = Folder::new(path, board.name.clone());
            let (config, writer, stop) = (config.games.clone(), writer.clone(), self.stop.clone());
            let keeping = pgn::task::keep(board.clone(), config, folder, writer, stop);
            self.tasks.spawn(keeping);
        }
    }

    async fn listen(&mut self, config: &Config) -> Result<(), StartError> {
        let shared = server::Shared::default();
        let (bus, stop) = (self.own(config), self.stop.clone());
        if let Some(listener) = self.bind(Service::Uci, &config.uci.listen).await? {
            let serving = server::serve(listener, bus.clone(), shared.clone(), stop.clone());
            self.tasks.spawn(serving);
        }
        for (name, board) in &config.boards {
            let Some(listen) = board
                .uci_listen
                .as_ref()
                .filter(|_| bus.board(name.as_str()).is_some())
            else {
                continue;
            };
            if let Some(listener) = self.bind(Service::UciFor(name.clone()), listen).await? {
                let serving = server::serve(listener, bus.only(name), shared.clone(), stop.clone());
                self.tasks.spawn(serving);
            }
        }
        for entry in &config.whitepawn {
            self.serve_app(entry, &shared).await?;
        }
        for entry in &config.link {
            self.link(config, entry, &shared);
        }
        if let Some(listener) = self.bind(Service::Status, &config.status.listen).await? {
            self.tasks
                .spawn(status::serve(listener, self.bus.clone(), stop));
        }
        Ok(())
    }

    /// The boards that are here: those of others are for their links alone.
    fn own(&self, config: &Config) -> Bus {
        let far = config.link.iter().filter(|entry| entry.with.is_some());
        let names = far.flat_map(|entry| &entry.boards).map(BoardName::far);
        self.bus.without(&names.collect::<Vec<_>>())
    }

    /// Lets two boards play each other.
    fn link(&self, config: &Config, entry: &LinkConfig, shared: &server::Shared) {
        let name = |index: usize| match (entry.boards.get(index), &entry.with) {
            (Some(board), _) => Some(board.clone()),
            (None, Some(_)) => entry.boards.first().map(BoardName::far),
            (None, None) => None,
        };
        let called = |index: usize| match (entry.boards.get(index), &entry.with) {
            (None, Some(with)) => format!("tcp:{}", with.0.0),
            (board, _) => board.map(ToString::to_string).unwrap_or_default(),
        };
        let player = |index: usize| {
            let board = name(index).and_then(|name| config.boards.get(&name));
            Player {
                client: shared.client(),
                label: ClientName::Link(called(1 - index).into()),
                name: called(index).into(),
                tells_all: board
                    .is_some_and(|board| !board.driver().capabilities().tells_moves_only),
                correction_wait: board.map_or(CORRECTION_WAIT, |board| board.correction_wait),
            }
        };
        let handle = |index: usize| self.bus.board(name(index)?.as_str()).cloned();
        let (Some(first), Some(second)) = (handle(0), handle(1)) else {
            warn!(
                "no link of {} and {}: not both are run",
                called(0),
                called(1)
            );
            return;
        };
        let pair = Pair {
            boards: [first, second],
            players: [player(0), player(1)],
            white: entry.white(),
            bus: self.bus.clone(),
        };
        self.tasks
            .spawn(link::server::serve(pair, self.stop.clone()));
    }

    /// Plays a board for the `WhitePawn` app.
    async fn serve_app(
        &mut self,
        entry: &WhitePawnConfig,
        shared: &server::Shared,
    ) -> Result<(), StartError> {
        let Some(board) = self.bus.board(entry.board.as_str()).cloned() else {
            return Ok(());
        };
        let (connections, waiting) = mpsc::channel(MAX_WAITING);
        let (availability, stop) = (Availability::default(), self.stop.clone());
        let shown = availability.subscribe();
        let mut way = entry.way();
        let coming: BoxFuture<'static, ()> = if let Some(tcp) = &entry.tcp {
            let what = Service::WhitePawn(entry.board.clone());
            let Some(listener) = self.bind(what, &tcp.listen).await? else {
                return Ok(());
            };
            if let Ok(taken) = listener.local_addr() {
                way = format!("tcp {taken}");
            }
            Box::pin(whitepawn::tcp::serve(listener, connections, stop))
        } else if let Some(serial) = &entry.serial {
            let port = SerialPort::new(&serial.port, serial.baud.unwrap_or(swpp::BAUD));
            Box::pin(whitepawn::serial::serve(
                port,
                connections,
                availability,
                stop,
            ))
        } else {
            by_radio(entry, connections, availability, stop)
        };
        let span = whitepawn::server::span(&board.name, &way);
        self.tasks.spawn(coming.instrument(span));
        let app = App {
            client: shared.client(),
            way,
            board,
            names_promotion: entry.promotion_letter,
            bus: self.bus.clone(),
            availability: shown,
        };
        self.tasks
            .spawn(whitepawn::server::serve(app, waiting, self.stop.clone()));
        Ok(())
    }

    async fn bind(
        &mut self,
        what: Service,
        listen: &Listen,
    ) -> Result<Option<TcpListener>, StartError> {
        let Listen::At(address) = listen else {
            return Ok(None);
        };
        let error = |source| StartError::Listen {
            what: what.clone(),
            address: address.clone(),
            source,
        };
        let listener = TcpListener::bind(address.as_str()).await.map_err(error)?;
        if let Err(error) = bound_buffers(&listener) {
            warn!(%error, "the kernel keeps more for each connection than it should");
        }
        let taken = listener.local_addr().map_err(error)?;
        info!("{what} listens at {taken}");
        self.ports.push((what, taken));
        Ok(Some(listener))
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
    }
}

/// Lets the app come by Bluetooth.
#[cfg(target_os = "linux")]
fn by_radio(
    entry: &WhitePawnConfig,
    connections: mpsc::Sender<Connection>,
    availability: Availability,
    stop: CancellationToken,
) -> BoxFuture<'static, ()> {
    if let Some(ble) = entry.ble.clone() {
        Box::pin(whitepawn::ble::serve(ble, connections, availability, stop))
    } else {
        let rfcomm = entry.rfcomm.clone().unwrap_or_default();
        Box::pin(whitepawn::rfcomm::serve(
            rfcomm,
            connections,
            availability,
            stop,
        ))
    }
}

#[cfg(not(target_os = "linux"))]
fn by_radio(
    _entry: &WhitePawnConfig,
    _connections: mpsc::Sender<Connection>,
    availability: Availability,
    _stop: CancellationToken,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let why = "Bluetooth needs Linux and BlueZ here";
        availability.is(why);
        warn!("the app cannot come: {why}");
    })
}

/// The board of another `BoardBridge`.
fn far_board(
    name: BoardName,
    with: &With,
    events: broadcast::Sender<Publication>,
) -> (Actor, BoardHandle) {
    let called = name.clone();
    let make = move || {
        let driver = Box::new(Swpp::toward_boardbridge());
        Core::new(called.clone(), driver, CORRECTION_WAIT)
    };
    let transport = Transport::Tcp(TcpPeer {
        address: with.0.0.clone(),
    });
    Actor::new(name, make, transport, None, events)
}

/// Begins a recording, if one is wanted. A board is played on without one.
fn recorder(name: &BoardName, board: &BoardConfig) -> Option<Recorder> {
    let directory = board.record.as_ref()?;
    match Recorder::begin(directory, name, &board.to_toml()) {
        Ok(recorder) => {
            info!(board = %name, path = %recorder.path().display(), "recording");
            Some(recorder)
        }
        Err(error) => {
            warn!(
                board = %name,
                "no recording: {} cannot be written ({error}); the service may write below /var/lib/boardbridge",
                directory.display()
            );
            None
        }
    }
}

/// Lets a limit on the size of files (`RLIMIT_FSIZE`) fail the write that goes beyond it. The signal that comes with it
/// would end the daemon.
fn outlive_file_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // The handler stays when what it reports to is dropped.
        if let Err(error) = signal(SignalKind::from_raw(libc::SIGXFSZ)) {
            warn!("a limit on the size of files will end the daemon: {error}");
        }
    }
}

/// Waits for SIGINT or SIGTERM (Ctrl-C elsewhere). On Unix one that comes from now on is not missed, whenever it is waited
/// for.
///
/// # Errors
/// The signals cannot be watched.
pub fn stop_signal() -> impl Future<Output = io::Result<()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
        async {
            let [terminate, interrupt] = signals;
            let (mut terminate, mut interrupt) = (terminate?, interrupt?);
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            Ok(())
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c()
}
