//! The app over TCP: no phone does that today, but simulated apps, bridges and others of our own do.

use tokio::{net::TcpListener, sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::Connection;
use crate::{
    transport::{line::NETWORK, tcp::watch_over},
    uci::server::ACCEPT_WAIT,
};

/// Accepts apps until `stop` is cancelled.
pub async fn serve(
    listener: TcpListener,
    connections: mpsc::Sender<Connection>,
    stop: CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                if let Err(error) = watch_over(&stream) {
                    warn!(%error, "a dead connection will be noticed late");
                }
                let connection = Connection {
                    peer: peer.to_string().into(),
                    stream: Box::new(stream),
                    medium: NETWORK,
                    lease: None,
                };
                if connections.send(connection).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_WAIT).await;
            }
        }
    }
}
