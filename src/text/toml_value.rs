//! Values of keys, read with the expected form in the error message.

use std::{fmt, marker::PhantomData, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{self, IntoDeserializer, SeqAccess, Unexpected, Visitor},
};

/// What is wrong with a section of the configuration that its types cannot tell: the key, with dots and relative to the section
/// (empty for the section itself), and the problem.
pub type Wrong = (&'static str, String);

/// Reads a string that passes a check, which otherwise returns the problem.
///
/// # Errors
/// If the value is not a string, or has a problem.
pub fn checked<'de, D: Deserializer<'de>>(
    deserializer: D,
    problem: impl FnOnce(&str) -> Option<String>,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match problem(&text) {
        Some(problem) => Err(de::Error::custom(problem)),
        None => Ok(text),
    }
}

/// The problem with a path that begins with `~`, which only a shell expands.
pub fn from_home(path: &Path) -> Option<String> {
    let rest = path.to_str()?.strip_prefix('~')?;
    let home = std::env::var("HOME").unwrap_or_else(|_| "/home/anna".to_owned());
    let whole = match rest.strip_prefix('/') {
        Some(rest) => format!("{home}/{rest}"),
        None => format!("/home/{rest}"),
    };
    let path = path.display();
    Some(format!(
        "`{path}` begins with ~, which only a shell knows: write the whole path, for instance {whole:?}"
    ))
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
