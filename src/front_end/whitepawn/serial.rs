//! The app over a serial line: `/dev/ttyGS0` of a Pi in USB gadget mode, or any UART.
//!
//! The port is opened at the start and read continuously, raw and without echo: data that an unread port has buffered,
//! or echoes back, would collide with the app's handshake.

use std::time::{Duration, Instant};

use tokio::{sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Availability, Connection};
use crate::transport::{Backoff, duplex::CABLE, serial::SerialPort};

/// A port that stayed open for this long was useful: it is opened again without a long wait.
const OF_USE: Duration = Duration::from_secs(1);

/// Keeps the port open until `stop` is cancelled.
pub async fn serve(
    port: SerialPort,
    connections: mpsc::Sender<Connection>,
    availability: Availability,
    stop: CancellationToken,
) {
    let mut backoff = Backoff::default();
    loop {
        let opened = tokio::select! {
            () = stop.cancelled() => break,
            opened = port.open() => opened,
        };
        match opened {
            Ok(stream) => {
                info!("{port} is open for the app");
                availability.is_over();
                let open = CancellationToken::new();
                let connection = Connection {
                    address: None,
                    peer: port.port.as_str().into(),
                    stream: Box::new(stream),
                    medium: CABLE,
                    receipt: None,
                    lease: Some(open.clone().drop_guard()),
                };
                let began = Instant::now();
                if connections.send(connection).await.is_err() {
                    break;
                }
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = open.cancelled() => {}
                }
                if began.elapsed() > OF_USE {
                    backoff.reset();
                }
            }
            Err(error) => {
                if availability.is(&error) {
                    warn!("the app cannot connect: {error}");
                }
            }
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep(backoff.next_wait()) => {}
        }
    }
    port.closed().await;
}
