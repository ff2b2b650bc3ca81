//! The daemon as a unit of systemd: readiness, a status in words, the watchdog, sockets that were opened before.
//!
//! All of it follows documents that systemd keeps stable (`sd_notify(3)`, `sd_listen_fds(3)`): datagrams to a socket,
//! and environment variables. Without them nothing is done.

mod notify;
mod sockets;
mod status;
mod watchdog;

use nix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

pub use self::{notify::Notify, sockets::inherited, watchdog::watch};
use super::Daemon;

/// systemd, if it wants to be notified.
pub(super) struct Manager {
    notify: Notify,
    /// Tasks that notify it from time to time.
    _tasks: JoinSet<()>,
}

impl Manager {
    /// The one that started us, if any.
    pub fn of(daemon: &Daemon) -> Self {
        let notify = Notify::from_env();
        let mut tasks = JoinSet::new();
        if notify.is_heard() {
            tasks.spawn(status::tell(
                notify.clone(),
                daemon.bus().clone(),
                daemon.player.subscribe(),
            ));
        }
        if let Some(limit) = watchdog::limit() {
            tasks.spawn(watch(notify.clone(), limit, daemon.health().clone()));
        }
        Self {
            notify,
            _tasks: tasks,
        }
    }

    /// All listeners are up.
    pub async fn ready(&self) {
        self.notify.send("READY=1").await;
    }

    /// The configuration is being read again.
    pub async fn reloading(&self) {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
        let now = now.map_or(0, |now| {
            i128::from(now.tv_sec()) * 1_000_000 + i128::from(now.tv_nsec()) / 1000
        });
        self.notify
            .send(&format!("RELOADING=1\nMONOTONIC_USEC={now}"))
            .await;
    }

    /// The daemon stops. From now on nothing more is told: systemd has another limit for that.
    pub async fn stopping(self) {
        self.notify.send("STOPPING=1\nSTATUS=stopping").await;
    }
}
