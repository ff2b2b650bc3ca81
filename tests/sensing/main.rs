//! What the squares and the pieces say, and what the hand is asked to do.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod blitz;
mod bluetooth;
mod boards;
mod clock;
mod guidance;
mod hand;
mod motor;
mod pieces;
mod recogniser;
#[path = "../support/mod.rs"]
mod support;
mod table;
