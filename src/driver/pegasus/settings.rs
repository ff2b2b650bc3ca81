//! The settings of a Pegasus.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{NOT_A_KEY, Pegasus};
use crate::{
    chess::recognise::{Sensing, Waits},
    driver::{
        Driver,
        identity::{self, Medium},
        sensing::{Orientation, Squares},
        sensor::Sensor,
        settings::settings,
    },
    text::toml_value::text,
};

/// The bytes of a key.
const KEY_BYTES: usize = 6;

settings! {
    /// What can be set.
    pub struct Settings {
        /// The developer key that DGT issued to you, as 12 hexadecimal digits. Without one the board stays locked.
        key recorded as "000000000000": DeveloperKey = DeveloperKey::default(),
        /// Which way round the board lies: "auto" as the first move shows, "normal" or "turned".
        #[serde(deserialize_with = "crate::driver::sensing::orientation")]
        orientation: Orientation = Orientation::Auto,
        /// Wait before a capture counts; other moves wait half of it.
        #[serde(with = "crate::text::durations::gap")]
        settle: Duration = Waits::default().swap,
    }
}

impl identity::Settings for Settings {
    fn driver(&self, _medium: Option<Medium>) -> Box<dyn Driver> {
        let sensing = Sensing {
            events: false,
            loses_events: false,
            goes_dark: false,
            hides_captures: true,
            period: super::WATCH,
        };
        let squares = Squares::new(Waits::default().settling(self.settle), sensing);
        let wire = Pegasus::new(self.key);
        Box::new(Sensor::of_squares(wire, self.orientation, squares))
    }
}

/// A key that DGT issues to developers; it unlocks the board. It is shown to no one: not in the log, not in messages.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct DeveloperKey(Option<[u8; KEY_BYTES]>);

impl DeveloperKey {
    /// Its bytes, if there is one.
    pub(super) fn bytes(self) -> Option<[u8; KEY_BYTES]> {
        self.0
    }
}

impl fmt::Debug for DeveloperKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeveloperKey")
    }
}

impl Serialize for DeveloperKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("")
    }
}

impl<'de> Deserialize<'de> for DeveloperKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The value is shown in no case: it may be nearly right.
        let text: String = text(deserializer, "12 digits in quotes")
            .map_err(|_| D::Error::custom(format!("{NOT_A_KEY}, in quotes")))?;
        if text.is_empty() {
            return Ok(Self(None));
        }
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|digit| *digit != ' ')
            .map(|digit| digit.to_digit(16).and_then(|digit| digit.try_into().ok()))
            .collect();
        let bytes = digits.map(|digits| {
            let pairs = digits.chunks_exact(2);
            let whole = pairs.remainder().is_empty();
            let bytes = pairs.map(|pair| pair[0] << 4 | pair[1]);
            bytes.filter(|_| whole).collect::<Vec<u8>>()
        });
        match bytes.map(<[u8; KEY_BYTES]>::try_from) {
            Some(Ok(key)) => Ok(Self(Some(key))),
            _ => Err(D::Error::custom(NOT_A_KEY)),
        }
    }
}
