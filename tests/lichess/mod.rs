//! Games on Lichess.

mod air;
mod api;
mod games;
mod login;
mod restart;
mod session;
