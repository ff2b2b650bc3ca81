//! Transports: they move bytes, and know nothing about chess.
//!
//! A transport opens a [`Link`]. A link ends with an error, and the actor opens another after a wait ([`Backoff`]).
//!
//! # Links and channels
//!
//! A link has [channels](crate::vocabulary::Channel): one for a serial line, TCP, Bluetooth Classic or a HID device, one per
//! characteristic for Bluetooth LE. A driver makes one request at a time (write, read, subscribe) and is told its outcome; a
//! serial line acknowledges nothing. The actor is the same for all.
//!
//! A serial port is opened and closed on other threads ([`closing`]). Closing waits for the last bytes to leave, and
//! the kernel gives a USB board that hangs 30 s for that; opening may talk to the board. A port is in use until it is
//! closed, so there is at most one closing thread per port. The next attempt to open it waits 2 s, then reports that
//! the port is still being closed and tries again as for any other reason. A daemon that stops waits the same 2 s;
//! after that the kernel closes the port.

pub mod backoff;
#[cfg(target_os = "linux")]
pub mod ble;
#[cfg(target_os = "linux")]
pub mod bluez;
#[cfg(target_os = "linux")]
pub mod closing;
pub mod duplex;
#[cfg(target_os = "linux")]
pub mod hid;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
pub mod peer;
#[cfg(target_os = "linux")]
pub mod rfcomm;
#[cfg(target_os = "linux")]
pub mod serial;
pub mod settings;
pub mod tcp;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::vocabulary::{Channel, Reply};

pub use backoff::Backoff;
#[cfg(target_os = "linux")]
pub use link::{Link, OpenError, Transport};

/// The name that Linux gives the serial ports of its own USB device port (`drivers/usb/gadget/function/u_serial.c`).
const GADGET_PORT: &str = "/ttyGS";

/// Bytes both ways, without boundaries: a serial line, TCP, Bluetooth Classic.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Whether this is a serial port of this machine's own USB device port.
pub fn is_gadget_port(port: &str) -> bool {
    port.contains(GADGET_PORT)
}

/// What arrives on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// Bytes came from the board.
    Received(Channel, Bytes),
    /// A request was carried out or refused.
    Answered(Channel, Reply),
}
