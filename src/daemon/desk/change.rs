//! A change of what was added: files that belong together are changed all or not at all, whenever the daemon is killed.
//!
//! What is to be done is written down first, in a file of its own. A start that finds that file does it again, from the beginning: each
//! edit says what is there in the end, so that it does not matter how far the last run came.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use tracing::warn;

use super::{files, unwritten};
use crate::{
    bus::desk::Refused,
    system::{apart, regular_file::read},
    vocabulary::BoardName,
};

/// The file that says what is to be done.
const JOURNAL: &str = "change.json";
/// The longest of them, in bytes: a board, and a few dozen bytes for each of its links.
pub(super) const MAX_JOURNAL: u64 = 256 * 1024;

/// A file, as it is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Edit {
    path: PathBuf,
    /// What is in it. `None`: it is not there.
    text: Option<String>,
    /// When it came, which is its place in lists. `None`: now.
    came: Option<SystemTime>,
}

impl Edit {
    /// A file with this text.
    pub fn write(path: PathBuf, text: String) -> Self {
        Self {
            path,
            text: Some(text),
            came: None,
        }
    }

    /// No file.
    pub fn remove(path: PathBuf) -> Self {
        Self {
            path,
            text: None,
            came: None,
        }
    }

    /// The same, in lists where this file is.
    #[must_use]
    pub fn in_place_of(mut self, other: &Path) -> Self {
        self.came = came(other);
        self
    }

    /// The file as it is now.
    fn as_it_is(path: &Path) -> io::Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            path: path.to_owned(),
            text,
            came: came(path),
        })
    }

    fn carry_out(&self) -> io::Result<()> {
        match &self.text {
            Some(text) => files::write(&self.path, text.as_bytes(), self.came),
            None => match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }
}

fn came(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// What is written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Journal {
    edits: Vec<Edit>,
    /// The board that gets another name, and the name.
    renamed: Option<(BoardName, BoardName)>,
}

impl Journal {
    fn carry_out(&self, state: &Path) -> io::Result<()> {
        if self.edits.len() > 1 {
            let text = serde_json::to_vec(self)?;
            files::write(&state.join(JOURNAL), &text, None)?;
        }
        self.edits.iter().try_for_each(Edit::carry_out)
    }
}

/// Files that were changed, and what was in them before.
pub(super) struct Change {
    state: PathBuf,
    before: Vec<Edit>,
}

impl Change {
    /// Makes these edits. A slow disk holds nobody else up.
    ///
    /// # Errors
    /// They cannot be made; nothing has changed then.
    pub async fn make(
        state: &Path,
        edits: Vec<Edit>,
        renamed: Option<(BoardName, BoardName)>,
    ) -> Result<Self, Refused> {
        let state = state.to_owned();
        let made = apart::run("added", move || {
            let before = edits.iter().map(|edit| Edit::as_it_is(&edit.path));
            let before = before.collect::<io::Result<Vec<Edit>>>()?;
            let change = Self { state, before };
            let journal = Journal { edits, renamed };
            match journal.carry_out(&change.state) {
                Ok(()) => Ok(change),
                Err(error) => {
                    change.undo();
                    Err(error)
                }
            }
        });
        made.await.flatten().map_err(|error| unwritten(&error))
    }

    /// The files that were changed.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.before.iter().map(|edit| edit.path.as_path())
    }

    /// It stays.
    pub async fn stays(self) {
        if let Err(error) = apart::run("added", move || end(&self.state)).await {
            warn!("{error}");
        }
    }

    /// Puts everything back as it was.
    pub async fn take_back(self) {
        if let Err(error) = apart::run("added", move || self.undo()).await {
            warn!("what was added cannot be put back: {error}");
        }
    }

    fn undo(self) {
        let journal = Journal {
            edits: self.before,
            renamed: None,
        };
        match journal.carry_out(&self.state) {
            Ok(()) => end(&self.state),
            Err(error) => warn!("what was added cannot be put back: {error}"),
        }
    }
}

/// Carries out what the last run has left, if it was killed in the middle. Returns whether it did.
pub(in crate::daemon) fn finish(state: &Path) -> bool {
    let Some(journal) = left(state) else {
        return false;
    };
    if let Err(error) = journal.edits.iter().try_for_each(Edit::carry_out) {
        warn!("a change of what was added is not complete: {error}");
    }
    true
}

/// The board that got another name in what the last run has left.
pub(in crate::daemon) fn left_renamed(state: &Path) -> Option<(BoardName, BoardName)> {
    left(state)?.renamed
}

fn left(state: &Path) -> Option<Journal> {
    let bytes = read(&state.join(JOURNAL), MAX_JOURNAL).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Forgets what was written down: it is done.
pub(in crate::daemon) fn end(state: &Path) {
    let _ = fs::remove_file(state.join(JOURNAL));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is in each of these files.
    fn all(edits: &[Edit]) -> Vec<Option<String>> {
        let text = |edit: &Edit| fs::read_to_string(&edit.path).ok();
        edits.iter().map(text).collect()
    }

    #[test]
    fn a_change_that_is_killed_after_any_of_its_steps_is_complete_after_the_next_start() {
        for steps in 0..=3 {
            for undone in [false, true] {
                let state = tempfile::tempdir().unwrap();
                let file = |name: &str| state.path().join("boards.d").join(name);
                let edits = [
                    Edit::write(file("new"), "renamed".to_owned()),
                    Edit::remove(file("old")),
                    Edit::write(file("play"), "of the new one".to_owned()),
                ];
                for name in ["old", "play"] {
                    files::write(&file(name), b"before", None).unwrap();
                }
                let before = edits
                    .clone()
                    .map(|edit| Edit::as_it_is(&edit.path).unwrap());
                let wanted = if undone { &before } else { &edits };
                let journal = Journal {
                    edits: wanted.to_vec(),
                    renamed: None,
                };
                if undone {
                    edits.iter().try_for_each(Edit::carry_out).unwrap();
                }
                let text = serde_json::to_vec(&journal).unwrap();
                files::write(&state.path().join(JOURNAL), &text, None).unwrap();
                let mut made = wanted.iter().take(steps);
                made.try_for_each(Edit::carry_out).unwrap();
                assert!(finish(state.path()));
                let texts: Vec<_> = wanted.iter().map(|edit| edit.text.clone()).collect();
                assert_eq!(all(wanted), texts);
                end(state.path());
                assert!(!finish(state.path()));
            }
        }
    }
}
