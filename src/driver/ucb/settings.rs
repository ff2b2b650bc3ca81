//! The settings of a UCB.

use std::time::Duration;

use serde::{Deserializer, Serializer};

use super::{Ucb, codec::PositionFormat};
use crate::{
    driver::{
        Driver,
        identity::{self, Medium},
        settings::settings,
    },
    text::toml_value::number,
};

/// The speed of its serial line, in baud.
pub const BAUD: u32 = 9600;

settings! {
    /// What can be set.
    pub struct Settings {
        /// "UCB Version" 1 or 2: if the board gets confused, try the other.
        #[serde(with = "version")]
        position_format: PositionFormat = PositionFormat::V2,
        /// Minimum time between two lines; the board has no input buffer.
        // The document gives no number; a line of 12 bytes takes 12.5 ms on the wire and the board serves its 64 lamps
        // and sensors meanwhile.
        #[serde(with = "crate::text::durations::gap")]
        line_gap: Duration = Duration::from_millis(200),
        /// How long you have to make a shown move before the next is shown; the board does not acknowledge it.
        // Document: 15 seconds.
        #[serde(with = "crate::text::durations::span")]
        move_wait: Duration = Duration::from_secs(15),
        /// How long you have to set up a position before a move is shown; the board does not acknowledge it.
        // Document: one minute.
        #[serde(with = "crate::text::durations::span")]
        setup_wait: Duration = Duration::from_mins(1),
    }
}

impl identity::Settings for Settings {
    fn driver(&self, _medium: Option<Medium>) -> Box<dyn Driver> {
        Box::new(Ucb::new(self.clone()))
    }

    fn baud(&self) -> Option<u32> {
        Some(BAUD)
    }
}

impl TryFrom<i64> for PositionFormat {
    type Error = ();

    fn try_from(version: i64) -> Result<Self, ()> {
        match version {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            _ => Err(()),
        }
    }
}

/// A [`PositionFormat`] by its number.
mod version {
    use super::{Deserializer, PositionFormat, Serializer, number};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(
        format: &PositionFormat,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(match format {
            PositionFormat::V1 => 1,
            PositionFormat::V2 => 2,
        })
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PositionFormat, D::Error> {
        number(deserializer, "1 or 2, the \"UCB Version\"")
    }
}
