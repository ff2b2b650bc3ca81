//! Boards on a broker: Debian's mosquitto, started by the tests themselves. Where it is not installed they are skipped, and say so.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod as_here;
mod discovery;
mod games;
mod guarded;
mod leaving;
mod mosquitto;
mod remote;
#[path = "../support/mod.rs"]
mod support;
mod unfriendly;
