//! Runs the daemon as a service: until it is told to stop, and with another configuration when it is told to reload.

use std::{io, path::Path, pin::pin};

use thiserror::Error;
use tracing::{error, info, warn};

use super::{
    Daemon, Inherited, StartError,
    desk::{self, Desk},
    signals,
    systemd::Manager,
};
use crate::{config::Config, system::apart, transport::hid::Roots};

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

/// Runs the daemon until `stop`, such as [`stop_signal`](super::stop_signal); on SIGHUP it reads `file` again. Boards that are plugged in are looked for below
/// `roots`. The service manager, if there is one, is told of each.
///
/// # Errors
/// [`ServeError`]; nothing is left running then.
pub async fn serve(
    file: &Path,
    config: Config,
    inherited: Inherited,
    roots: Roots,
    stop: impl Future<Output = io::Result<()>>,
) -> Result<(), ServeError> {
    let mut stop = pin!(stop);
    let mut hangups = signals::Hangups::new()?;
    let config = completed(file, config).await;
    let mut daemon = tokio::select! {
        // A start may wait for a disk or a name server.
        stopped = &mut stop => {
            info!("stopping before the start is complete");
            return Ok(stopped?);
        }
        daemon = Daemon::start_with(&config, inherited) => daemon?,
    };
    let manager = Manager::of(&daemon);
    manager.ready().await;
    let mut desk = Desk::open(&daemon, file, config, roots);
    desk.welcome(&mut daemon).await;
    say_if_empty(desk.config(), file);
    loop {
        let turn = tokio::select! {
            stopped = &mut stop => break stopped?,
            () = hangups.next() => None,
            turn = desk.next() => Some(turn),
        };
        if let Some(turn) = turn {
            desk.take(&mut daemon, turn).await;
            continue;
        }
        manager.reloading().await;
        if let Some(config) = reload(&mut daemon, desk.config(), file).await {
            desk.has_read(&mut daemon, config).await;
        }
        manager.ready().await;
    }
    drop(desk);
    info!("stopping");
    manager.stopping().await;
    daemon.stop().await;
    Ok(())
}

/// The configuration, once what the last run has left half done is done.
async fn completed(file: &Path, config: Config) -> Config {
    let Some(state) = config.state.path().map(Path::to_owned) else {
        return config;
    };
    if !matches!(
        apart::run("added", move || desk::finish(&state)).await,
        Ok(true)
    ) {
        return config;
    }
    match desk::loaded(file).await {
        Ok(config) => config,
        Err(error) => {
            error!("{error}");
            config
        }
    }
}

/// Reads the file again; returns the new configuration. A mistake in it changes nothing.
async fn reload(daemon: &mut Daemon, before: &Config, file: &Path) -> Option<Config> {
    info!("reading {} again", file.display());
    let unchanged = "the configuration stays as it was";
    match desk::loaded(file).await {
        Ok(config) => {
            if let Some(wrong) = config.cut_off(before) {
                error!("{unchanged}: {wrong}");
                return None;
            }
            say_if_empty(&config, file);
            match daemon.reload(&config).await {
                Ok(()) => {
                    info!("the configuration was read again");
                    return Some(config);
                }
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
    None
}

fn say_if_empty(config: &Config, file: &Path) {
    if config.all_boards().next().is_none() {
        warn!(
            "no board is there yet: plug it in, or add it on the page or by `boardbridge add`; {} may name it, too",
            file.display()
        );
    }
}
