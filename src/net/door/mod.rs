//! A port, and who may connect there.

mod allow;
mod listen;
mod on_link;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy, sink},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info_span, warn};

pub use self::{
    allow::{Allow, MAX_NETWORKS, NotANetwork},
    listen::{Listen, Served},
};
use crate::net::slots::{ACCEPT_WAIT, Slot, Slots};

/// Connections that are heard out after a farewell, at most, at one port. A request that is not read cuts its answer off.
const FAREWELLS: usize = 16;
/// How long one is heard out: a browser has sent its request by then, and got the answer.
const FAREWELL_WAIT: Duration = Duration::from_secs(1);
/// Bytes of it that are read: the longest head of a request to the API. Who sends more has its answer cut off.
const REQUEST: u64 = 16 * 1024;

/// Whether a connection comes from this machine: by the address that every machine calls itself, or by the very address
/// it was made to. Only a program on this machine can do either.
pub fn is_here(peer: IpAddr, own: IpAddr) -> bool {
    let (peer, own) = (peer.to_canonical(), own.to_canonical());
    peer == Ipv4Addr::LOCALHOST || peer == Ipv6Addr::LOCALHOST || peer == own
}

/// A port, and who may connect there.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    allow: Allow,
    /// The part of the configuration that has the key `allow`.
    section: String,
    farewells: Arc<Semaphore>,
}

impl From<TcpListener> for Door {
    /// A port for private networks.
    fn from(listener: TcpListener) -> Self {
        Self::new(listener, Allow::default(), "the daemon")
    }
}

impl Door {
    /// A port for the peers that `allow` admits; `section` is the part of the configuration with that key.
    pub fn new(listener: TcpListener, allow: Allow, section: impl Into<String>) -> Self {
        Self {
            listener,
            allow,
            section: section.into(),
            farewells: Arc::new(Semaphore::new(FAREWELLS)),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// The next connection that is admitted. Others are logged, told `farewell` if that can be sent at once, and closed.
    ///
    /// # Errors
    /// A connection could not be accepted.
    pub async fn accept(
        &self,
        farewell: fn(&str) -> String,
    ) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            let (stream, peer) = self.listener.accept().await?;
            // A connection that is broken already has no address.
            let own = stream.local_addr().map(|own| own.ip());
            if own.is_ok_and(|own| is_here(peer.ip(), own) || self.allow.admits(peer.ip())) {
                return Ok((stream, peer));
            }
            let why = self.refusal(peer.ip());
            info_span!("refused", %peer).in_scope(|| warn!("{why}"));
            self.part(stream, &farewell(&why));
        }
    }

    /// Tells a peer why its connection is closed, if that can be sent at once, and closes it.
    fn part(&self, mut stream: TcpStream, farewell: &str) {
        let told = stream.try_write(farewell.as_bytes()).is_ok();
        // A peer that does not get it has lost nothing.
        let Some(farewell) = self
            .farewells
            .clone()
            .try_acquire_owned()
            .ok()
            .filter(|_| told)
        else {
            return;
        };
        tokio::spawn(async move {
            let _farewell = farewell;
            let hearing = async {
                stream.shutdown().await?;
                copy(&mut stream.take(REQUEST), &mut sink()).await
            };
            let _ = timeout(FAREWELL_WAIT, hearing).await;
        });
    }

    /// Gives every admitted connection a slot and a task of its own, until `stop` is cancelled and all tasks have
    /// ended. If there is no free slot, the connection is logged and told `full`. `farewell` makes a line of such a
    /// message.
    pub async fn serve<F: Future<Output = ()> + Send + 'static>(
        self,
        slots: &Slots,
        full: &str,
        farewell: fn(&str) -> String,
        stop: &CancellationToken,
        visit: impl Fn(TcpStream, SocketAddr, Slot) -> F,
    ) {
        let visits = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.accept(farewell) => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let slot = tokio::select! {
                        () = stop.cancelled() => break,
                        slot = slots.take(peer.ip()) => slot,
                    };
                    if let Some(slot) = slot {
                        visits.spawn(visit(stream, peer, slot));
                    } else {
                        warn!(%peer, "turned away: {full}");
                        self.part(stream, &farewell(full));
                    }
                }
                Err(error) => {
                    warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_WAIT).await;
                }
            }
        }
        visits.close();
        visits.wait().await;
    }

    fn refusal(&self, peer: IpAddr) -> String {
        let peer = peer.to_canonical();
        format!(
            "{peer} may not connect: {} admits {}. To admit it too, write {} there",
            self.section,
            self.allow,
            self.allow.line_with(peer)
        )
    }
}
