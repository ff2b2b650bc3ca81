//! Sensing: from what a board senses of its pieces to what the player did, without I/O and without a protocol.
//!
//! The driver passes the board's input, the time and the game to follow to one of two types. It gets
//! [`Report`]s and the squares to light. For a board without a motor that driver is the [`sensor`](super::sensor).
//!
//! - [`Squares`]: the board senses which squares are occupied. [`recognise`](crate::chess::recognise) tracks the pieces.
//! - [`Pieces`]: the board senses which piece stands where.
//!
//! Both let the player set up positions, wait for the player to carry out a move, and report misplaced pieces.

mod correction;
mod follower;
mod lights;
mod orientation;
mod pieces;
mod report;
mod squares;
mod task;

pub use self::{
    correction::Correction,
    follower::Follower,
    orientation::{Orientation, Turn, orientation},
    pieces::Pieces,
    report::Report,
    squares::{Known, Squares, Work},
    task::Awaited,
};
