//! The settings of a toy board of pieces.

use std::time::Duration;

use super::ToyPieces;
use crate::driver::{
    Driver,
    identity::{self, Medium},
    sensing::Orientation,
    sensor::Sensor,
    settings::settings,
};

settings! {
    /// What can be set.
    pub struct Settings {
        /// Which way round the board lies: "auto" as the pieces show, "normal" or "turned".
        #[serde(deserialize_with = "crate::driver::sensing::orientation")]
        orientation: Orientation = Orientation::Auto,
        /// How long the pieces must stand still before they count as moved.
        #[serde(with = "crate::text::durations::gap")]
        settle: Duration = Duration::from_millis(400),
    }
}

impl identity::Settings for Settings {
    fn driver(&self, _medium: Option<Medium>) -> Box<dyn Driver> {
        Box::new(Sensor::new(
            ToyPieces::default(),
            self.orientation,
            self.settle,
        ))
    }

    fn baud(&self) -> Option<u32> {
        Some(9600)
    }
}
