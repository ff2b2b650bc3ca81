//! Sensing: from what a board notices of its pieces to what the hand did, without I/O and without a protocol.
//!
//! The driver gives what a board's sensors tell to [`Squares`], with the time, and the game to follow. It gets [`Report`]s
//! and the squares to light.

mod correction;
mod follower;
mod lights;
mod report;
mod squares;
mod task;

pub use self::{
    correction::Correction,
    follower::Follower,
    report::Report,
    squares::{Squares, Work},
    task::Awaited,
};
