//! The database file. `SQLite` finds torn writes by its checksums and goes back to the last whole commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::c_int,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, hooks::Wal, params};
use thiserror::Error;
use tracing::{debug, warn};

use super::{MAX_KEYS, budget::PAGE, kept::Kept, wal};
use crate::system::private;

/// The file's name in the state directory.
pub(super) const FILE: &str = "boardbridge.db";
/// The suffix of a damaged file that was set aside; the time follows it.
const DAMAGED: &str = ".damaged-";
/// Damaged files that are kept for inspection.
const MAX_DAMAGED: usize = 3;
/// The suffix of `SQLite`'s file with the latest commits.
const WAL: &str = "-wal";
/// The latest commits are moved into the database when they take this many bytes: often enough that the file stays
/// small, seldom enough that an SD card is not worn.
const MAX_WAL: u64 = 1024 * 1024;
/// In a hall they may take so many bytes for each value, thirty-two pages: moving them writes every page that has changed, whether
/// once or often, and holds up the moves that are made meanwhile.
const WAL_EACH: u64 = 64 * 1024;
/// And so many in all: what is read at a start after a kill, in a second from an SD card.
const MOST_WAL: u64 = 64 * 1024 * 1024;
/// Bytes that the log and the database each hold in reserve, so that values can be saved on a full disk: room for the longest
/// log and one commit of a few values.
const ROOM: u64 = 2 * MAX_WAL;
/// Nothing is held in reserve on a disk with fewer free bytes than this: the reserve would take what is needed now.
const LEAST_FREE: u64 = 4 * ROOM;
/// The steps in which the database grows to [`ROOM`].
const STEP: u64 = 128 * 1024;
/// Frees the reserved room for use.
const UNRESERVED: &str = "DROP TABLE IF EXISTS room";
/// The version of the tables.
const VERSION: i64 = 2;
/// The growing part of a value (its past), in chunks: adding one adds a row, and writes no other page.
const PAST: &str = "CREATE TABLE past (owner INTEGER NOT NULL, chunk INTEGER NOT NULL, words TEXT NOT NULL, \
    PRIMARY KEY (owner, chunk)) WITHOUT ROWID";
/// Writes a value in its place, because a new row would change more pages.
const WRITE: &str = "INSERT INTO kept (key, value) VALUES (?1, ?2) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";
/// Writes a chunk of a value's past.
const WRITE_CHUNK: &str = "INSERT OR REPLACE INTO past SELECT id, ?2, ?3 FROM kept WHERE key = ?1";
/// How long another process may have the file: one that is just ending.
const BUSY_WAIT: Duration = Duration::from_millis(500);
/// Settings of a connection. The lock makes sure that only one daemon writes; commits are not synced by `SQLite`.
const SETTINGS: &str = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \
    PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256; PRAGMA trusted_schema = OFF;";
/// Syncs that it takes to move the latest commits into the database: of the log before, of the database after, and of the log's
/// new header.
pub(super) const SYNCS_TO_TIDY: u64 = 3;

/// Why values cannot be read or written.
#[derive(Debug, Error)]
pub(super) enum StateError {
    /// The directory cannot be created or used.
    #[error("cannot be used ({0})")]
    Directory(io::Error),
    /// Another process has the file.
    #[error("is used by another BoardBridge")]
    Taken,
    /// The file has no valid content.
    #[error("has a file with invalid content ({0})")]
    Damaged(String),
    /// Any other failure.
    #[error("cannot be written ({0})")]
    Failed(rusqlite::Error),
}

impl StateError {
    /// What the player can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Taken => "stop that one, or name another `directory` in [state]",
            Self::Failed(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                "make room on the disk"
            }
            Self::Directory(_) | Self::Damaged(_) | Self::Failed(_) => {
                "check the disk and its permissions, or name another `directory` in [state]"
            }
        }
    }
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Taken,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Failed(error),
        }
    }
}

