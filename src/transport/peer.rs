//! Boards on the network.

use std::{fmt, io};

use tokio::{net::TcpStream, time::timeout};
use tracing::warn;

use super::{
    OpenError,
    tcp::{CONNECT_WAIT, watch_over},
};
use crate::system::apart;

/// A board's network address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpPeer {
    /// `HOST:PORT`.
    pub address: String,
}

impl TcpPeer {
    /// Connects.
    ///
    /// # Errors
    /// [`OpenError`], worded for the player.
    pub async fn open(&self) -> Result<TcpStream, OpenError> {
        let connecting = timeout(CONNECT_WAIT, apart::connect(&self.address));
        let connected = connecting
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let stream = connected.map_err(|source| OpenError::Unreachable {
            address: self.address.clone(),
            source,
        })?;
        if let Err(error) = watch_over(&stream) {
            warn!(%error, "a dead connection will be noticed late");
        }
        Ok(stream)
    }
}

impl fmt::Display for TcpPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}
