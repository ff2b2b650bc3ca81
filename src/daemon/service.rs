//! What is served at which port.

use std::{fmt, io, net::SocketAddr};

use thiserror::Error;
use tokio::net::{TcpListener, lookup_host};
use tracing::{info, warn};

use crate::{config::Listen, transport::tcp::bound_buffers, vocabulary::BoardName};

/// What is served at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    /// GUIs, for every board.
    Uci,
    /// GUIs, for one board.
    UciFor(BoardName),
    /// The `WhitePawn` app, for one board.
    WhitePawn(BoardName),
    /// The event stream.
    Status,
    /// The API.
    Web,
    /// Pages such as lichess.org's.
    LiveChess,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uci => f.write_str("uci"),
            Self::UciFor(board) => write!(f, "uci for {board}"),
            Self::WhitePawn(board) => write!(f, "whitepawn for {board}"),
            Self::Status => f.write_str("status"),
            Self::Web => f.write_str("web"),
            Self::LiveChess => f.write_str("livechess"),
        }
    }
}

/// Why the daemon cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A port cannot be had.
    #[error("{what} cannot listen at {address}: {}", listen_hint(.what, .source))]
    Listen {
        /// Which port.
        what: Service,
        /// Where.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The socket unit has the port, at another address.
    #[error(
        "{what} cannot listen at {address}: boardbridge.socket has that port, at {activated}. Give both the same address \
         (`systemctl edit boardbridge.socket`), or switch the socket off (`systemctl disable --now boardbridge.socket`)"
    )]
    Activated {
        /// Which port.
        what: Service,
        /// Where.
        address: String,
        /// Where the socket unit listens.
        activated: SocketAddr,
    },
}

fn listen_hint(what: &Service, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::AddrInUse => {
            let another = match what {
                Service::Uci => {
                    ", for instance BOARDBRIDGE_UCI__LISTEN=127.0.0.1:9671, and start the engine as `boardbridge uci \
                     --connect 127.0.0.1:9671`"
                }
                Service::Status => {
                    ", for instance BOARDBRIDGE_STATUS__LISTEN=127.0.0.1:9681, and watch with `boardbridge watch \
                     --connect 127.0.0.1:9681`"
                }
                Service::Web => {
                    ", for instance BOARDBRIDGE_WEB__LISTEN=127.0.0.1:9661, and say `--connect 127.0.0.1:9661` to `boardbridge \
                     release`"
                }
                _ => " in the configuration",
            };
            format!(
                "the port is in use: is another BoardBridge running? Stop it, or take another port{another}"
            )
        }
        io::ErrorKind::PermissionDenied => "this user may not: take a port above 1023".to_owned(),
        _ => format!("this machine has no such address ({source}): write 127.0.0.1 or 0.0.0.0"),
    }
}

/// A listener that the service manager opened for us before we started.
#[derive(Debug, Default)]
pub struct Inherited(Option<(std::net::TcpListener, SocketAddr)>);

impl Inherited {
    /// This listener, for GUIs.
    ///
    /// # Errors
    /// What the system says.
    pub fn for_uci(listener: std::net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        Ok(Self(Some((listener, at))))
    }

    /// The listener, if it is for this service and at this address.
    async fn fitting(&self, what: &Service, address: &str) -> io::Result<Option<TcpListener>> {
        let Some((listener, at)) = self.0.as_ref().filter(|_| *what == Service::Uci) else {
            return Ok(None);
        };
        let same = |wanted: SocketAddr| {
            wanted.ip() == at.ip() && (wanted.port() == at.port() || wanted.port() == 0)
        };
        if lookup_host(address).await?.any(same) {
            // A copy, so that it can be taken again after the configuration has changed.
            return TcpListener::from_std(listener.try_clone()?).map(Some);
        }
        Ok(None)
    }

    /// Says that the listener is not used, as the configuration wants another address.
    fn left_out(&self, what: &Service, wanted: &Listen) {
        if let Some((_, at)) = self.0.as_ref().filter(|_| *what == Service::Uci) {
            warn!(
                "boardbridge.socket listens at {at}, but [uci] listen = \"{wanted}\" applies: what connects to {at} is not \
                 answered. Give both the same address (`systemctl edit boardbridge.socket`), or switch the socket off \
                 (`systemctl disable --now boardbridge.socket`)"
            );
        }
    }

    /// The listener's address, if its port is this one's.
    fn on_port_of(&self, listen: &Listen) -> Option<SocketAddr> {
        let (_, at) = self.0.as_ref()?;
        Some(*at).filter(|at| listen.port() == Some(at.port()))
    }
}

/// Takes a port; none if it is off.
pub(super) async fn bind(
    what: &Service,
    listen: &Listen,
    inherited: &Inherited,
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
    let given = inherited.fitting(what, address).await.map_err(error)?;
    let listener = if let Some(listener) = given {
        info!("boardbridge.socket has opened the port for {what}");
        listener
    } else {
        inherited.left_out(what, listen);
        TcpListener::bind(address.as_str()).await.map_err(error)?
    };
    if let Err(error) = bound_buffers(&listener) {
        warn!(%error, "the kernel keeps more for each connection than it should");
    }
    let taken = listener.local_addr().map_err(error)?;
    info!("{what} listens at {taken}");
    Ok(Some((listener, taken)))
}
