//! How a toy board is known, found and reached.

use super::Settings;
use crate::{
    driver::make::{self, Make, Medium},
    vocabulary::BoardKind,
};

/// The door of this room.
pub static MAKE: Make = Make {
    kind: BoardKind::new("toy"),
    title: "Toy board",
    room: "toy",
    example: "toy",
    media: &[Medium::Serial],
    radio_names: &[],
    service: None,
    probe: None,
    keys: Settings::KEYS,
    read: make::read::<Settings>,
    defaults: make::defaults::<Settings>,
    sister: |_| None,
};
