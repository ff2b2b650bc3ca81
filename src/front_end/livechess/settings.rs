//! `[livechess]`: the boards for pages such as lichess.org's.

use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    net::{
        default_ports::DEFAULT_LIVECHESS,
        door::{Allow, Listen},
    },
    vocabulary::BoardName,
};

/// Further sites whose pages may connect.
pub const MAX_ORIGINS: usize = 16;

/// `[livechess]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [livechess]")]
pub struct LiveChessConfig {
    /// Address and port, or `off`. `None` is the default address, which may be in use.
    pub listen: Option<Listen>,
    /// Who may connect.
    pub allow: Allow,
    /// The board that is listed first: pages take that.
    pub board: Option<BoardName>,
    /// Further sites whose pages may connect.
    #[serde(deserialize_with = "origins")]
    pub origins: Vec<String>,
}

impl LiveChessConfig {
    /// Where to listen.
    pub fn listen(&self) -> Listen {
        self.listen.clone().unwrap_or(Listen::at(DEFAULT_LIVECHESS))
    }
}

fn origins<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let origins = Vec::<String>::deserialize(deserializer)?;
    let is_origin = |origin: &&String| {
        let site = origin.split_once("://").map(|(_, site)| site);
        site.is_some_and(|site| !site.is_empty() && !site.contains('/'))
    };
    if let Some(wrong) = origins.iter().find(|origin| !is_origin(origin)) {
        return Err(D::Error::custom(format!(
            "{wrong:?} is not the origin of a page: write for instance \"https://chess.example.org\""
        )));
    }
    if origins.len() > MAX_ORIGINS {
        return Err(D::Error::custom(format!(
            "has at most {MAX_ORIGINS} origins"
        )));
    }
    Ok(origins)
}
