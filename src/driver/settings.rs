//! The parts of a board's settings: the macro that lists its keys, and values with a syntax of their own.

use std::{fmt, marker::PhantomData, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, IntoDeserializer, SeqAccess, Unexpected, Visitor},
};

/// Defines the struct `Settings` of a board: each key once, with its meaning, its type and its default.
///
/// `write in ble: …` is a key of `ble = { … }`. Attributes of serde say how a value is read; by default its type does.
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct Settings {
            $(
                $(#[doc = $meaning:literal])+
                $(#[serde($($serde:tt)+)])?
                $key:ident $(in $table:ident)?: $type:ty = $default:expr,
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {
            $(
                $(#[doc = $meaning])+
                $(#[serde($($serde)+)])?
                pub $key: $type,
            )+
        }

        impl Settings {
            /// The keys.
            pub const KEYS: &'static [$crate::driver::identity::Key] = &[$(
                $crate::driver::identity::Key {
                    path: &[$(stringify!($table),)? stringify!($key)],
                    meaning: concat!($($meaning),+).trim_ascii(),
                },
            )+];
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }
    };
}
pub(crate) use settings;

/// The longest duration a key takes.
pub const LONGEST: Duration = Duration::from_hours(1);
/// The longest gap between two commands: a longer one makes a board seem dead.
pub const LONGEST_GAP: Duration = Duration::from_secs(10);

/// A duration, written as a string with a unit. For `#[serde(with = "span")]`.
pub mod span {
    use std::time::Duration;

    use serde::{Deserializer, Serializer, de::Error};

    use super::{LONGEST, text};

    /// # Errors
    /// Those of the serializer.
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

/// Reads a string as a `T`; `right` describes the expected value for the error message.
///
/// # Errors
/// If the value is not a string, or `T` rejects it.
pub fn text<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    right: &'static str,
) -> Result<T, D::Error> {
    struct Text<T>(&'static str, PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            T::deserialize(text.into_deserializer())
        }
    }

    deserializer.deserialize_str(Text(right, PhantomData))
}

/// Reads an integer; `right` describes the expected value for the error message.
///
/// # Errors
/// If the value is not an integer that fits `T`.
pub fn number<'de, T: TryFrom<i64>, D: Deserializer<'de>>(
    deserializer: D,
    right: &'static str,
) -> Result<T, D::Error> {
    struct Number<T>(&'static str, PhantomData<T>);

    impl<T: TryFrom<i64>> Visitor<'_> for Number<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            match i64::try_from(number) {
                Ok(number) => self.visit_i64(number),
                Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
            }
        }
    }

    deserializer.deserialize_any(Number(right, PhantomData))
}

/// Reads a list of `T`; `right` describes the expected value for the error message.
///
/// # Errors
/// If the value is not a list, or `T` rejects a value in it.
pub fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    right: &'static str,
) -> Result<Vec<T>, D::Error> {
    struct List<T>(&'static str, PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(value) = values.next_element()? {
                list.push(value);
            }
            Ok(list)
        }
    }

    deserializer.deserialize_seq(List(right, PhantomData))
}
