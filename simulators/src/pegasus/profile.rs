//! The GATT profile of a Pegasus: the Nordic UART service.

use uuid::Uuid;

use crate::peripheral::{Characteristic, Flags, Profile, Service};

/// The Nordic UART service, advertised.
pub const SERVICE: Uuid = nordic(1);
/// Commands: it is written to, with a response or without.
pub const COMMANDS: Uuid = nordic(2);
/// Answers: it notifies.
pub const ANSWERS: Uuid = nordic(3);

/// `6e40000X-…`
const fn nordic(id: u128) -> Uuid {
    Uuid::from_u128(0x6e40_0000_b5a3_f393_e0a9_e50e_24dc_ca9e | (id << 96))
}

/// A board of this name.
pub(super) fn profile(name: String) -> Profile {
    let written = Characteristic {
        uuid: COMMANDS,
        flags: Flags {
            write: true,
            write_without_response: true,
            ..Flags::default()
        },
    };
    let notifies = Characteristic {
        uuid: ANSWERS,
        flags: Flags {
            notify: true,
            ..Flags::default()
        },
    };
    Profile {
        name,
        advertised: vec![SERVICE],
        maker_data: None,
        services: vec![Service {
            uuid: SERVICE,
            characteristics: vec![written, notifies],
        }],
    }
}
