//! Accepts GUIs over TCP and gives each a task of its own.

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

use super::{connection, slots::Shared};
use crate::{bus::Bus, net::door::Door};

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
