//! The app over TCP: no phone does that today, but simulated apps, bridges and other `BoardBridge`s do.

use std::{
    fmt::Write as _,
    fs::File,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
};

use tokio::{
    sync::{Semaphore, mpsc},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{
    Connection,
    connection::{AskReceipt, Receipt},
};
use crate::{
    net::{door::Door, slots::ACCEPT_WAIT},
    system::apart,
    transport::{duplex::NETWORK, tcp::watch_over},
    vocabulary::owner,
};

/// Accepts apps until `stop` is cancelled.
pub async fn serve(door: Door, connections: mpsc::Sender<Connection>, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = door.accept(|_| String::new()) => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                if let Err(error) = watch_over(&stream) {
                    warn!(%error, "a dead connection will be noticed late");
                }
                let ends = stream.local_addr().ok().map(|local| (local, peer));
                let connection = Connection {
                    peer: peer.to_string().into(),
                    address: Some(owner(peer.ip())),
                    stream: Box::new(stream),
                    medium: NETWORK,
                    receipt: ends.map(|(local, peer)| asking(local, peer)),
                    lease: None,
                };
                if connections.send(connection).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_WAIT).await;
            }
        }
    }
}

/// Kernel tables being read at once, each by a thread of its own: with many connections in them that takes long.
const MAX_READING: usize = 1;
static READING: Semaphore = Semaphore::const_new(MAX_READING);

/// Asks the kernel, outside the daemon's one thread. Asking the socket itself (`SIOCOUTQ`) would be quicker, but
/// needs unsafe code, and no maintained crate offers it.
fn asking(local: SocketAddr, peer: SocketAddr) -> AskReceipt {
    Box::new(move || {
        Box::pin(async move {
            let reading = READING.acquire().await.ok()?;
            let asked = apart::run("receipt", move || {
                let unread = is_unread(local, peer);
                drop(reading);
                unread
            });
            Some(if asked.await.ok()?? {
                Receipt::Missing
            } else {
                Receipt::Acknowledged
            })
        })
    })
}

/// Whether the kernel still holds bytes for this peer: sent, but not acknowledged. Linux lists that in
/// `/proc/self/net/tcp` (`proc(5)`; a service without `/proc/net` has that too): the addresses in hexadecimal, the
/// bytes of each 32-bit word in the machine's order, and the queues. `None` if that is not available.
fn is_unread(local: SocketAddr, peer: SocketAddr) -> Option<bool> {
    let table = if local.is_ipv4() { "tcp" } else { "tcp6" };
    let table = format!("/proc/self/net/{table}");
    let connections = File::open(&table)
        .inspect_err(|error| debug!(%error, table, "what was acknowledged is unknown"))
        .ok()?;
    let (local, peer) = (in_hex(local), in_hex(peer));
    let ours = |line: &String| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some(&local) && words.next() == Some(&peer)
    };
    // Line by line: a table of many connections does not fit into the daemon's memory.
    let mut lines = BufReader::new(connections).lines().map_while(Result::ok);
    let found = lines.find(ours)?;
    let queues = found.split_whitespace().nth(4)?;
    let sent = queues.split(':').next()?;
    u64::from_str_radix(sent, 16).ok().map(|bytes| bytes > 0)
}

fn in_hex(address: SocketAddr) -> String {
    let bytes = match address {
        SocketAddr::V4(address) => address.ip().octets().to_vec(),
        SocketAddr::V6(address) => address.ip().octets().to_vec(),
    };
    let mut text = String::new();
    for word in bytes.chunks_exact(4) {
        let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
        // Writing to a string does not fail.
        let _ = write!(text, "{word:08X}");
    }
    format!("{text}:{:04X}", address.port())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
    };

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_kernel_is_asked_once_at_a_time_and_the_daemons_thread_goes_on_meanwhile() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let ask = asking(near.local_addr().unwrap(), near.peer_addr().unwrap());
        let another = READING.acquire().await.unwrap();
        let mut asked = ask();
        assert!((&mut asked).now_or_never().is_none());
        drop(another);
        assert_eq!(asked.await, Some(Receipt::Acknowledged));
    }

    #[test]
    fn what_was_acknowledged_is_not_unread_and_what_does_not_fit_is() {
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(place) else {
                continue;
            };
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            let ends = (near.local_addr().unwrap(), near.peer_addr().unwrap());
            near.write_all(b"MB e2e4\n").unwrap();
            far.read_exact(&mut [0; 8]).unwrap();
            assert_eq!(is_unread(ends.0, ends.1), Some(false));
            near.set_nonblocking(true).unwrap();
            while near.write(&[0; 4096]).is_ok() {}
            assert_eq!(is_unread(ends.0, ends.1), Some(true));
            assert_eq!(is_unread(ends.1, ends.1), None);
        }
    }
}
