//! Which boards are plugged in or in the air: for `boardbridge scan`, and for a daemon to which boards come by themselves.
//!
//! Nothing is opened or sent but by [`probe`], which asks at a serial port when somebody wants that.

pub mod plugging;
pub mod probe;
mod serial_ports;
pub mod settings;
mod sighting;

pub use self::{
    serial_ports::{Port, serial_ports},
    sighting::{OnUsb, Sighting, Way, at_cables, in_the_air, makes_on_air, on_usb, own_make},
};
