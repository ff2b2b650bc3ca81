//! Both ends of the SWPP, the `WhitePawn` app's open protocol: a home-made board, and the app.
//!
//! Written from the protocol's documents alone. Both ends are strict in what they accept: anything that is not byte by
//! byte as the documents print it is a reported fault. [`Style`] makes what they send less tidy.
//!
//! Points left open by the documents, and the choices made here:
//! - *Who waits.* `WaitingForMove` is read as the app waiting for the board: `Y`, and the board's player moves first.
//! - *The pieces* stand on their starting squares at `NG`: the protocol has no position.
//! - *Castling* to the board is `0-0` or `0-0-0` only ("On Castling it is"); from the board the king's two squares are
//!   right as well ("you can send").
//! - *Promotion* has its letter as the fifth character; without one it is to a queen.
//! - *Offline games* (type 0) have no opponent: the board may make the moves of both sides.

pub mod app;
pub mod board;
pub mod call;
mod line;
mod message;
pub mod opponent;
pub mod order;
mod peripheral;
pub mod place;
pub mod profile;
pub mod seen;
pub mod style;

#[cfg(test)]
mod app_tests;
#[cfg(test)]
mod board_tests;

pub use self::{
    app::WhitePawnApp, board::SwppBoard, message::NewGame, opponent::Opponent, order::Order,
    place::Place, seen::Seen, style::Style,
};
