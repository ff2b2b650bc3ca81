//! What the `WhitePawn` app may rely on.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bad_input;
mod bluetooth;
mod front_end;
mod games;
mod handshake;
mod radio;
#[path = "../support/mod.rs"]
mod support;
