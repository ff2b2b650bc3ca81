//! Runs the daemon as a service: until it is told to stop, and with another configuration when it is told to reload.

use std::{io, path::Path, pin::pin};

use thiserror::Error;
use tracing::{error, info, warn};

use super::{Daemon, Inherited, StartError, signals, stop_signal, systemd::Manager};
use crate::config::Config;

/// Why the daemon cannot run.
#[derive(Debug, Error)]
pub enum ServeError {
    /// It cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Signals cannot be watched.
    #[error("signals cannot be watched: {0}")]
    Signals(#[from] io::Error),
}

/// Runs the daemon until SIGINT or SIGTERM; on SIGHUP it reads `file` again. The service manager, if there is one, is
/// told of each.
///
/// # Errors
/// [`ServeError`]; nothing is left running then.
pub async fn serve(file: &Path, config: &Config, inherited: Inherited) -> Result<(), ServeError> {
    let mut stop = pin!(stop_signal());
    let mut hangups = signals::Hangups::new()?;
    say_if_empty(config, file);
    let mut daemon = tokio::select! {
        // A start may wait for a disk or a name server.
        stopped = &mut stop => {
            info!("stopping before the start is complete");
            return Ok(stopped?);
        }
        daemon = Daemon::start_with(config, inherited) => daemon?,
    };
    let manager = Manager::of(&daemon);
    manager.ready().await;
    loop {
        tokio::select! {
            stopped = &mut stop => break stopped?,
            () = hangups.next() => {}
        }
        manager.reloading().await;
        reload(&mut daemon, file).await;
        manager.ready().await;
    }
    info!("stopping");
    manager.stopping().await;
    daemon.stop().await;
    Ok(())
}

/// Reads the file again. A mistake in it changes nothing.
async fn reload(daemon: &mut Daemon, file: &Path) {
    info!("reading {} again", file.display());
    let unchanged = "the configuration stays as it was";
    match Config::load(file) {
        Ok(config)
            if config.all_boards().next().is_none()
                && !config.says_boards
                && daemon.has_boards() =>
        {
            error!(
                "{} no longer has any board, as if it were empty or cut off; {unchanged}. If that is intended, write [boards] into it, or restart BoardBridge",
                file.display()
            );
        }
        Ok(config) => {
            say_if_empty(&config, file);
            match daemon.reload(&config).await {
                Ok(()) => info!("the configuration was read again"),
                Err(error) => error!("{error}; {unchanged}"),
            }
        }
        Err(error) => {
            for line in error.to_string().lines() {
                error!("{line}");
            }
            error!("{unchanged}");
        }
    }
}

fn say_if_empty(config: &Config, file: &Path) {
    if config.all_boards().next().is_none() {
        warn!(
            "no board is configured: add a [boards.NAME] to {} (`boardbridge scan` shows the ports), then reload",
            file.display()
        );
    }
}
