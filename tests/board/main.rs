//! The core of a board, and what its client may rely on.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bus;
mod citrine;
mod convergence;
mod kept_values;
mod player_is_told;
#[path = "../support/mod.rs"]
mod support;
mod task;
mod transcripts;
