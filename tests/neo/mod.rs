//! The Miko Neo, and the software Bluetooth that it is on.

mod bluetooth;
mod capture;
mod convergence;
mod motor;
mod simulated_bluez;
