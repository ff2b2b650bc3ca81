//! Opens the ports to listen at.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{net::TcpListener, time::sleep};
use tracing::{info, warn};

use super::{
    inherited::{Inherited, Wanted},
    service::{Service, StartError},
};
use crate::{net::door::Listen, transport::tcp::bound_buffers};

/// How often an address that is about to be free is tried.
const AGAIN: Duration = Duration::from_millis(50);

/// Opens a port that is not one of those `taken`; `None` if it is off. `wanted` has its addresses, if they were looked up.
pub(super) async fn bind(
    what: &Service,
    listen: &Listen,
    inherited: &Inherited,
    wanted: Option<&Wanted>,
    taken: &[SocketAddr],
) -> Result<Option<(TcpListener, SocketAddr)>, StartError> {
    let Listen::At(address) = listen else {
        inherited.left_out(what, listen);
        return Ok(None);
    };
    let error = |source: io::Error| match inherited.on_port_of(listen) {
        Some(activated) if source.kind() == io::ErrorKind::AddrInUse => StartError::Activated {
            what: what.clone(),
            address: address.clone(),
            activated,
        },
        _ => StartError::Listen {
            what: what.clone(),
            address: address.clone(),
            source,
        },
    };
    let addresses = Wanted::addresses(wanted, address).await;
    let addresses = addresses.map_err(error)?;
    let given = inherited.fitting(what, &addresses, taken).map_err(error)?;
    let listener = if let Some(listener) = given {
        listener
    } else {
        inherited.left_out(what, listen);
        fresh(&addresses, listen.port(), inherited)
            .await
            .map_err(error)?
    };
    if let Err(error) = bound_buffers(&listener) {
        warn!(%error, "the kernel keeps more for each connection than it should");
    }
    let taken = listener.local_addr().map_err(error)?;
    info!("{what} listens at {taken}");
    Ok(Some((listener, taken)))
}

/// A new listener at the first free one of these addresses. A listener that was let go may still hold one for a moment.
async fn fresh(
    addresses: &[SocketAddr],
    port: Option<u16>,
    inherited: &Inherited,
) -> io::Result<TcpListener> {
    loop {
        match TcpListener::bind(addresses).await {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse && inherited.is_closing(port) =>
            {
                sleep(AGAIN).await;
            }
            other => return other,
        }
    }
}
