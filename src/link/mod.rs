//! Two boards that play each other: what the hand does on one is shown, or driven, on the other.
//!
//! - [`session`] is the game between them, without I/O: snapshots of both boards and time go in, commands for both come
//!   out. It knows no protocol, and is a client of each board like any other, by the rule of `board::claims`.
//! - [`side`] is one of the two boards as the game sees it.
//! - [`server`] gives it the two boards and a clock.
//!
//! A board across the world is one of the two as well: a board that speaks SWPP over TCP, which another `BoardBridge`
//! is there. `docs/links.md` tells what the players meet.
//!
//! The link keeps the one game, says which side is to move, and otherwise leaves each board to its own core, so
//! that a board that is away or stuck holds up nothing. It reads a take-back and a new game by hand from the snapshot
//! (`taken_back`, `put_to_start`): the game alone looks the same while a board is being led. The board of another
//! `BoardBridge` is one more actor with the SWPP driver, hidden from UCI.

pub mod notice;
mod presence;
pub mod server;
pub mod session;
pub mod side;

pub use side::{Player, Side};
