//! Two boards that play each other: what the hand does on one is shown, or driven, on the other.
//!
//! - [`session`] is the game between them, without I/O: snapshots of both boards and time go in, commands for both come
//!   out. It knows no protocol, and has a [seat](crate::front_end::seat) at each board like any other client.
//! - [`side`] is one of the two boards from the game's point of view.
//! - [`server`] gives it the two boards and a clock.
//!
//! A remote board can be one of the two: a board that speaks SWPP over TCP, provided by another `BoardBridge`.
//! `docs/links.md` describes what the players see.
//!
//! The link keeps the one game, decides which side is to move, and otherwise leaves each board to its own core, so that
//! a board that is away or stuck does not block anything. It reads a take-back and a new game by hand from the snapshot
//! (`taken_back`, `put_to_start`): the game alone looks the same while a board is being led. The board of another
//! `BoardBridge` is one more actor with the SWPP driver, hidden from UCI.

pub mod notice;
mod presence;
pub mod server;
pub mod session;
pub mod settings;
pub mod side;

pub use side::{Player, Side};
