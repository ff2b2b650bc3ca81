//! `BoardBridge` links electronic chess boards to chess programs.
//!
//! The rooms, along the way of a move from the wire to the GUI:
//!
//! - [`transport`] moves bytes; [`driver`] turns them into reports, one board's protocol each, without I/O.
//! - [`sensing`], [`recognise`]: what the hand did, for boards that sense squares or pieces; [`guidance`]: what it is to do.
//! - [`board`]: one board with the game it holds, led to the game that the programs follow.
//! - [`bus`]: what happens on every board, published to the front-ends; [`vocabulary`]: the words they all use.
//! - [`uci`], [`whitepawn`], [`link`], `lichess`, [`livechess`], [`pgn`], [`event_stream`], [`opponent`], [`watch`],
//!   [`web`], [`call`]: the front-ends.
//! - [`seat`]: a client's seat at a board, for the sessions of the front-ends.
//! - [`clients`], [`pairings`], [`account`]: who is connected, who plays whom, and with which account on a server.
//! - [`door`]: who may connect; [`http`]: how pages and programs are served; [`state`]: what survives a restart; `cgroup`:
//!   limits for the daemon and for engines.
//! - [`config`], [`daemon`], [`cli`]: the configuration, the wiring, the command line; [`check`], [`scan`], [`replay`],
//!   `demo`: commands of their own.
//!
//! `docs/architecture.md` has the map and its rules.
//!
//! Boards are reached from Linux. Elsewhere the program is the relays, `watch` and `replay`: what opens ports and uses
//! Bluetooth is left out.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(target_os = "linux")]
mod access;
pub mod account;
mod address;
pub mod apart;
pub mod board;
pub mod bus;
#[cfg(target_os = "linux")]
pub mod call;
#[cfg(target_os = "linux")]
pub mod cgroup;
#[cfg(target_os = "linux")]
pub mod check;
pub mod cli;
pub mod clients;
mod clock;
pub mod config;
mod credit;
#[cfg(target_os = "linux")]
pub mod daemon;
mod default_ports;
#[cfg(all(feature = "simulate", target_os = "linux"))]
pub mod demo;
pub mod door;
pub mod driver;
mod durations;
pub mod escape;
pub mod event_stream;
pub mod game;
pub mod guidance;
#[cfg(target_os = "linux")]
pub mod holders;
pub mod http;
#[cfg(target_os = "linux")]
pub mod lichess;
pub mod lines;
pub mod link;
pub mod livechess;
pub mod log;
pub mod objects;
pub mod opponent;
pub mod pairings;
pub mod pgn;
pub mod pgn_text;
mod private;
pub mod reach;
pub mod recognise;
mod regular_file;
pub mod replay;
#[cfg(target_os = "linux")]
pub mod scan;
pub mod seat;
pub mod sense;
pub mod sensing;
#[cfg(target_os = "linux")]
mod serial_access;
pub mod slots;
mod spelling;
pub mod state;
pub mod swpp;
mod toml_value;
pub mod transcript;
pub mod transport;
pub mod uci;
pub mod vocabulary;
pub mod watch;
pub mod web;
pub mod whitepawn;
