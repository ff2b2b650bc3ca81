//! What a GUI may rely on.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bad_input;
mod front_end;
mod info_json;
mod relay;
mod session;
#[path = "../support/mod.rs"]
mod support;
