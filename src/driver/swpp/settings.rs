//! The settings of a home-made board.

use std::time::Duration;

use super::{Framing, MOVE_WAIT, Swpp};
use crate::{
    driver::{
        Driver,
        identity::{self, Medium},
        settings::settings,
    },
    text::swpp::{BAUD, LongUuid, NORDIC_UART},
    vocabulary::Channel,
};

settings! {
    /// What can be set.
    pub struct Settings {
        /// The characteristic that is written, a long or short UUID ("ffe1"); without it Nordic UART's.
        write in ble: Option<LongUuid> = None,
        /// The characteristic that is subscribed to; without it Nordic UART's.
        notify in ble: Option<LongUuid> = None,
        /// How long you have to make one shown move before the next is shown: no board says that you have made it.
        #[serde(with = "crate::text::durations::span")]
        move_wait: Duration = MOVE_WAIT,
        /// Whether the board restarts when its link is opened, so that it is told its game each time; false: it keeps
        /// its game, and is never told it again. Without it yes if it missed our first greeting, as it was starting
        /// then, if it gives another serial number, and on a serial line whenever that was lost: its cable feeds it.
        forgets: Option<bool> = None,
    }
}

impl identity::Settings for Settings {
    fn driver(&self, medium: Option<Medium>) -> Box<dyn Driver> {
        let [_, write, notify] = NORDIC_UART;
        let way = match medium {
            Some(Medium::Ble) => Framing::Gatt {
                write: Channel::Gatt(self.write.map_or(write, |given| given.0)),
                notify: Channel::Gatt(self.notify.map_or(notify, |given| given.0)),
            },
            _ => Framing::Stream,
        };
        let fed = medium == Some(Medium::Serial);
        Box::new(
            Swpp::new(way, self.move_wait)
                .forgetting(self.forgets)
                .fed_by_its_line(fed),
        )
    }

    fn baud(&self) -> Option<u32> {
        Some(BAUD)
    }
}
