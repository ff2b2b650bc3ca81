//! Announces the daemon's ports while it runs.
//!
//! The thread of mdns-sd reads what anybody on the network sends. If it dies, hangs or is made to keep too much, it is ended and
//! started again, later each time: whoever does that takes the announcement away, and nothing else.

use std::time::Duration;

use mdns_sd::{DaemonEvent, Receiver, ServiceDaemon};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::{
    announcement::{Announcement, name},
    interfaces, own_host,
};

/// How often the thread is asked whether it lives and what it keeps: as often as it looks at the interfaces.
pub const CHECK_EVERY: Duration = Duration::from_secs(5);
/// How long it may take to answer that: it is busy with a packet at most.
pub const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How long others may be told that the ports are gone. It takes some milliseconds; the end of the daemon waits for it.
pub const FAREWELL_WAIT: Duration = Duration::from_secs(1);
/// The first wait before another start, which doubles with each.
pub const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait.
pub const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// Records of others, and times at which they end, that the thread may keep. It looks for nobody, but keeps some that it
/// hears: a few for each machine, in a network of hundreds.
pub const MAX_RECORDS: i64 = 8192;

/// Announces the latest of these at this port of multicast DNS, until `stop` is cancelled or there will be no other. `host` has the
/// name of this machine while it is announced.
pub async fn announce(
    port: u16,
    mut wanted: watch::Receiver<Announcement>,
    host: watch::Sender<Option<String>>,
    stop: CancellationToken,
) {
    let mut wait = FIRST_WAIT;
    loop {
        let announcement = wanted.borrow_and_update().clone();
        let begun = Instant::now();
        let why = match Voice::raise(port, &announcement) {
            Ok(voice) => {
                let name = || format!("{}.local", own_host::label());
                host.send_replace(voice.0.is_some().then(name));
                let fault = tokio::select! {
                    () = stop.cancelled() => None,
                    _ = wanted.changed() => None,
                    why = voice.fault(&host) => Some(why),
                };
                host.send_replace(None);
                voice.lower().await;
                fault
            }
            Err(error) => Some(error.to_string()),
        };
        if stop.is_cancelled() || wanted.has_changed().is_err() {
            return;
        }
        if begun.elapsed() > LONGEST_WAIT {
            wait = FIRST_WAIT;
        }
        let Some(why) = why else { continue };
        warn!(
            "other machines do not find BoardBridge by itself for now ({why}): tried again in {} s",
            wait.as_secs()
        );
        tokio::select! {
            () = stop.cancelled() => return,
            _ = wanted.changed() => {}
            () = sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// The thread of mdns-sd with what it announces; without anything it does not run.
struct Voice(Option<Running>);

struct Running {
    daemon: ServiceDaemon,
    events: Receiver<DaemonEvent>,
}

impl Voice {
    fn raise(port: u16, announcement: &Announcement) -> mdns_sd::Result<Self> {
        if announcement.is_empty() {
            return Ok(Self(None));
        }
        let name = name();
        let services = announcement.services(&name)?;
        let daemon = interfaces::open(port)?;
        let events = daemon.monitor()?;
        let running = Running { daemon, events };
        for service in services {
            running.daemon.register(service)?;
        }
        info!(
            "announced on the network as {name}, at {}.local",
            own_host::label()
        );
        Ok(Self(Some(running)))
    }

    /// Waits until something is wrong with it. Another name of this machine is told to `host`.
    async fn fault(&self, host: &watch::Sender<Option<String>>) -> String {
        let Some(running) = &self.0 else {
            return std::future::pending().await;
        };
        let mut check = interval(CHECK_EVERY);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut renamed = None;
        loop {
            tokio::select! {
                _ = check.tick() => {
                    if let Some(why) = running.check().await {
                        return why;
                    }
                }
                event = running.events.recv_async() => match event {
                    Ok(DaemonEvent::NameChange(change)) => {
                        // Each interface tells it.
                        if renamed.as_ref() != Some(&change.new_name) {
                            let name = change.new_name.trim_end_matches('.');
                            if own_host::is_own(name) {
                                host.send_replace(Some(name.to_owned()));
                            }
                            info!("another machine has the name {}: announced as {}", change.original, change.new_name);
                            renamed = Some(change.new_name);
                        }
                    }
                    Ok(DaemonEvent::Error(error)) => debug!("announcing: {error}"),
                    Ok(_) => {}
                    Err(_) => return "its thread has ended".to_owned(),
                },
            }
        }
    }

    /// Tells others that the ports are gone, and ends the thread.
    async fn lower(self) {
        let Some(running) = &self.0 else { return };
        let farewell = async {
            // A thread that has ended cannot say it.
            if let Ok(done) = running.daemon.shutdown() {
                let _ = done.recv_async().await;
            }
        };
        if timeout(FAREWELL_WAIT, farewell).await.is_err() {
            debug!("other machines were not told in time that the ports are gone");
        }
    }
}

impl Running {
    /// What is wrong, if anything is.
    async fn check(&self) -> Option<String> {
        let asked = match self.daemon.get_metrics() {
            Ok(asked) => asked,
            Err(error) => return Some(error.to_string()),
        };
        match timeout(ANSWER_WAIT, asked.recv_async()).await {
            Ok(Ok(counts)) => {
                let kept = counts
                    .iter()
                    .filter(|(what, _)| what.starts_with("cached-") || *what == "timer");
                let kept: i64 = kept.map(|(_, count)| *count).sum();
                (kept > MAX_RECORDS)
                    .then(|| format!("the network sends it too much: {kept} records"))
            }
            Ok(Err(_)) => Some("its thread has ended".to_owned()),
            Err(_) => Some("its thread does not answer".to_owned()),
        }
    }
}

impl Drop for Running {
    /// A thread that nobody waits for ends too.
    fn drop(&mut self) {
        let _ = self.daemon.shutdown();
    }
}
