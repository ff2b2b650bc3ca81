//! What survives a restart: values in a small database, each under a key of its own.
//!
//! A task has a [`Shelf`]. It [reads](Shelf::read) what it kept before, and [keeps](Shelf::keep) its latest value
//! whenever that changes, before it tells others of it. A thread writes while the disk is slow: a slow or full disk delays a task
//! by [`KEEP_WAIT`] at most, and stops nothing.
//!
//! `docs/state.md` says what is kept, how it is written, and at what price.

mod budget;
mod database;
mod kept;
pub mod settings;
pub mod text;
mod wal;
mod writer;

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use self::{budget::PAGE, database::Database, kept::Kept, writer::Writer};
pub use self::{
    budget::{ALL, EACH, MAX_OWED, MOVE, MOVES, SLOW_WAIT, SYNCS},
    kept::{Long, Past, is_default},
    text::Text,
};
use crate::system::{apart, credit::Credit};

/// The longest time a task waits for its value to be written. A commit without a sync takes well under a millisecond;
/// this is noticed by no player, and longer than a busy SD card or processor usually needs.
pub const KEEP_WAIT: Duration = Duration::from_millis(100);
/// Keys kept at most: a board's own, its app's or opponent's, and two of broadcasts, for as many boards as there may be (the
/// room above cannot be asked: 4096).
pub const MAX_KEYS: usize = 4 * 4096;
/// The longest value, in bytes: a board with clients of long games that share nothing with its own takes some 100 kB.
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
    /// What this daemon is on a broker.
    Mqtt,
    /// A board's games in a round of a broadcast.
    Broadcast,
    /// What the page knows of its visitors.
    Web,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Board => "board",
            Self::Link => "link",
            Self::App => "app",
            Self::Opponent => "opponent",
            Self::Lichess => "lichess",
            Self::Mqtt => "mqtt",
            Self::Broadcast => "broadcast",
            Self::Web => "web",
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
    /// Values read at the start, until a shelf takes them.
    found: Mutex<BTreeMap<String, Kept>>,
    writer: Writer,
    /// What all values may still write.
    credit: Mutex<Credit>,
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
                    credit: Mutex::new(Credit::new(ALL)),
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
            credit: Credit::new(EACH),
            since_move: 0,
            moves: Credit::new(MOVES),
            slowed: false,
        }
    }

    /// Forgets values of this kind that no shelf has read: their owner is no longer configured.
    pub async fn forget_rest(&self, kind: Kind) {
        let Some(inner) = &self.inner else { return };
        for key in inner.take_rest(kind) {
            inner.writer.write(&key, Kept::default()).await;
        }
    }

    /// What is kept of the board `from`, and of who plays there, is from now on that of `to`, for shelves that read it later. All of it
    /// or nothing, also if the daemon is killed.
    pub async fn rename(&self, from: &str, to: &str) {
        let Some(inner) = self.inner.clone() else {
            return;
        };
        let (from, to) = (from.to_owned(), to.to_owned());
        let renamed = apart::run("state rename", move || inner.rename(&from, &to)).await;
        if !matches!(renamed, Ok(true)) {
            warn!(
                "the game of a board that got another name begins anew: the disk is slow or full"
            );
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
    /// See [`Store::rename`]. `false`: it cannot be written.
    fn rename(&self, from: &str, to: &str) -> bool {
        let Some(moved) = self.writer.rename(|key| renamed(key, from, to)) else {
            return false;
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.retain(|key, _| renamed(key, from, to).is_none());
        found.extend(moved);
        true
    }

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

/// The key of a value that is kept of the board `from`, for the board `to`. `None`: it is not.
fn renamed(key: &str, from: &str, to: &str) -> Option<String> {
    let (kind, name) = key.split_once('/')?;
    let mut words: Vec<&str> = name.split(' ').collect();
    let is = |of: Kind| of.to_string() == kind;
    // Which words are boards: an app's way and a round's id may be the names of others.
    let boards = if is(Kind::App) {
        words.get_mut(..1)
    } else if is(Kind::Broadcast) {
        words.get_mut(1..)
    } else if is(Kind::Mqtt) || is(Kind::Web) {
        None
    } else {
        Some(&mut words[..])
    };
    let mut has_moved = false;
    for board in boards?.iter_mut().filter(|board| **board == from) {
        *board = to;
        has_moved = true;
    }
    has_moved.then(|| format!("{kind}/{}", words.join(" ")))
}

/// The place of one value.
#[derive(Debug)]
pub struct Shelf {
    inner: Option<Arc<Inner>>,
    key: String,
    /// What was kept last.
    last: Option<String>,
    /// The warning of a value that is too long was already logged.
    refused: bool,
    /// What its changes may still write.
    credit: Credit,
    /// Bytes written since the hand's last move.
    since_move: u64,
    /// What the hand's moves may still give back.
    moves: Credit,
    /// The warning of too many changes was already logged.
    slowed: bool,
}

impl Shelf {
    /// Whether values are kept at all.
    pub fn is_on(&self) -> bool {
        self.inner.is_some()
    }

    /// The value saved by the last run of the daemon; returned once. A value that cannot be read is dropped with a
    /// warning.
    pub fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        let inner = self.inner.as_ref()?;
        let mut found = inner.found.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = found.remove(&self.key)?;
        drop(found);
        let text = kept.whole().unwrap_or_default();
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

    /// Until when a change that can wait should wait; `None` if it may be written now. This bounds what this value, and all
    /// values together, write. A value with half of its own allowance left does not wait for the others.
    pub fn waits_until(&self) -> Option<Instant> {
        let inner = self.inner.as_ref()?;
        let now = Instant::now().into_std();
        let all = inner.credit.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.waits_until(now, 0);
        let all = all.filter(|_| !self.credit.has(now, EACH.at_once / 2));
        let until = self.credit.waits_until(now, 0).max(all);
        until.map(Instant::from_std)
    }

    /// The hand has made a move: gives back what was spent since its last one, up to [`MOVE`].
    pub fn moved(&mut self) {
        let Some(inner) = &self.inner else { return };
        let now = Instant::now().into_std();
        let back = std::mem::take(&mut self.since_move).min(MOVE);
        if self.moves.has(now, back) {
            self.moves.spend(now, back);
            self.credit.give_back(back);
            let mut all = inner.credit.lock().unwrap_or_else(PoisonError::into_inner);
            all.give_back(back);
        }
    }

    /// Until when the board whose changes cannot wait should not be read; `None` if it may be read now.
    pub fn is_overdrawn_until(&self) -> Option<Instant> {
        self.inner.as_ref()?;
        let now = Instant::now().into_std();
        let until = self.credit.waits_until(now, MAX_OWED);
        until.map(Instant::from_std)
    }

    /// Saves this value in place of the last one, before anyone is told of it. A task whose value changes faster than
    /// [`EACH`] allows waits, for [`SLOW_WAIT`] at most.
    pub async fn keep<T: Serialize>(&mut self, value: &T) {
        let Some(text) = self.changed(value) else {
            return;
        };
        if let Some(until) = self.waits_until() {
            sleep_until(until.min(Instant::now() + SLOW_WAIT)).await;
        }
        self.write(text, BTreeMap::new()).await;
    }

    /// The same without that wait, for a change that must not wait. Returns when it is written, so that a `kill -9` does not
    /// lose it; after [`KEEP_WAIT`] at the latest, and at once if it has not changed or if the disk is known to be slow or
    /// full.
    pub async fn keep_at_once<T: Serialize>(&mut self, value: &T) {
        if let Some(text) = self.changed(value) {
            self.write(text, BTreeMap::new()).await;
        }
    }

    /// The same for a value with a past that only grows: of that, only what is new is written.
    pub async fn keep_long<P: Copy + PartialEq + Display>(
        &mut self,
        past: &mut Past<P>,
        entries: &[P],
        rest: impl Serialize,
    ) {
        let (long, chunks) = past.divide(entries, rest);
        if let Some(text) = self.changed(&long) {
            self.write(text, chunks).await;
        } else if !chunks.is_empty() {
            // These chunks were not written: the next call begins with the whole past.
            *past = Past::default();
        }
    }

    /// The text of this value, if it has changed and can be saved.
    fn changed<T: Serialize>(&mut self, value: &T) -> Option<String> {
        self.inner.as_ref()?;
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
                return None;
            }
        };
        Some(text).filter(|text| self.last.as_ref() != Some(text))
    }

    async fn write(&mut self, text: String, past: BTreeMap<u32, String>) {
        let Some(inner) = self.inner.clone() else {
            return;
        };
        self.spend(&inner, [&text].into_iter().chain(past.values()));
        self.last = Some(text.clone());
        let value = Some(text);
        inner.writer.write(&self.key, Kept { value, past }).await;
    }

    /// Counts the bytes of a change with these texts, and logs a warning when there are too many.
    fn spend<'a>(&mut self, inner: &Inner, texts: impl Iterator<Item = &'a String>) {
        let now = Instant::now().into_std();
        let bytes = |text: &String| u64::try_from(text.len()).unwrap_or(u64::MAX);
        let bytes = texts.map(|text| bytes(text).next_multiple_of(PAGE)).sum();
        self.credit.spend(now, bytes);
        self.since_move = self.since_move.saturating_add(bytes);
        let mut all = inner.credit.lock().unwrap_or_else(PoisonError::into_inner);
        all.spend(now, bytes);
        drop(all);
        if self.waits_until().is_none() {
            self.slowed &= !self.credit.has(now, EACH.at_once / 4);
        } else if !std::mem::replace(&mut self.slowed, true) {
            // Not in the board's span: what is logged about a board that is flooded may be left out.
            warn!(
                parent: None,
                key = self.key,
                "changes faster than any game: to spare the disk, who causes that is served slower"
            );
        }
    }

    /// Removes the value.
    pub async fn forget(&mut self) {
        let Some(inner) = self.inner.clone() else {
            return;
        };
        self.last = None;
        inner.writer.write(&self.key, Kept::default()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_board_goes_with_its_new_name_and_nothing_else_does() {
        for (key, moved) in [
            ("board/ble", Some("board/oak")),
            ("link/neo ble", Some("link/neo oak")),
            ("app/ble tcp", Some("app/oak tcp")),
            ("app/neo ble", None),
            ("broadcast/aBcDeFgH ble", Some("broadcast/aBcDeFgH oak")),
            ("broadcast/ble neo", None),
            ("mqtt/ble", None),
        ] {
            assert_eq!(renamed(key, "ble", "oak").as_deref(), moved, "{key}");
        }
    }
}
