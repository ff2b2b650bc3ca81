//! What a program may write.

use super::lamps::{self, Lamps};

/// The bytes of a key.
pub const KEY_BYTES: usize = 6;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// `40`: no changes are told.
    Reset,
    /// `42`: all squares.
    Dump,
    /// `44`: changes are told.
    Changes,
    /// `45`: the serial number.
    Serial,
    /// `55`: the long serial number.
    LongSerial,
    /// `47`: the text.
    Text,
    /// `48`: the version of the hardware.
    Hardware,
    /// `4C`: the battery.
    Battery,
    /// `4D`: the version.
    Version,
    /// `5A`: the state of the key.
    KeyState,
    /// `46`, `49`, `56`, `59`: they are sent by a program, and their meaning is unknown.
    Unknown,
    /// `63`: a key.
    Key([u8; KEY_BYTES]),
    /// `60`: lamps.
    Lamps(Lamps),
}

/// Reads the first command of a write. Returns it with what follows it; nothing if it is not one.
pub(super) fn read(bytes: &[u8]) -> Option<(Command, &[u8])> {
    let command = match *bytes {
        [0x63, 7, ref rest @ ..] => {
            let (key, rest) = rest.split_first_chunk::<KEY_BYTES>()?;
            let rest = rest.strip_prefix(&[0])?;
            return Some((Command::Key(*key), rest));
        }
        [0x60, length, ref rest @ ..] => {
            let (data, rest) = rest.split_at_checked(usize::from(length))?;
            return Some((Command::Lamps(lamps::read(data)?), rest));
        }
        [0x40, ..] => Command::Reset,
        [0x42, ..] => Command::Dump,
        [0x44, ..] => Command::Changes,
        [0x45, ..] => Command::Serial,
        [0x55, ..] => Command::LongSerial,
        [0x47, ..] => Command::Text,
        [0x48, ..] => Command::Hardware,
        [0x4C, ..] => Command::Battery,
        [0x4D, ..] => Command::Version,
        [0x5A, ..] => Command::KeyState,
        [0x46 | 0x49 | 0x56 | 0x59, ..] => Command::Unknown,
        _ => return None,
    };
    let (_, rest) = bytes.split_first()?;
    Some((command, rest))
}
