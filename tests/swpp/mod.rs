//! Home-made boards, which speak the SWPP.

mod arduino;
mod bad_input;
mod bluetooth;
mod convergence;
mod programs;
mod simulators;
