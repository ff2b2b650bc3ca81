//! Tells the network which ports other machines may use.

use tokio::{sync::watch, task::JoinHandle};

use super::{Daemon, service::Service};
use crate::net::{
    dns_sd::{MDNS_PORT, announce::announce, announcement::Announcement},
    reach::Wanted,
};

/// The task that announces, and what it announces.
#[derive(Debug)]
pub(super) struct Announced {
    latest: watch::Sender<Announcement>,
    task: JoinHandle<()>,
}

impl Announced {
    /// Waits until the network was told that the ports are gone, after the daemon's token was cancelled.
    pub async fn ended(self) {
        // A bug in it keeps nobody from ending.
        let _ = self.task.await;
    }
}

impl Daemon {
    /// Announces the ports that are served now, if that is wanted.
    pub(super) fn announce(&mut self, is_wanted: bool) {
        let ports = self.ports().into_iter().filter_map(|(service, at)| {
            let wanted = match service {
                Service::Uci => Wanted::Uci,
                Service::Status => Wanted::Status,
                Service::Web => Wanted::Web,
                Service::LiveChess => Wanted::LiveChess,
                Service::UciFor(_) | Service::WhitePawn(_) => return None,
            };
            is_wanted.then_some((wanted, at))
        });
        let now = Announcement::of(ports);
        match &self.announced {
            Some(announced) => {
                announced.latest.send_if_modified(|latest| {
                    let changed = *latest != now;
                    *latest = now;
                    changed
                });
            }
            None if now.is_empty() => {}
            None => {
                let (latest, wanted) = watch::channel(now);
                let task = tokio::spawn(announce(
                    MDNS_PORT,
                    wanted,
                    self.host.clone(),
                    self.stop.clone(),
                ));
                self.announced = Some(Announced { latest, task });
            }
        }
    }
}
