//! Work that may block, on a thread of its own: the daemon's one thread never waits for a disk, a device or a name server.
//!
//! The pool of the runtime would panic if no thread can be started (`RLIMIT_NPROC`, `TasksMax`); here that is an error.

use std::{io, net::SocketAddr, net::ToSocketAddrs as _, thread, time::Duration};

use tokio::{
    net::TcpStream,
    runtime::Handle,
    sync::{Semaphore, oneshot},
    time::timeout,
};

/// How long a name may take to be looked up. A name server at home answers in milliseconds; a resolver that gets no answer
/// tries for ten seconds and more (`resolv.conf(5)`: two attempts of five seconds at each server).
pub const LOOKUP_WAIT: Duration = Duration::from_secs(5);
/// Names being looked up at once, each by a thread, which lasts as long as the resolver takes.
pub const MAX_LOOKUPS: usize = 4;
static LOOKUPS: Semaphore = Semaphore::const_new(MAX_LOOKUPS);

/// Does this work on a thread with this name, and waits for it. If the future is dropped, the work still runs to its
/// end.
///
/// # Errors
/// No thread can be started, or the work has panicked.
pub async fn run<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (done, result) = oneshot::channel();
    // Sockets and ports that are opened there belong to this runtime.
    let runtime = Handle::current();
    let work = move || {
        let _inside = runtime.enter();
        // Nobody may wait any more.
        let _ = done.send(work());
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| {
        let words = format!(
            "no thread can be started ({error}): raise TasksMax= in the unit, or `ulimit -u`"
        );
        io::Error::new(error.kind(), words)
    })?;
    result
        .await
        .map_err(|_| io::Error::other("a bug in BoardBridge: please report it, with the log"))
}

/// The addresses of `HOST:PORT`; an address is not looked up.
///
/// # Errors
/// There is no such name, or it is not known within [`LOOKUP_WAIT`].
pub async fn addresses(address: &str) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = address.parse() {
        return Ok(vec![address]);
    }
    let name = address.to_owned();
    let looked_up = async {
        let place = LOOKUPS.acquire().await.map_err(io::Error::other)?;
        let look_up = move || {
            let found = name.to_socket_addrs().map(Iterator::collect);
            drop(place);
            found
        };
        run("lookup", look_up).await?
    };
    timeout(LOOKUP_WAIT, looked_up).await.unwrap_or_else(|_| {
        let words = format!(
            "the name was not looked up within {} s: does the network work? An address needs no look-up",
            LOOKUP_WAIT.as_secs()
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, words))
    })
}

/// Connects to `HOST:PORT`, to the first of its addresses that answers.
///
/// # Errors
/// There is no such name, or no connection.
pub async fn connect(address: &str) -> io::Result<TcpStream> {
    TcpStream::connect(&*addresses(address).await?).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_is_an_error_and_the_next_is_done() {
        let failed = run("test", || assert!(std::env::args().count() == usize::MAX)).await;
        assert!(failed.is_err());
        assert_eq!(run("test", || 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn an_address_is_looked_up_without_a_thread_and_a_name_with_one() {
        let own = "127.0.0.1:9670".parse().unwrap();
        assert_eq!(addresses("127.0.0.1:9670").await.unwrap(), [own]);
        assert!(
            addresses("localhost:9670")
                .await
                .unwrap()
                .iter()
                .all(|at| at.port() == 9670)
        );
        assert!(addresses("a name:1").await.is_err());
    }
}
