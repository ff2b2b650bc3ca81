//! `BoardBridge` links electronic chess boards to chess programs.
//!
//! The modules, along the path of a move from the wire to the GUI:
//!
//! 1. [`transport`] moves bytes and knows nothing of chess.
//! 2. [`driver`] turns bytes into reports, one board's protocol each, without I/O.
//! 3. [`board`] finds the legal move a report means, leads the board to the game the programs follow, and gives both a
//!    transport and a clock.
//! 4. [`bus`] publishes what happened, [`clients`] lists who is connected, and [`slots`] decides who may connect.
//! 5. [`uci`] is a board as a UCI engine, for GUIs; [`link`] lets two boards play each other.
//!
//! All of them share the types of [`vocabulary`]. Around them: [`game`] is a game of chess, [`pgn`] saves played games,
//! [`sense`] is what a board of sensors notices, [`sensing`] what follows from that, [`guidance`] what the player
//! should do, [`config`] the configuration, [`daemon`] puts everything together, [`status`] and [`watch`] are the event
//! stream, [`transcript`] and [`replay`] record and repeat sessions, `demo` is the daemon on boards of the crate
//! `simulators`, [`reach`] explains why a daemon cannot be reached.
//!
//! `docs/architecture.md` gives the reasons.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(target_os = "linux")]
mod access;
pub mod board;
pub mod bus;
pub mod check;
pub mod cli;
pub mod clients;
mod clock;
pub mod config;
pub mod daemon;
#[cfg(all(feature = "simulate", target_os = "linux"))]
pub mod demo;
pub mod driver;
pub mod game;
pub mod guidance;
pub mod lines;
pub mod link;
pub mod log;
pub mod pgn;
pub mod reach;
pub mod recognise;
pub mod replay;
pub mod scan;
pub mod sense;
pub mod sensing;
pub mod slots;
mod spelling;
pub mod status;
pub mod swpp;
pub mod transcript;
pub mod transport;
pub mod uci;
pub mod vocabulary;
pub mod watch;
pub mod whitepawn;
