//! How a Citrine is identified, found and reached.

use std::time::Duration;

use super::codec::KIND;
use super::{Settings, codec, settings};
use crate::driver::{
    identity::{self, Identity, Known, Medium, Probe},
    usb::{CABLES, UsbSign},
};

/// Sold with a cable, whose texts may have the board's name; otherwise with any adapter.
const SIGNS: &[UsbSign] = &[UsbSign::Named("Citrine")];

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "Novag Citrine and sister boards",
    room: "citrine",
    example: "citrine",
    media: &[Medium::Serial],
    radio_names: &[],
    other_radio_names: &[],
    maker_data: &[],
    service: None,
    usb: &[&CABLES, SIGNS],
    probe: Some(Probe {
        // Not 1200, which few boards use: some Arduinos wait for a new program when opened at that speed.
        bauds: &[57_600, 9_600],
        // Bytes sent at another speed may precede the question, so an end of line is sent first. The pause is needed because
        // commands too close together are lost.
        first: Some(("\r\n", Duration::from_millis(200))),
        question: Some(|| b"I\r\n".to_vec()),
        times: 1,
        // The answer is 20 bytes.
        wait: Duration::from_millis(1500),
        known: Known::Line(|line| match codec::parse(line) {
            codec::Message::Id(id) => Some(format!("answers: {}", id.escape_default())),
            _ => None,
        }),
    }),
    picture: None,
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: settings::sister,
};
