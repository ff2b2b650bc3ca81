//! Values with a syntax of their own.

use std::{fmt, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{address, default_ports::DEFAULT_UCI, door::Allow};

/// The address of a board, for an example.
const EXAMPLE: &str = "127.0.0.1:9700";

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
            Self::At(address) => Some(address::split(address).ok()?.1),
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

/// The problem with a path that begins with `~`, which a shell knows and a file does not.
pub(super) fn from_home(path: &Path) -> Option<String> {
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

/// Checks that a text is `HOST:PORT`; otherwise returns the problem, with an address like the `usual` one for an example.
pub(super) fn checked(text: &str, usual: &str) -> Result<(), String> {
    address::split(text).map(drop).map_err(|wrong| {
        let meant = address::meant(text, usual);
        format!(
            "`{text}` is not a valid address, it {wrong}: write HOST:PORT, for instance \"{meant}\""
        )
    })
}

impl Listen {
    fn read<E: de::Error>(text: &str) -> Result<Self, E> {
        if text == "off" {
            return Ok(Self::Off);
        }
        match checked(text, DEFAULT_UCI) {
            Ok(()) => Ok(Self::At(text.to_owned())),
            Err(problem) => Err(de::Error::custom(format!("{problem}, or \"off\""))),
        }
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
        checked(&text, EXAMPLE).map_err(de::Error::custom)?;
        if text.ends_with(":0") {
            return Err(de::Error::custom(format!(
                "`{text}` has port 0, which cannot be connected to: write HOST:PORT, for instance \"{EXAMPLE}\""
            )));
        }
        Ok(Self(text))
    }
}
