//! The driver of every board that senses its pieces, or which squares are occupied, and does not move them: all of it but the bytes,
//! which are a [`Wire`].
//!
//! A make of board implements [`Wire`], and [`Sensor`] makes a [`Driver`](super::Driver) of it: what the pieces do is read from
//! [`sensing`](super::sensing), and so are the lights, turned as the board lies.

mod driver;
mod eyes;
mod wire;

pub use self::{
    driver::Sensor,
    wire::{Said, Shown, Side, Times, Wire},
};
