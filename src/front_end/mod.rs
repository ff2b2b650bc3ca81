//! The front-ends: chess programs, the app, engines, other boards, servers and files, each in a room of its own.
//!
//! A front-end knows the bus and the vocabulary; it knows no driver, no board and no other front-end. What several share is
//! here too: [`buttons`], [`http`], `https`, [`objects`], [`pgn_text`], [`running_game`], [`seat`].

#[cfg(target_os = "linux")]
pub mod broadcast;
pub mod buttons;
pub mod event_stream;
pub mod http;
#[cfg(target_os = "linux")]
pub mod https;
#[cfg(target_os = "linux")]
pub mod lichess;
pub mod link;
pub mod livechess;
#[cfg(target_os = "linux")]
pub mod mqtt;
pub mod objects;
pub mod opponent;
pub mod pgn;
pub mod pgn_text;
pub mod running_game;
pub mod seat;
pub mod uci;
pub mod web;
pub mod whitepawn;
