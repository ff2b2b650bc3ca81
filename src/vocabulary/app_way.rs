//! How the `WhitePawn` app reaches a board.

/// A way for the `WhitePawn` app to a board, of those that need nothing but a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AppWay {
    /// TCP, on this machine.
    Tcp,
    /// Bluetooth LE.
    Ble,
    /// Bluetooth Classic: its serial port.
    Rfcomm,
}

impl AppWay {
    /// Its key in the configuration.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Ble => "ble",
            Self::Rfcomm => "rfcomm",
        }
    }
}
