//! Starts the front-ends.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tracing::warn;

use super::{Daemon, part::Part, running::Running};
use crate::{
    event_stream,
    pgn::{
        self,
        folder::{Folder, Writer},
        settings::GamesConfig,
    },
    uci::server,
    vocabulary::BoardName,
};

impl Daemon {
    /// Starts what this part is, at its port if it has one.
    pub(super) fn front_end(
        &mut self,
        running: &mut Running,
        port: Option<(TcpListener, SocketAddr)>,
    ) {
        let (listener, taken) = port.unzip();
        let part = running.part.clone();
        match (&part, listener) {
            (Part::Uci(_), Some(listener)) => self.uci(running, listener, None),
            (Part::UciFor(board, _), Some(listener)) => self.uci(running, listener, Some(board)),
            (Part::WhitePawn(entry), listener) => self.app(running, entry, listener),
            (Part::Link(entry, linked), _) => self.link(running, entry, linked),
            (Part::Games(board, games), _) => self.keep_games(running, board, games),
            (Part::Status(_), Some(listener)) => {
                let serving = event_stream::serve(listener, self.bus.clone(), running.stop.clone());
                running.tasks.spawn(serving);
            }
            // A listener that is off; the task of a board.
            _ => {}
        }
        if let (Some((service, _)), Some(taken)) = (part.listens(), taken) {
            running.port = Some((service, taken));
        }
    }

    /// Serves GUIs, for one board or for all that are here.
    fn uci(&self, running: &Running, listener: TcpListener, board: Option<&BoardName>) {
        let bus = board.map_or_else(|| self.bus.own(), |board| self.bus.only(board));
        let serving = server::serve(listener, bus, self.clients.clone(), running.stop.clone());
        running.tasks.spawn(serving);
    }

    /// Keeps what is played. A board is played on without that.
    fn keep_games(&mut self, running: &Running, board: &BoardName, games: &GamesConfig) {
        let (Some(path), Some(board)) = (games.folder(), self.bus.board(board.as_str())) else {
            return;
        };
        let writer = match self.writer.clone().map_or_else(Writer::start, Ok) {
            Ok(writer) => writer,
            Err(error) => {
                warn!(board = %board.name, "games are not saved: {error}");
                return;
            }
        };
        self.writer = Some(writer.clone());
        let folder = Folder::new(path, board.name.clone());
        let keeping = pgn::task::keep(board, games.clone(), folder, writer, running.stop.clone());
        running.tasks.spawn(keeping);
    }
}
