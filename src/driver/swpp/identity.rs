//! How a home-made board is identified, found and reached.

use std::time::Duration;

use super::Settings;
use crate::{
    driver::{
        identity::{self, Identity, Known, Medium, Probe},
        usb::{CABLES, UsbSign},
    },
    text::swpp::{self, LineError, Message, NORDIC_UART},
    vocabulary::BoardKind,
};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("swpp");

/// Arduinos: they may be anything.
const ARDUINOS: &[UsbSign] = &[
    UsbSign::Adapter(0x2341, 0..=0xffff),
    UsbSign::Adapter(0x2a03, 0..=0xffff),
];

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "Home-made board that speaks SWPP",
    room: "swpp",
    example: "diy",
    media: &[Medium::Serial, Medium::Ble, Medium::Tcp],
    radio_names: &[],
    other_radio_names: &[],
    maker_data: &[],
    service: Some(NORDIC_UART[0]),
    usb: &[&CABLES, ARDUINOS],
    probe: Some(Probe {
        bauds: &[swpp::BAUD],
        first: None,
        question: Some(|| {
            swpp::write(&Message::HandshakeRequest {
                protocol: Some(swpp::VERSION),
                build: None,
            })
            .into_bytes()
        }),
        // An Arduino restarts when its port is opened, which takes two seconds.
        times: 8,
        wait: Duration::from_millis(500),
        known: Known::Line(|line| match swpp::read(line) {
            Ok(Message::HandshakeResponse { .. })
            | Err(LineError::NoProtocol(_) | LineError::ShortVersion(_)) => {
                Some("answers as home-made boards do".to_owned())
            }
            _ => None,
        }),
    }),
    picture: None,
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
