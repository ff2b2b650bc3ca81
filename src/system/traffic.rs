//! Whether another program uses a device. `/proc` shows a user only the own programs (`holders`); that somebody's reads and writes
//! is noticed all the same.

use std::{io, path::Path, time::Duration};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::{net::unix::pipe::Receiver, time::timeout};

/// How long a device is watched: what reports by itself, a GPS for instance, does so once a second.
const WATCHED: Duration = Duration::from_millis(1_200);

/// Whether another program opens, reads or writes this device within 1.2 s. One that has it open and waits is not noticed.
///
/// # Errors
/// As `inotify_init1(2)` and `inotify_add_watch(2)`.
pub async fn is_used(device: &Path) -> io::Result<bool> {
    let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
    let flags = WatchFlags::OPEN | WatchFlags::ACCESS | WatchFlags::MODIFY;
    add_watch(&inotify, device, flags)?;
    // tokio's reader of pipes reads whatever can be polled.
    let notices = Receiver::from_owned_fd_unchecked(inotify)?;
    Ok(timeout(WATCHED, notices.readable()).await.is_ok())
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read as _};

    use simulators::pty::Pty;
    use tokio::{join, task::spawn_blocking};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_device_is_used_while_a_program_reads_it_and_not_while_it_is_only_there() {
        let mut port = Pty::open(None).unwrap();
        let name = port.name().to_owned();
        let mut opened = File::open(&name).unwrap();
        assert!(!is_used(&name).await.unwrap());
        let reads = async {
            port.write(b"$GPGGA\n").unwrap();
            spawn_blocking(move || opened.read(&mut [0; 8]))
                .await
                .unwrap()
        };
        let (used, read) = join!(is_used(&name), reads);
        assert!(used.unwrap() && read.unwrap() > 0);
    }
}
