//! What is wrong with a configuration, and where.

use std::{fmt, io, ops::Range, path::PathBuf};

use figment::error::Kind;
use thiserror::Error;
use toml_edit::{ImDocument, Item, Table, TableLike, Value};

use super::{BoardKind, DEFAULT_FILE, ENV_PREFIX, words};

/// From here on (Jaro and Winkler's measure, 0 to 1) a key is taken for another one mistyped: `usi` is as like
/// `uci`, and few words of three letters are less.
const LIKE: f64 = 0.77;

/// A mistake in a configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {}", file.display(), unreadable_hint(.source))]
    Unreadable {
        /// Which file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something in it is wrong.
    #[error("{place}: {problem}")]
    Wrong {
        /// `FILE:LINE: key`, or the variable in the environment.
        place: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

fn unreadable_hint(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "there is no such file. Copy the commented default there \
             (config/boardbridge.toml), or name another file with --config"
            .to_owned(),
        io::ErrorKind::InvalidData => "this is not a text file".to_owned(),
        io::ErrorKind::IsADirectory => "this is a folder: name the file in it".to_owned(),
        _ => source.to_string(),
    }
}

/// The text of a configuration, to find a key's line in.
pub struct Place<'a> {
    text: &'a str,
    origin: &'a str,
}

impl<'a> Place<'a> {
    /// A text and what to call it.
    pub fn new(text: &'a str, origin: &'a str) -> Self {
        Self { text, origin }
    }

    /// Whether the text is TOML at all.
    pub fn syntax(&self) -> Result<(), ConfigError> {
        match ImDocument::parse(self.text) {
            Ok(_) => Ok(()),
            Err(error) => {
                let line = error.span().map_or(1, |span| self.line(&span));
                Err(ConfigError::Wrong {
                    place: format!("{}:{line}", self.origin),
                    problem: format!(
                        "this is not TOML: {}",
                        error.message().trim().replace('\n', ", ")
                    ),
                })
            }
        }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let end = span.start.min(self.text.len());
        self.text.as_bytes()[..end]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            + 1
    }

    /// A problem with the key at `path`.
    pub fn at(&self, path: &[String], problem: impl fmt::Display) -> ConfigError {
        let key = words::key(path);
        let variable = format!("{ENV_PREFIX}{}", path.join("__").to_ascii_uppercase());
        let place = if std::env::var_os(&variable).is_some() {
            format!("environment variable {variable} ({key})")
        } else {
            let line = self.find(path);
            format!("{}:{line}: {key}", self.origin)
        };
        ConfigError::Wrong {
            place,
            problem: problem.to_string(),
        }
    }

    /// The line of the key at `path`, or of its nearest table that is there.
    fn find(&self, path: &[String]) -> usize {
        let Ok(document) = ImDocument::parse(self.text) else {
            return 1;
        };
        let mut table: &dyn TableLike = document.as_table();
        let mut line = 1;
        let mut parts = path.iter();
        while let Some((key, value)) = parts.next().and_then(|part| table.get_key_value(part)) {
            let span = match value {
                // A table's own line is that of its head.
                Item::Table(table) => table.span().or_else(|| key.span()),
                _ => key.span(),
            };
            let mut inside = value.as_table_like();
            let mut element = None;
            if inside.is_none()
                && let Some(index) = parts.next().and_then(|part| part.parse::<usize>().ok())
            {
                match value {
                    Item::ArrayOfTables(tables) => {
                        let table = tables.get(index);
                        element = table.and_then(Table::span);
                        inside = table.map(|table| table as &dyn TableLike);
                    }
                    Item::Value(Value::Array(values)) => {
                        let value = values.get(index);
                        element = value.and_then(Value::span);
                        let table = value.and_then(Value::as_inline_table);
                        inside = table.map(|table| table as &dyn TableLike);
                    }
                    _ => {}
                }
            }
            if let Some(span) = element.or(span) {
                line = self.line(&span);
            }
            let Some(inside) = inside else { break };
            table = inside;
        }
        line
    }

    /// What figment found, in our words and with a line.
    ///
    /// `kind` tells of a board's name which kind it is, if it says so.
    pub fn extraction(
        &self,
        error: figment::Error,
        kind: impl Fn(&str) -> Option<BoardKind>,
    ) -> ConfigError {
        let Some(first) = error.into_iter().next() else {
            return self.at(&[], "this is not a configuration");
        };
        let mut path = first.path.clone();
        if let Some(problem) = words::one_bracket(&path) {
            return self.at(&path, problem);
        }
        let problem = match &first.kind {
            Kind::UnknownField(name, known) => {
                if path.last() != Some(name) {
                    path.push(name.clone());
                }
                let kind = match &path[..] {
                    [boards, board, ..] if boards == "boards" => kind(board),
                    _ => None,
                };
                let fits = |key: &&&str| kind.is_none_or(|kind| kind.takes(key));
                let known: Vec<&str> = known.iter().filter(fits).copied().collect();
                no_such_key(name, &known)
            }
            Kind::UnknownVariant(name, known) => {
                format!(
                    "`{name}` is not known; this is one of: {}",
                    known.join(", ")
                )
            }
            Kind::MissingField(name) => {
                path.push(name.to_string());
                words::missing(name)
            }
            Kind::InvalidType(found, wanted) | Kind::InvalidValue(found, wanted) => {
                words::unfit(&path, found, wanted)
            }
            Kind::Message(text) => text.clone(),
            other => other.to_string(),
        };
        self.at(&path, problem)
    }
}

fn no_such_key(name: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|key| (strsim::jaro_winkler(name, key), key));
    let meant = near
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map_or("here".to_owned(), |(_, key)| {
            format!("did you mean {key}? Here")
        });
    format!(
        "there is no such key; {meant} may stand: {}",
        known.join(", ")
    )
}

/// What to say where no configuration was named and the default is missing.
pub fn hint() -> String {
    format!("without --config the file is {DEFAULT_FILE}; `boardbridge demo` needs none")
}
