//! An app that has connected, by any transport.

use std::{fmt, net::IpAddr, sync::Arc};

use futures_util::future::BoxFuture;
use tokio_util::sync::DropGuard;

use crate::transport::{Stream, duplex::Medium};

/// Connections that may wait to be served. An app makes one.
pub const MAX_WAITING: usize = 4;

/// How far everything that was sent on a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// Some of it has not been taken yet.
    Missing,
    /// The radio has taken it, which does not tell whether the other end has.
    Taken,
    /// The other end has acknowledged it.
    Acknowledged,
}

/// Asks how far the sent bytes have come; `None` if that is unknown.
pub type AskReceipt = Box<dyn Fn() -> BoxFuture<'static, Option<Receipt>> + Send>;

/// An app that has connected. TCP, a serial line, RFCOMM and Bluetooth LE all end in a stream of bytes.
pub struct Connection {
    /// The other end, for messages: an address, or a port's name.
    pub peer: Arc<str>,
    /// Its address, if it comes over the network.
    pub address: Option<IpAddr>,
    /// Bytes to and from the app.
    pub stream: Box<dyn Stream>,
    /// What carries the bytes.
    pub medium: Medium,
    /// How far what was sent has come, where that can be known.
    pub receipt: Option<AskReceipt>,
    /// Tells the transport that the connection is over.
    pub lease: Option<DropGuard>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
