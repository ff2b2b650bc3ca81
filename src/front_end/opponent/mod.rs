//! The other side of a board: an engine that the daemon runs, or the same hand again.
//!
//! - [`session`] is the game, without I/O: snapshots of the board, the engine's moves, what the player says and time go in;
//!   commands for the board and a question for the engine come out. It is a client of the board like any other.
//! - [`engine`] runs one engine, without I/O: starts it, asks it, and starts it again when it crashes or hangs.
//! - [`uci`] is UCI from the GUI's side, for one life of the engine's process.
//! - [`process`] is that process; [`server`] connects them all; [`trial`] asks an engine for `boardbridge check`.
//!
//! `docs/opponent.md` describes what the player sees.

pub mod engine;
pub mod notice;
#[cfg(target_os = "linux")]
pub mod process;
#[cfg(target_os = "linux")]
pub mod server;
pub mod session;
pub mod settings;
#[cfg(target_os = "linux")]
pub mod trial;
pub mod uci;
