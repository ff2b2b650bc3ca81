//! `[[link]]`: two boards that play each other, or one and a board of another `BoardBridge`.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use super::Side;
use crate::{
    net::address::{Address, is_address},
    text::toml_value::{Wrong, list},
    vocabulary::BoardName,
};

/// The name of the other `BoardBridge`'s board in the key `white`.
pub const FAR: &str = "far";

/// `[[link]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[link]]")]
pub struct LinkConfig {
    /// The boards here: two, or one beside `with`.
    #[serde(deserialize_with = "boards")]
    pub boards: Vec<BoardName>,
    /// The address of the other `BoardBridge`.
    pub with: Option<With>,
    /// Which board plays White: its name, or `far`. The first one by default.
    pub white: Option<String>,
}

fn boards<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<BoardName>, D::Error> {
    list(deserializer, "a list such as [\"citrine\", \"neo\"]")
}

/// Where the other `BoardBridge` serves its board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct With(pub Address);

impl<'de> Deserialize<'de> for With {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let address = text.strip_prefix("tcp:").filter(|a| is_address(a));
        address.map(|a| Self(Address(a.to_owned()))).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not a valid address of another BoardBridge: write tcp:HOST:PORT, the address of its [[whitepawn]], for \
                 instance \"tcp:192.168.1.20:9690\""
            ))
        })
    }
}

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp:{}", self.0.0)
    }
}

impl LinkConfig {
    /// Who plays White.
    pub fn white(&self) -> Side {
        let first = self.boards.first().map(BoardName::as_str);
        match self.white.as_deref() {
            Some(white) if Some(white) != first => Side::Second,
            _ => Side::First,
        }
    }

    /// Checks what the types cannot.
    pub fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let count = self.boards.len();
        let wanted = if self.with.is_some() { 1 } else { 2 };
        if count != wanted {
            let problem = match self.with {
                Some(_) => format!("lists {count} boards; with `with`, list only the local one"),
                None => format!(
                    "names {count} boards: two play each other, or one and another BoardBridge's (`with`)"
                ),
            };
            problems.push(("boards", problem));
        }
        if let [first, second] = &self.boards[..]
            && first == second
        {
            let problem = format!("names {first} twice: a board does not play itself");
            problems.push(("boards", problem));
        }
        if let Some(white) = &self.white {
            let mut names: Vec<&str> = self.boards.iter().map(BoardName::as_str).collect();
            names.extend(self.with.is_some().then_some(FAR));
            if !names.contains(&white.as_str()) {
                let problem = format!("`{white}` is not one of: {}", names.join(", "));
                problems.push(("white", problem));
            }
        }
        problems
    }
}
