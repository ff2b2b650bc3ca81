//! What the daemon publishes: events, the API, files of games, a broadcast.

mod api;
mod broadcast;
mod events;
mod games_kept;
mod watch;
