//! The files of one board's games.
//!
//! A game is written to a temporary file in the same folder, synced to disk, and then renamed: every reader,
//! even after a power cut, finds the old text or the new one.
//!
//! Two daemons with a board of the same name would overwrite each other's game: the first one locks a file in the
//! folder for as long as it runs.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use tempfile::{Builder, NamedTempFile};
use tokio::sync::oneshot;
use tracing::warn;

use super::reading::MAX_FILE;
use crate::{
    system::{
        credit::{Allowance, Credit},
        private,
        regular_file::regular,
    },
    vocabulary::{BoardName, MAX_BOARDS},
};

/// Games of one board that may begin in one second.
const MAX_SAME_NAME: usize = 100;
/// The length of a date and time in a name: `2026-11-21_153012`.
const STAMP: usize = 17;
/// The end of a file's name.
const ENDING: &str = ".pgn";
/// The end of a temporary file's name.
const TEMPORARY: &str = ".tmp";
/// The end of the locked file's name.
const LOCK: &str = ".lock";

/// Syncs for the games of all boards: 60 a minute, and 60 more at once. Where that is not enough, files are written less
/// often.
pub const SYNCS: Allowance = Allowance {
    at_once: 60,
    per_second: 1,
};
/// Syncs beyond these for games that have ended: those of 512 boards, at the end of a round.
pub const SYNCS_OF_ENDS: u64 = 1_024;
/// Syncs for a file: its content, and its name.
const SYNCS_EACH: u64 = 2;

/// A file and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameFile {
    /// Its name.
    pub file: String,
    /// Its content, up to a little more than is read back.
    pub text: Vec<u8>,
}

/// A text to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// The file of ours to overwrite; `None` for a new one.
    pub over: Option<String>,
    /// The file of ours to replace, which is then removed: it has a game of a move or two that another one has
    /// replaced.
    pub instead_of: Option<String>,
    /// The beginning of a new file's name.
    pub stem: String,
    /// The whole content.
    pub text: String,
}

/// The files of one board's games.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    board: BoardName,
    claimed: Arc<Mutex<Claimed>>,
}

/// Whether the board's games in the folder are ours.
#[derive(Debug, Default)]
enum Claimed {
    #[default]
    NotYet,
    /// Files cannot be locked there.
    Unlocked,
    Locked(File),
}

