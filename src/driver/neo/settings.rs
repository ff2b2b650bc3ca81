//! The settings of a Neo.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use super::{
    Neo,
    motor::parking::{DEFAULT_COLUMNS, LEFTMOST, RIGHTMOST},
};
use crate::{
    chess::recognise::Waits,
    driver::{
        Driver,
        identity::{self, Medium},
        settings::settings,
    },
    text::toml_value::{list, number, text},
};

settings! {
    /// What can be set.
    pub struct Settings {
        /// Whether the motor makes the program's moves; otherwise they light up, and you make them.
        motor: bool = true,
        /// What the player's pawn becomes: by "option" what the program's option Promotion says; by "gesture" what you
        /// say: lift the new piece and put it back 2 times for a knight, 3 rook, 4 bishop.
        #[serde(deserialize_with = "promotion")]
        promotion: Promotion = Promotion::Option,
        /// Columns for captured pieces, the best first: 8 and 9 are right of the h file, -1 and -2 left of the a file.
        /// With [] you take captured pieces off.
        #[serde(deserialize_with = "parking")]
        parking: Vec<i8> = DEFAULT_COLUMNS.to_vec(),
        /// Wait before a capture counts; other moves wait half of it.
        #[serde(with = "crate::text::durations::gap")]
        settle: Duration = Waits::default().swap,
        /// Whether the firmware needs check and results as old commands, `27#…`.
        old_signs: bool = false,
    }
}

impl Settings {
    /// The waits of the recogniser with these settings.
    pub(super) fn waits(&self) -> Waits {
        Waits::default().settling(self.settle)
    }
}

impl identity::Settings for Settings {
    fn driver(&self, _medium: Option<Medium>) -> Box<dyn Driver> {
        Box::new(Neo::new(self.clone()))
    }
}

/// How the piece for the player's promotion is chosen.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Promotion {
    /// The program's choice: its UCI option, a queen by default.
    #[default]
    Option,
    /// Lifting the new piece and putting it back: not at all or once for a queen, twice for a knight, three times for a
    /// rook, four times for a bishop.
    Gesture,
}

fn promotion<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Promotion, D::Error> {
    text(deserializer, "\"option\" or \"gesture\"")
}

/// A column in the configuration.
struct Column(i8);

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number(deserializer, "a number such as 8 or -1").map(Self)
    }
}

fn parking<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i8>, D::Error> {
    let columns: Vec<Column> = list(deserializer, "a list such as [8, -1]")?;
    let beside =
        |column: &Column| (LEFTMOST..0).contains(&column.0) || (8..=RIGHTMOST).contains(&column.0);
    if !columns.iter().all(beside) {
        return Err(D::Error::custom(format!(
            "names columns beside the board: {LEFTMOST} to -1 on the left, 8 to {RIGHTMOST} on the right"
        )));
    }
    Ok(columns.into_iter().map(|column| column.0).collect())
}
