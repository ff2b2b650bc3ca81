//! Durations in the configuration: strings with a unit.

use std::time::Duration;

/// The longest duration a key takes.
pub const LONGEST: Duration = Duration::from_hours(1);
/// The longest gap between two commands: a longer one makes a board seem dead.
pub const LONGEST_GAP: Duration = Duration::from_secs(10);

/// A duration, written as a string with a unit. For `#[serde(with = "span")]`.
pub mod span {
    use std::time::Duration;

    use serde::{Deserializer, Serializer, de::Error};

    use super::LONGEST;
    use crate::text::toml_value::text;

    /// # Errors
    /// The errors of the serializer.
    pub fn serialize<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(*span))
    }

    /// # Errors
    /// If the value is not a duration, or is longer than [`LONGEST`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        const RIGHT: &str =
            "a duration with a unit in quotes, such as \"500ms\", \"15s\" or \"1m\"";
        let text: String = text(deserializer, RIGHT)?;
        let span = humantime::parse_duration(&text).map_err(|error| {
            D::Error::custom(format!(
                "`{text}` is not a duration ({error}): write a number with a unit, such as \"500ms\", \"15s\" or \"1m\""
            ))
        })?;
        if span > LONGEST {
            return Err(D::Error::custom(format!(
                "`{text}` is too long: at most \"1h\""
            )));
        }
        Ok(span)
    }
}

/// A short duration. For `#[serde(with = "gap")]`.
pub mod gap {
    use std::time::Duration;

    use serde::{Deserializer, de::Error};

    pub use super::span::serialize;
    use super::{LONGEST_GAP, span};

    /// # Errors
    /// If the value is not a duration, or is longer than [`LONGEST_GAP`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let gap = span::deserialize(deserializer)?;
        if gap > LONGEST_GAP {
            return Err(D::Error::custom("is too long: at most \"10s\""));
        }
        Ok(gap)
    }
}
