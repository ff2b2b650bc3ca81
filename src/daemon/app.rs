//! Lets the `WhitePawn` app play on boards.

use futures_util::future::BoxFuture;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    Daemon,
    running::Running,
    sessions::{self, Restored},
};
use crate::{
    front_end::whitepawn::{
        self, Availability, Connection, connection::MAX_WAITING, server::App,
        settings::WhitePawnConfig,
    },
    net::door::Door,
    text::swpp,
    transport::serial::SerialPort,
};

impl Daemon {
    /// Plays a board for the `WhitePawn` app.
    pub(super) fn app(
        &mut self,
        running: &mut Running,
        entry: &WhitePawnConfig,
        listener: Option<TcpListener>,
    ) {
        let Some(board) = self.bus.board(entry.board.as_str()) else {
            return;
        };
        let (connections, waiting) = mpsc::channel(MAX_WAITING);
        let (availability, stop) = (Availability::default(), running.stop.clone());
        let shown = availability.subscribe();
        let mut way = entry.way();
        let coming: BoxFuture<'static, ()> = if let Some(listener) = listener {
            if let Ok(taken) = listener.local_addr() {
                way = format!("tcp {taken}");
            }
            let allow = entry.tcp.as_ref().map(|tcp| tcp.allow.clone());
            let door = Door::new(listener, allow.unwrap_or_default(), "[[whitepawn]] tcp");
            Box::pin(whitepawn::tcp::serve(door, connections, stop))
        } else if entry.tcp.is_some() {
            return;
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
        running.tasks.spawn(coming.instrument(span));
        let Restored { memory, shelf } =
            self.sessions.apps.take(&self.store, &sessions::app(entry));
        let known = memory.as_ref().map(|memory| memory.seat.client);
        let client = known.unwrap_or_else(|| self.clients.client());
        running.clients.push((client, board.clone()));
        let app = App {
            client,
            way,
            board,
            names_promotion: entry.promotion_letter,
            bus: self.bus.clone(),
            availability: shown,
            memory,
            shelf,
        };
        let serving = whitepawn::server::serve(app, waiting, running.stop.clone());
        running.tasks.spawn(serving);
    }
}

/// Lets the app come by Bluetooth.
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
