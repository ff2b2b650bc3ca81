//! Values that are saved as their text: squares, moves, positions.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value that is saved as its text, and checked when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<T>(pub T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

/// For `#[serde(with = "crate::state::text")]`.
pub fn serialize<T: fmt::Display, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// For `#[serde(with = "crate::state::text")]`.
pub fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = |_| de::Error::custom(format!("`{}` is not valid here", text.escape_debug()));
    text.parse().map_err(wrong)
}

/// For `#[serde(with = "crate::state::text::of_some")]`: a value that may be missing, saved as its text.
pub mod of_some {
    use std::{fmt, sync::Arc};

    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    /// # Errors
    /// The errors of the serializer.
    pub fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<Arc<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value
            .as_ref()
            .map(ToString::to_string)
            .serialize(serializer)
    }

    /// # Errors
    /// If the text is not a `T`.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map(Arc::new))
    }
}
