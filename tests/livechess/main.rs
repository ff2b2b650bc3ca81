//! Boards for pages that speak `LiveChess`.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod page;
mod session;
#[path = "../support/mod.rs"]
mod support;
