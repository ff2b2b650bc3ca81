//! The GATT profile of a home-made board: Nordic UART. The documents name no service; this is the best guess of the
//! field notes.

use uuid::Uuid;

use crate::peripheral::{Characteristic, Flags, Profile, Service};

/// The service.
pub const SERVICE: Uuid = Uuid::from_u128(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e);
/// To the board: it is written to.
pub const TO_BOARD: Uuid = Uuid::from_u128(0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e);
/// From the board: it notifies.
pub const FROM_BOARD: Uuid = Uuid::from_u128(0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e);

/// A board of this name.
pub(super) fn profile(name: String) -> Profile {
    let characteristic = |uuid, write| Characteristic {
        uuid,
        flags: Flags {
            read: false,
            write,
            write_without_response: false,
            notify: !write,
        },
    };
    Profile {
        name,
        advertised: vec![SERVICE],
        maker_data: None,
        services: vec![Service {
            uuid: SERVICE,
            characteristics: vec![
                characteristic(TO_BOARD, true),
                characteristic(FROM_BOARD, false),
            ],
        }],
    }
}
