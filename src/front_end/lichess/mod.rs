//! Lichess: games of the player's account are played at a board (the Board API).
//!
//! `session` is what happens on the account (its requests and the pause between them, the search, its games), with its `challenges`,
//! and `play` is one game, all without I/O; `objects` are the messages of Lichess, `status` is the status of a game, `request` what
//! Lichess is asked.
//! `http` makes the requests and holds the streams, with the `token`; `server` connects all of it. `login` has the logins that were
//! begun, without I/O, with the secrets of `pkce`; `account` logs in and out, and runs the server while there is a token.

pub mod account;
pub mod challenges;
pub mod http;
pub mod login;
mod notice;
pub mod objects;
mod pkce;
pub mod play;
pub mod request;
pub mod server;
pub mod session;
pub mod settings;
pub mod status;
pub mod token;

pub use self::notice::Notice;
