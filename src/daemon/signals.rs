//! The signals a daemon gets from the system.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::warn;

/// Lets a limit on the size of files (`RLIMIT_FSIZE`) fail the write that goes beyond it. The signal that comes with it
/// would end the daemon.
pub(super) fn outlive_file_limit() {
    // The handler stays when what it reports to is dropped.
    if let Err(error) = signal(SignalKind::from_raw(libc::SIGXFSZ)) {
        warn!("a limit on the size of files will end the daemon: {error}");
    }
}

/// SIGHUP, which asks a daemon to read its configuration again.
pub(super) struct Hangups(Signal);

impl Hangups {
    /// From now on none is missed.
    ///
    /// # Errors
    /// The signal cannot be watched.
    pub fn new() -> io::Result<Self> {
        signal(SignalKind::hangup()).map(Self)
    }

    /// Waits for the next one. Several at once count as one.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Waits for SIGINT or SIGTERM. One that comes from now on is not missed, whenever it is waited for.
///
/// # Errors
/// The signals cannot be watched.
pub fn stop_signal() -> impl Future<Output = io::Result<()>> {
    let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    async {
        let [terminate, interrupt] = signals;
        let (mut terminate, mut interrupt) = (terminate?, interrupt?);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
}
