//! How a Chessnut board is identified, found and reached.

use super::{KIND, Settings, codec};
use crate::driver::{
    identity::{self, Identity, Medium},
    usb::UsbSign,
};

/// As HID. The high byte of the product is the family: Air, Pro, Air+; Go is 85, and the maker's SDK opens 84 and 86 too.
const SIGNS: &[UsbSign] = &[
    UsbSign::Own(0x2d80, 0x8000..=0x82ff),
    UsbSign::Own(0x2d80, 0x8400..=0x86ff),
];

/// The company, then `CS` and the family, as on USB. The Evo, 83, is left out.
const MAKER_DATA: &[(u16, &[u8])] = &[
    (0x4450, b"CS\x80"),
    (0x4450, b"CS\x81"),
    (0x4450, b"CS\x82"),
    (0x4450, b"CS\x84"),
    (0x4450, b"CS\x85"),
    (0x4450, b"CS\x86"),
];

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "Chessnut Air, Air+, Pro, Go and Move",
    room: "chessnut",
    example: "chessnut",
    media: &[Medium::Ble, Medium::Hid],
    // It advertises no service.
    radio_names: &["Chessnut", "Chess Air", "ChessAir", "Smart Chess"],
    // It speaks otherwise.
    other_radio_names: &["Chessnut Evo"],
    maker_data: MAKER_DATA,
    service: None,
    usb: &[SIGNS],
    probe: None,
    picture: Some(&codec::PICTURE),
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
