//! The UCI front-end: every board as a UCI engine whose moves are made by hand.
//!
//! [`server`] accepts GUIs over TCP, [`session`] is the protocol for one of them without I/O, [`command`] parses what a
//! GUI sends, [`introduction`] is the answer to `uci`, [`info_json`] the output besides the search, [`throttle`]
//! decides when a GUI gets the player's advice, and [`relay`] is the program for GUIs that can only start programs.

mod choice;
pub mod command;
pub mod info_json;
pub mod introduction;
pub mod relay;
pub mod server;
pub mod session;
mod statement;
pub mod throttle;
mod told;
