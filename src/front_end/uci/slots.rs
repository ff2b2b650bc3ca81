//! How many GUIs may be connected, and how many of them from one address.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{net::slots::Slots, vocabulary::ClientId};

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
    pub(super) slots: Slots,
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
