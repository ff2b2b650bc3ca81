//! The settings of a Citrine.

use std::time::Duration;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        Error,
        value::{Error as Unknown, StrDeserializer},
    },
};

use super::Citrine;
use crate::{
    driver::{
        Driver,
        identity::{self, Medium},
        settings::settings,
    },
    text::toml_value::text,
};

/// The longest level, in characters.
const MAX_LEVEL: usize = 16;

settings! {
    /// What can be set.
    pub struct Settings {
        /// Which of the sister boards: citrine, star-diamond, star-sapphire (57600 baud), sapphire, diamond,
        /// super-forte, expert-c (9600 baud).
        #[serde(deserialize_with = "dialect")]
        dialect: Dialect = Dialect::Citrine,
        /// Set at every new game, for instance "TR8"; without it the board keeps its own.
        #[serde(deserialize_with = "level")]
        level: Option<String> = None,
        /// Minimum time between two commands; closer ones are lost.
        // The documents: at least 100 ms, drivers use 100 to 200 ms.
        #[serde(with = "crate::text::durations::gap")]
        command_gap: Duration = Duration::from_millis(150),
        /// A move is sent twice, this far apart.
        #[serde(with = "crate::text::durations::gap")]
        second_send: Duration = Duration::from_millis(200),
        /// The same for a capture.
        #[serde(with = "crate::text::durations::gap")]
        second_send_capture: Duration = Duration::from_secs(3),
        /// How long you have to make one shown move before the next is shown.
        #[serde(with = "crate::text::durations::span")]
        move_wait: Duration = Duration::from_secs(3),
        /// How long you have to set up a position before a move is shown.
        #[serde(with = "crate::text::durations::span")]
        setup_wait: Duration = Duration::from_secs(5),
    }
}

impl identity::Settings for Settings {
    fn driver(&self, _medium: Option<Medium>) -> Box<dyn Driver> {
        Box::new(Citrine::new(self.clone()))
    }

    fn baud(&self) -> Option<u32> {
        Some(self.dialect.baud())
    }
}

/// Boards with the Citrine's dialect; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Citrine: 57600 baud.
    #[default]
    Citrine,
    /// Star Diamond: 57600 baud.
    StarDiamond,
    /// Star Sapphire: 57600 baud.
    StarSapphire,
    /// Sapphire I and II: 9600 baud.
    Sapphire,
    /// Diamond I and II: 9600 baud.
    Diamond,
    /// Super Forte: 9600 baud (some 1200: set `baud`).
    SuperForte,
    /// Super Expert C: 9600 baud (some 1200: set `baud`).
    ExpertC,
}

impl Dialect {
    /// The default speed of these boards, in baud.
    pub fn baud(self) -> u32 {
        match self {
            Self::Citrine | Self::StarDiamond | Self::StarSapphire => 57_600,
            Self::Sapphire | Self::Diamond | Self::SuperForte | Self::ExpertC => 9_600,
        }
    }
}

/// The key that takes the name of a sister board.
pub(super) fn sister(name: &str) -> Option<&'static str> {
    let dialect = Dialect::deserialize(StrDeserializer::<Unknown>::new(name));
    dialect
        .is_ok_and(|dialect| dialect != Dialect::Citrine)
        .then_some("dialect")
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
    text(deserializer, "a text in quotes such as \"star-diamond\"")
}

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let level: String = text(deserializer, "a text in quotes")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ';
    if level.is_empty() || level.len() > MAX_LEVEL || !level.chars().all(plain) {
        return Err(D::Error::custom(format!(
            "{level:?} is not a valid level: write for instance \"TR8\" or \"AT1\""
        )));
    }
    Ok(Some(level))
}
