//! Accepts GUIs over TCP and gives each a task of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

use super::connection;
use crate::{
    bus::Bus,
    net::{door::Door, slots::Slots},
    vocabulary::ClientId,
};

/// The most GUIs at once, over all ports, where few boards are configured; see [`max_clients`].
pub const MAX_CLIENTS: usize = 64;
/// The most GUIs from one address, so that one computer cannot take all slots; three quarters of all.
pub const MAX_CLIENTS_EACH: usize = max_clients_each(MAX_CLIENTS);

/// The most GUIs at once, over all ports, with this many boards: two for each, at least [`MAX_CLIENTS`]. When all slots are taken,
/// [`Slots`] chooses one to close; if none may be closed, the new GUI is told to try again later.
pub const fn max_clients(boards: usize) -> usize {
    let two_each = boards.saturating_mul(2);
    if two_each > MAX_CLIENTS {
        two_each
    } else {
        MAX_CLIENTS
    }
}

/// The most of so many that may come from one address.
const fn max_clients_each(all: usize) -> usize {
    all / 4 * 3
}

/// How long a new GUI is spared, so that a burst of others does not take its slot before it says what it wants. GUIs send `uci`
/// within a second, even from a busy machine.
pub const SPARED: Duration = Duration::from_secs(3);

/// What all UCI ports share.
#[derive(Debug, Clone)]
pub struct Shared {
    ids: Arc<AtomicU64>,
    slots: Slots,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            ids: Arc::new(AtomicU64::new(1)),
            slots: Slots::new(MAX_CLIENTS, MAX_CLIENTS_EACH, SPARED),
        }
    }
}

impl Shared {
    /// Continues the clients' numbers after this one, the last before a restart.
    pub fn count_after(&self, last: ClientId) {
        self.ids
            .fetch_max(last.0.saturating_add(1), Ordering::Relaxed);
    }

    /// Makes room for the GUIs of this many boards. Those that are connected stay.
    pub fn make_room(&self, boards: usize) {
        let all = max_clients(boards);
        self.slots.resize(all, max_clients_each(all));
    }

    /// A number for another client.
    pub fn client(&self) -> ClientId {
        ClientId(self.ids.fetch_add(1, Ordering::Relaxed))
    }
}

/// Serves one port until `stop` is cancelled.
pub async fn serve(door: Door, bus: Bus, shared: Shared, stop: CancellationToken) {
    let full =
        "as many programs are connected already as may be, or of your machine: try again later";
    let visit = |stream, peer, slot| {
        let id = shared.client();
        let span = info_span!("client", %id, %peer);
        connection::client(stream, peer, id, bus.clone(), stop.clone(), slot).instrument(span)
    };
    let line = |why: &str| format!("info string {why}\n");
    door.serve(&shared.slots, full, line, &stop, visit).await;
}
