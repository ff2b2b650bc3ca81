//! The driver of every board that senses its pieces, or which squares are occupied: all of it but the bytes, which are a [`Wire`].
//!
//! A make of board implements [`Wire`], and [`Sensor`] makes a [`Driver`](super::Driver) of it: what the pieces do is read from
//! [`sensing`](super::sensing), and so are the lights, turned as the board lies. A board that moves its pieces itself is told where they
//! should stand instead of the hand.

mod driver;
mod eyes;
mod motor;
mod wire;

pub use self::{
    driver::Sensor,
    wire::{Said, Shown, Side, Times, Wire},
};
