//! `BoardBridge` links electronic chess boards to chess programs.
//!
//! The rooms, along the way of a move from the wire to the GUI:
//!
//! - [`transport`] moves bytes; [`driver`] turns them into reports, one board's protocol each, without I/O.
//! - [`chess`]: a game, the moves that a hand makes, what the hand has to do.
//! - [`board`]: one board with the game it holds, led to the game that the programs follow.
//! - [`bus`]: what happens on every board, published to the front-ends; [`vocabulary`]: the words they all use.
//! - [`front_end`]: chess programs, the app, engines, Lichess, linked boards, saved games, the page and its API.
//! - [`state`]: what survives a restart; [`log`]; [`net`]: who may connect; [`text`]: lines, words and their escapes;
//!   [`system`]: what the operating system offers.
//! - `discovery`: which boards are plugged in or in the air.
//! - [`config`], `daemon`, [`cli`]: the configuration, the wiring, the command line with its commands.
//!
//! `docs/architecture.md` has the map and its rules.
//!
//! Boards are reached from Linux. Elsewhere the program is the relays, `watch` and `replay`: what opens ports and uses
//! Bluetooth is left out.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod board;
pub mod bus;
pub mod chess;
pub mod cli;
pub mod config;
#[cfg(target_os = "linux")]
pub mod daemon;
#[cfg(target_os = "linux")]
pub mod discovery;
pub mod driver;
pub mod front_end;
pub mod log;
pub mod net;
pub mod state;
pub mod system;
pub mod text;
pub mod transport;
pub mod vocabulary;
