//! Text and lines: how they are read, written, and made harmless.

pub(crate) mod durations;
pub mod escape;
pub mod frames;
pub mod lines;
pub mod qr;
pub(crate) mod spelling;
pub mod swpp;
pub(crate) mod toml_value;
