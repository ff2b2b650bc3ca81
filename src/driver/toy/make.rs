//! How a toy board is identified, found and reached.

use super::Settings;
use crate::{
    driver::make::{self, Make, Medium},
    vocabulary::BoardKind,
};

/// What the registry knows about this make.
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
