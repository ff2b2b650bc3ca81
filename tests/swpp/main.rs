//! Home-made boards, which speak the SWPP.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod arduino;
mod bad_input;
mod bluetooth;
mod convergence;
mod programs;
mod simulators;
#[path = "../support/mod.rs"]
mod support;
