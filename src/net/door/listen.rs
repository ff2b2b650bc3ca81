//! Where to listen.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::Allow;
use crate::{
    net::{address, default_ports::DEFAULT_UCI},
    text::toml_value::text,
};

/// An address to listen on, or `off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Do not listen.
    Off,
    /// `HOST:PORT`; port 0 takes any free one, which the log names.
    At(String),
}

impl Listen {
    /// The expected value, for error messages.
    pub(crate) const RIGHT: &str = "an address and a port, such as \"127.0.0.1:9670\"";

    /// Listen there.
    pub fn at(address: &str) -> Self {
        Self::At(address.to_owned())
    }

    /// Whether only programs on this machine can connect.
    pub fn is_here(&self) -> bool {
        let host = self.parts().map(|(host, _)| host);
        host.is_none_or(|host| {
            host == "localhost" || address::ip(&host).is_some_and(|ip| ip.is_loopback())
        })
    }

    /// The port, unless it is off.
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Off => None,
            Self::At(address) => Some(address::split(address).ok()?.1),
        }
    }

    /// Whether two addresses cannot both be listened on, or one reaches the other.
    pub fn clashes(&self, other: &Self) -> bool {
        let (Some((one, port)), Some((other, other_port))) = (self.parts(), other.parts()) else {
            return false;
        };
        let is_v6 = |host: &str| host.contains(':');
        // Listening on all IPv6 addresses includes IPv4.
        let covers = |all: &str, host: &str| all == "::" || (all == "0.0.0.0" && !is_v6(host));
        // Port 0 takes any free one.
        port == other_port
            && port != 0
            && (one == other || covers(&one, &other) || covers(&other, &one))
    }

    /// Host and port; an address in its usual form.
    fn parts(&self) -> Option<(String, u16)> {
        let Self::At(text) = self else { return None };
        let (host, port) = address::split(text).ok()?;
        let usual = address::ip(host).map(|ip| ip.to_string());
        Some((usual.unwrap_or_else(|| host.to_ascii_lowercase()), port))
    }

    fn read<E: de::Error>(text: &str) -> Result<Self, E> {
        if text == "off" {
            return Ok(Self::Off);
        }
        match address::checked(text, DEFAULT_UCI) {
            Ok(()) => Ok(Self::at(text)),
            Err(problem) => Err(de::Error::custom(format!("{problem}, or \"off\""))),
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

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&text::<String, D>(deserializer, Self::RIGHT)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listens_everywhere_takes_the_port_from_all() {
        let clash = |one: &str, other: &str| {
            let (one, other) = (Listen::at(one), Listen::at(other));
            assert_eq!(one.clashes(&other), other.clashes(&one), "{one} {other}");
            one.clashes(&other)
        };
        for (one, other) in [
            ("127.0.0.1:9690", "127.0.0.1:9690"),
            ("127.0.0.1:9690", "localhost:9690"),
            ("0.0.0.0:9690", "127.0.0.1:9690"),
            ("[::]:9690", "192.168.1.7:9690"),
            ("[::]:9690", "[::1]:9690"),
            ("[0:0::1]:9690", "[::1]:9690"),
            ("[::ffff:127.0.0.1]:9690", "LocalHost:9690"),
            ("Pi.local:9690", "pi.local:9690"),
        ] {
            assert!(clash(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("127.0.0.1:9690", "127.0.0.1:9691"),
            ("127.0.0.1:9690", "192.168.1.7:9690"),
            ("0.0.0.0:9690", "[::1]:9690"),
            ("0.0.0.0:0", "127.0.0.1:0"),
        ] {
            assert!(!clash(one, other), "{one} {other}");
        }
        assert!(!Listen::Off.clashes(&Listen::Off));
    }
}
