//! Lichess: games on an account of the player's are played at a board (the Board API).
//!
//! `session` has the account, `play` one game, both without I/O; `objects` is what Lichess sends, `status` how a game stands,
//! `request` what it is asked.
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
mod tls;
pub mod token;

pub use self::notice::Notice;
