//! `[livechess]`: the boards for pages such as lichess.org's.

use serde::Deserialize;

use super::value::Listen;
use crate::{default_ports::DEFAULT_LIVECHESS, door::Allow, vocabulary::BoardName};

/// Further sites whose pages may connect.
pub const MAX_ORIGINS: usize = 16;

/// `[livechess]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [livechess]")]
pub struct LiveChessConfig {
    /// Address and port, or `off`. `None` is the default, which may be taken already.
    pub listen: Option<Listen>,
    /// Who may connect.
    pub allow: Allow,
    /// The board that is listed first: pages take that.
    pub board: Option<BoardName>,
    /// Further sites whose pages may connect.
    pub origins: Vec<String>,
}

impl LiveChessConfig {
    /// Where to listen.
    pub fn listen(&self) -> Listen {
        self.listen.clone().unwrap_or(Listen::at(DEFAULT_LIVECHESS))
    }

    /// Checks what the types cannot: returns the key, and the problem.
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let is_origin = |origin: &&String| {
            let site = origin.split_once("://").map(|(_, site)| site);
            site.is_some_and(|site| !site.is_empty() && !site.contains('/'))
        };
        if let Some(wrong) = self.origins.iter().find(|origin| !is_origin(origin)) {
            let problem = format!(
                "{wrong:?} is not the origin of a page: write for instance \"https://chess.example.org\""
            );
            problems.push(("origins", problem));
        } else if self.origins.len() > MAX_ORIGINS {
            problems.push(("origins", format!("has at most {MAX_ORIGINS} origins")));
        }
        problems
    }
}
