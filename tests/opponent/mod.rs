//! Games against an engine, and by two hands.

mod air;
mod engine;
mod games;
mod process;
mod session;
