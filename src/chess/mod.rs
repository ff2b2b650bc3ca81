//! Chess: a game, the moves a hand makes on squares, and what the hand has to do so that the pieces stand right.

pub mod game;
pub mod guidance;
pub mod recognise;
pub mod sense;
