//! Sensing: from what a board notices of its pieces to what the hand did, without I/O and without a protocol.
//!
//! The driver gives what the board senses to one of two types, with the time, and the game to follow. It gets
//! [`Report`]s and the squares to light.
//!
//! - [`Squares`]: the board knows which squares are occupied. [`recognise`](crate::recognise) follows the pieces.
//! - [`Pieces`]: the board knows which piece stands where.
//!
//! Both set up positions by hand, wait for the hand to carry out a move, and say which pieces stand wrong.

mod correction;
mod follower;
mod lights;
mod pieces;
mod report;
mod squares;
mod task;

pub use self::{
    correction::Correction,
    follower::Follower,
    pieces::Pieces,
    report::Report,
    squares::{Squares, Work},
    task::Awaited,
};
