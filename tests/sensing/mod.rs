//! What the squares and the pieces say, and what the hand is asked to do.

mod allocations;
mod blitz;
mod bluetooth;
mod boards;
mod clock;
mod guidance;
mod hand;
mod motor;
mod pieces;
mod recogniser;
mod table;
