//! `[web]`: the page and the API.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Error};

use super::Control;
use crate::{
    front_end::pgn_text::TagText,
    net::{
        default_ports::{DEFAULT_WEB, DEFAULT_WEB_OF_PHONES},
        door::{Allow, Listen},
    },
    vocabulary::BoardName,
};

/// Further names at which browsers may find the API: a machine has a few.
pub const MAX_HOSTS: usize = 16;

/// `[web]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [web]")]
pub struct WebConfig {
    /// Address and port, or `off`. `None` is the default address, which may be in use; it is open to the network where phones are
    /// paired.
    pub listen: Option<Listen>,
    /// Who may connect.
    pub allow: Allow,
    /// Who may change something.
    pub control: Control,
    /// Further names of this machine.
    #[serde(deserialize_with = "hosts")]
    pub hosts: Vec<String>,
    /// The tags of `live.pgn`.
    pub broadcast: BroadcastConfig,
}

/// `broadcast` in `[web]`: tags of the running games. They take precedence over what an opponent's front-end knows.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: { event = … }")]
pub struct BroadcastConfig {
    /// The tag `Event`.
    pub event: Option<TagText>,
    /// The tag `Round`.
    pub round: Option<TagText>,
    /// Who plays at each board.
    pub players: BTreeMap<BoardName, PlayersConfig>,
}

/// The players at a board.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { white = …, black = … }"
)]
pub struct PlayersConfig {
    /// The tag `White`.
    pub white: Option<TagText>,
    /// The tag `Black`.
    pub black: Option<TagText>,
}

impl WebConfig {
    /// Where to listen.
    pub fn listen(&self) -> Listen {
        let usual = match self.control {
            Control::Paired => DEFAULT_WEB_OF_PHONES,
            _ => DEFAULT_WEB,
        };
        self.listen.clone().unwrap_or(Listen::at(usual))
    }
}

fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let hosts = Vec::<String>::deserialize(deserializer)?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    let is_name = |host: &&String| !host.is_empty() && host.bytes().all(is_plain);
    if let Some(host) = hosts.iter().find(|host| !is_name(host)) {
        return Err(D::Error::custom(format!(
            "{host:?} is not the name of a machine: write for instance \"chess.example.org\", without port"
        )));
    }
    if hosts.len() > MAX_HOSTS {
        return Err(D::Error::custom(format!("has at most {MAX_HOSTS} names")));
    }
    Ok(hosts)
}
