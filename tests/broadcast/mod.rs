//! Games pushed to a broadcast.

mod hall;
mod pairings;
mod round;
mod server;
