//! The settings of a DGT board.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{BAUD, Dgt, RADIO_SCANS};
use crate::driver::{
    Driver,
    identity::{self, Medium},
    sensing::Orientation,
    sensor::Sensor,
    settings::settings,
};
use crate::text::toml_value::text;

settings! {
    /// What can be set.
    pub struct Settings {
        /// Which way round the board lies: "auto" as the pieces show, "normal" with its connector on White's left, "turned".
        #[serde(deserialize_with = "crate::driver::sensing::orientation")]
        orientation: Orientation = Orientation::Auto,
        /// How long the pieces must stand still before they count as moved; a board by Bluetooth takes twice that.
        // Document: one scan takes 0.2 to 0.25 s; a slow slide looks like rest for one scan, so 0.4 s or more.
        #[serde(with = "crate::text::durations::gap")]
        settle: Duration = Duration::from_millis(400),
        /// The letters of king, queen, rook, bishop and knight on the board's clock: "KDTLS" in German.
        letters: Letters = Letters::default(),
        /// Which board it is: "e-board", or "revelation-ii", which has lamps and a display; any other board hangs when told to light them.
        #[serde(deserialize_with = "model")]
        model: Model = Model::EBoard,
    }
}

impl identity::Settings for Settings {
    fn driver(&self, medium: Option<Medium>) -> Box<dyn Driver> {
        let by_radio = medium == Some(Medium::Rfcomm);
        let settle = if by_radio {
            self.settle * RADIO_SCANS
        } else {
            self.settle
        };
        let dgt = Dgt::new(by_radio, self.letters, self.model);
        Box::new(Sensor::new(dgt, self.orientation, settle))
    }

    fn baud(&self) -> Option<u32> {
        Some(BAUD)
    }
}

/// The models of board that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Any without lamps.
    EBoard,
    /// The Revelation II.
    RevelationIi,
}

fn model<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Model, D::Error> {
    text(deserializer, "\"e-board\" or \"revelation-ii\"")
}

/// The letters of king, queen, rook, bishop and knight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Letters([char; 5]);

/// As in SAN.
const ENGLISH: [char; 5] = ['K', 'Q', 'R', 'B', 'N'];

impl Letters {
    /// A move in SAN, with these letters.
    pub fn in_words(self, san: &str) -> String {
        let letter = |character: char| {
            let place = ENGLISH.iter().position(|english| *english == character);
            place.map_or(character, |place| self.0[place])
        };
        san.chars().map(letter).collect()
    }
}

impl Default for Letters {
    fn default() -> Self {
        Self(ENGLISH)
    }
}

impl Serialize for Letters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.iter().collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Letters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const RIGHT: &str = "five letters in quotes, such as \"KQRBN\"";
        let text: String = text(deserializer, RIGHT)?;
        let letters: Vec<char> = text.chars().collect();
        match letters.try_into() {
            Ok(letters) if text.chars().all(|letter| letter.is_ascii_alphabetic()) => {
                Ok(Self(letters))
            }
            _ => Err(D::Error::custom(format!("`{text}` is not {RIGHT}"))),
        }
    }
}