/// The database file, opened when it is needed.
#[derive(Debug)]
pub(super) struct Database {
    directory: PathBuf,
    connection: Option<Connection>,
    /// The files that were opened.
    opened: Files,
    /// Room is held in reserve in these files, or was found impossible to hold.
    holds_room: bool,
    /// All that was read and written: a file made in place of a lost one gets it.
    kept: BTreeMap<String, Kept>,
    /// The file was made in place of a lost one, and has not got [`Self::kept`] yet.
    replaces: bool,
    /// Bytes in the log after the last commit, by the pages that `SQLite` reports.
    logged: Arc<AtomicU64>,
}

/// Identifies the database and its log by device and number. A file that was deleted and made again is another one.
type Files = [Option<(u64, u64)>; 2];

impl Database {
    /// The file in this directory; nothing is opened yet.
    pub fn at(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            connection: None,
            opened: Files::default(),
            holds_room: false,
            kept: BTreeMap::new(),
            replaces: false,
            logged: Arc::default(),
        }
    }

    /// The file with the latest commits.
    pub fn log(&self) -> PathBuf {
        self.directory.join(format!("{FILE}{WAL}"))
    }

    /// Every value, by its key. Those beyond [`MAX_KEYS`] are removed, the oldest keys first.
    ///
    /// # Errors
    /// The directory or the file cannot be used.
    pub fn read(&mut self) -> Result<BTreeMap<String, Kept>, StateError> {
        let max = i64::try_from(MAX_KEYS).unwrap_or(i64::MAX);
        let connection = self.connection()?;
        connection.execute(
            "DELETE FROM kept WHERE id NOT IN (SELECT id FROM kept ORDER BY id DESC LIMIT ?1)",
            [max],
        )?;
        connection.execute(
            "DELETE FROM past WHERE owner NOT IN (SELECT id FROM kept)",
            [],
        )?;
        self.kept = all(connection)?;
        self.hold_room();
        Ok(self.kept.clone())
    }

    /// Holds room in reserve, once: it takes many syncs.
    fn hold_room(&mut self) {
        let opened = self.connection.as_ref().filter(|_| !self.holds_room);
        let Some(opened) = opened else { return };
        self.holds_room = true;
        let length = fs::metadata(self.log()).map_or(0, |found| found.len());
        if free_on_disk(&self.directory) < LEAST_FREE {
            debug!("no room is held in reserve: the disk is nearly full");
        } else if let Err(error) = reserve(opened, length) {
            debug!("no room is held in reserve: {error}");
        }
    }

    /// Writes these changes, all or none. After a failure the file is closed, and the next write opens it again. Files deleted
    /// meanwhile are made again by [`Self::tidy`].
    ///
    /// # Errors
    /// The directory or the file cannot be used.
    pub fn write(&mut self, changes: &BTreeMap<String, Kept>) -> Result<(), StateError> {
        let written = self.commit(changes);
        if written.is_ok() {
            for (key, change) in changes {
                self.kept
                    .entry(key.clone())
                    .or_default()
                    .change(change.clone());
            }
            if changes.values().any(|change| change.value.is_none()) {
                self.kept.retain(|_, kept| kept.value.is_some());
            }
        } else {
            self.close();
        }
        written
    }

    fn commit(&mut self, changes: &BTreeMap<String, Kept>) -> Result<(), StateError> {
        self.connection()?;
        let before = Some(&self.kept).filter(|_| self.replaces);
        let Some(connection) = &self.connection else {
            return Ok(());
        };
        let committed = commit(connection, before.into_iter().flatten().chain(changes));
        if committed.is_err() && !connection.is_autocommit() {
            // If this fails too, so does the next commit, which closes the file.
            let _ = connection.execute_batch("ROLLBACK");
        }
        committed?;
        self.replaces = false;
        Ok(())
    }

    /// All that was read and written.
    pub fn kept(&self) -> BTreeMap<String, Kept> {
        self.kept.clone()
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.connection.is_some()
    }

    /// Whether there is something to be done after a sync: see [`Self::tidy`].
    pub fn is_untidy(&self) -> bool {
        self.connection.is_some() && (!self.holds_room || self.is_long() || self.is_gone())
    }

    /// Whether the log is long enough to be moved into the database.
    fn is_long(&self) -> bool {
        self.logged.load(Ordering::Relaxed) > self.max_log()
    }

    /// Bytes that the log may take. Beyond the reserve a full disk fails the write that makes it longer; then it is moved.
    fn max_log(&self) -> u64 {
        let values = u64::try_from(self.kept.len()).unwrap_or(u64::MAX);
        MAX_WAL.max(values.saturating_mul(WAL_EACH)).min(MOST_WAL)
    }

    /// The work after a sync: makes deleted files again, reserves room in new ones, and moves the log into the database if it
    /// is long and `may_sync` allows the syncs. The log file keeps its length, and is overwritten.
    ///
    /// # Errors
    /// One of these failed. The commits stay in the log.
    pub fn tidy(&mut self, may_sync: impl FnOnce() -> bool) -> Result<(), StateError> {
        if self.is_gone() {
            self.leave();
            self.commit(&BTreeMap::new())?;
        }
        self.hold_room();
        let many = self.is_long();
        let length = 2 * self.max_log();
        if let Some(connection) = self.connection.as_ref().filter(|_| many && may_sync()) {
            // The file keeps its length, which takes fewer syncs than to grow again.
            connection.execute_batch(&format!("PRAGMA journal_size_limit = {length}"))?;
            move_log(connection)?;
            self.logged.store(0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether the files that are open are no longer those in the directory.
    pub fn is_gone(&self) -> bool {
        self.connection.is_some() && self.files() != self.opened
    }

    fn files(&self) -> Files {
        [self.directory.join(FILE), self.log()].map(|file| identity(&file))
    }

    /// Abandons files that were deleted while they were open.
    fn leave(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        warn!(
            "{} was deleted or replaced while BoardBridge runs: it is made again, with the games on the boards",
            self.directory.display()
        );
        self.replaces = true;
        // Closing would delete the log of whatever has taken their place.
        let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Closes the file: the latest commits are moved into the database and synced.
    pub fn close(&mut self) {
        if self.is_gone() {
            self.leave();
            // If this fails too, the values cannot be saved.
            let _ = self.commit(&BTreeMap::new());
        }
        // If SQLite cannot move them, the next start reads them from the log.
        self.connection = None;
    }

    fn connection(&mut self) -> Result<&mut Connection, StateError> {
        if self.connection.is_none() {
            let opened = match self.open() {
                Err(error @ StateError::Damaged(_)) => {
                    let aside = self.set_aside().map_err(StateError::Directory)?;
                    warn!(
                        "{} {error}: it is now {}, and a new one is begun. Games that were on the boards may have to be \
                         set up again",
                        self.directory.display(),
                        aside.display()
                    );
                    self.replaces = true;
                    self.open()?
                }
                opened => opened?,
            };
            self.opened = self.files();
            self.holds_room = false;
            return Ok(self.connection.insert(opened));
        }
        self.connection.as_mut().ok_or(StateError::Taken)
    }

    fn open(&self) -> Result<Connection, StateError> {
        self.make_files().map_err(StateError::Directory)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(self.directory.join(FILE), flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.execute_batch(&format!("PRAGMA page_size = {PAGE}; {SETTINGS}"))?;
        // A log that had to grow is cut back.
        connection.execute_batch(&format!("PRAGMA journal_size_limit = {ROOM}"))?;
        let logged = self.logged.clone();
        connection.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
            let pages = u64::try_from(pages).unwrap_or(0);
            logged.store(pages * PAGE, Ordering::Relaxed);
            Ok(())
        }))?;
        let checked: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if checked != "ok" {
            return Err(StateError::Damaged(checked));
        }
        let written = wal::commits(&self.log());
        // A full disk may prevent the move; then the log is read where it is.
        if let Ok(found) = move_log(&connection)
            && written.map_or(true, |written| found < written)
        {
            let copy = match self.copy_log() {
                Ok(aside) => format!("a copy is {}", aside.display()),
                Err(error) => format!("it cannot be copied ({error})"),
            };
            warn!(
                "{} has a damaged log, of which only the beginning could be read; {copy}. Games may go on from an earlier move",
                self.directory.display()
            );
            // So that nothing behind the damage is taken for a later commit.
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        // Removes a reservation that a kill left unfinished; a full disk may prevent even that.
        let _ = connection.execute_batch(UNRESERVED);
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            VERSION => {}
            0 => connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; \
                 CREATE TABLE kept (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL); \
                 {PAST}; PRAGMA user_version = {VERSION}; COMMIT"
            ))?,
            newer => {
                let text = format!("version {newer}, written by another version of BoardBridge");
                return Err(StateError::Damaged(text));
            }
        }
        // The names of new files must survive a power cut too. Not every system can open a folder.
        #[cfg(unix)]
        File::open(&self.directory)
            .and_then(|folder| folder.sync_all())
            .map_err(StateError::Directory)?;
        Ok(connection)
    }

    /// Makes the directory and the file if they are missing, and removes the rights of others: no one else can use them
    /// while they are open, and `SQLite` gives its log the permissions of its file.
    fn make_files(&self) -> io::Result<()> {
        private::create_folder(&self.directory)?;
        // Only if it is missing: closing it here while this process has it open elsewhere would end `SQLite`'s lock on it.
        let made = private::file(OpenOptions::new().write(true).create_new(true))
            .open(self.directory.join(FILE));
        match made {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        for entry in fs::read_dir(&self.directory)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(FILE) {
                private::close_to_others(&entry.path());
            }
        }
        Ok(())
    }

    /// The name under which what is damaged now is set aside.
    fn damaged_name() -> String {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.map_or(0, |since| since.as_secs());
        format!("{FILE}{DAMAGED}{seconds:010}")
    }

    /// Copies the damaged log, and returns the copy's path. The database beside it is whole. (Reading that file here would end
    /// `SQLite`'s lock on it.)
    fn copy_log(&self) -> io::Result<PathBuf> {
        let name = Self::damaged_name();
        let aside = self.directory.join(format!("{name}{WAL}"));
        fs::copy(self.log(), &aside)?;
        self.forget_damaged()?;
        Ok(aside)
    }

    /// Gives the damaged file another name, which is returned.
    fn set_aside(&self) -> io::Result<PathBuf> {
        let file = self.directory.join(FILE);
        let name = Self::damaged_name();
        let aside = self.directory.join(&name);
        fs::rename(&file, &aside)?;
        // An old log must not be taken for one of the new file.
        match fs::rename(self.log(), self.directory.join(format!("{name}{WAL}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.forget_damaged()?;
        Ok(aside)
    }

    /// Removes all but the latest of what was set aside.
    fn forget_damaged(&self) -> io::Result<()> {
        let damaged: BTreeSet<String> = fs::read_dir(&self.directory)?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(&format!("{FILE}{DAMAGED}")))
            .map(|name| name.trim_end_matches(WAL).to_owned())
            .collect();
        let many = damaged.len().saturating_sub(MAX_DAMAGED);
        for old in damaged.iter().take(many) {
            // It does no harm if it stays.
            let _ = fs::remove_file(self.directory.join(old));
            let _ = fs::remove_file(self.directory.join(format!("{old}{WAL}")));
        }
        Ok(())
    }
}

/// Commits these changes. Each statement was prepared at the first commit.
fn commit<'a>(
    connection: &Connection,
    changes: impl Iterator<Item = (&'a String, &'a Kept)>,
) -> rusqlite::Result<()> {
    let run = |sql: &str| connection.prepare_cached(sql)?.execute([]);
    let changes: Vec<_> = changes.collect();
    // One statement is a transaction by itself: the way of most moves.
    let is_one = |change: &Kept| change.value.is_some() && change.past.is_empty();
    let alone = matches!(changes[..], [(_, change)] if is_one(change));
    if !alone {
        run("BEGIN")?;
    }
    for (key, change) in changes {
        let Some(value) = &change.value else {
            for table in [
                "past WHERE owner = (SELECT id FROM kept WHERE key = ?1)",
                "kept WHERE key = ?1",
            ] {
                connection.execute(&format!("DELETE FROM {table}"), [key])?;
            }
            continue;
        };
        connection
            .prepare_cached(WRITE)?
            .execute(params![key, value])?;
        for (chunk, words) in &change.past {
            connection
                .prepare_cached(WRITE_CHUNK)?
                .execute(params![key, chunk, words])?;
        }
    }
    if !alone {
        run("COMMIT")?;
    }
    Ok(())
}

