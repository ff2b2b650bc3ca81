//! Games on Lichess.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod air;
mod api;
mod games;
mod login;
mod restart;
mod session;
#[path = "../support/mod.rs"]
mod support;
