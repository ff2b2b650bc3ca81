//! Sockets that systemd opened before it started us, or kept while we restarted (`sd_listen_fds(3)`).

use std::env;

use listenfd::ListenFd;
use tracing::warn;

use super::{Notify, notify};
use crate::{daemon::Inherited, system::cgroup::Cgroup};

/// The name of the socket for GUIs, `FileDescriptorName` in `boardbridge.socket`.
const UCI: &str = "uci";
/// Sockets accepted at most: those that systemd may keep for the unit (`FileDescriptorStoreMax`), and the socket unit's.
const MAX_SOCKETS: usize = 256 + 1;

/// The listeners and the control group that systemd passed. Must be called once, before there are threads: it changes the environment.
pub fn inherited() -> Inherited {
    let mut inherited = Inherited::new(Notify::from_env(), Cgroup::of_service());
    // Otherwise they are meant for another process.
    let ours = env::var("LISTEN_PID").is_ok_and(|pid| pid == std::process::id().to_string());
    let count = env::var("LISTEN_FDS").map(|count| count.parse::<usize>());
    if !ours || !matches!(count, Ok(Ok(1..))) {
        return inherited;
    }
    let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let mut sockets = ListenFd::from_env();
    for (index, name) in names
        .split(':')
        .enumerate()
        .take(sockets.len().min(MAX_SOCKETS))
    {
        let listener = match sockets.take_tcp_listener(index) {
            Ok(Some(listener)) => listener,
            Ok(None) => continue,
            Err(error) => {
                warn!("the socket `{name}` cannot be used: {error}");
                continue;
            }
        };
        let added = if name.starts_with(notify::KEPT) {
            inherited.add(listener)
        } else if name == UCI && !inherited.is_activated() {
            inherited.activate(listener)
        } else {
            warn!(
                "the socket `{name}` is not used: there is a use for one named `{UCI}` (FileDescriptorName)"
            );
            Ok(())
        };
        if let Err(error) = added {
            warn!("the socket `{name}` cannot be used: {error}");
        }
    }
    inherited
}
