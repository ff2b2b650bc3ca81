//! The Miko (Square Off) Neo: a board that moves its pieces itself.

pub mod motor;
