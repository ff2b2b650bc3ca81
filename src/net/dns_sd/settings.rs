//! `[discovery]`: who is found by whom.

use serde::Deserialize;

/// `[discovery]`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [discovery]")]
pub struct DiscoveryConfig {
    /// Whether ports that other machines may reach are announced on the local network.
    pub announce: bool,
}

impl Default for DiscoveryConfig {
    fn default() -> Self {
        Self { announce: true }
    }
}
