//! Addresses, ports, and who may connect to them.

pub(crate) mod address;
pub(crate) mod default_ports;
pub mod dns_sd;
pub mod door;
pub mod own_address;
pub mod reach;
pub mod slots;
