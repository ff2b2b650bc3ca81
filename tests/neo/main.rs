//! The Miko Neo, and the software Bluetooth that it is on.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bluetooth;
mod capture;
mod convergence;
mod motor;
mod simulated_bluez;
#[path = "../support/mod.rs"]
mod support;
