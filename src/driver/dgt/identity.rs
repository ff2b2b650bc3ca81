//! How a DGT board is identified, found and reached.

use std::time::Duration;

use super::{
    BAUD, KIND, Settings,
    codec::{self, Ask, MAX_FRAME, Message},
};
use crate::driver::{
    identity::{self, Identity, Known, Medium, Probe},
    usb::{CABLES, UsbSign},
};

/// Newer ones have a USB of their own, older ones a cable's (0403:6001). The numbers are those of a maker of chips.
const SIGNS: &[UsbSign] = &[
    UsbSign::Named("DGT Chessboard"),
    UsbSign::Adapter(0x045b, 0x8111..=0x8111),
    UsbSign::Adapter(0x04d8, 0x000a..=0x000a),
];

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "DGT e-board",
    room: "dgt",
    example: "dgt",
    media: &[Medium::Serial, Medium::Rfcomm],
    radio_names: &["DGT_BT_", "PCS-REVII"],
    other_radio_names: &[],
    maker_data: &[],
    service: None,
    usb: &[&CABLES, SIGNS],
    probe: Some(Probe {
        bauds: &[BAUD],
        first: None,
        question: Some(|| vec![Ask::Idle as u8, Ask::Version as u8]),
        times: 2,
        wait: Duration::from_secs(1),
        known: Known::Frame {
            cut: codec::cut,
            bound: MAX_FRAME,
            known: |frame| match codec::read(frame)? {
                Message::Version(major, minor) => {
                    Some(format!("answers: DGT board, version {major}.{minor}"))
                }
                _ => None,
            },
        },
    }),
    picture: Some(&codec::PICTURE),
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
