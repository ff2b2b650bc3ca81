//! The settings of a DGT board.

use std::time::Duration;

use super::{BAUD, Dgt, RADIO_SCANS};
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
        /// Which way round the board lies: "auto" as the pieces show, "normal" with its connector on White's left, "turned".
        #[serde(deserialize_with = "crate::driver::sensing::orientation")]
        orientation: Orientation = Orientation::Auto,
        /// How long the pieces must stand still before they count as moved; a board by Bluetooth takes twice that.
        // Document: one scan takes 0.2 to 0.25 s; a slow slide looks like rest for one scan, so 0.4 s or more.
        #[serde(with = "crate::text::durations::gap")]
        settle: Duration = Duration::from_millis(400),
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
        Box::new(Sensor::new(Dgt::new(by_radio), self.orientation, settle))
    }

    fn baud(&self) -> Option<u32> {
        Some(BAUD)
    }
}
