//! From a move to what the motor and the player do for it.

pub mod parking;
pub mod path;
