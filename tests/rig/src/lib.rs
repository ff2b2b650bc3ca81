//! What the tests, the examples and the benches share: a machine and a simulated board on a virtual clock ([`cable`],
//! [`clock`]), a chess program at it ([`program`]), and what makes sensors untidy ([`noise`]).

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "a test fails by panicking")]

pub mod cable;
pub mod clock;
pub mod game;
pub mod histories;
pub mod noise;
pub mod program;