/// Every value, by its key.
fn all(connection: &Connection) -> rusqlite::Result<BTreeMap<String, Kept>> {
    let mut all: BTreeMap<String, Kept> = BTreeMap::new();
    let mut statement = connection.prepare(
        "SELECT key, value, chunk, words FROM kept LEFT JOIN past ON owner = id ORDER BY id, chunk",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let kept = all.entry(row.get(0)?).or_default();
        kept.value = row.get(1)?;
        if let Some(chunk) = row.get(2)? {
            kept.past.insert(chunk, row.get(3)?);
        }
    }
    Ok(all)
}

/// The device and number of a file, if it exists.
fn identity(file: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(file).ok()?;
        Some((found.dev(), found.ino()))
    }
    // Other systems do not let an open file be deleted.
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}

/// Bytes that are free on the disk of this folder.
#[cfg(target_os = "linux")]
fn free_on_disk(folder: &Path) -> u64 {
    nix::sys::statvfs::statvfs(folder).map_or(0, |disk| {
        #[allow(clippy::useless_conversion, reason = "32 bits on some systems")]
        let (blocks, size) = (
            u64::from(disk.blocks_available()),
            u64::from(disk.fragment_size()),
        );
        blocks.saturating_mul(size)
    })
}

/// The daemon does not run on such a system.
#[cfg(not(target_os = "linux"))]
fn free_on_disk(_: &Path) -> u64 {
    0
}

