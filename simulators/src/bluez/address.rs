//! The address of a radio.

use std::fmt;

/// A Bluetooth device address, most significant byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub [u8; 6]);

impl Address {
    /// The address with another separator: `BlueZ` writes `_` in paths and `-` in the names of nameless devices.
    pub(super) fn separated(self, separator: char) -> String {
        self.to_string()
            .replace(':', separator.encode_utf8(&mut [0; 4]))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ":" };
            write!(f, "{separator}{byte:02X}")?;
        }
        Ok(())
    }
}
