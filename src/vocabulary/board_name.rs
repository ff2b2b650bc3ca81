//! A board's name in the configuration, in the UCI option `Board` and in the log.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// The longest name, in characters: it must fit a GUI's option dialogue.
pub const MAX_NAME: usize = 32;

/// The most boards in one configuration: with a program and a port for each they need half of the descriptors that the unit allows,
/// and tables and queues have room for so many. Memory is the narrower bound: `boardbridge check` says what they may take.
pub const MAX_BOARDS: usize = 4096;

/// Words with a meaning of their own in the line that offers the boards to a GUI, `option name Board type combo default … var …`:
/// a GUI reads them as keywords wherever they stand (UCI specification, "option").
const KEYWORDS: [&str; 7] = ["name", "type", "default", "min", "max", "var", "value"];

/// A board's name: 1 to [`MAX_NAME`] letters, digits, `-` or `_`, and no keyword of UCI.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoardName(Arc<str>);

/// The text is not a valid board name.
#[derive(Debug, Error)]
pub enum BoardNameError {
    /// Too long, or other characters.
    #[error(
        "`{0}` is not a valid name for a board: use 1 to {MAX_NAME} letters, digits, `-` or `_`"
    )]
    Characters(String),
    /// A keyword of UCI.
    #[error("`{0}` cannot be the name of a board: chess programs read that word as a keyword")]
    Keyword(String),
}

impl BoardName {
    /// The name of a remote board that this one is linked with: no configured name has an `@`.
    pub fn far(&self) -> Self {
        Self(format!("{self}@far").into())
    }

    /// Whether this is the name of a remote board.
    pub fn is_far(&self) -> bool {
        self.0.contains('@')
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for BoardName {
    /// The name of a board without a configured one.
    fn default() -> Self {
        Self("board".into())
    }
}

impl FromStr for BoardName {
    type Err = BoardNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=MAX_NAME).contains(&text.len());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !fits || !text.chars().all(plain) {
            let shown = text.chars().take(2 * MAX_NAME).collect();
            return Err(BoardNameError::Characters(shown));
        }
        // Some GUIs ignore case.
        if KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(text)) {
            return Err(BoardNameError::Keyword(text.to_owned()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for BoardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for BoardName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BoardName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}
