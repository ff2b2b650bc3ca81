//! Which addresses may connect.

use std::{fmt, net::IpAddr, str::FromStr, sync::Arc};

use ipnet::IpNet;
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use thiserror::Error;

use super::on_link::is_on_link;

/// Networks listed at once: a club has a few.
pub const MAX_NETWORKS: usize = 64;

/// The private networks, in words.
const PRIVATE: &str = "private networks";

/// Which addresses may connect. This machine always may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allow {
    /// Private networks: RFC 1918, link-local, unique local and loopback addresses; and the IPv6 networks that this machine
    /// is connected to.
    #[default]
    Private,
    /// These networks.
    Networks(Arc<[Listed]>),
    /// Every address.
    Everybody,
}

/// What a list names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// [`Allow::Private`].
    Private,
    /// A network, or one machine.
    Network(IpNet),
}

impl Listed {
    fn admits(self, peer: IpAddr) -> bool {
        match self {
            Self::Private => is_private(peer) || is_neighbour(peer),
            Self::Network(network) => network.contains(&peer),
        }
    }
}

/// A text is not a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotANetwork {
    /// It does not have the form of a network.
    #[error(
        "`{0}` is not a network: write for instance \"192.168.1.0/24\", or the address of one machine"
    )]
    Malformed(String),
    /// It has the form, but names a machine in the network.
    #[error(
        "`{0}` is not the beginning of its network: write \"{1}\", or \"{2}\" for that machine alone"
    )]
    Within(String, IpNet, IpAddr),
}

impl Allow {
    /// Whether it admits this address. This machine's own programs are admitted before that is asked.
    pub fn admits(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        match self {
            Self::Private => Listed::Private.admits(peer),
            Self::Networks(listed) => listed.iter().any(|listed| listed.admits(peer)),
            Self::Everybody => true,
        }
    }

