//! What survives a restart: values in a small database, each under a key of its own.
//!
//! A task has a [`Shelf`]. It [reads](Shelf::read) what it kept before, and [keeps](Shelf::keep) its latest value
//! whenever that changes, before it tells others of it. A thread writes; a slow or full disk delays a task by
//! [`KEEP_WAIT`] at most, and stops nothing.
//!
//! `docs/state.md` says what is kept, how it is written, and at what price.

mod database;
mod log;
pub mod settings;
pub mod text;
mod writer;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tracing::{info, warn};

pub use self::text::Text;
use self::{database::Database, writer::Writer};

/// The longest time a task waits for its value to be written. A commit without a sync takes well under a millisecond;
/// this is noticed by no player, and longer than a busy SD card or processor usually needs.
pub const KEEP_WAIT: Duration = Duration::from_millis(100);
/// Keys kept at most: more than boards, apps and links together.
pub const MAX_KEYS: usize = 512;
/// The longest value, in bytes: a board with its longest game and the clients that have it takes some 100 kB.
pub const MAX_VALUE: usize = 256 * 1024;

/// What a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A board.
    Board,
    /// A link of two boards.
    Link,
    /// The `WhitePawn` app at a board.
    App,
    /// An engine, or two hands, at a board.
    Opponent,
    /// A game on Lichess.
    Lichess,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "board",
            Self::Link => "link",
            Self::App => "app",
            Self::Opponent => "opponent",
            Self::Lichess => "lichess",
        })
    }
}

/// All that survives a restart, or nothing.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// `None` if nothing is kept.
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// What was read at the start, until it is asked for.
    found: Mutex<BTreeMap<String, String>>,
    writer: Writer,
}

impl Store {
    /// Keeps nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Keeps values in this directory, which is created if missing. Never fails: what cannot be read or written is a
    /// warning, and is tried again.
    pub fn open(directory: &Path) -> Self {
        let mut database = Database::at(directory);
        let found = match database.read() {
            Ok(found) => {
                info!("games survive a restart in {}", directory.display());
                found
            }
            Err(error) => {
                warn!(
                    "nothing survives a restart for now: {} {error}: {}",
                    directory.display(),
                    error.remedy()
                );
                BTreeMap::new()
            }
        };
        let path = directory.to_owned();
        match Writer::start(database) {
            Ok(writer) => {
                let found = Mutex::new(found);
                let inner = Inner {
                    path,
                    found,
                    writer,
                };
                Self {
                    inner: Some(Arc::new(inner)),
                }
            }
            Err(error) => {
                warn!("nothing survives a restart: no thread can be started ({error})");
                Self::off()
            }
        }
    }

    /// The directory, if values are kept.
    pub fn path(&self) -> Option<&Path> {
        self.inner.as_ref().map(|inner| inner.path.as_path())
    }

    /// The place of one value. Two shelves of the same kind and name have the same value.
    pub fn shelf(&self, kind: Kind, name: &str) -> Shelf {
        Shelf {
            inner: self.inner.clone(),
            key: format!("{kind}/{name}"),
            last: None,
            refused: false,
        }
    }

    /// Forgets values of this kind that no shelf has read: what they belong to is no longer configured.
    pub async fn forget_rest(&self, kind: Kind) {
        let Some(inner) = &self.inner else { return };
        for key in inner.take_rest(kind) {
            inner.writer.write(&key, None).await;
        }
    }

    /// Writes and syncs what is left, for a bounded time.
    pub async fn close(self) {
        if let Some(inner) = &self.inner {
            inner.writer.close().await;
        }
    }
}

impl Inner {
    /// The keys of this kind that were not asked for.
    fn take_rest(&self, kind: Kind) -> Vec<String> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = kind.to_string();
        let of_kind = |key: &str| key.split('/').next() == Some(kind.as_str());
        found
            .extract_if(.., |key, _| of_kind(key))
            .map(|(key, _)| key)
            .collect()
    }
}

/// The place of one value.
#[derive(Debug)]
pub struct Shelf {
    inner: Option<Arc<Inner>>,
    key: String,
    /// What was kept last.
    last: Option<String>,
    /// A value that is too long was already warned of.
    refused: bool,
}

impl Shelf {
    /// Whether values are kept at all.
    pub fn is_on(&self) -> bool {
        self.inner.is_some()
    }

    /// What was kept when the daemon last ran; returned once. A value that cannot be read is dropped with a warning.
    pub fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        let inner = self.inner.as_ref()?;
        let mut found = inner.found.lock().unwrap_or_else(PoisonError::into_inner);
        let text = found.remove(&self.key)?;
        drop(found);
        match serde_json::from_str(&text) {
            Ok(value) => {
                self.last = Some(text);
                Some(value)
            }
            Err(error) => {
                warn!(
                    key = self.key,
                    "what was kept of it cannot be read and is dropped: {error}"
                );
                None
            }
        }
    }

    /// Keeps this value in place of the last one. Returns when it is written, so that a `kill -9` does not lose it; after
    /// [`KEEP_WAIT`] at the latest, and at once if it has not changed or if the disk is known to be slow or full.
    pub async fn keep<T: Serialize>(&mut self, value: &T) {
        let Some(inner) = self.inner.clone() else {
            return;
        };
        let text = match serde_json::to_string(value) {
            Ok(text) if text.len() <= MAX_VALUE => text,
            wrong => {
                if !std::mem::replace(&mut self.refused, true) {
                    let key = &self.key;
                    match wrong {
                        Ok(text) => warn!(key, "{} bytes are too many to be kept", text.len()),
                        Err(error) => warn!(key, "it cannot be kept: {error}"),
                    }
                }
                return;
            }
        };
        if self.last.as_ref() == Some(&text) {
            return;
        }
        self.last = Some(text.clone());
        inner.writer.write(&self.key, Some(text)).await;
    }

    /// Keeps nothing here any more.
    pub async fn forget(&mut self) {
        let Some(inner) = self.inner.clone() else {
            return;
        };
        self.last = None;
        inner.writer.write(&self.key, None).await;
    }
}
