//! What is served at which port.

use std::{fmt, io, net::SocketAddr};

use thiserror::Error;

use crate::vocabulary::BoardName;

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
    /// The page and the API.
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

/// Why the daemon cannot start, or cannot change to another configuration.
#[derive(Debug, Error)]
pub enum StartError {
    /// A port cannot be opened.
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
                "the port is in use: is another BoardBridge running? Then use that (`boardbridge watch`), stop it (`sudo systemctl stop boardbridge`), or \
                 take another port{another}"
            )
        }
        io::ErrorKind::PermissionDenied => "this user may not: take a port above 1023".to_owned(),
        _ => format!("this machine has no such address ({source}): write 127.0.0.1 or 0.0.0.0"),
    }
}