    /// The line of the configuration that admits this address, too.
    pub fn line_with(&self, peer: IpAddr) -> String {
        let text = |listed: &Listed| match listed {
            Listed::Private => "\"private\"".to_owned(),
            Listed::Network(network) => format!("\"{network}\""),
        };
        let listed: Vec<String> = match self {
            Self::Private => vec![text(&Listed::Private)],
            Self::Networks(listed) => listed.iter().map(text).collect(),
            Self::Everybody => return "allow = \"everybody\"".to_owned(),
        };
        format!("allow = [{}, \"{peer}\"]", listed.join(", "))
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// Whether it is on a link of this machine: at home IPv6 has no private networks, but global ones.
fn is_neighbour(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if is_on_link(v6))
}

fn network(text: &str) -> Result<IpNet, NotANetwork> {
    if let Ok(address) = IpAddr::from_str(text) {
        return Ok(address.to_canonical().into());
    }
    let malformed = |_| NotANetwork::Malformed(text.chars().take(60).collect());
    let network = IpNet::from_str(text).map_err(malformed)?;
    if network.trunc() != network {
        let addr = network.addr();
        return Err(NotANetwork::Within(text.to_owned(), network.trunc(), addr));
    }
    Ok(network)
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Private => f.write_str(PRIVATE),
            Self::Networks(listed) => {
                let word = |listed: &Listed| match listed {
                    Listed::Private => PRIVATE.to_owned(),
                    Listed::Network(network) => network.to_string(),
                };
                let words: Vec<String> = listed.iter().map(word).collect();
                f.write_str(&words.join(", "))
            }
            Self::Everybody => f.write_str("everybody"),
        }
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Allow;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"private\", \"everybody\" or a list of networks such as [\"192.168.1.0/24\"]")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Allow, E> {
        match text {
            "private" => Ok(Allow::Private),
            "everybody" => Ok(Allow::Everybody),
            text if network(text).is_ok() => {
                Err(E::custom(format!("needs brackets: allow = [\"{text}\"]")))
            }
            text => Err(E::custom(format!(
                "`{}` is not known: write \"private\", \"everybody\" or a list of networks such as [\"192.168.1.0/24\"]",
                text.chars().take(60).collect::<String>()
            ))),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Allow, A::Error> {
        let mut listed = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            listed.push(match &*text {
                "private" => Listed::Private,
                text => Listed::Network(network(text).map_err(de::Error::custom)?),
            });
        }
        match listed.len() {
            0 => Err(de::Error::custom(
                "lists no network: write \"private\", or a network such as \"192.168.1.0/24\"",
            )),
            1..=MAX_NETWORKS => Ok(Allow::Networks(listed.into())),
            many => Err(de::Error::custom(format!(
                "lists {many} networks: at most {MAX_NETWORKS}"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Allow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(allow: &Allow, peer: &str) -> bool {
        allow.admits(peer.parse().unwrap())
    }

    #[test]
    fn private_networks_are_admitted_and_no_others() {
        for peer in [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "10.255.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.7",
            "169.254.3.4",
            "fe80::1",
            "febf::1",
            "fd00::1",
            "fc00::1",
            "::ffff:192.168.1.7",
            "::ffff:127.0.0.1",
        ] {
            assert!(admits(&Allow::Private, peer), "{peer}");
        }
        for peer in [
            "0.0.0.0",
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "192.167.1.7",
            "192.169.1.7",
            "100.64.0.1",
            "203.0.113.7",
            "255.255.255.255",
            "::",
            "2001:db8::1",
            "fec0::1",
            "::ffff:203.0.113.7",
            "ff02::1",
        ] {
            assert!(!admits(&Allow::Private, peer), "{peer}");
            assert!(admits(&Allow::Everybody, peer), "{peer}");
        }
    }

    #[test]
    fn the_line_that_admits_an_address_too_shuts_nobody_out() {
        #[derive(Deserialize)]
        struct Section {
            allow: Allow,
        }
        let read = |line: &str| toml_edit::de::from_str::<Section>(line).unwrap().allow;
        for (before, admitted) in [
            ("allow = \"private\"", "192.168.1.7"),
            (
                "allow = [\"10.0.0.7\", \"198.51.100.0/24\"]",
                "198.51.100.9",
            ),
            ("allow = [\"private\", \"198.51.100.0/24\"]", "192.168.1.7"),
        ] {
            let before = read(before);
            let line = before.line_with("203.0.113.9".parse().unwrap());
            let after = read(&line);
            assert!(admits(&before, admitted), "{before}");
            assert!(
                admits(&after, admitted) && admits(&after, "203.0.113.9"),
                "{line}"
            );
            assert!(!admits(&after, "203.0.113.10"), "{line}");
        }
    }

    #[test]
    fn a_list_admits_its_networks_and_no_others() {
        let networks = ["192.168.1.0/24", "10.0.0.7", "2001:db8::/32"]
            .map(|text| Listed::Network(network(text).unwrap()));
        let allow = Allow::Networks(networks.into());
        for peer in [
            "192.168.1.1",
            "192.168.1.255",
            "::ffff:192.168.1.9",
            "10.0.0.7",
            "2001:db8:1::5",
        ] {
            assert!(admits(&allow, peer), "{peer}");
        }
        for peer in [
            "192.168.2.1",
            "10.0.0.8",
            "2001:db9::1",
            "fe80::1",
            "127.0.0.2",
        ] {
            assert!(!admits(&allow, peer), "{peer}");
        }
    }

    #[test]
    fn what_is_not_a_network_says_what_would_be_right() {
        let wrong = |text: &str| network(text).unwrap_err().to_string();
        assert!(wrong("192.168.1.7/24").contains("write \"192.168.1.0/24\", or \"192.168.1.7\""));
        for text in ["", "192.168.1.0/33", "my laptop", "192.168.1"] {
            assert!(wrong(text).contains("write for instance"), "{text}");
        }
    }
}
