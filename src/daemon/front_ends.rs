//! Starts the front-ends.

use std::{net::SocketAddr, path::Path, sync::Arc};

use shakmaty::ByColor;
use tokio::net::TcpListener;
use tracing::warn;

use super::{Daemon, part::Part, running::Running};
use crate::{
    bus::Bus,
    door::Door,
    event_stream, livechess,
    pgn::{
        self,
        folder::{Folder, Writer},
        settings::{GamesConfig, TagText},
    },
    uci::server,
    vocabulary::BoardName,
    web,
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
            (Part::Uci(uci), Some(listener)) => {
                let door = Door::new(listener, uci.allow.clone(), "[uci]");
                self.uci(running, door, self.bus.own());
            }
            (Part::UciFor(board, served), Some(listener)) => {
                let section = format!("uci_listen of [boards.{board}]");
                let door = Door::new(listener, served.allow.clone(), section);
                self.uci(running, door, self.bus.only(board));
            }
            (Part::WhitePawn(entry), listener) => self.app(running, entry, listener),
            (Part::Link(entry, linked), _) => self.link(running, entry, linked),
            (Part::Opponent(entry, board, player), _) => {
                self.opponent(running, entry, board, player);
            }
            (Part::Lichess(entry, wait), _) => self.lichess(running, entry, *wait),
            (Part::Games(board, games), _) => self.keep_games(running, board, games),
            (Part::Status(status), Some(listener)) => {
                let door = Door::new(listener, status.allow.clone(), "[status]");
                let serving = event_stream::serve(door, self.bus.clone(), running.stop.clone());
                running.tasks.spawn(serving);
            }
            (Part::Web(web, games), Some(listener)) => {
                let door = Door::new(listener, web.allow.clone(), "[web]");
                let text = |text: &Option<TagText>| text.as_ref().map(|text| text.0.clone());
                let kept = web::Kept {
                    folder: games.folder().map(Path::to_owned),
                    site: text(&games.site),
                    player: text(&games.player),
                };
                let players = web.broadcast.players.iter().map(|(board, names)| {
                    let white = text(&names.white);
                    let black = text(&names.black);
                    (board.clone(), ByColor { white, black })
                });
                let broadcast = web::Broadcast {
                    event: text(&web.broadcast.event),
                    round: text(&web.broadcast.round),
                    players: players.collect(),
                };
                let hosts = web.hosts.clone();
                let bus = self.bus.own();
                let house = web::House::new(bus, web.control, hosts, kept, broadcast);
                running
                    .tasks
                    .spawn(web::serve(door, house, running.stop.clone()));
            }
            (Part::LiveChess(served), Some(listener)) => {
                let door = Door::new(listener, served.allow.clone(), "[livechess]");
                let clients = self.clients.clone();
                let house = livechess::server::House::new(
                    self.bus.own(),
                    served.board.clone(),
                    served.origins.clone(),
                    Arc::new(move || clients.client()),
                    running.stop.clone(),
                );
                running.tasks.spawn(livechess::server::serve(door, house));
            }
            // A listener that is off; the task of a board.
            _ => {}
        }
        if let (Some((service, _)), Some(taken)) = (part.listens(), taken) {
            running.port = Some((service, taken));
        }
    }

    /// Serves GUIs on these boards.
    fn uci(&self, running: &Running, door: Door, bus: Bus) {
        let serving = server::serve(door, bus, self.clients.clone(), running.stop.clone());
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
