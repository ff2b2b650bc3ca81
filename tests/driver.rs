//! Boards, by their drivers: a room for each kind, and for what senses the hand.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod hand;
mod neo;
mod sensing;
mod support;
mod swpp;
