//! A board toward the `WhitePawn` app: `BoardBridge` speaks SWPP as the board, and the board behind it plays.

#[cfg(target_os = "linux")]
pub mod ble;
pub mod connection;
#[cfg(target_os = "linux")]
mod radio;
#[cfg(target_os = "linux")]
pub mod rfcomm;

pub use connection::Connection;
#[cfg(target_os = "linux")]
pub use radio::RadioError;
