//! A board toward the `WhitePawn` app: `BoardBridge` speaks SWPP as the board, and the board behind it plays.
//!
//! - [`session`] is the conversation with the app, without I/O: lines and snapshots go in, messages and commands
//!   come out. It outlives the app's connections, and so does the game.
//! - [`server`] gives it links and a board; [`tcp`], [`serial`], `ble` and `rfcomm` find the app. All of them
//!   produce a [`Connection`].
//!
//! Toward an app this machine is the Bluetooth peripheral (`ble`, `rfcomm`, by bluer). Both are loops that register with
//! `BlueZ`, hand each connection to a bounded channel, and start again when anything fails;
//! each problem is reported once. `BlueZ` forgets everything when it restarts, so it is asked every 5 s whether the
//! registration still exists. Over LE a central is known by its first write, because `BlueZ` does not report which one
//! subscribed.

pub mod availability;
#[cfg(target_os = "linux")]
pub mod ble;
pub mod connection;
mod delivery;
pub mod notice;
#[cfg(target_os = "linux")]
mod radio;
#[cfg(target_os = "linux")]
pub mod rfcomm;
#[cfg(target_os = "linux")]
pub mod serial;
pub mod server;
pub mod session;
pub mod settings;
pub mod tcp;

#[cfg(target_os = "linux")]
pub use crate::transport::bluez::RadioError;
pub use availability::Availability;
pub use connection::Connection;
