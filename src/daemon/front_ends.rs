//! Starts the front-ends.

use std::{net::SocketAddr, sync::Arc};

use shakmaty::ByColor;
use tokio::net::TcpListener;
use tracing::warn;

use super::{Daemon, part::Part, running::Running};
use crate::{
    bus::Bus,
    front_end::{
        event_stream, livechess,
        pgn::{
            self,
            folder::{Folder, Writer},
            settings::GamesConfig,
        },
        pgn_text::TagText,
        uci::server,
        web,
    },
    net::door::Door,
    vocabulary::BoardName,
};

impl Daemon {
    /// Starts this part, at its port if it has one.
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
            (Part::Link(entry), _) => self.link(running, entry),
            (Part::Opponent(entry), _) => self.opponent(running, entry),
            (Part::Lichess(entry, board), _) => self.lichess(running, entry, board.as_ref()),
            (Part::Mqtt(config), _) => self.mqtt(running, config),
            (Part::Broadcast(entry, boards), _) => self.broadcast(running, entry, boards),
            (Part::Games(board, games), _) => self.keep_games(running, board, games),
            (Part::Status(status), Some(listener)) => {
                let door = Door::new(listener, status.allow.clone(), "[status]");
                let serving = event_stream::serve(door, self.bus.clone(), running.stop.clone());
                running.tasks.spawn(serving);
            }
            (Part::Web(web), Some(listener)) => {
                let door = Door::new(listener, web.allow.clone(), "[web]");
                let players = web.broadcast.players.iter().map(|(board, names)| {
                    let white = TagText::text(names.white.as_ref());
                    let black = TagText::text(names.black.as_ref());
                    (board.clone(), ByColor { white, black })
                });
                let broadcast = web::Broadcast {
                    event: TagText::text(web.broadcast.event.as_ref()),
                    round: TagText::text(web.broadcast.round.as_ref()),
                    players: players.collect(),
                };
                let hosts = web.hosts.clone();
                let bus = self.bus.own();
                let kept = self.kept.subscribe();
                let pairing = self.pairing.clone();
                let host = self.host.subscribe();
                let house =
                    web::House::new(bus, web.control, pairing, hosts, host, kept, broadcast);
                running
                    .tasks
                    .spawn(web::serve(door, house, running.stop.clone()));
            }
            (Part::LiveChess(served), Some(listener)) => {
                let door = Door::new(listener, served.allow.clone(), "[livechess]");
                let clients = self.clients.clone();
                let pages = livechess::pages::Pages::new(
                    self.bus.own(),
                    served.board.clone(),
                    served.origins.clone(),
                    Arc::new(move || clients.client()),
                    running.stop.clone(),
                );
                running.tasks.spawn(livechess::server::serve(door, pages));
            }
            // A listener that is off, or a board, which is started elsewhere.
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

    /// Saves the games. Failing to save never stops play.
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
        let games = GamesConfig {
            // Without saved state, a kill would lose the moves since the last write.
            every_move: games.every_move || self.store.path().is_none(),
            ..games.clone()
        };
        let bus = self.bus.clone();
        let keeping = pgn::task::keep(bus, board, games, folder, writer, running.stop.clone());
        running.tasks.spawn(keeping);
    }
}
