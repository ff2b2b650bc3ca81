//! Notices when something is plugged in: the kernel tells when files below `/dev` come and go.

use std::{io, os::fd::OwnedFd, path::PathBuf, time::Duration};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use tokio::{net::unix::pipe::Receiver, time::sleep};

/// How long after the last file has come the names of a device are complete: udev makes its links within some 100 ms.
pub const SETTLE: Duration = Duration::from_millis(700);
/// Bytes read at once: some twenty notices.
const CHUNK: usize = 1024;

/// Watches the files of devices.
#[derive(Debug)]
pub struct Plugging {
    /// tokio's reader of pipes reads whatever can be polled.
    notices: Receiver,
    inotify: OwnedFd,
    dev: PathBuf,
}

impl Plugging {
    /// Watches this folder, which is `/dev`, and the lasting names in it.
    ///
    /// # Errors
    /// As `inotify_init1(2)` and `inotify_add_watch(2)`: a user may have 128 (`fs.inotify.max_user_instances`).
    pub fn at(dev: PathBuf) -> io::Result<Self> {
        let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let notices = Receiver::from_owned_fd_unchecked(inotify.try_clone()?)?;
        let plugging = Self {
            notices,
            inotify,
            dev,
        };
        plugging.watch()?;
        Ok(plugging)
    }

    /// Watches all folders that are there; one that is watched already stays so.
    fn watch(&self) -> io::Result<()> {
        let flags = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_TO;
        add_watch(&self.inotify, &self.dev, flags)?;
        for folder in ["serial", "serial/by-id"] {
            // It is there only while something is plugged in.
            let _ = add_watch(&self.inotify, self.dev.join(folder), flags);
        }
        Ok(())
    }

    /// Waits until something has come or gone, and its names are there. Cancel safe: what has come is seen by the next call, too.
    pub async fn changed(&mut self) {
        // The notices stay in the kernel until their names are there.
        let _ = self.notices.readable().await;
        sleep(SETTLE).await;
        let mut chunk = [0; CHUNK];
        while self.notices.try_read(&mut chunk).is_ok_and(|n| n > 0) {}
        // Folders may have come.
        let _ = self.watch();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn what_is_plugged_in_is_noticed_though_nobody_waited_until_its_names_were_there() {
        let dev = tempfile::tempdir().unwrap();
        let mut plugging = Plugging::at(dev.path().to_owned()).unwrap();
        fs::write(dev.path().join("ttyUSB0"), "").unwrap();
        assert!(timeout(SETTLE / 2, plugging.changed()).await.is_err());
        plugging.changed().await;
    }

    #[tokio::test]
    async fn a_board_that_is_plugged_in_is_noticed_by_each_of_its_names() {
        let dev = tempfile::tempdir().unwrap();
        let mut plugging = Plugging::at(dev.path().to_owned()).unwrap();
        fs::write(dev.path().join("ttyUSB0"), "").unwrap();
        plugging.changed().await;
        let by_id = dev.path().join("serial/by-id");
        fs::create_dir_all(&by_id).unwrap();
        plugging.changed().await;
        fs::write(by_id.join("usb-Novag_Citrine-if00"), "").unwrap();
        plugging.changed().await;
        fs::remove_file(dev.path().join("ttyUSB0")).unwrap();
        plugging.changed().await;
    }
}
