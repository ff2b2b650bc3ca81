//! How a Chessnut board is identified, found and reached.

use super::{KIND, Settings};
use crate::driver::identity::{self, Identity, Medium};

/// What the rest of the program knows about this make.
pub static IDENTITY: Identity = Identity {
    kind: KIND,
    title: "Chessnut Air, Air+, Pro, Go and Move",
    room: "chessnut",
    example: "chessnut",
    media: &[Medium::Ble],
    // It advertises no service. The Evo speaks otherwise.
    radio_names: &[
        "Chessnut Air",
        "Chessnut Pro",
        "Chessnut Go",
        "Chessnut Move",
        "Chess Air",
        "ChessAir",
        "Smart Chess",
    ],
    service: None,
    probe: None,
    keys: Settings::KEYS,
    read: identity::read::<Settings>,
    defaults: identity::defaults::<Settings>,
    sister: |_| None,
};
