//! Lets the `WhitePawn` app play on boards.

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{Daemon, Service, StartError};
use crate::{
    config::WhitePawnConfig,
    swpp,
    transport::serial::SerialPort,
    uci::server,
    whitepawn::{self, Availability, Connection, connection::MAX_WAITING, server::App},
};

impl Daemon {
    /// Plays a board for the `WhitePawn` app.
    pub(super) async fn serve_app(
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
