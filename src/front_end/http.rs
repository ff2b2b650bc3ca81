//! Serves HTTP on one connection, for every front-end that speaks it.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use axum::Router;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::{system::clock, transport::tcp::watch_over};

/// How long a request's head may take, and a connection may wait for its next request.
pub const HEAD_WAIT: Duration = Duration::from_secs(10);
/// The most bytes of a request's head. A browser sends about 1 KiB.
pub const MAX_HEAD: usize = 16 * 1024;

/// The log message for a request that cannot be answered.
const WRONG_CLOCK: &str = "the clock of this computer is before 1970 or after 9999. Set it";
/// The answer while the clock is impossible: the library would panic when it writes the date.
const NO_TIME: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
    {\"error\": \"the clock of this computer is before 1970 or after 9999: set it\"}\n";

/// Serves one connection until it ends, `leave` is cancelled (others need its slot), or `stop` is.
pub async fn connection(
    mut stream: TcpStream,
    router: Router,
    leave: CancellationToken,
    stop: CancellationToken,
) {
    if let Err(error) = watch_over(&stream) {
        warn!(%error, "a dead connection will be noticed late");
    }
    if clock::is_impossible() {
        warn!("not answered: {WRONG_CLOCK}");
        // The other end may be gone, and is not waited for.
        let _ = stream.try_write(NO_TIME.as_bytes());
        let _ = stream.shutdown().await;
        return;
    }
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(
            TokioIo::new(stream),
            TowerToHyperService::new(router.into_service::<Incoming>()),
        )
        .with_upgrades();
    let mut serving = pin!(serving);
    // Checked at every poll: the clock may be set while the connection is open, and the library writes a date into each answer.
    let served = poll_fn(|context| {
        if clock::is_impossible() {
            return Poll::Ready(None);
        }
        serving.as_mut().poll(context).map(Some)
    });
    tokio::select! {
        () = stop.cancelled() => {}
        () = leave.cancelled() => debug!("closed: others want to connect"),
        served = served => match served {
            None => warn!("a connection was closed: {WRONG_CLOCK}"),
            Some(Err(error)) => debug!(%error, "the connection ended"),
            Some(Ok(())) => {}
        },
    }
}
