//! The GATT profile of a Chessnut board. The service for stored games is left out: nobody needs it.

use uuid::Uuid;

use crate::peripheral::{Characteristic, Flags, Profile, Service};

/// `1b7e82XX-…`
const fn vendor(id: u128) -> Uuid {
    Uuid::from_u128(0x1b7e_8200_2877_41c3_b46e_cf05_7c56_2023 | (id << 96))
}

/// The service of the positions.
const POSITION_SERVICE: Uuid = vendor(0x61);
/// Positions: it notifies.
pub const POSITIONS: Uuid = vendor(0x62);
/// The service of commands.
const COMMAND_SERVICE: Uuid = vendor(0x71);
/// Commands: it is written to, with a response or without.
pub const COMMANDS: Uuid = vendor(0x72);
/// Replies, and the button: it notifies.
pub const REPLIES: Uuid = vendor(0x73);

/// The company in its advertisements.
const MAKER: u16 = 0x4450;

/// A board of this name and family. It advertises no service.
pub(super) fn profile(name: String, family: Option<u8>) -> Profile {
    let notifies = |uuid| Characteristic {
        uuid,
        flags: Flags {
            notify: true,
            ..Flags::default()
        },
    };
    let written = |uuid| Characteristic {
        uuid,
        flags: Flags {
            write: true,
            write_without_response: true,
            ..Flags::default()
        },
    };
    Profile {
        name,
        advertised: Vec::new(),
        maker_data: family.map(|family| (MAKER, vec![b'C', b'S', family])),
        services: vec![
            Service {
                uuid: POSITION_SERVICE,
                characteristics: vec![notifies(POSITIONS)],
            },
            Service {
                uuid: COMMAND_SERVICE,
                characteristics: vec![written(COMMANDS), notifies(REPLIES)],
            },
        ],
    }
}
