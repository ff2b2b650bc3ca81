//! Games against an engine, and by two hands.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod air;
mod engine;
mod games;
mod process;
mod session;
#[path = "../support/mod.rs"]
mod support;
