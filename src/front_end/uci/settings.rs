//! `[uci]`

use serde::Deserialize;

use crate::net::{
    default_ports::DEFAULT_UCI,
    door::{Allow, Listen},
};

/// `[uci]`: the port for every board.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [uci]")]
pub struct UciConfig {
    /// Address and port, or `off`. `None` is the default address, which may be in use.
    pub listen: Option<Listen>,
    /// Who may connect.
    pub allow: Allow,
}

impl UciConfig {
    /// Where to listen.
    pub fn listen(&self) -> Listen {
        self.listen.clone().unwrap_or(Listen::at(DEFAULT_UCI))
    }
}
