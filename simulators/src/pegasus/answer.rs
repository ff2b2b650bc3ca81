//! What the board sends: a message with its length, as on a DGT e-board.

/// All squares.
pub(super) const DUMP: u8 = 0x86;
/// A changed square.
pub(super) const CHANGE: u8 = 0x8E;
/// The serial number.
pub(super) const SERIAL: u8 = 0x91;
/// The text.
pub(super) const TEXT: u8 = 0x92;
/// The version.
pub(super) const VERSION: u8 = 0x93;
/// The version of the hardware.
pub(super) const HARDWARE: u8 = 0x96;
/// The battery.
pub(super) const BATTERY: u8 = 0xA0;
/// The long serial number.
pub(super) const LONG_SERIAL: u8 = 0xA2;
/// The state of the key.
pub(super) const KEY_STATE: u8 = 0xA5;

/// The bytes of the head, which the length counts too.
const HEAD: usize = 3;

/// A message: its id, its length in two bytes of seven bits, its data of seven bits each.
pub(super) fn message(id: u8, data: &[u8]) -> Vec<u8> {
    let length = data.len() + HEAD;
    let seven = |value: usize| u8::try_from(value & 0x7F).unwrap_or_default();
    let mut bytes = vec![id | 0x80, seven(length >> 7), seven(length)];
    bytes.extend(data.iter().map(|byte| byte & 0x7F));
    bytes
}
