//! The signals a daemon gets from the system.

use std::io;

use tracing::warn;

/// Lets a limit on the size of files (`RLIMIT_FSIZE`) fail the write that goes beyond it. The signal that comes with it
/// would end the daemon.
pub(super) fn outlive_file_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // The handler stays when what it reports to is dropped.
        if let Err(error) = signal(SignalKind::from_raw(libc::SIGXFSZ)) {
            warn!("a limit on the size of files will end the daemon: {error}");
        }
    }
}

/// SIGHUP, which asks a daemon to read its configuration again. There is none elsewhere than on Unix.
pub(super) struct Hangups {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Hangups {
    /// From now on none is missed.
    ///
    /// # Errors
    /// The signal cannot be watched.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    /// Waits for the next one. Several at once count as one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Waits for SIGINT or SIGTERM (Ctrl-C elsewhere). On Unix one that comes from now on is not missed, whenever it is waited
/// for.
///
/// # Errors
/// The signals cannot be watched.
pub fn stop_signal() -> impl Future<Output = io::Result<()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
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
    #[cfg(not(unix))]
    tokio::signal::ctrl_c()
}
