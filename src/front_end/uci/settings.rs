//! `[uci]`

use serde::Deserialize;

use crate::net::{
    default_ports::DEFAULT_UCI,
    door::{Allow, Listen},
};

/// `[uci]`: the port for every board.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [uci]")]
pub struct UciConfig {
    /// Address and port, or `off`.
    pub listen: Listen,
    /// Who may connect.
    pub allow: Allow,
}

impl Default for UciConfig {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_UCI),
            allow: Allow::default(),
        }
    }
}
