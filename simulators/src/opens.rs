//! Notices that a computer opens its end of a pseudo-terminal, which the board's end does not show.

use std::{io, path::Path};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe::Receiver;

/// Bytes of notices read at once: some thirty. Those that come together are one.
const NOTICES: usize = 512;

/// The openings of one file from now on.
// Notices are read like a pipe; `AsyncFd` takes other descriptors by unsafe code only.
#[derive(Debug)]
pub struct Opens(Receiver);

impl Opens {
    /// Those of this file.
    ///
    /// # Errors
    /// The system gives no more notices: it has a limit for each user.
    pub fn of(path: &Path) -> io::Result<Self> {
        let notices = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        inotify::add_watch(&notices, path, WatchFlags::OPEN)?;
        Receiver::from_owned_fd_unchecked(notices).map(Self)
    }

    /// Waits until it was opened. Cancel safe.
    ///
    /// # Errors
    /// The error of the system.
    pub async fn next(&self) -> io::Result<()> {
        let mut buffer = [0; NOTICES];
        loop {
            self.0.readable().await?;
            match self.0.try_read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read.map(drop),
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::{fs::File, time::Duration};

    use tokio::time::timeout;

    use super::*;
    use crate::pty::Pty;

    #[tokio::test]
    async fn each_opening_of_a_pseudo_terminal_is_noticed() {
        let pty = Pty::open(None).unwrap();
        let opens = Opens::of(pty.name()).unwrap();
        let wait = Duration::from_secs(10);
        for _ in 0..2 {
            let computer = File::open(pty.name()).unwrap();
            timeout(wait, opens.next()).await.unwrap().unwrap();
            drop(computer);
        }
    }
}
