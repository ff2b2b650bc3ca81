//! The UCI front-end: every board as a UCI engine whose moves are made by hand.
//!
//! [`server`] accepts GUIs over TCP, as many as [`slots`] allows, [`connection`] reads and writes one of them, and [`session`] is its
//! protocol without I/O. [`command`] parses what a GUI sends, [`introduction`] answers `uci`, [`info_json`] sends the board as
//! JSON, [`throttle`] limits how often the player's task is repeated. [`relay`] is the program that a GUI starts when
//! it can only talk to programs.

mod board_choice;
pub mod command;
pub mod connection;
pub mod info_json;
pub mod introduction;
pub mod relay;
pub mod server;
pub mod session;
pub mod settings;
pub mod slots;
mod statement;
pub mod throttle;
mod told;
