//! The project itself: its map, its scripts, its packages.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod boards;
#[cfg(target_os = "linux")]
mod gadget;
mod map;
#[cfg(target_os = "linux")]
mod packaging;
mod sentences;
