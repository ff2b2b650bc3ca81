//! How a board is reached, and the open link to it.

use std::{fmt, io};

use thiserror::Error;

use super::{
    Incoming, Stream, ble,
    duplex::{CABLE, Duplex, Medium, NETWORK, RADIO},
    hid, is_gadget_port, peer, rfcomm, serial,
};
use crate::{system::holders::Holder, vocabulary::Outgoing};

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
        "{port} cannot be opened by this user: add it to the port's group (usually `sudo usermod -aG dialout \
         USER`) and log in again"
    )]
    Denied {
        /// The port.
        port: String,
    },
    /// Another program uses the port.
    #[error("{port} is in use by another program{}: close that first", named(.holder.as_ref()))]
    Busy {
        /// The port.
        port: String,
        /// Which program, if this user may know.
        holder: Option<Holder>,
    },
    /// This process is still closing the port.
    #[error(
        "{port} is still closing: the board is not reading. If this lasts, switch the board off and on, or unplug it for a moment"
    )]
    Closing {
        /// The port.
        port: String,
    },
    /// It exists, but is not a serial port.
    #[error("{port} is not a serial port: `boardbridge scan` shows those in reach")]
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
    /// Bluetooth LE.
    #[error(transparent)]
    Ble(#[from] ble::BleError),
    /// Bluetooth Classic.
    #[error(transparent)]
    Rfcomm(#[from] rfcomm::RfcommError),
    /// A HID device on USB.
    #[error(transparent)]
    Hid(#[from] hid::HidError),
    /// Anything else.
    #[error("{port} cannot be opened: {source}")]
    Other {
        /// The port.
        port: String,
        /// What the system says.
        source: io::Error,
    },
}

impl OpenError {
    /// Whether the board was connected for a while all the same.
    pub fn was_linked(&self) -> bool {
        matches!(self, Self::Ble(error) if error.was_linked())
    }
}

fn named(holder: Option<&Holder>) -> String {
    holder.map_or(String::new(), |holder| format!(", {holder}"))
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
    Tcp(peer::TcpPeer),
    /// Bluetooth LE.
    Ble(ble::BleBoard),
    /// Bluetooth Classic.
    Rfcomm(rfcomm::RfcommBoard),
    /// USB, as a HID device.
    Hid(hid::HidBoard),
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
            Self::Rfcomm(board) => Ok(Link::line(board.open().await?, RADIO)),
            Self::Hid(board) => Ok(Link::Hid(Box::new(board.open().await?))),
        }
    }

    /// Waits until a dropped link has ended, if that takes time. Some seconds at most.
    pub async fn closed(&self) {
        match self {
            Self::Serial(port) => port.closed().await,
            Self::Hid(board) => board.closed().await,
            Self::Tcp(_) | Self::Ble(_) | Self::Rfcomm(_) => {}
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial(port) => port.fmt(f),
            Self::Tcp(peer) => peer.fmt(f),
            Self::Ble(board) => board.fmt(f),
            Self::Rfcomm(board) => board.fmt(f),
            Self::Hid(board) => board.fmt(f),
        }
    }
}

/// An open link.
pub enum Link {
    /// Over a serial line, TCP or Bluetooth Classic.
    Stream(Box<Duplex>),
    /// Over Bluetooth LE.
    Gatt(ble::GattLink),
    /// Over USB, to a HID device.
    Hid(Box<hid::HidLink>),
}

impl Link {
    fn line(stream: impl Stream + 'static, medium: Medium) -> Self {
        Self::Stream(Box::new(Duplex::new(Box::new(stream), medium)))
    }

    /// Accepts one request.
    pub fn send(&mut self, outgoing: &Outgoing) {
        match self {
            Self::Stream(duplex) => {
                duplex.send(outgoing);
                duplex.write_now();
            }
            Self::Gatt(link) => link.send(outgoing),
            Self::Hid(link) => link.send(outgoing),
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
            Self::Hid(link) => link.next().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::io::{AsyncReadExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn what_is_sent_leaves_at_once_whatever_the_task_waits_for_next() {
        let (ours, mut board) = duplex(64);
        let mut link = Link::line(ours, CABLE);
        for line in ["Position Board\r\n", ".8rnbqkbnr\r\n"] {
            link.send(&Outgoing::serial(Bytes::from(line)));
            let mut came = vec![0; line.len()];
            board.read_exact(&mut came).await.unwrap();
            assert_eq!(came, line.as_bytes());
        }
    }
}
