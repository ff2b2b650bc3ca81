//! The battery, as it is told.

/// At this level and below it is low, per cent. The protocol notes give no level: a choice.
const LOW: u8 = 20;
/// At this level and below it is empty too, per cent. A choice.
const EMPTY: u8 = 5;
/// A full battery, per cent.
pub(super) const FULL: u8 = 100;
/// The bytes of data that tell of it.
const BYTES: usize = 9;

/// The data of a message about a battery at this level.
pub(super) fn data(level: u8, charging: bool) -> [u8; BYTES] {
    let bit = |index: u8, set: bool| u8::from(set) << index;
    let status =
        bit(0, charging) | bit(1, !charging) | bit(2, level <= LOW) | bit(3, level <= EMPTY);
    let mut data = [0; BYTES];
    data[0] = level.min(FULL);
    data[BYTES - 1] = status;
    data
}
