//! Tells systemd about the service: datagrams to the socket that it names (`sd_notify(3)`).

use std::{
    env,
    ffi::OsStr,
    io::{self, IoSlice},
    net::SocketAddr,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, RawFd},
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr as UnixAddress, UnixDatagram},
        },
    },
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::socket::{ControlMessage, MsgFlags, sendmsg},
};
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe,
    time::{Instant, sleep, timeout},
};
use tracing::{info, warn};

/// How long systemd may take to accept a datagram. It takes them at once unless the machine is stuck.
const SEND_WAIT: Duration = Duration::from_secs(1);
/// How often it is tried meanwhile.
const AGAIN: Duration = Duration::from_millis(20);

/// What the name of a listener that systemd keeps begins with (`FDNAME`): no socket unit of ours has such a name.
pub(super) const KEPT: &str = "kept ";
/// How long systemd may take to process it. It does so at once unless the machine is stuck, or systemd reads its units
/// again.
const BARRIER_WAIT: Duration = Duration::from_secs(2);

/// The socket on which systemd wants notifications, if it wants any.
#[derive(Clone, Debug, Default)]
pub struct Notify(Option<Arc<Manager>>);

/// systemd's socket.
#[derive(Debug)]
struct Manager {
    socket: UnixDatagram,
    /// It has not accepted the last datagram: do not wait for the next one.
    is_stuck: AtomicBool,
}

impl Notify {
    /// The socket that systemd names in `NOTIFY_SOCKET`.
    pub fn from_env() -> Self {
        let name = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty());
        let socket = name.and_then(|name| match connected(&name) {
            Ok(socket) => Some(socket),
            Err(error) => {
                warn!(
                    "systemd cannot be told how the service is ({}): {error}",
                    name.display()
                );
                None
            }
        });
        socket.map_or(Self(None), Self::to)
    }

    /// This socket.
    pub fn to(socket: UnixDatagram) -> Self {
        Self(Some(Arc::new(Manager {
            socket,
            is_stuck: AtomicBool::new(false),
        })))
    }

    /// Whether there is a systemd to notify.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Tells these assignments, one a line.
    pub async fn send(&self, text: &str) {
        self.send_with(text, &[]).await;
    }

    /// Asks systemd to keep the listener at this address through restarts of the service: clients that connect
    /// meanwhile wait.
    pub async fn keep(&self, at: SocketAddr, listener: &impl AsFd) {
        let text = format!("FDSTORE=1\nFDNAME={}", name(at));
        self.send_with(&text, &[listener.as_fd()]).await;
    }

    /// Asks systemd to drop the listeners at these addresses, and waits until it has processed that. It closes them
    /// then, or a moment later.
    pub async fn let_go(&self, closed: &[SocketAddr]) {
        if !self.is_heard() {
            return;
        }
        for at in closed {
            self.send(&format!("FDSTOREREMOVE=1\nFDNAME={}", name(*at)))
                .await;
        }
        match pipe::pipe() {
            Ok((ours, mut end)) => {
                self.send_with("BARRIER=1", &[ours.as_fd()]).await;
                drop(ours);
                // Nothing comes but the end, when systemd has done all it was told, and closes its copy.
                if timeout(BARRIER_WAIT, end.read_u8()).await.is_err() {
                    warn!("systemd has not said that it lets {closed:?} go");
                }
            }
            Err(error) => warn!("systemd may not have let {closed:?} go yet: {error}"),
        }
    }

    /// Sends this text, with these descriptors. Waits while the socket is full, without blocking the thread.
    async fn send_with(&self, text: &str, passed: &[BorrowedFd<'_>]) {
        let Some(manager) = &self.0 else {
            return;
        };
        let full = |sent: &nix::Result<usize>| matches!(sent, Err(Errno::EAGAIN | Errno::ENOBUFS));
        let mut sent = manager.try_send(text, passed);
        if full(&sent) && !manager.is_stuck.load(Ordering::Relaxed) {
            let until = Instant::now() + SEND_WAIT;
            while full(&sent) && Instant::now() < until {
                sleep(AGAIN).await;
                sent = manager.try_send(text, passed);
            }
        }
        let was_stuck = manager.is_stuck.swap(full(&sent), Ordering::Relaxed);
        match sent {
            Ok(_) if was_stuck => info!("systemd accepts messages again"),
            Err(error) if !was_stuck => warn!("systemd was not told {text:?}: {error}"),
            _ => {}
        }
    }
}

impl Manager {
    fn try_send(&self, text: &str, passed: &[BorrowedFd<'_>]) -> nix::Result<usize> {
        let passed: Vec<RawFd> = passed.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&passed)];
        let rights = if passed.is_empty() { &[] } else { &rights[..] };
        let bytes = [IoSlice::new(text.as_bytes())];
        let socket = self.socket.as_raw_fd();
        sendmsg::<()>(socket, &bytes, rights, MsgFlags::MSG_DONTWAIT, None)
    }
}

/// The name under which the listener at this address is kept. A colon is not allowed in it.
fn name(at: SocketAddr) -> String {
    format!("{KEPT}{}", at.to_string().replace(':', "_"))
}

/// A socket connected to this path, or to this abstract name after an `@`.
fn connected(name: &OsStr) -> io::Result<UnixDatagram> {
    let address = match name.as_bytes() {
        [b'@', name @ ..] => UnixAddress::from_abstract_name(name)?,
        _ => UnixAddress::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    Ok(socket)
}
