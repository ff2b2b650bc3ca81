//! Feeds systemd's watchdog, but only when the task of every board has answered through its own loop.
//!
//! | what hangs | who notices |
//! |---|---|
//! | a board's task waits and does not return to its loop | it does not answer; the log says which board |
//! | a board's task blocks the thread | another thread, which names the task |
//!
//! Either way systemd gets no notification, and restarts the service after its `WatchdogSec`. The task of a
//! disconnected board answers.

use std::{
    env,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use tokio::time::sleep;
use tracing::{error, info, warn};

use super::Notify;
use crate::{daemon::Health, vocabulary::BoardName};

/// The boards are asked this many times in the time that systemd grants; each has as long to answer as passes between two
/// questions. So a proof is two thirds of that time old at most.
const ROUNDS: u32 = 3;
/// The loop may be silent for this many rounds before the watching thread logs it: waiting for the boards may take one of them.
const PATIENCE: u32 = 2;

/// The interval in which systemd expects a notification, if its watchdog is on (`WATCHDOG_USEC`).
pub(super) fn limit() -> Option<Duration> {
    let ours = env::var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
    let limit = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    Some(Duration::from_micros(limit)).filter(|limit| ours && !limit.is_zero())
}

/// Feeds the watchdog as long as every board's task answers, until dropped. systemd expects a notification within every
/// `limit`.
pub async fn watch(notify: Notify, limit: Duration, health: Health) {
    let round = limit / ROUNDS;
    let (turns, heard) = mpsc::sync_channel(1);
    let of_thread = health.clone();
    let thread = thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(move || watch_loop(&heard, round, &of_thread));
    if let Err(error) = thread {
        warn!("a loop that hangs will not be in the log: {error}");
    }
    let mut missed: Vec<BoardName> = Vec::new();
    loop {
        // If the channel is full, the last sign has not been read yet.
        let _ = turns.try_send(());
        let silent = health.silent(round).await;
        for board in silent.iter().filter(|board| !missed.contains(board)) {
            error!(
                %board,
                "the board's task has not answered for {} s: systemd is not told that all is well, and restarts \
                 BoardBridge. Please report it, with what the log says",
                round.as_secs_f32()
            );
        }
        if silent.is_empty() {
            if !missed.is_empty() {
                info!("every board's task answers again");
            }
            notify.send("WATCHDOG=1").await;
        }
        missed = silent;
        let _ = turns.try_send(());
        sleep(round).await;
    }
}

/// Logs when the loop hangs, which the loop cannot do itself. Ends with the other end of the channel.
fn watch_loop(heard: &mpsc::Receiver<()>, round: Duration, health: &Health) {
    let patience = round * PATIENCE;
    let mut told = false;
    loop {
        match heard.recv_timeout(patience) {
            Ok(()) => told = false,
            Err(RecvTimeoutError::Timeout) if told => {}
            Err(RecvTimeoutError::Timeout) => {
                told = true;
                let turn = health
                    .turn()
                    .map_or("something else than a board".to_owned(), |board| {
                        format!("the task of the board {board}")
                    });
                error!(
                    "nothing has run for {} s, because {turn} blocks the thread: systemd is not told that all is well, and \
                     restarts BoardBridge. Please report it, with what the log says",
                    patience.as_secs_f32()
                );
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
