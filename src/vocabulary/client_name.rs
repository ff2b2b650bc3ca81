//! A client's name in messages.

use std::{
    fmt, mem,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The text before an app's kind of connection; a bracket follows it.
const APP: &str = "the WhitePawn app (";
/// The text before the board of a link.
const LINK: &str = "the link with ";
/// The text before the name of an engine.
const ENGINE: &str = "the engine ";
/// The text for a game on Lichess.
const LICHESS: &str = "Lichess";
/// The text before the address of a client of `LiveChess`.
const LIVECHESS: &str = "LiveChess at ";
/// The text before the daemon of a client of another one.
const ELSEWHERE: &str = " at ";

/// A client's name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientName {
    /// A chess program, by its address.
    Program(SocketAddr),
    /// The `WhitePawn` app, by its kind of connection.
    App(Arc<str>),
    /// The link with this other board.
    Link(Arc<str>),
    /// An engine that the daemon runs, by its name.
    Engine(Arc<str>),
    /// A game on Lichess.
    Lichess,
    /// A program that takes the board by `LiveChess`, by its address.
    LiveChess(SocketAddr),
    /// Any other.
    Other(Arc<str>),
}

impl ClientName {
    /// The address that it plays from. This machine is one address, and the app, the links, the engine and Lichess belong
    /// to it: the owner of the board has set them up.
    pub fn address(&self) -> IpAddr {
        match self {
            Self::Program(address) | Self::LiveChess(address) => owner(address.ip()),
            Self::App(_) | Self::Link(_) | Self::Engine(_) | Self::Lichess | Self::Other(_) => {
                Ipv4Addr::LOCALHOST.into()
            }
        }
    }

    /// A client of another daemon.
    pub fn elsewhere(&self, daemon: &str) -> Self {
        Self::Other(format!("{self}{ELSEWHERE}{daemon}").into())
    }

    /// The address of a chess program and the daemon that it is connected to, if that is another one. Its port is another one each
    /// time it connects.
    pub fn program(&self) -> Option<(IpAddr, Option<&str>)> {
        match self {
            Self::Program(address) => Some((address.ip(), None)),
            Self::Other(name) => {
                let (program, daemon) = name.rsplit_once(ELSEWHERE)?;
                let address: SocketAddr = program.parse().ok()?;
                Some((address.ip(), Some(daemon)))
            }
            _ => None,
        }
    }

    /// Whether both are clients of the same kind, whatever their own names are: an engine's is known only once it has been started.
    /// Lichess at another daemon is Lichess.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(name), Self::Lichess) => name
                .strip_prefix(LICHESS)
                .is_some_and(|rest| rest.starts_with(ELSEWHERE)),
            _ => mem::discriminant(self) == mem::discriminant(other),
        }
    }

    /// Several names in one text.
    pub fn join(names: &[Self], between: &str) -> String {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        names.join(between)
    }
}

/// An address as the owner of a game: this machine calls itself 127.0.0.1 and `::1`.
pub fn owner(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    if address == Ipv6Addr::LOCALHOST {
        Ipv4Addr::LOCALHOST.into()
    } else {
        address
    }
}

impl From<&str> for ClientName {
    /// A text that is an address names a chess program.
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(address) => Self::Program(address),
            Err(_) => Self::Other(text.into()),
        }
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(address) => address.fmt(f),
            Self::App(way) => write!(f, "{APP}{way})"),
            Self::Link(board) => write!(f, "{LINK}{board}"),
            Self::Engine(name) => write!(f, "{ENGINE}{name}"),
            Self::Lichess => f.write_str(LICHESS),
            Self::LiveChess(address) => write!(f, "{LIVECHESS}{address}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

impl Serialize for ClientName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClientName {
    /// Reads what is shown in messages.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let app = text.strip_prefix(APP).and_then(|way| way.strip_suffix(')'));
        let livechess = text.strip_prefix(LIVECHESS).and_then(|at| at.parse().ok());
        Ok(if let Some(way) = app {
            Self::App(way.into())
        } else if let Some(board) = text.strip_prefix(LINK) {
            Self::Link(board.into())
        } else if let Some(name) = text.strip_prefix(ENGINE) {
            Self::Engine(name.into())
        } else if let Some(address) = livechess {
            Self::LiveChess(address)
        } else if text == LICHESS {
            Self::Lichess
        } else {
            text.as_str().into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_again_by_its_address_and_its_daemon() {
        let program = |port| ClientName::from(format!("192.168.1.7:{port}").as_str());
        let far = |port| program(port).elsewhere("hall-4");
        assert_eq!(program(1).program(), program(2).program());
        assert_eq!(far(1).program(), far(2).program());
        assert_ne!(far(1).program(), program(1).elsewhere("hall-3").program());
        assert_ne!(far(1).program(), program(1).program());
        let engine = ClientName::Engine("Stockfish 17".into());
        assert_eq!(engine.elsewhere("hall-4").program(), None);
    }

    #[test]
    fn what_is_shown_of_a_name_is_read_again() {
        for name in [
            ClientName::Program("192.168.1.7:50112".parse().unwrap()),
            ClientName::App("TCP".into()),
            ClientName::Link("neo".into()),
            ClientName::Engine("Stockfish 17".into()),
            ClientName::Lichess,
            ClientName::LiveChess("[::1]:50112".parse().unwrap()),
            ClientName::Other("somebody".into()),
        ] {
            let text = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<ClientName>(&text).unwrap(), name);
        }
    }
}
