//! The program as it is started, stopped, killed, attacked and short of something.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod announced;
mod attacks;
mod desk;
mod found;
mod pairing;
mod programs;
mod restart;
mod restart_sessions;
mod scan;
mod security;
mod shortage;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod systemd;
mod wear;
