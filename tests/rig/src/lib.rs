//! Shared by tests, examples, benches and fuzz targets: a core and a simulated board on a virtual clock ([`cable`],
//! [`clock`]), a chess program connected to it ([`program`]), noise models of players and sensors
//! ([`noise`]), when a piece has landed ([`landings`]), and who goes first ([`pace`]).

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "a test fails by panicking")]

pub mod cable;
pub mod clock;
pub mod game;
pub mod histories;
pub mod kept;
pub mod landings;
pub mod noise;
pub mod pace;
pub mod program;
