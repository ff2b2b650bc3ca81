//! Two boards that play one game.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bluetooth;
mod convergence;
mod games;
mod session;
#[path = "../support/mod.rs"]
mod support;
