//! What can go wrong with a board by Bluetooth Classic, and what the player can do about it.

use bluer::ErrorKind;
use thiserror::Error;

use crate::transport::bluez::RadioError;

/// Why a board cannot be reached over Bluetooth Classic.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RfcommError {
    /// Something is wrong with Bluetooth itself.
    #[error(transparent)]
    Radio(#[from] RadioError),
    /// The address is not one.
    #[error("{0} is not a Bluetooth address: for instance \"AA:BB:CC:DD:EE:FF\"")]
    NoAddress(String),
    /// The board and this machine do not know each other.
    #[error(
        "{board} was never paired with {adapter}: switch the board on and pair it once. Run `bluetoothctl`, and there `scan on`, \
         `pair {board}` and `trust {board}`. It asks for the board's PIN: see its manual; often it is 0000 or 1234"
    )]
    NeverPaired {
        /// The board's address.
        board: String,
        /// The adapter of this machine.
        adapter: String,
    },
    /// The board does not answer.
    #[error(
        "{board} does not answer ({why}): is it switched on, near, and not connected to another device?"
    )]
    Unreachable {
        /// The board's address.
        board: String,
        /// What the system says.
        why: String,
    },
    /// The board refuses the connection.
    #[error(
        "{board} refuses the connection ({why}): switch it off and on, and close other apps that use it. If this lasts, pair it anew: \
         `bluetoothctl remove {board}`, then as the first time"
    )]
    Refused {
        /// The board's address.
        board: String,
        /// What the system says.
        why: String,
    },
    /// The board has no serial port.
    #[error(
        "{board} offers no serial port ({why}): is this the board's address? `bluetoothctl devices` lists the devices with their names"
    )]
    NoSerialPort {
        /// The board's address.
        board: String,
        /// What the system says.
        why: String,
    },
    /// Something else connects to the board at this moment.
    #[error(
        "{board} is being connected by another program ({why}): if this lasts, switch the board off and on"
    )]
    Busy {
        /// The board's address.
        board: String,
        /// What the system says.
        why: String,
    },
}

/// What `BlueZ` says of a device that does not answer, in its old and its new words (its `src/error.c`, and `strerror`).
const UNREACHABLE: [&str; 6] = [
    "page-timeout",
    "connection-timeout",
    "aborted",
    "Host is down",
    "timed out",
    "No route to host",
];
/// What it says of one without a serial port.
const NO_SERIAL_PORT: [&str; 4] = [
    "profile-unavailable",
    "not-supported",
    "sdp-search",
    "Protocol not available",
];

/// Translates an error of connecting to this board.
pub(super) fn connecting(board: String, error: &bluer::Error) -> RfcommError {
    let says = |words: &[&str]| words.iter().any(|words| error.message.contains(words));
    let why = if error.message.is_empty() {
        error.kind.to_string()
    } else {
        error.message.clone()
    };
    match &error.kind {
        ErrorKind::AlreadyConnected | ErrorKind::InProgress => RfcommError::Busy { board, why },
        ErrorKind::NotAvailable | ErrorKind::NotSupported | ErrorKind::DoesNotExist => {
            RfcommError::NoSerialPort { board, why }
        }
        _ if says(&NO_SERIAL_PORT) => RfcommError::NoSerialPort { board, why },
        _ if says(&UNREACHABLE) => RfcommError::Unreachable { board, why },
        _ => RfcommError::Refused { board, why },
    }
}
