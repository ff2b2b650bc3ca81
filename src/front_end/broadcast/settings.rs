//! `[[broadcast]]`: a round of a broadcast to which running games are pushed.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Deserializer};

use crate::{
    front_end::https::{address, token::Purpose},
    text::{durations::span, toml_value::checked},
    vocabulary::BoardName,
};

/// Broadcasts in one configuration: a tournament has a round, and perhaps a second group.
pub const MAX_BROADCASTS: usize = 8;
/// The letters and digits of a round's id (Lichess, `RelayRoundId`).
const ID: usize = 8;

/// The token with which games are pushed.
pub const TOKEN: Purpose = Purpose {
    default_file: "/etc/boardbridge/broadcast.token",
    remedy: "log in to Lichess on the page, or make one at https://lichess.org/account/oauth/token/create?scopes[]=study:read&scopes[]=study:write&description=BoardBridge \
             and write it there, with `chmod 600`",
};

/// `[[broadcast]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[broadcast]]")]
pub struct BroadcastConfig {
    /// The round's id.
    #[serde(deserialize_with = "round")]
    pub round: String,
    /// The file that has the token.
    #[serde(default, deserialize_with = "token_file")]
    pub token_file: Option<PathBuf>,
    /// The server.
    #[serde(default = "address::default_url", deserialize_with = "address::url")]
    pub url: String,
    /// The boards whose games are pushed; all, if left out.
    #[serde(default)]
    pub boards: Option<Vec<BoardName>>,
    /// The file that says who plays at which board.
    #[serde(default)]
    pub pairings: Option<PathBuf>,
    /// How long moves and results are held back.
    #[serde(default, with = "span")]
    pub delay: Duration,
}

fn round<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text| {
        let is_id = text.len() == ID && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let problem = "is not the id of a round: write the last 8 letters and digits of its address, for instance \
                       \"aBcDeFgH\" of https://lichess.org/broadcast/club-evening/round-3/aBcDeFgH";
        (!is_id).then(|| problem.to_owned())
    })
}

fn token_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    address::whole_path(deserializer, TOKEN.default_file).map(Some)
}

impl BroadcastConfig {
    /// The server's address without a slash at its end.
    pub fn server(&self) -> &str {
        address::without_slash(&self.url)
    }

    /// Makes the pairing file's path whole: it is relative to the folder of the configuration.
    pub fn settle(&mut self, folder: &Path) {
        if let Some(path) = &mut self.pairings {
            *path = folder.join(&*path);
        }
    }

    /// The boards whose games are pushed; `all` are those that there are, in order.
    pub fn boards<'a>(&'a self, all: impl Iterator<Item = &'a BoardName>) -> Vec<BoardName> {
        match &self.boards {
            Some(boards) => boards.clone(),
            None => all.cloned().collect(),
        }
    }
}
