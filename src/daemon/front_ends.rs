//! Starts the front-ends.

use tokio::net::TcpListener;
use tracing::{info, warn};

use super::{
    Daemon, StartError,
    service::{self, Service},
    sessions::Sessions,
};
use crate::{
    bus::Bus,
    config::{Config, Listen},
    event_stream,
    pgn::{
        self,
        folder::{Folder, Writer},
    },
    uci::server,
    vocabulary::BoardName,
};

impl Daemon {
    /// Starts everything that listens at a port or plays by itself.
    pub(super) async fn listen(
        &mut self,
        config: &Config,
        shared: server::Shared,
        sessions: Sessions,
    ) -> Result<(), StartError> {
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
        for (entry, kept) in config.whitepawn.iter().zip(sessions.apps) {
            self.serve_app(entry, kept, &shared).await?;
        }
        for (entry, kept) in config.link.iter().zip(sessions.links) {
            self.link(config, entry, kept, &shared);
        }
        if let Some(listener) = self.bind(Service::Status, &config.status.listen).await? {
            self.tasks
                .spawn(event_stream::serve(listener, self.bus.clone(), stop));
        }
        Ok(())
    }

    /// Keeps what is played. A board is played on without that.
    pub(super) fn keep_games(&self, config: &Config) {
        let Some(path) = config.games.folder() else {
            info!("games are not saved");
            return;
        };
        let writer = match Writer::start() {
            Ok(writer) => writer,
            Err(error) => {
                warn!("games are not saved: {error}");
                return;
            }
        };
        info!("games are saved in {}", path.display());
        for board in self.own(config).boards() {
            let folder = Folder::new(path, board.name.clone());
            let (config, writer, stop) = (config.games.clone(), writer.clone(), self.stop.clone());
            let keeping = pgn::task::keep(board.clone(), config, folder, writer, stop);
            self.tasks.spawn(keeping);
        }
    }

    /// The boards that are here: those of others are for their links alone.
    fn own(&self, config: &Config) -> Bus {
        let far = config.link.iter().filter(|entry| entry.with.is_some());
        let names = far.flat_map(|entry| &entry.boards).map(BoardName::far);
        self.bus.without(&names.collect::<Vec<_>>())
    }

    /// Takes a port for this service; none if it is off.
    pub(super) async fn bind(
        &mut self,
        what: Service,
        listen: &Listen,
    ) -> Result<Option<TcpListener>, StartError> {
        let Some((listener, taken)) = service::bind(&what, listen).await? else {
            return Ok(None);
        };
        self.ports.push((what, taken));
        Ok(Some(listener))
    }
}
