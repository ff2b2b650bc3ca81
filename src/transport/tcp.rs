//! TCP: the options of all our connections.

use std::{io, time::Duration};

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

/// How long a board may take to accept a connection. A running one takes milliseconds; by default the kernel tries
/// for two minutes.
pub const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// A connection is probed once it has been silent for this long.
pub const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
/// The time between two probes.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// A connection is dead after this many probes without an answer.
pub const KEEPALIVE_PROBES: u32 = 3;
/// Sent data must be acknowledged within this time, or the connection is dead (`TCP_USER_TIMEOUT`).
pub const USER_TIMEOUT: Duration = Duration::from_mins(1);

/// Bytes that the kernel may buffer for a connection to the daemon, each way (`SO_RCVBUF`, `SO_SNDBUF`; Linux doubles
/// it for its own needs). They count as the daemon's memory; by default the kernel would buffer up to 6 MB.
pub const KERNEL_BUFFER: usize = 32 * 1024;

/// Bounds what the kernel buffers for every accepted connection.
///
/// # Errors
/// The system refuses an option.
pub fn bound_buffers(listener: &TcpListener) -> io::Result<()> {
    let socket = SockRef::from(listener);
    socket.set_recv_buffer_size(KERNEL_BUFFER)?;
    socket.set_send_buffer_size(KERNEL_BUFFER)
}

/// Has the kernel detect that the other end is dead.
///
/// # Errors
/// The system refuses an option.
pub fn watch_over(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE_IDLE)
        .with_interval(KEEPALIVE_INTERVAL);
    #[cfg(not(windows))]
    let keepalive = keepalive.with_retries(KEEPALIVE_PROBES);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    Ok(())
}
