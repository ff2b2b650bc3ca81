//! Whether another program uses a device. `/proc` shows a user only the own programs (`holders`); that somebody's reads and writes
//! is noticed all the same.

use std::{
    collections::BTreeSet, io, mem::MaybeUninit, os::fd::OwnedFd, path::Path, time::Duration,
};

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
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

/// Bytes read at once: some sixty notices.
const CHUNK: usize = 1024;

/// Which devices a program has opened since they were first [seen](Self::see), whoever's it is.
#[derive(Debug)]
pub struct Opened {
    inotify: OwnedFd,
    /// The watches of those that were opened after they were closed last.
    open: BTreeSet<i32>,
}

impl Opened {
    /// None is seen yet.
    ///
    /// # Errors
    /// As `inotify_init1(2)`: a user may have 128 (`fs.inotify.max_user_instances`).
    pub fn new() -> io::Result<Self> {
        let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self {
            inotify,
            open: BTreeSet::new(),
        })
    }

    /// What is done with this device is noticed from now on. The kernel's number for it, the same each time.
    ///
    /// # Errors
    /// As `inotify_add_watch(2)`: it is gone, or may not be read.
    pub fn see(&self, device: &Path) -> io::Result<i32> {
        let flags = WatchFlags::OPEN | WatchFlags::CLOSE;
        Ok(add_watch(&self.inotify, device, flags)?)
    }

    /// Whether this device was opened since it was seen, and nobody has closed it since. A program that had it open before is not
    /// noticed; if two have it open and one closes it, the other one is no longer noticed.
    pub fn is_open(&mut self, device: &Path) -> bool {
        let mut chunk = [MaybeUninit::uninit(); CHUNK];
        let mut notices = Reader::new(&self.inotify, &mut chunk);
        while let Ok(notice) = notices.next() {
            let flags = notice.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                self.open.clear();
            } else if flags.contains(ReadFlags::OPEN) {
                self.open.insert(notice.wd());
            } else {
                // Closed, or gone.
                self.open.remove(&notice.wd());
            }
        }
        self.see(device)
            .is_ok_and(|watch| self.open.contains(&watch))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        io::Read as _,
    };

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

    #[test]
    fn a_device_is_open_from_when_a_program_opens_it_until_it_is_closed_or_gone() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let mut opened = Opened::new().unwrap();
        assert!(opened.see(&one).is_err());
        for device in [&one, &other] {
            File::create(device).unwrap();
            opened.see(device).unwrap();
        }
        let held = File::open(&other).unwrap();
        assert!(!opened.is_open(&one) && opened.is_open(&other));
        drop(held);
        let held = File::open(&one).unwrap();
        assert!(opened.is_open(&one) && opened.is_open(&one) && !opened.is_open(&other));
        // Another one under its name.
        fs::remove_file(&one).unwrap();
        File::create(&one).unwrap();
        assert!(!opened.is_open(&one));
        drop(held);
    }
}
