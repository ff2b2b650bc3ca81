//! A board: the game it holds, who plays through it, and the steps that lead it to the target.
//!
//! [`machine::Machine`] is all of it without I/O; [`actor`] gives the machine a transport and a clock.
//! The path of a move, always forward: [`actor`] reads bytes, the [driver](crate::driver) makes a report of
//! them, [`held`] finds the legal move it means, [`machine`] finds the client that waits for it, the
//! [UCI session](crate::uci::session) writes `bestmove`.

pub mod actor;
pub mod claims;
pub mod held;
pub mod machine;
pub mod plan;
