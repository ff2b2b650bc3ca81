//! An app that has connected, whatever it came by.

use std::{fmt, sync::Arc};

use crate::transport::Stream;

/// An app that has connected. TCP, a serial line, RFCOMM and Bluetooth LE all end in a stream of bytes.
pub struct Connection {
    /// Where it comes from, for messages: an address, or a port's name.
    pub peer: Arc<str>,
    /// Bytes to and from the app.
    pub stream: Box<dyn Stream>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
