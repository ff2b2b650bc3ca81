//! Values with a syntax of their own.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

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

    /// The port, unless it is off.
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Off => None,
            Self::At(address) => address.rsplit_once(':')?.1.parse().ok(),
        }
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
            "`{text}` is not a valid address: write HOST:PORT, for instance \"127.0.0.1:9670\", or \"off\""
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
                "`{text}` has port 0, which cannot be connected to: write HOST:PORT, for instance \"127.0.0.1:9700\""
            )));
        }
        if is_address(&text) {
            return Ok(Self(text));
        }
        Err(de::Error::custom(format!(
            "`{text}` is not a valid address: write HOST:PORT, for instance \"127.0.0.1:9700\""
        )))
    }
}
