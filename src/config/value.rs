//! Values with a syntax of their own.

use std::{fmt, time::Duration};

use btleplug::api::bleuuid::uuid_from_u32;
use serde::{Deserialize, Deserializer, de};
use uuid::Uuid;

/// The longest duration a key takes.
pub const LONGEST: Duration = Duration::from_hours(1);

/// An address to listen on, or `off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Do not listen.
    Off,
    /// `HOST:PORT`; port 0 takes any free one, which the log names.
    At(String),
}

impl Listen {
    /// Listen there.
    pub fn at(address: &str) -> Self {
        Self::At(address.to_owned())
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::At(address) => f.write_str(address),
        }
    }
}

/// Whether a text is `HOST:PORT`.
pub(crate) fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        let host = host
            .strip_prefix('[')
            .and_then(|h| h.strip_suffix(']'))
            .unwrap_or(host);
        !host.is_empty() && !host.contains(' ') && port.parse::<u16>().is_ok()
    })
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "off" {
            return Ok(Self::Off);
        }
        if is_address(&text) {
            return Ok(Self::At(text));
        }
        Err(de::Error::custom(format!(
            "`{text}` is no address: write HOST:PORT, for instance \"127.0.0.1:9670\", or \"off\""
        )))
    }
}

/// An address to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(pub String);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.ends_with(":0") {
            return Err(de::Error::custom(format!(
                "`{text}` has port 0, at which nobody is: write HOST:PORT, for instance \"127.0.0.1:9700\""
            )));
        }
        if is_address(&text) {
            return Ok(Self(text));
        }
        Err(de::Error::custom(format!(
            "`{text}` is no address: write HOST:PORT, for instance \"127.0.0.1:9700\""
        )))
    }
}

/// A UUID of a Bluetooth service or characteristic, all 128 bits; the configuration may use the short form if there
/// is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongUuid(pub Uuid);

/// Digits of a short UUID, of 16 bits and of 32 (Bluetooth Core Specification, volume 3, part B, 2.5.1).
const SHORT_UUIDS: [usize; 2] = [4, 8];

fn read_uuid(text: &str) -> Option<Uuid> {
    if SHORT_UUIDS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return u32::from_str_radix(text, 16).ok().map(uuid_from_u32);
    }
    text.parse().ok()
}

impl<'de> Deserialize<'de> for LongUuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        read_uuid(&text).map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is no UUID: for instance \"6e400001-b5a3-f393-e0a9-e50e24dcca9e\", or a short one, \"ffe1\""
            ))
        })
    }
}

/// A duration, written as a string with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a duration with a unit in quotes, such as \"500ms\", \"15s\" or \"1m\"",
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                let span = humantime::parse_duration(text).map_err(|error| {
                    E::custom(format!(
                        "`{text}` is no duration ({error}): write a number with a unit, such as \"500ms\", \
                         \"15s\" or \"1m\""
                    ))
                })?;
                if span > LONGEST {
                    return Err(E::custom(format!("`{text}` is too long: at most \"1h\"")));
                }
                Ok(Span(span))
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}
