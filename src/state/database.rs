//! The database file. `SQLite` finds torn writes by its checksums and goes back to the last whole commit.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, params};
use thiserror::Error;
use tracing::warn;

use super::MAX_KEYS;

/// The file's name in the state directory.
pub(super) const FILE: &str = "boardbridge.db";
/// What follows the name of a damaged file that was set aside; then the time.
const DAMAGED: &str = ".damaged-";
/// Damaged files that stay for whoever wants to look at them.
const MAX_DAMAGED: usize = 3;
/// What `SQLite` appends to the name of the file with the latest commits.
const WAL: &str = "-wal";
/// The latest commits are moved into the database when they take this many bytes: often enough that the file stays
/// small, seldom enough that an SD card is not worn.
const MAX_WAL: u64 = 1024 * 1024;
/// The version of the tables.
const VERSION: i64 = 1;
/// How long another process may have the file: one that is just ending.
const BUSY_WAIT: Duration = Duration::from_millis(500);
/// Settings of a connection. The lock makes sure that only one daemon writes; commits are not synced by `SQLite`.
const SETTINGS: &str = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \
    PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256; PRAGMA trusted_schema = OFF;";

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
}

impl Database {
    /// The file in this directory; nothing is opened yet.
    pub fn at(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            connection: None,
        }
    }

    /// The file with the latest commits.
    pub fn log(&self) -> PathBuf {
        self.directory.join(format!("{FILE}{WAL}"))
    }

    /// Every value, by its key. Those beyond [`MAX_KEYS`] that were kept longest ago are removed.
    ///
    /// # Errors
    /// The directory or the file cannot be used.
    pub fn read(&mut self) -> Result<BTreeMap<String, String>, StateError> {
        let max = i64::try_from(MAX_KEYS).unwrap_or(i64::MAX);
        let connection = self.connection()?;
        connection.execute(
            "DELETE FROM kept WHERE id NOT IN (SELECT id FROM kept ORDER BY id DESC LIMIT ?1)",
            [max],
        )?;
        let mut statement = connection.prepare("SELECT key, value FROM kept")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Writes these values, all or none; `None` removes one. After a failure the file is opened again.
    ///
    /// # Errors
    /// The directory or the file cannot be used.
    pub fn write<'a>(
        &mut self,
        changes: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<(), StateError> {
        let written = self.try_write(changes);
        if written.is_err() {
            self.close();
        }
        written
    }

    fn try_write<'a>(
        &mut self,
        changes: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<(), StateError> {
        let transaction = self.connection()?.transaction()?;
        for (key, value) in changes {
            if let Some(value) = value {
                let sql = "INSERT OR REPLACE INTO kept (key, value) VALUES (?1, ?2)";
                transaction.execute(sql, params![key, value])?;
            } else {
                transaction.execute("DELETE FROM kept WHERE key = ?1", [key])?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Moves the latest commits into the database if they are many.
    ///
    /// # Errors
    /// That failed; they stay where they are.
    pub fn tidy(&mut self) -> Result<(), StateError> {
        let length = fs::metadata(self.log()).map_or(0, |found| found.len());
        if length > MAX_WAL
            && let Some(connection) = &self.connection
        {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Closes the file: the latest commits are moved into the database and synced.
    pub fn close(&mut self) {
        // Should that fail, they are read from where they are.
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
                    self.open()?
                }
                opened => opened?,
            };
            return Ok(self.connection.insert(opened));
        }
        self.connection.as_mut().ok_or(StateError::Taken)
    }

    fn open(&self) -> Result<Connection, StateError> {
        fs::create_dir_all(&self.directory).map_err(StateError::Directory)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.directory.join(FILE), flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.execute_batch(SETTINGS)?;
        let checked: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if checked != "ok" {
            return Err(StateError::Damaged(checked));
        }
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            VERSION => {}
            0 => connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; \
                 CREATE TABLE kept (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL); \
                 PRAGMA user_version = {VERSION}; COMMIT"
            ))?,
            newer => {
                let text = format!("version {newer}, written by another version of BoardBridge");
                return Err(StateError::Damaged(text));
            }
        }
        // The names of new files must survive a power cut too. Not every system can open a folder.
        #[cfg(unix)]
        fs::File::open(&self.directory)
            .and_then(|folder| folder.sync_all())
            .map_err(StateError::Directory)?;
        Ok(connection)
    }

    /// Gives the damaged file another name, which is returned.
    fn set_aside(&self) -> io::Result<PathBuf> {
        let file = self.directory.join(FILE);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.map_or(0, |since| since.as_secs());
        let name = format!("{FILE}{DAMAGED}{seconds:010}");
        let aside = self.directory.join(&name);
        fs::rename(&file, &aside)?;
        // An old log must not be taken for one of the new file.
        match fs::rename(self.log(), self.directory.join(format!("{name}{WAL}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut damaged: Vec<String> = fs::read_dir(&self.directory)?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(&format!("{FILE}{DAMAGED}")) && !name.ends_with(WAL))
            .collect();
        damaged.sort();
        let many = damaged.len().saturating_sub(MAX_DAMAGED);
        for old in &damaged[..many] {
            // It does no harm if it stays.
            let _ = fs::remove_file(self.directory.join(old));
            let _ = fs::remove_file(self.directory.join(format!("{old}{WAL}")));
        }
        Ok(aside)
    }
}

/// Waits until the disk has all of this file.
///
/// # Errors
/// The file cannot be synced. One that is missing needs no sync.
pub(super) fn sync(log: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(log) {
        Ok(file) => file.sync_data(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
