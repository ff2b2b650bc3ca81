//! How a Pegasus is identified, found and reached.

use super::{KIND, Settings};
use crate::{
    driver::identity::{self, Identity, Medium},
    text::swpp::NORDIC_UART,
};

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "DGT Pegasus",
    room: "pegasus",
    example: "pegasus",
    media: &[Medium::Ble],
    // It advertises the service of every board with a serial port by radio: only its name tells it from them, and its owner may change
    // that.
    radio_names: &["DGT_Pegasus", "DGT Pegasus"],
    other_radio_names: &[],
    maker_data: &[],
    service: Some(NORDIC_UART[0]),
    usb: &[],
    probe: None,
    picture: None,
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
