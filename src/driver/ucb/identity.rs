//! How a UCB is identified, found and reached.

use super::codec::KIND;
use super::{BAUD, Settings, codec};
use crate::driver::{
    identity::{self, Identity, Known, Medium, Probe, SWITCH_WAIT},
    usb::{CABLES, UsbSign},
};

/// Sold with a cable, whose texts may have the board's name; otherwise with any adapter.
const SIGNS: &[UsbSign] = &[UsbSign::Named("Universal Chess")];

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "Novag Universal Chess Board (UCB)",
    room: "ucb",
    example: "ucb",
    media: &[Medium::Serial],
    radio_names: &[],
    other_radio_names: &[],
    maker_data: &[],
    service: None,
    // It answers nothing; it asks a question itself when it is switched on.
    usb: &[&CABLES, SIGNS],
    probe: Some(Probe {
        bauds: &[BAUD],
        first: None,
        question: None,
        times: 1,
        wait: SWITCH_WAIT,
        // Its first byte, a blank, may be noise.
        known: Known::Line(|line| match codec::parse(line) {
            None | Some(codec::Message::Hello) => None,
            Some(_) => Some("is a UCB, switched on".to_owned()),
        }),
    }),
    picture: None,
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
