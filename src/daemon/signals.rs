//! The signals a daemon gets from the system.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tracing::warn;

/// Lets a limit on the size of files (`RLIMIT_FSIZE`) fail the write that goes beyond it. The signal that comes with it
/// would end the daemon.
pub(super) fn outlive_file_limit() {
    // The handler stays when what it reports to is dropped.
    if let Err(error) = signal(SignalKind::from_raw(libc::SIGXFSZ)) {
        warn!("a limit on the size of files will end the daemon: {error}");
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
