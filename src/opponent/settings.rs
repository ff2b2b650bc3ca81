//! How an engine is started and asked, and what the hand plays.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use shakmaty::Color;

/// The time that an engine has for an answer where nothing else limits it.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// Options of an engine: Stockfish has some twenty.
pub const MAX_OPTIONS: usize = 64;
/// The longest name or text of an option, in bytes: a path.
pub const MAX_OPTION: usize = 1024;

/// What the hand plays against an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hand {
    /// White.
    #[default]
    White,
    /// Black.
    Black,
    /// White in the first game, then in turns.
    Alternate,
}

/// How an engine is started and asked.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    /// The program.
    pub path: PathBuf,
    /// Its options.
    pub options: BTreeMap<String, OptionValue>,
    /// The limit of its search.
    pub go: Go,
    /// The time for an answer where `go` does not limit it, and for everything else.
    pub patience: Duration,
}

/// The value of an engine's option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// `true` or `false`.
    Check(bool),
    /// A number.
    Spin(i64),
    /// A text.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(value) => value.fmt(f),
            Self::Spin(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// Whether a text may be sent to an engine within a line.
pub fn is_plain(text: &str) -> bool {
    text.len() <= MAX_OPTION && !text.chars().any(char::is_control)
}

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = OptionValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, a whole number or a text in quotes")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<OptionValue, E> {
                Ok(OptionValue::Check(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<OptionValue, E> {
                Ok(OptionValue::Spin(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<OptionValue, E> {
                i64::try_from(value)
                    .map(OptionValue::Spin)
                    .map_err(|_| E::custom(format!("{value} is too large")))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<OptionValue, E> {
                if !is_plain(value) {
                    return Err(E::custom(format!(
                        "has to be one line of at most {MAX_OPTION} bytes"
                    )));
                }
                Ok(OptionValue::Text(value.to_owned()))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// The limit of a search: what follows `go`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Go(String);

impl Go {
    /// The words.
    pub fn words(&self) -> &str {
        &self.0
    }

    /// The number after this word.
    fn number(&self, word: &str) -> Option<u64> {
        let mut words = self.0.split_whitespace();
        words.find(|found| *found == word)?;
        words.next()?.parse().ok()
    }

    /// How long this side may take for a move, if that is limited.
    pub fn time(&self, turn: Color) -> Option<Duration> {
        let clock = turn.fold_wb("wtime", "btime");
        let millis = self.number("movetime").or_else(|| self.number(clock))?;
        Some(Duration::from_millis(millis))
    }
}

impl Default for Go {
    fn default() -> Self {
        Self("movetime 1000".to_owned())
    }
}

/// The words that limit a search, each with a number after it.
const LIMITS: [&str; 9] = [
    "movetime",
    "depth",
    "nodes",
    "mate",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
];
/// The largest number after one of them: a day, in milliseconds; more nodes than an engine visits in that time.
const MAX_LIMIT: u64 = 1_000_000_000_000;

impl<'de> Deserialize<'de> for Go {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_limit = |pair: &[&str]| {
            pair.len() == 2
                && LIMITS.contains(&pair[0])
                && pair[1]
                    .parse()
                    .is_ok_and(|n: u64| (1..=MAX_LIMIT).contains(&n))
        };
        if words.is_empty() || !words.chunks(2).all(is_limit) {
            return Err(de::Error::custom(format!(
                "`{}` does not limit a search: write for instance \"movetime 1000\" (milliseconds), \"depth 8\" or \"nodes \
                 100000\"; allowed here, each with a number: {}",
                text.escape_default(),
                LIMITS.join(", ")
            )));
        }
        Ok(Self(words.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::{IntoDeserializer, value::Error};

    use super::*;

    fn go(text: &str) -> Result<Go, Error> {
        Go::deserialize(IntoDeserializer::<Error>::into_deserializer(text))
    }

    #[test]
    fn a_limit_of_time_is_the_time_for_a_move() {
        let time = |text: &str, color| go(text).unwrap().time(color);
        assert_eq!(
            time("depth 20 movetime 700", Color::White),
            Some(Duration::from_millis(700))
        );
        assert_eq!(
            time("wtime 1000 btime 2000", Color::Black),
            Some(Duration::from_secs(2))
        );
        assert_eq!(time("nodes 5000", Color::White), None);
    }

    #[test]
    fn a_search_without_an_end_is_refused() {
        for text in [
            "",
            "infinite",
            "movetime",
            "depth x",
            "depth 0",
            "ponder 1",
            "depth 1\nquit 2",
        ] {
            assert!(go(text).is_err(), "{text}");
        }
    }
}
