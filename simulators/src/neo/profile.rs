//! The GATT profile of a Neo (document: the table of services and characteristics).

use uuid::Uuid;

use crate::peripheral::{Characteristic, Flags, Profile, Service};

/// The end of the Bluetooth base UUID, for the assigned numbers.
const BASE: u128 = 0x0000_0000_0000_1000_8000_0080_5f9b_34fb;

const fn assigned(short: u32) -> Uuid {
    Uuid::from_u128(((short as u128) << 96) | BASE)
}

/// Nordic UART, to the program: answers.
pub const ANSWERS: Uuid = Uuid::from_u128(0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e);
/// Nordic UART, to the board: requests.
pub const REQUESTS: Uuid = Uuid::from_u128(0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e);
/// Pieces up and down, and the motor's `OK`.
pub const EVENTS: Uuid = Uuid::from_u128(0x4496_994f_2600_4e7e_81d5_e0f7_b67e_bd48);
/// Paths for the motor.
pub const PATHS: Uuid = Uuid::from_u128(0xf966_4d70_93ff_4cfe_9bfe_b586_6aa5_bef2);
/// Occupancy strings.
pub const OCCUPANCY: Uuid = Uuid::from_u128(0x777a_c5a4_6fa8_474b_841d_091b_d57d_28c4);
/// Signs, missing pieces, readiness.
pub const SIGNS: Uuid = Uuid::from_u128(0xc7d6_4c44_42f0_11ec_81d3_0242_ac13_0003);
/// A setting that the app writes `0` to at the start and end of a game (captured).
pub const GAME_SETTING: Uuid = Uuid::from_u128(0xc7d6_4c45_42f0_11ec_81d3_0242_ac13_0003);
/// Battery level, per cent.
pub const BATTERY: Uuid = assigned(0x2a19);
/// Hardware revision.
pub const HARDWARE: Uuid = assigned(0x2a27);
/// Firmware revision.
pub const FIRMWARE: Uuid = assigned(0x2a26);
/// Serial number.
pub const SERIAL: Uuid = assigned(0x2a25);
/// Read at every start (captured); its meaning is unknown.
pub const STARTED: Uuid = Uuid::from_u128(0xd804_b644_6ce7_4e81_9f8a_ce0f_6990_85eb);
/// Can be subscribed to, and was never seen to notify.
pub const SILENT: Uuid = Uuid::from_u128(0xc865_9211_af91_4ad3_a995_a58d_6fd2_6145);

/// The battery service, advertised.
const BATTERY_SERVICE: Uuid = assigned(0x180f);
/// The device information service, advertised.
const INFORMATION_SERVICE: Uuid = assigned(0x180a);
/// The service of [`STARTED`], advertised.
const VENDOR_SERVICE: Uuid = vendor(0x643);

/// `d804bXXX-…`
const fn vendor(id: u128) -> Uuid {
    Uuid::from_u128(0xd804_b000_6ce7_4e81_9f8a_ce0f_6990_85eb | (id << 96))
}

/// `c86592XX-…`
const fn update(id: u128) -> Uuid {
    Uuid::from_u128(0xc865_9200_af91_4ad3_a995_a58d_6fd2_6145 | (id << 96))
}

