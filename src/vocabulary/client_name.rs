//! A client's name in messages.

use std::{fmt, net::SocketAddr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What stands before an app's kind of connection, and a bracket after it.
const APP: &str = "the WhitePawn app (";
/// What stands before the board of a link.
const LINK: &str = "the link with ";

/// A client's name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientName {
    /// A chess program, by its address.
    Program(SocketAddr),
    /// The `WhitePawn` app, by its kind of connection.
    App(Arc<str>),
    /// The link with this other board.
    Link(Arc<str>),
    /// Any other.
    Other(Arc<str>),
}

impl ClientName {
    /// Several names in one text.
    pub fn join(names: &[Self], between: &str) -> String {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        names.join(between)
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
        Ok(match (app, text.strip_prefix(LINK)) {
            (Some(way), _) => Self::App(way.into()),
            (None, Some(board)) => Self::Link(board.into()),
            (None, None) => text.as_str().into(),
        })
    }
}
