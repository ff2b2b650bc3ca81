//! What the tests, the examples and the benches share.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod game;
pub mod noise;
