//! What the board sends: a message with its length.

/// The clock's times, or its acknowledgement.
pub(super) const CLOCK: u8 = 0x8D;
/// All fields.
pub(super) const POSITION: u8 = 0x86;
/// A changed field.
pub(super) const CHANGE: u8 = 0x8E;
/// The stored changes.
pub(super) const STORED: u8 = 0x8F;
/// The bus address.
pub(super) const BUS_ADDRESS: u8 = 0x90;
/// The serial number, five digits.
pub(super) const SERIAL: u8 = 0x91;
/// The trade-mark text.
pub(super) const TRADE_MARK: u8 = 0x92;
/// The version.
pub(super) const VERSION: u8 = 0x93;
/// The battery.
pub(super) const BATTERY: u8 = 0xA0;
/// The serial number, ten digits.
pub(super) const LONG_SERIAL: u8 = 0xA2;

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
