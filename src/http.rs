//! Serves HTTP on one connection, for every front-end that speaks it.

use std::time::Duration;

use axum::Router;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::transport::tcp::watch_over;

/// How long a request's head may take, and a connection may wait for its next request.
pub const HEAD_WAIT: Duration = Duration::from_secs(10);
/// The most bytes of a request's head. A browser sends about 1 KiB.
pub const MAX_HEAD: usize = 16 * 1024;

/// Serves one connection until it ends, others need its place (`leave`), or `stop` is cancelled.
pub async fn connection(
    stream: TcpStream,
    router: Router,
    leave: CancellationToken,
    stop: CancellationToken,
) {
    if let Err(error) = watch_over(&stream) {
        warn!(%error, "a dead connection will be noticed late");
    }
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(
            TokioIo::new(stream),
            TowerToHyperService::new(router.into_service::<Incoming>()),
        )
        .with_upgrades();
    tokio::select! {
        () = stop.cancelled() => {}
        () = leave.cancelled() => debug!("closed: others want to connect"),
        served = served => if let Err(error) = served {
            debug!(%error, "the connection ended");
        },
    }
}
