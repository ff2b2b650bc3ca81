//! How a Neo is identified, found and reached.

use super::Settings;
use crate::{
    driver::identity::{self, Identity, Medium},
    vocabulary::BoardKind,
};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("miko-neo");

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "Miko Neo, formerly Square Off Neo",
    room: "neo",
    example: "neo",
    media: &[Medium::Ble],
    radio_names: &["Square Off Neo", "Miko"],
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
