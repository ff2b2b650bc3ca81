//! The settings of a Chessnut board.

use std::time::Duration;

use super::{Chessnut, codec::HID};
use crate::{
    driver::{
        Driver,
        identity::{self, Medium},
        sensing::Orientation,
        sensor::Sensor,
        settings::settings,
    },
    vocabulary::HidBoards,
};

settings! {
    /// What can be set.
    pub struct Settings {
        /// Which way round the board lies: "auto" as the pieces show, "normal" or "turned".
        #[serde(deserialize_with = "crate::driver::sensing::orientation")]
        orientation: Orientation = Orientation::Auto,
        /// How long the pieces must stand still before they count as moved.
        // Another program waits 350 ms for a piece that may slide on (picochess).
        #[serde(with = "crate::text::durations::gap")]
        settle: Duration = Duration::from_millis(400),
        /// Whether the board beeps when it lights squares.
        beep: bool = true,
        /// A Move only: whether the board moves the pieces itself. Otherwise its lamps show what to do.
        motor: bool = true,
    }
}

impl identity::Settings for Settings {
    fn driver(&self, medium: Option<Medium>) -> Box<dyn Driver> {
        let wire = Chessnut::new(self.beep, self.motor, medium == Some(Medium::Hid));
        Box::new(Sensor::new(wire, self.orientation, self.settle))
    }

    fn hid(&self) -> Option<HidBoards> {
        Some(HID)
    }
}
