//! Parses `HOST:PORT` as people write it, and explains mistakes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV6};

use serde::{Deserialize, Deserializer, de};
use thiserror::Error;

/// An address to connect to, for an example.
const EXAMPLE: &str = "127.0.0.1:9700";

/// Why a text is not `HOST:PORT`. Each message continues a sentence about the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// `http://…`
    #[error("is the address of a web page")]
    Url,
    /// `9670` or `:9670`
    #[error("lacks the host")]
    NoHost,
    /// `raspberrypi` or `[::1]`
    #[error("lacks the port")]
    NoPort,
    /// `raspberrypi:uci`
    #[error("has `{0}` as its port, which is not a number from 0 to 65535")]
    NotAPort(String),
    /// `::1`
    #[error("is IPv6, which needs brackets and a port")]
    NoBrackets,
    /// `*:9670`
    #[error("has `{0}` as its host, which is neither a name nor an address")]
    NotAHost(String),
}

/// Host (IPv6 without its brackets) and port.
///
/// # Errors
/// [`Malformed`].
pub fn split(text: &str) -> Result<(&str, u16), Malformed> {
    if text.contains("://") {
        return Err(Malformed::Url);
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(Malformed::NoBrackets);
    }
    let bracketed = text
        .strip_prefix('[')
        .and_then(|inside| inside.split_once(']'));
    let (host, port) = match (bracketed, text.rsplit_once(':')) {
        (Some((host, "")), _) => (host, ""),
        (Some((host, rest)), _) if let Some(port) = rest.strip_prefix(':') => (host, port),
        (_, Some(parts)) => parts,
        (_, None) if text.parse::<u16>().is_ok() => ("", text),
        (_, None) => (text, ""),
    };
    let is_host = if bracketed.is_some() {
        // With its zone, `%2`, if it has one.
        format!("[{host}]:0").parse::<SocketAddrV6>().is_ok()
    } else {
        is_name(host)
    };
    match port.parse() {
        _ if host.is_empty() => Err(Malformed::NoHost),
        _ if !is_host => Err(Malformed::NotAHost(host.to_owned())),
        _ if port.is_empty() => Err(Malformed::NoPort),
        Ok(port) => Ok((host, port)),
        Err(_) => Err(Malformed::NotAPort(port.to_owned())),
    }
}

/// The name of a machine, or an IPv4 address.
fn is_name(host: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    let numeric = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    host.chars().all(plain) && (!numeric || host.parse::<Ipv4Addr>().is_ok())
}

/// Whether a text is `HOST:PORT`.
pub fn is_address(text: &str) -> bool {
    split(text).is_ok()
}

/// Checks that a text is `HOST:PORT`.
///
/// # Errors
/// The mistake, with an example address made from the `usual` one.
pub fn checked(text: &str, usual: &str) -> Result<(), String> {
    split(text).map(drop).map_err(|wrong| {
        let meant = meant(text, usual);
        format!(
            "`{text}` is not a valid address, it {wrong}: write HOST:PORT, for instance \"{meant}\""
        )
    })
}

/// What was probably meant; host and port come from `usual`, which is an address, where they are missing or wrong.
pub fn meant(text: &str, usual: &str) -> String {
    let (usual_host, usual_port) = usual.rsplit_once(':').unwrap_or((usual, ""));
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split('/').next().unwrap_or(text).trim();
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    let is_bare = |text: &str| text.parse::<Ipv6Addr>().is_ok();
    let (host, port) = match text.rsplit_once(':') {
        // `::1:9670`: the port is part of the address.
        Some((host, port)) if is_bare(text) && port == usual_port && is_bare(host) => (host, port),
        Some((host, port)) if !is_bare(text) && !port.ends_with(']') => (host, port),
        None if is_port(text) => ("", text),
        _ => (text, ""),
    };
    let port = if is_port(port) { port } else { usual_port };
    let meant = match host {
        // Many programs write `*` for all networks.
        "*" => format!("0.0.0.0:{port}"),
        _ if is_bare(host) => format!("[{host}]:{port}"),
        _ => format!("{host}:{port}"),
    };
    if is_address(&meant) {
        meant
    } else {
        format!("{usual_host}:{port}")
    }
}

/// The IP address of a host that is an address or `localhost`.
pub fn ip(host: &str) -> Option<IpAddr> {
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    host.parse().ok().map(|ip: IpAddr| ip.to_canonical())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_and_what_was_probably_meant() {
        for (text, wrong, right) in [
            ("*:9671", "as its host", "0.0.0.0:9671"),
            ("http://127.0.0.1:9671/", "a web page", "127.0.0.1:9671"),
            ("http://pi", "a web page", "pi:9670"),
            ("::1", "needs brackets", "[::1]:9670"),
            ("::", "needs brackets", "[::]:9670"),
            ("::1:9670", "needs brackets", "[::1]:9670"),
            ("[::1]", "lacks the port", "[::1]:9670"),
            ("[::1]:", "lacks the port", "[::1]:9670"),
            ("[::1]:uci", "`uci` as its port", "[::1]:9670"),
            ("[pi]:9670", "`pi` as its host", "127.0.0.1:9670"),
            ("9671", "lacks the host", "127.0.0.1:9671"),
            (":9671", "lacks the host", "127.0.0.1:9671"),
            ("pi", "lacks the port", "pi:9670"),
            ("pi:", "lacks the port", "pi:9670"),
            ("pi:99999", "`99999` as its port", "pi:9670"),
            ("192.168.1.300:9670", "as its host", "127.0.0.1:9670"),
            ("my pi:9670", "as its host", "127.0.0.1:9670"),
            ("", "lacks the host", "127.0.0.1:9670"),
            (":", "lacks the host", "127.0.0.1:9670"),
            (":uci", "lacks the host", "127.0.0.1:9670"),
            ("*", "as its host", "0.0.0.0:9670"),
            ("*:", "as its host", "0.0.0.0:9670"),
            ("*:uci", "as its host", "0.0.0.0:9670"),
            ("http://", "a web page", "127.0.0.1:9670"),
            ("http://*:9671", "a web page", "0.0.0.0:9671"),
            (
                "2001:db8:0:0:0:0:0:1:9671",
                "as its host",
                "[2001:db8:0:0:0:0:0:1]:9671",
            ),
        ] {
            let error = split(text).expect_err(text).to_string();
            assert!(error.contains(wrong), "{text}: {error}");
            let meant = meant(text, "127.0.0.1:9670");
            assert_eq!(meant, right, "{text}");
            assert!(is_address(&meant), "{text}: {meant}");
        }
    }

    #[test]
    fn names_and_addresses_are_taken_with_their_port() {
        for (text, host, port) in [
            ("raspberrypi.local:9670", "raspberrypi.local", 9670),
            ("küche:1", "küche", 1),
            ("192.168.1.7:0", "192.168.1.7", 0),
            ("[::]:9670", "::", 9670),
            ("[fe80::1%2]:9670", "fe80::1%2", 9670),
        ] {
            assert_eq!(split(text), Ok((host, port)), "{text}");
        }
    }
}
