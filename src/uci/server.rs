//! Accepts GUIs over TCP and gives each a task of its own.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{Instrument, info_span, warn};

use super::connection;
use crate::{
    bus::Bus,
    slots::{ACCEPT_WAIT, Slots},
    vocabulary::ClientId,
};

/// The most GUIs at once, over all ports: as many as there may be boards. When all slots are taken, a GUI that has
/// stated no game makes room; if there is none, the next one is told to come later.
pub const MAX_CLIENTS: usize = 64;
/// The most GUIs from one address, so that one computer cannot take all slots.
pub const MAX_CLIENTS_EACH: usize = 48;

/// What all UCI ports share.
#[derive(Debug, Clone)]
pub struct Shared {
    ids: Arc<AtomicU64>,
    slots: Slots,
}

impl Default for Shared {
    fn default() -> Self {
        Self::after(ClientId(0))
    }
}

impl Shared {
    /// Counts the clients on from this one, the last before a restart.
    pub fn after(last: ClientId) -> Self {
        Self {
            ids: Arc::new(AtomicU64::new(last.0.saturating_add(1))),
            slots: Slots::new(MAX_CLIENTS, MAX_CLIENTS_EACH),
        }
    }

    /// A number for another client.
    pub fn client(&self) -> ClientId {
        ClientId(self.ids.fetch_add(1, Ordering::Relaxed))
    }
}

/// Serves one port until `stop` is cancelled.
pub async fn serve(listener: TcpListener, bus: Bus, shared: Shared, stop: CancellationToken) {
    let clients = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let id = shared.client();
                let span = info_span!("client", %id, %peer);
                let slot = tokio::select! {
                    () = stop.cancelled() => break,
                    slot = shared.slots.take(peer.ip()) => slot,
                };
                let Some(slot) = slot else {
                    span.in_scope(|| {
                        warn!("turned away: too many GUIs are connected already");
                    });
                    turn_away(&stream);
                    continue;
                };
                let client = connection::client(stream, peer, id, bus.clone(), stop.clone(), slot);
                clients.spawn(client.instrument(span));
            }
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_WAIT).await;
            }
        }
    }
    clients.close();
    clients.wait().await;
}

/// Sends the reason, without waiting for it to be read.
fn turn_away(stream: &TcpStream) {
    let text = format!(
        "info string {MAX_CLIENTS} programs are connected already, or {MAX_CLIENTS_EACH} of your machine: try again later\n"
    );
    // A client that does not read this has lost nothing.
    let _ = stream.try_write(text.as_bytes());
}
