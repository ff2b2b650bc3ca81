//! Boards on USB that are HID devices: the kernel's `hidraw`, by plain files.
//!
//! A board is found by its numbers in `/sys/class/hidraw`, and `/dev/hidrawN` is opened: each read is a report, each write too. That
//! needs no ioctl, and neither libudev nor libusb: what an ioctl would tell (numbers, name, report descriptor) is in `/sys`. The crate
//! hidapi needs one of the two, or code that is not safe.
//!
//! A board has a keyboard's interface beside its own, each with a file. They differ in the usage page of their descriptors.

mod descriptor;
mod device;
mod error;
mod link;

use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use nix::{
    fcntl::OFlag,
    unistd::{AccessFlags, eaccess},
};

pub use self::{
    device::{Device, Roots, devices, ids},
    error::HidError,
    link::{HidLink, REPORTS_PER_SECOND},
};
use super::closing::{ClosedApart, Usage};
use crate::{
    system::{apart, holders::Holders},
    vocabulary::HidBoards,
};

/// Which board is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The only one that is plugged in, beside those that these serial numbers, sockets or files name.
    Only(Vec<String>),
    /// The one with this serial number, or in this socket.
    Id(String),
    /// The one at this file, or at the one that this link leads to.
    Path(PathBuf),
}

/// A board on USB.
#[derive(Clone, Debug)]
pub struct HidBoard {
    boards: HidBoards,
    wanted: Wanted,
    roots: Roots,
    usage: Usage,
}

impl HidBoard {
    /// The board that is meant, of this make.
    pub fn new(boards: HidBoards, wanted: Wanted, roots: Roots) -> Self {
        Self {
            boards,
            wanted,
            roots,
            usage: Usage::default(),
        }
    }

    /// Finds the board and opens it, on another thread: the kernel wakes it up for that.
    ///
    /// # Errors
    /// [`HidError`], worded for the player.
    pub async fn open(&self) -> Result<HidLink, HidError> {
        let Some(in_use) = self.usage.begin().await else {
            return Err(HidError::Closing);
        };
        let other = |source| HidError::Other {
            path: self.roots.dev.join("hidraw"),
            source,
        };
        let board = self.clone();
        let opening = apart::run("opening", move || {
            let path = board.find()?;
            let opened = opened(&path)?;
            Ok((path, ClosedApart::new(opened, in_use)))
        });
        let (path, opened) = opening.await.map_err(other)??;
        HidLink::new(opened).map_err(|source| HidError::Other { path, source })
    }

    /// Waits until a dropped link is closed. Some seconds at most.
    pub async fn closed(&self) {
        drop(self.usage.begin().await);
    }

    /// The file of the board that is meant.
    ///
    /// # Errors
    /// [`HidError`], worded for the player.
    pub fn find(&self) -> Result<PathBuf, HidError> {
        let title = self.boards.title;
        let devices = devices(&self.roots);
        if let Wanted::Path(path) = &self.wanted {
            return self.at(path, &devices);
        }
        let of_make = |device: &Device| device.is_board(&self.boards);
        let boards: Vec<Device> = devices.into_iter().filter(of_make).collect();
        let ids = ids(&boards);
        if boards.is_empty() {
            return Err(HidError::NonePlugged { title });
        }
        let meant = |board: &&Device| match &self.wanted {
            Wanted::Id(id) => [&board.serial, &board.socket].contains(&id),
            Wanted::Only(others) => !others.iter().any(|other| board.is_named(other)),
            Wanted::Path(_) => true,
        };
        let found: Vec<&Device> = boards.iter().filter(meant).collect();
        match (&found[..], &self.wanted) {
            ([board], _) => Ok(board.path.clone()),
            ([], Wanted::Id(id)) => Err(HidError::Another {
                wanted: id.clone(),
                others: ids.join(", "),
            }),
            ([], _) => Err(HidError::NonePlugged { title }),
            _ => Err(HidError::Several {
                title,
                ids: format!("\"{}\"", ids.join("\", \"")),
            }),
        }
    }

    /// What a configured file leads to, if that is a board.
    fn at(&self, path: &Path, devices: &[Device]) -> Result<PathBuf, HidError> {
        let title = self.boards.title;
        let path = path.to_owned();
        let Ok(there) = path.canonicalize() else {
            return Err(HidError::Missing { path });
        };
        let is_it = |device: &&Device| device.path.canonicalize().is_ok_and(|path| path == there);
        match devices.iter().find(is_it) {
            Some(device) if device.is_board(&self.boards) => Ok(path),
            Some(device) if device.is_of(&self.boards) => {
                Err(HidError::WrongInterface { path, title })
            }
            Some(device) => Err(HidError::Stranger {
                path,
                title,
                name: device.name.clone(),
            }),
            None => Err(HidError::NoHid { path }),
        }
    }
}

/// Whether this user may open a device; it is not opened.
///
/// # Errors
/// [`HidError::Denied`].
pub fn may_open(path: &Path) -> Result<(), HidError> {
    let may = eaccess(path, AccessFlags::R_OK | AccessFlags::W_OK);
    may.map_err(|_| HidError::Denied { path: path.into() })
}

/// Opens the file. Another daemon that has it is told; the kernel would let both read every report.
fn opened(path: &Path) -> Result<File, HidError> {
    let path = path.to_owned();
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(OFlag::O_NONBLOCK.bits());
    let file = match options.open(&path) {
        Ok(file) => file,
        Err(source) => {
            return Err(match source.kind() {
                io::ErrorKind::PermissionDenied => HidError::Denied { path },
                // It was unplugged meanwhile.
                io::ErrorKind::NotFound => HidError::Missing { path },
                _ => HidError::Other { path, source },
            });
        }
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let holder = Holders::now().of_file(&path);
            Err(HidError::Busy { path, holder })
        }
        // A file that cannot be locked is used without.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

impl PartialEq for HidBoard {
    fn eq(&self, other: &Self) -> bool {
        (&self.boards, &self.wanted, &self.roots) == (&other.boards, &other.wanted, &other.roots)
    }
}

impl Eq for HidBoard {}

impl fmt::Display for HidBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.wanted {
            Wanted::Only(_) => f.write_str("USB"),
            Wanted::Id(id) => write!(f, "USB {id}"),
            Wanted::Path(path) => write!(f, "USB {}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests;
