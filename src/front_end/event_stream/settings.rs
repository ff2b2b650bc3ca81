//! `[status]`

use serde::Deserialize;

use crate::net::{
    default_ports::DEFAULT_STATUS,
    door::{Allow, Listen},
};

/// `[status]`: the event stream for `boardbridge watch`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [status]")]
pub struct StatusConfig {
    /// Address and port, or `off`.
    pub listen: Listen,
    /// Who may connect.
    pub allow: Allow,
}

impl Default for StatusConfig {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_STATUS),
            allow: Allow::default(),
        }
    }
}
