//! How a toy board is identified, found and reached.

use super::Settings;
use crate::{
    driver::identity::{self, Identity, Medium},
    vocabulary::BoardKind,
};

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: BoardKind::new("toy"),
    title: "Toy board",
    room: "toy",
    example: "toy",
    media: &[Medium::Serial],
    radio_names: &[],
    other_radio_names: &[],
    maker_data: &[],
    service: None,
    usb: &[],
    probe: None,
    picture: None,
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
