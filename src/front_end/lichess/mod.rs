//! Lichess: games of the player's account are played at a board (the Board API).
//!
//! `session` is the account, `play` one game, both without I/O; `objects` are the messages of Lichess, `status` is the status of
//! a game, `request` what Lichess is asked.
//! `http` makes the requests and holds the streams, with the `token`; `server` connects all of it.

pub mod http;
mod notice;
pub mod objects;
pub mod play;
pub mod request;
pub mod server;
pub mod session;
pub mod settings;
pub mod status;
pub mod token;

pub use self::notice::Notice;
