//! Values with a syntax of their own.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::door::Allow;

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

impl Listen {
    fn read<E: de::Error>(text: &str) -> Result<Self, E> {
        if text == "off" {
            return Ok(Self::Off);
        }
        if is_address(text) {
            return Ok(Self::At(text.to_owned()));
        }
        Err(de::Error::custom(format!(
            "`{text}` is not a valid address: write HOST:PORT, for instance \"127.0.0.1:9670\", or \"off\""
        )))
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(deserializer)?)
    }
}

/// An address to listen on, and who may connect there: the address alone, or `{ listen = "…", allow = … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Address and port, or `off`.
    pub listen: Listen,
    /// Who may connect.
    pub allow: Allow,
}

/// The form with braces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InBraces {
    listen: Listen,
    #[serde(default)]
    allow: Allow,
}

impl<'de> Deserialize<'de> for Served {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Served;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address such as \"127.0.0.1:9671\", or { listen = \"0.0.0.0:9671\", allow = \"private\" }")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Served, E> {
                Ok(Served {
                    listen: Listen::read(text)?,
                    allow: Allow::default(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Served, A::Error> {
                let InBraces { listen, allow } =
                    InBraces::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Served { listen, allow })
            }
        }

        deserializer.deserialize_any(Read)
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
