//! The service and the characteristics that carry SWPP over Bluetooth LE.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// Nordic UART, the best guess at what the app looks for (field notes, SWPP): the service, the characteristic
/// written by the central, and the one the peripheral notifies.
pub const NORDIC_UART: [Uuid; 3] = [
    Uuid::from_u128(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e),
    Uuid::from_u128(0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e),
    Uuid::from_u128(0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e),
];

/// A UUID of a Bluetooth service or characteristic, all 128 bits; the configuration may use the short form if there
/// is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongUuid(pub Uuid);

/// Digits of a short UUID, of 16 bits and of 32 (Bluetooth Core Specification, volume 3, part B, 2.5.1).
const SHORT_UUIDS: [usize; 2] = [4, 8];
/// The UUID that a short one is the beginning of (the same chapter).
const BASE_UUID: u128 = 0x0000_0000_0000_1000_8000_0080_5f9b_34fb;

fn read_uuid(text: &str) -> Option<Uuid> {
    if SHORT_UUIDS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let short = u32::from_str_radix(text, 16).ok()?;
        return Some(Uuid::from_u128(u128::from(short) << 96 | BASE_UUID));
    }
    text.parse().ok()
}

impl<'de> Deserialize<'de> for LongUuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        read_uuid(&text).map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "`{text}` is not a valid UUID: for instance \"6e400001-b5a3-f393-e0a9-e50e24dcca9e\", or a short one, \"ffe1\""
            ))
        })
    }
}

impl Serialize for LongUuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
