//! `[lichess]`: games of the player's account on Lichess.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use crate::{front_end::https::address, vocabulary::BoardName};
pub use crate::{
    front_end::https::address::DEFAULT_URL,
    vocabulary::{Accept, TakeBacks},
};

/// `[lichess]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [lichess]")]
pub struct LichessConfig {
    /// Where games are played, if not at the first board.
    #[serde(default)]
    pub board: Option<BoardName>,
    /// The file that has the token.
    #[serde(default, deserialize_with = "token_file")]
    pub token_file: Option<PathBuf>,
    /// The server.
    #[serde(default = "address::default_url", deserialize_with = "address::url")]
    pub url: String,
    /// What is done with challenges.
    #[serde(default)]
    pub accept: Accept,
    /// How the opponent's take-back proposals are answered.
    #[serde(default)]
    pub take_backs: TakeBacks,
    /// Whether a login is for broadcasts, too.
    #[serde(skip)]
    pub broadcasts: bool,
}

fn token_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    address::whole_path(deserializer, "/etc/boardbridge/lichess.token").map(Some)
}

/// What a login on the page begins with.
impl Default for LichessConfig {
    fn default() -> Self {
        Self {
            board: None,
            token_file: None,
            url: address::default_url(),
            accept: Accept::default(),
            take_backs: TakeBacks::default(),
            broadcasts: false,
        }
    }
}

impl LichessConfig {
    /// The server's address without a slash at its end.
    pub fn server(&self) -> &str {
        address::without_slash(&self.url)
    }
}

/// The session's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is done with challenges.
    pub accept: Accept,
    /// How the opponent's take-back proposals are answered.
    pub take_backs: TakeBacks,
    /// The server, for addresses of games.
    pub url: String,
}
