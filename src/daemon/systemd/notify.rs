//! Tells systemd about the service: datagrams to the socket that it names (`sd_notify(3)`).

use std::{
    env,
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr, UnixDatagram},
        },
    },
    sync::Arc,
    time::Duration,
};

use tracing::warn;

/// How long systemd may take to accept a datagram. It takes them at once unless the machine is stuck.
const SEND_WAIT: Duration = Duration::from_secs(1);

/// Where systemd wants to be told, if it does.
#[derive(Clone, Debug)]
pub struct Notify(Option<Arc<UnixDatagram>>);

impl Notify {
    /// The socket that systemd names in `NOTIFY_SOCKET`.
    pub fn from_env() -> Self {
        let name = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty());
        let socket = name.and_then(|name| match connected(&name) {
            Ok(socket) => Some(Arc::new(socket)),
            Err(error) => {
                warn!(
                    "systemd cannot be told how the service is ({}): {error}",
                    name.display()
                );
                None
            }
        });
        Self(socket)
    }

    /// This socket.
    pub fn to(socket: UnixDatagram) -> Self {
        Self(Some(Arc::new(socket)))
    }

    /// Whether somebody is told.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Tells these assignments, one a line.
    pub fn send(&self, text: &str) {
        if let Some(socket) = &self.0
            && let Err(error) = socket.send(text.as_bytes())
        {
            warn!("systemd was not told {text:?}: {error}");
        }
    }
}

/// A socket connected to this path, or to this abstract name after an `@`.
fn connected(name: &OsStr) -> io::Result<UnixDatagram> {
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_write_timeout(Some(SEND_WAIT))?;
    Ok(socket)
}
