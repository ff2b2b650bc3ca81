//! What programs, apps, pages and servers may rely on: a room for each front-end.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod broadcast;
mod lichess;
mod link;
mod livechess;
mod mqtt;
mod opponent;
mod published;
mod support;
mod uci;
mod whitepawn;
