//! Sockets that systemd opened before it started us (`sd_listen_fds(3)`).

use std::env;

use listenfd::ListenFd;
use tracing::warn;

use crate::daemon::Inherited;

/// The name of the socket for GUIs, `FileDescriptorName` in `boardbridge.socket`.
const UCI: &str = "uci";
/// Sockets that a unit may have. Ours has one.
const MAX_SOCKETS: usize = 16;

/// The listener for GUIs, if systemd passed one. Must be called once, before there are threads: it changes the environment.
pub fn inherited() -> Inherited {
    // Without it they are meant for another process.
    let ours = env::var("LISTEN_PID").is_ok_and(|pid| pid == std::process::id().to_string());
    let count = env::var("LISTEN_FDS").map(|count| count.parse::<usize>());
    if !ours || !matches!(count, Ok(Ok(1..=MAX_SOCKETS))) {
        return Inherited::default();
    }
    let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let mut sockets = ListenFd::from_env();
    let mut uci = None;
    for (index, name) in names.split(':').enumerate().take(sockets.len()) {
        let taken = sockets.take_tcp_listener(index);
        match (name, taken) {
            (UCI, Ok(Some(listener))) if uci.is_none() => match Inherited::for_uci(listener) {
                Ok(inherited) => uci = Some(inherited),
                Err(error) => warn!("the socket `{name}` cannot be used: {error}"),
            },
            (_, Err(error)) => warn!("the socket `{name}` cannot be used: {error}"),
            (_, Ok(_)) => {
                warn!(
                    "the socket `{name}` is not used: there is a use for one named `{UCI}` (FileDescriptorName)"
                );
            }
        }
    }
    uci.unwrap_or_default()
}
