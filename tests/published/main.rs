//! What the daemon publishes: events, the API, files of games, a broadcast.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod api;
mod broadcast;
mod events;
mod games_kept;
#[path = "../support/mod.rs"]
mod support;
mod watch;
