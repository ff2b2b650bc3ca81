//! `[discovery]`: what comes by itself, and what is only found.

use serde::Deserialize;

/// `[discovery]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [discovery]")]
pub struct DiscoveryConfig {
    /// Boards with a cable.
    pub serial: Cables,
    /// Boards in the air.
    pub bluetooth: Air,
}

/// What is done with a board that is plugged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cables {
    /// One with a name or numbers of its own is taken at once, any other is found and waits for a press.
    #[default]
    Known,
    /// Each is found and waits for a press.
    Ask,
    /// None is looked for.
    Off,
}

/// What is done with a board in the air: it may be the neighbour's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Air {
    /// It is found and waits for a press.
    #[default]
    Ask,
    /// None is looked for.
    Off,
}