impl Folder {
    /// A board's files in this folder, which is created if missing.
    pub fn new(path: &Path, board: BoardName) -> Self {
        Self {
            path: path.to_owned(),
            board,
            claimed: Arc::default(),
        }
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder if it is missing, and makes sure that no other daemon keeps this board's games in it.
    fn claim(&self) -> io::Result<()> {
        private::create_folder(&self.path)?;
        let name = self.path.join(format!(".{}{LOCK}", self.board));
        // A panic while holding it leaves nothing half done: a folder is used by one thread.
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*claimed {
            Claimed::Unlocked => return Ok(()),
            Claimed::Locked(file) if is_still(file, &name) => return Ok(()),
            Claimed::Locked(_) => warn!(
                "{} was deleted or replaced while BoardBridge runs: the game that is played is saved there again",
                self.path.display()
            ),
            Claimed::NotYet => {}
        }
        *claimed = Claimed::NotYet;
        // It is not removed when it is unlocked: another process may have it open already.
        let opened = match regular(File::options().read(true), &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut options = File::options();
                options.append(true).create(true);
                if !private::is_shared(&self.path) {
                    private::file(&mut options);
                }
                regular(&mut options, &name)
            }
            opened => opened,
        };
        *claimed = match opened.map(|file| (file.try_lock(), file)) {
            Ok((Err(TryLockError::WouldBlock), _)) => {
                let text = format!(
                    "another BoardBridge keeps the games of {} there",
                    self.board
                );
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
            }
            Ok((Ok(()), file)) => Claimed::Locked(file),
            // Some network disks cannot lock.
            Ok((Err(TryLockError::Error(_)), _)) => Claimed::Unlocked,
            // It belongs to another user: we cannot overwrite that user's games either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Claimed::Unlocked,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The last game's file. Temporary files left by a power cut are removed.
    ///
    /// # Errors
    /// The folder cannot be created or read, or another daemon keeps this board's games in it.
    pub fn open(&self) -> io::Result<Option<GameFile>> {
        self.claim()?;
        let mut last = None;
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.starts_with(&self.temporary()) && name.ends_with(TEMPORARY) {
                // It does no harm if it stays.
                let _ = fs::remove_file(self.path.join(name));
            } else if let Some(key) = self.key(name) {
                last = last.max(Some((key, name.to_owned())));
            }
        }
        let Some((_, file)) = last else {
            return Ok(None);
        };
        let mut text = Vec::new();
        // An unreadable file is not ours to continue.
        let read = regular(File::options().read(true), &self.path.join(&file))
            .and_then(|opened| opened.take(MAX_FILE as u64 + 1).read_to_end(&mut text));
        Ok(read.is_ok().then_some(GameFile { file, text }))
    }

    /// When a game of this board began, according to its file's name, and its number within that second.
    fn key(&self, name: &str) -> Option<(String, usize)> {
        let stamp = name.get(..STAMP)?;
        let form = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            10 => byte == b'_',
            _ => byte.is_ascii_digit(),
        };
        let rest = name.get(STAMP..)?.strip_prefix('_')?;
        let rest = rest.strip_prefix(self.board.as_str())?.strip_prefix('_')?;
        let number = rest.strip_suffix(ENDING)?.parse().ok()?;
        let dated = stamp.bytes().enumerate().all(form);
        dated.then(|| (stamp.to_owned(), number))
    }

    /// The beginning of a temporary file's name, which no other board's has.
    fn temporary(&self) -> String {
        format!(".{}~", self.board)
    }

    /// Writes a whole game; returns the name of its file.
    ///
    /// # Errors
    /// The folder or the file cannot be written, or another daemon keeps this board's games in it; the old content
    /// stays.
    pub fn write(&self, writing: &Writing) -> io::Result<String> {
        self.claim()?;
        let prefix = self.temporary();
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(TEMPORARY);
        // By default it is for its owner alone. In a folder that others were let into, the umask decides.
        #[cfg(unix)]
        if private::is_shared(&self.path) {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(&self.path)?;
        file.write_all(writing.text.as_bytes())?;
        file.as_file().sync_all()?;
        let name = match &writing.over {
            Some(name) => {
                file.persist(self.path.join(name))?;
                name.clone()
            }
            None => self.place(file, &writing.stem)?,
        };
        if let Some(replaced) = writing.instead_of.as_ref().filter(|old| **old != name) {
            // It does no harm if it stays.
            let _ = fs::remove_file(self.path.join(replaced));
        }
        // The name must survive a power cut too. Not every system can open a folder.
        #[cfg(unix)]
        File::open(&self.path)?.sync_all()?;
        Ok(name)
    }

    /// Gives a new file an unused name.
    fn place(&self, mut file: NamedTempFile, stem: &str) -> io::Result<String> {
        for number in 1..=MAX_SAME_NAME {
            let name = format!("{stem}_{number}{ENDING}");
            match file.persist_noclobber(self.path.join(&name)) {
                Ok(_) => return Ok(name),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    file = error.file;
                }
                Err(error) => return Err(error.error),
            }
        }
        Err(io::Error::other(format!(
            "{MAX_SAME_NAME} files are called {stem}"
        )))
    }
}

/// Whether this file is the one of this name.
fn is_still(file: &File, name: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let there = fs::symlink_metadata(name).ok().zip(file.metadata().ok());
        there.is_some_and(|(there, ours)| (there.dev(), there.ino()) == (ours.dev(), ours.ino()))
    }
    // Such a system lets no open file be deleted.
    #[cfg(not(unix))]
    {
        let _ = (file, name);
        true
    }
}