/// The values of the readable characteristics (document: the values of the table; firmware and hardware as
/// captured).
pub(super) fn values() -> Vec<(Uuid, Vec<u8>)> {
    let text = |uuid, text: &str| (uuid, text.as_bytes().to_vec());
    vec![
        text(HARDWARE, "1A1"),
        text(FIRMWARE, "3.1.1"),
        text(SERIAL, "NS-XXXXXX"),
        text(STARTED, "100111"),
        text(vendor(0x649), "11"),
        text(vendor(0x645), "2000,2400"),
        text(
            vendor(0x651),
            "500,100,5,3,10,20,100,500,30,20,15,10,60,40,25,15,20,15,10,5",
        ),
        text(
            vendor(0x650),
            "{\"manufacturingconfig\":[\"Neo\",1,1,1,1,1,1],\"buzzerconfig\":[1,0,0,1,1,1],\"lightconfig\":[1,1],\
             \"speedConfigSetting\":[500,100,5,3,10,20,100,500,30,20,15,10,60,40,25,15,20,15,10,5],\
             \"miscellaneousConfig\":[0,0,0,0,0],\"batteryConfig\":[2000,2400],\
             \"boardinformation\":[\"XX:XX:XX:XX:XX:XX\",1,\"A\",1,\"v3.3.5-1-g85c43024c\",\"NS-XXXXXX\"]}",
        ),
        (update(0x12), vec![1, 0, 3, 1, 1]),
        (vendor(0x648), Vec::new()),
        text(GAME_SETTING, "0:500,10,15,5"),
        text(
            Uuid::from_u128(0xc7d6_4c46_42f0_11ec_81d3_0242_ac13_0003),
            "0",
        ),
    ]
}

/// Services, characteristics and flags of the document's table; advertising as in the field notes.
pub(super) fn profile(name: String) -> Profile {
    const R: Flags = flags(true, false, false);
    const W: Flags = flags(false, true, false);
    const N: Flags = flags(false, false, true);
    const RW: Flags = flags(true, true, false);
    const RN: Flags = flags(true, false, true);
    const WN: Flags = flags(false, true, true);
    Profile {
        name,
        advertised: vec![BATTERY_SERVICE, INFORMATION_SERVICE, VENDOR_SERVICE],
        maker_data: None,
        services: vec![
            service(
                Uuid::from_u128(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e),
                &[(ANSWERS, N), (REQUESTS, W)],
            ),
            service(BATTERY_SERVICE, &[(BATTERY, RN)]),
            service(
                INFORMATION_SERVICE,
                &[(HARDWARE, R), (FIRMWARE, R), (SERIAL, R)],
            ),
            service(
                VENDOR_SERVICE,
                &[
                    (STARTED, RW),
                    (vendor(0x649), RW),
                    (vendor(0x645), RW),
                    (vendor(0x646), W),
                    (vendor(0x651), RW),
                    (vendor(0x647), W),
                    (vendor(0x650), RW),
                ],
            ),
            service(
                update(0x10),
                &[(update(0x12), R), (vendor(0x648), RW), (SILENT, WN)],
            ),
            service(
                Uuid::from_u128(0x3d08_69ef_e8a4_4088_9459_5454_e168_20ac),
                &[
                    (EVENTS, N),
                    (PATHS, W),
                    (OCCUPANCY, N),
                    (SIGNS, W),
                    (GAME_SETTING, RW),
                    (
                        Uuid::from_u128(0xc7d6_4c46_42f0_11ec_81d3_0242_ac13_0003),
                        RW,
                    ),
                ],
            ),
        ],
    }
}

const fn flags(read: bool, write: bool, notify: bool) -> Flags {
    Flags {
        read,
        write,
        write_without_response: false,
        notify,
    }
}

fn service(uuid: Uuid, characteristics: &[(Uuid, Flags)]) -> Service {
    Service {
        uuid,
        characteristics: characteristics
            .iter()
            .map(|&(uuid, flags)| Characteristic { uuid, flags })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_document() {
        assert_eq!(
            VENDOR_SERVICE.to_string(),
            "d804b643-6ce7-4e81-9f8a-ce0f699085eb"
        );
        assert_eq!(STARTED, vendor(0x644));
        assert_eq!(SILENT, update(0x11));
        assert_eq!(BATTERY.to_string(), "00002a19-0000-1000-8000-00805f9b34fb");
        let profile = profile(String::new());
        let count: usize = profile
            .services
            .iter()
            .map(|service| service.characteristics.len())
            .sum();
        assert_eq!((profile.services.len(), count), (6, 22));
    }
}
