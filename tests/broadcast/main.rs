//! Games pushed to a broadcast.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod hall;
mod pairings;
mod round;
mod server;
#[path = "../support/mod.rs"]
mod support;
