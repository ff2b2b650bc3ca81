//! The settings of a toy board.

use std::time::Duration;

use super::Toy;
use crate::driver::{
    Driver,
    identity::{self, Medium},
    settings::settings,
};

settings! {
    /// What can be set.
    pub struct Settings {
        /// How long you have to make a shown move before the next is shown.
        #[serde(with = "crate::text::durations::span")]
        move_wait: Duration = Duration::from_secs(2),
        /// Whether its lamps take capital letters.
        loud: bool = false,
    }
}

impl identity::Settings for Settings {
    fn driver(&self, _medium: Option<Medium>) -> Box<dyn Driver> {
        Box::new(Toy::new(self.clone()))
    }

    fn baud(&self) -> Option<u32> {
        Some(1200)
    }
}
