//! Mistakes in a configuration, with their places.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::{DEFAULT_FILE, document::line_at};
#[cfg(target_os = "linux")]
use crate::system::access::{unreadable, user};
use crate::text::escape::escaped;

/// Mistakes listed at once: as many as fit a screen.
pub const MAX_MISTAKES: usize = 20;

/// The most bytes quoted of a line.
const MAX_LINE: usize = 80;

/// A configuration that cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {}", file.display(), unreadable_hint(.file, .source))]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It has mistakes: one line each, at most [`MAX_MISTAKES`] and a line that there are more.
    #[error("{}", .0.join("\n"))]
    Wrong(Vec<String>),
}

impl ConfigError {
    pub(super) fn wrong(mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.line);
        let more = mistakes.len() > MAX_MISTAKES;
        let shown = mistakes.into_iter().take(MAX_MISTAKES);
        let mut lines: Vec<String> = shown.map(|mistake| mistake.text).collect();
        if more || lines.is_empty() {
            lines.push("there are more mistakes: fix these first".to_owned());
        }
        Self::Wrong(lines)
    }

    /// The error for the first line that is not UTF-8, which is shown as Latin-1.
    pub(super) fn not_utf8(file: &Path, bytes: &[u8], good: usize) -> Self {
        // UTF-16, or no text at all.
        if bytes.contains(&0) {
            let source = io::ErrorKind::InvalidData.into();
            let file = file.to_owned();
            return Self::Unreadable { file, source };
        }
        let start = bytes[..good].iter().rposition(|b| *b == b'\n');
        let line = &bytes[start.map_or(0, |at| at + 1)..];
        let line = line.split(|b| *b == b'\n').next().unwrap_or(line);
        let latin = line.iter().take(MAX_LINE).map(|b| char::from(*b));
        let latin: String = latin.collect();
        let number = line_at(bytes, good);
        Self::Wrong(vec![format!(
            "{}:{number}: this line is not UTF-8 (is it `{}`, in Latin-1?): save the file as UTF-8",
            file.display(),
            escaped(&shown(latin.trim()))
        )])
    }
}

/// One mistake.
pub(super) struct Mistake {
    /// Its line; 0 for the environment.
    pub line: usize,
    /// `FILE:LINE: key`, or the environment variable; what is wrong, and what would be right.
    pub text: String,
}

impl Mistake {
    /// A mistake in a line of a text.
    pub fn in_line(origin: &str, line: usize, problem: &str) -> Self {
        let text = format!("{origin}:{line}: {problem}");
        Self { line, text }
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    expect(unused_variables, reason = "elsewhere nobody knows who may read it")
)]
fn unreadable_hint(file: &Path, source: &io::Error) -> String {
    match source.kind() {
        #[cfg(target_os = "linux")]
        io::ErrorKind::PermissionDenied => unreadable(file, &user()).map_or_else(
            || source.to_string(),
            |why| format!("{why}; the service has a user of its own, and has to read it too"),
        ),
        io::ErrorKind::NotFound => "there is no such file. Copy the commented default there \
             (config/boardbridge.toml), or name another file with --config"
            .to_owned(),
        io::ErrorKind::InvalidData => {
            "this is not a text file in UTF-8: save it as that".to_owned()
        }
        io::ErrorKind::IsADirectory => "this is a folder: name the file in it".to_owned(),
        _ => source.to_string(),
    }
}

/// The message if no configuration was given and the default one is missing.
pub fn hint() -> String {
    format!("without --config the file is {DEFAULT_FILE}; `boardbridge demo` needs none")
}

/// A line for a message. A key, which is a secret, is not shown.
pub(super) fn shown(line: &str) -> String {
    match line.split_once('=') {
        Some((name, _)) if name.trim() == "key" => "key = \"…\"".to_owned(),
        _ => line.to_owned(),
    }
}
