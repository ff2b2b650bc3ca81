//! Broadcast: running games are pushed as PGN to a round of a Lichess broadcast, if need be with a delay.
//!
//! `round` is the state machine, without I/O: `delay` is one game and what of it is shown by now, `pgn` its text with what `about`
//! has, `pace` when the
//! server may be asked. `pairing_file` says who plays; `trouble` is what goes wrong, in words; `server` connects all of it to the
//! boards, the file and the server.

pub mod about;
pub mod delay;
pub mod pace;
pub mod pairing_file;
mod pgn;
pub mod round;
pub mod server;
pub mod settings;
pub mod trouble;
