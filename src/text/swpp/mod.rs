//! SWPP, the protocol of the `WhitePawn` app, for both of its roles: [`crate::driver::swpp`] is the app toward a
//! board, [`crate::front_end::whitepawn`] the board toward the app.
//!
//! ASCII lines, each ended by LF: two characters of type, then a payload. Writing is exact, as the app's public driver
//! frames it; reading is tolerant, because home-made boards differ.

pub mod gatt;
pub mod line;
pub mod message;

pub use gatt::{LongUuid, NORDIC_UART};
pub use line::{LineError, MAX_LINE, read, write};
pub use message::{BoardVersion, Ending, GameKind, Message};

/// The speed of a serial line unless it is given, in baud: what most Arduino sketches use today. The protocol names
/// none.
pub const BAUD: u32 = 115_200;

/// The protocol's only version.
pub const VERSION: u8 = 1;

/// Characters of the board's version in H1: the app's handshake fails with fewer (field notes, SWPP).
pub const VERSION_WIDTH: usize = 8;

/// Characters of a move in MA and MB, padded on the left (field notes, SWPP).
pub const MOVE_WIDTH: usize = 5;

/// The longest serial number we send, in characters: with it the line still fits one notification of the app's
/// MTU (527) and an Arduino's serial buffer (64).
pub const MAX_SERIAL: usize = 48;
