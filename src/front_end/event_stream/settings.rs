//! `[status]`

use serde::Deserialize;

use crate::net::{
    default_ports::DEFAULT_STATUS,
    door::{Allow, Listen},
};

/// `[status]`: the event stream for `boardbridge watch`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [status]")]
pub struct StatusConfig {
    /// Address and port, or `off`. `None` is the default address, which may be in use.
    pub listen: Option<Listen>,
    /// Who may connect.
    pub allow: Allow,
}

impl StatusConfig {
    /// Where to listen.
    pub fn listen(&self) -> Listen {
        self.listen.clone().unwrap_or(Listen::at(DEFAULT_STATUS))
    }
}
