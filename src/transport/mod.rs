//! Transports: they move bytes, and know nothing about chess.
//!
//! A transport opens to a [`Link`]; a link ends with an error, and the actor opens it again, with [`Backoff`]
//! between.
//!
//! # Links and channels
//!
//! A link has [channels](crate::vocabulary::Channel): one for a serial line or TCP, one per characteristic for
//! Bluetooth LE. A driver asks for one thing at a time (write, read, subscribe) and is handed what became of it; a
//! serial line acknowledges nothing. The actor is the same for both.
//!
//! A serial port is opened and closed on other threads ([`closing`]). Closing waits for the last bytes to leave, and
//! the kernel gives a USB board that hangs 30 s for that; opening may talk to the board. A port is in use until it is
//! closed, so there is at most one closing thread per port. The next attempt to open it waits 2 s, then reports that
//! the port is still being closed and tries again as for any other reason. A daemon that stops waits the same 2 s;
//! after that the kernel closes the port.

pub mod backoff;
pub mod ble;
pub mod closing;
pub mod duplex;
pub mod serial;
pub mod tcp;

use std::{fmt, io};

use bytes::Bytes;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};

use self::duplex::{CABLE, Duplex, Medium, NETWORK};
use crate::vocabulary::{Channel, Outgoing, Reply};

pub use backoff::Backoff;

/// The name that Linux gives the serial ports of its own USB device port (`drivers/usb/gadget/function/u_serial.c`).
const GADGET_PORT: &str = "/ttyGS";

/// Bytes both ways, without boundaries: a serial line, TCP.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Why a link could not be opened, and what to do.
#[derive(Debug, Error)]
pub enum OpenError {
    /// There is no such port.
    #[error("there is no {port}: {}", missing_hint(.port))]
    Missing {
        /// The port.
        port: String,
    },
    /// This user may not open the port.
    #[error(
        "{port} may not be opened by this user: add it to the port's group (usually `sudo usermod -aG dialout \
         USER`) and log in again"
    )]
    Denied {
        /// The port.
        port: String,
    },
    /// Another program uses the port.
    #[error("{port} is in use by another program: close that first")]
    Busy {
        /// The port.
        port: String,
    },
    /// This process is still closing the port.
    #[error(
        "{port} is still being closed, as what is at its other end does not take what it was sent last: if that lasts, switch \
         that off and on, or unplug it for a moment"
    )]
    Closing {
        /// The port.
        port: String,
    },
    /// It exists, but is not a serial port.
    #[error("{port} is no serial port: `boardbridge scan` shows those in reach")]
    NoPort {
        /// What was named.
        port: String,
    },
    /// Nothing answers at an address.
    #[error(
        "{address} cannot be reached ({source}): is the board switched on and in the network, and is the address right?"
    )]
    Unreachable {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// Bluetooth.
    #[error(transparent)]
    Ble(#[from] ble::BleError),
    /// Anything else.
    #[error("{port} cannot be opened: {source}")]
    Other {
        /// The port.
        port: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Whether this is a serial port of this machine's own USB device port.
pub fn is_gadget_port(port: &str) -> bool {
    port.contains(GADGET_PORT)
}

/// What to do about a missing port.
fn missing_hint(port: &str) -> &'static str {
    if is_gadget_port(port) {
        // It is not made by plugging in a cable, and a scan does not show it.
        "boardbridge-gadget makes it, and `sudo systemctl status boardbridge-gadget` says why it has not"
    } else {
        "is the cable plugged in, and does `boardbridge scan` show another name?"
    }
}

/// How a board is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A serial port.
    Serial(serial::SerialPort),
    /// TCP.
    Tcp(tcp::TcpPeer),
    /// Bluetooth LE.
    Ble(ble::BleBoard),
}

impl Transport {
    /// Opens the link.
    ///
    /// # Errors
    /// [`OpenError`], worded for the player.
    pub async fn open(&self) -> Result<Link, OpenError> {
        match self {
            Self::Serial(port) => Ok(Link::line(port.open().await?, CABLE)),
            Self::Tcp(peer) => Ok(Link::line(peer.open().await?, NETWORK)),
            Self::Ble(board) => Ok(Link::Gatt(board.open().await?)),
        }
    }

    /// Waits until a dropped link has ended, if that takes time. Some seconds at most.
    pub async fn closed(&self) {
        match self {
            Self::Serial(port) => port.closed().await,
            Self::Tcp(_) | Self::Ble(_) => {}
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial(port) => port.fmt(f),
            Self::Tcp(peer) => peer.fmt(f),
            Self::Ble(board) => board.fmt(f),
        }
    }
}

/// What arrives on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// Bytes came from the board.
    Received(Channel, Bytes),
    /// A request was carried out or refused.
    Answered(Channel, Reply),
}

/// An open link.
pub enum Link {
    /// Over a serial line or TCP.
    Stream(Box<Duplex>),
    /// Over Bluetooth LE.
    Gatt(ble::GattLink),
}

impl Link {
    fn line(stream: impl Stream + 'static, medium: Medium) -> Self {
        Self::Stream(Box::new(Duplex::new(Box::new(stream), medium)))
    }

    /// Accepts one action to carry out.
    pub fn send(&mut self, outgoing: &Outgoing) {
        match self {
            Self::Stream(duplex) => duplex.send(outgoing),
            Self::Gatt(link) => link.send(outgoing),
        }
    }

    /// Carries out what is queued and waits for input. Cancel safe: nothing is lost.
    ///
    /// # Errors
    /// Why the link is broken, for the player.
    pub async fn next(&mut self) -> Result<Incoming, String> {
        match self {
            Self::Stream(duplex) => duplex.next().await,
            Self::Gatt(link) => link.next().await,
        }
    }
}
