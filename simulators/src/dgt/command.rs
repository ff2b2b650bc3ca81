//! What a program sends: one byte, or a message with a size.

/// A command to the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// A command of one byte.
    Byte(u8),
    /// A message for the clock: what follows the size byte.
    Clock(Vec<u8>),
    /// A message for the lamps of a Revelation II: what follows the size byte.
    Lamps(Vec<u8>),
}

/// The first byte of a message for the clock.
pub(super) const CLOCK_MESSAGE: u8 = 0x2B;
/// The first byte of a message for the lamps.
pub(super) const LAMPS_MESSAGE: u8 = 0x60;

/// Joins bytes to commands.
#[derive(Debug, Default)]
pub(super) struct Commands {
    begun: Vec<u8>,
}

impl Commands {
    /// Takes a byte. Returns the command that it completes.
    pub(super) fn push(&mut self, byte: u8) -> Option<Command> {
        if self.begun.is_empty() && !matches!(byte, CLOCK_MESSAGE | LAMPS_MESSAGE) {
            return Some(Command::Byte(byte));
        }
        self.begun.push(byte);
        let [kind, size, data @ ..] = self.begun.as_slice() else {
            return None;
        };
        // The size is one byte, so a message ends.
        if data.len() < usize::from(*size) {
            return None;
        }
        let (kind, data) = (*kind, data.to_vec());
        self.begun.clear();
        Some(match kind {
            CLOCK_MESSAGE => Command::Clock(data),
            _ => Command::Lamps(data),
        })
    }

    /// Drops a message that was begun. Returns whether there was one.
    pub(super) fn drop_begun(&mut self) -> bool {
        let begun = !self.begun.is_empty();
        self.begun.clear();
        begun
    }
}