/// Makes the log and the database as long as they may become, if they are not. `length`: the log's.
fn reserve(connection: &Connection, length: u64) -> rusqlite::Result<()> {
    let free = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size";
    let free: i64 = connection.query_row(free, [], |row| row.get(0))?;
    let free = u64::try_from(free).unwrap_or(0);
    if length >= ROOM && free >= ROOM / 2 {
        return Ok(());
    }
    connection.execute_batch("CREATE TABLE IF NOT EXISTS room (bytes BLOB)")?;
    let filled = (|| {
        let fill = |bytes: u64| {
            connection.execute_batch(&format!("INSERT INTO room VALUES (zeroblob({bytes}))"))
        };
        // In steps: what is in the log must fit into the database.
        for _ in 0..ROOM.saturating_sub(free).div_ceil(STEP) {
            fill(STEP)?;
            move_log(connection)?;
        }
        connection.execute_batch("DELETE FROM room")?;
        // Now the database has room for the longest log, which this makes.
        fill(ROOM)?;
        move_log(connection)
    })();
    connection.execute_batch(UNRESERVED)?;
    filled.map(drop)
}

/// Moves all commits from the log into the database, and lets the log begin anew; returns how many frames it had.
fn move_log(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(1))
}

/// The log's file for the thread that syncs it. It is opened again when the name leads to another file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    opened: Option<(File, (u64, u64))>,
}

impl LogFile {
    /// The log at this path; nothing is opened yet.
    pub fn at(path: PathBuf) -> Self {
        Self { path, opened: None }
    }

    /// Waits until the disk has all of it.
    ///
    /// # Errors
    /// The file cannot be synced. One that is missing needs no sync.
    pub fn sync(&mut self) -> io::Result<()> {
        let there = identity(&self.path);
        self.opened.take_if(|(_, opened)| there != Some(*opened));
        let file = match &self.opened {
            Some((file, _)) => file,
            None => match OpenOptions::new().write(true).open(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                opened => &self.opened.insert((opened?, there.unwrap_or_default())).0,
            },
        };
        file.sync_data()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
