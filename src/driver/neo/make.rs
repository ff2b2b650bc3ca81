//! How a Neo is identified, found and reached.

use super::Settings;
use crate::{
    driver::make::{self, Make, Medium},
    vocabulary::BoardKind,
};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("miko-neo");

/// What the registry knows about this make.
pub static MAKE: Make = Make {
    kind: KIND,
    title: "Miko Neo, formerly Square Off Neo",
    room: "neo",
    example: "neo",
    media: &[Medium::Ble],
    radio_names: &["Square Off Neo", "Miko"],
    service: None,
    probe: None,
    keys: Settings::KEYS,
    read: make::read::<Settings>,
    defaults: make::defaults::<Settings>,
    sister: |_| None,
};