/// A thread for slow operations: a slow disk never delays a board.
#[derive(Clone, Debug)]
pub struct Writer {
    jobs: SyncSender<Job>,
    syncs: Arc<Mutex<Credit>>,
}

enum Job {
    Open(Folder, oneshot::Sender<io::Result<Option<GameFile>>>),
    Write(Folder, Writing, oneshot::Sender<io::Result<String>>),
}

impl Writer {
    /// Starts the thread; it ends with its last user.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start() -> io::Result<Self> {
        // Every board has one job at most.
        let (jobs, incoming) = sync_channel(MAX_BOARDS);
        thread::Builder::new()
            .name("games".to_owned())
            .spawn(move || {
                while let Ok(job) = incoming.recv() {
                    // The folder is dropped before the answer is sent: the board's games are then free for the caller.
                    // A caller that does not await the answer was told to stop.
                    match job {
                        Job::Open(folder, answer) => {
                            let opened = folder.open();
                            drop(folder);
                            drop(answer.send(opened));
                        }
                        Job::Write(folder, writing, answer) => {
                            let written = folder.write(&writing);
                            drop(folder);
                            drop(answer.send(written));
                        }
                    }
                }
            })?;
        let syncs = Arc::new(Mutex::new(Credit::new(SYNCS)));
        Ok(Self { jobs, syncs })
    }

    /// When a write that can wait is allowed, so that the disk is spared; `None` if it is allowed now.
    pub fn waits_until(&self, now: Instant) -> Option<Instant> {
        let syncs = self.syncs.lock().unwrap_or_else(PoisonError::into_inner);
        syncs.waits_until(now, 0)
    }

    /// When a game that has ended may be written.
    pub fn end_waits_until(&self, now: Instant) -> Option<Instant> {
        let syncs = self.syncs.lock().unwrap_or_else(PoisonError::into_inner);
        syncs.waits_until(now, SYNCS_OF_ENDS)
    }

    /// [`Folder::open`], on the thread.
    ///
    /// # Errors
    /// As there.
    pub async fn open(&self, folder: &Folder) -> io::Result<Option<GameFile>> {
        let (answer, answered) = oneshot::channel();
        self.give(Job::Open(folder.clone(), answer))?;
        answered.await.map_err(io::Error::other)?
    }

    /// [`Folder::write`], on the thread.
    ///
    /// # Errors
    /// As there.
    pub async fn write(&self, folder: &Folder, writing: Writing) -> io::Result<String> {
        self.spend(tokio::time::Instant::now().into_std());
        let (answer, answered) = oneshot::channel();
        self.give(Job::Write(folder.clone(), writing, answer))?;
        answered.await.map_err(io::Error::other)?
    }

    fn spend(&self, now: Instant) {
        let mut syncs = self.syncs.lock().unwrap_or_else(PoisonError::into_inner);
        syncs.spend(now, SYNCS_EACH);
    }

    fn give(&self, job: Job) -> io::Result<()> {
        let busy = |_| io::Error::other("the disk is too slow");
        self.jobs.try_send(job).map_err(busy)
    }
}

/// What the player can do about an error.
pub fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ResourceBusy => {
            "stop that one, give the board another name, or name another folder by `directory` in [games]"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        io::ErrorKind::FileTooLarge => {
            "raise the limit on the size of files (`ulimit -f`, `LimitFSIZE=` in the unit)"
        }
        io::ErrorKind::InvalidInput => {
            "remove it, or name another folder by `directory` in [games]"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "the service may write below /var/lib/boardbridge; name another folder by `directory` in [games], or let \
             this user write there"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file has that name: name another folder by `directory` in [games]"
        }
        _ => "check the disk, or name another folder by `directory` in [games]",
    }
}
