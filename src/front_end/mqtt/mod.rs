//! Boards on an MQTT broker: those of this daemon are published there and take commands from there, and boards of other daemons
//! are boards here. `docs/mqtt.md` lists the messages.
//!
//! Nothing here knows a protocol of a board, and nothing but `broker` knows MQTT's packets: publications and commands are all that
//! crosses.
//!
//! | what | where |
//! |---|---|
//! | what is said, and where | `topics`, `messages`, `orders` (commands), `state` and `pairing` (a board as JSON, and who plays there) |
//! | our boards | `outward` (what happens on them), `commands` (what is said to them), `guests` (who plays on them from elsewhere), `senders` (who may say how much), `turns` (in which order), `complaints`, `corrections` (what others said in our place), `home_assistant` |
//! | boards of others | `remote`, `standing` (what clients here have stated), `their_clock`, `elsewhere` (with what is kept) |
//! | what waits for the broker | `outbox` |
//! | the way | `broker` (the connection), `server` (the task), `hub` (how the daemon's parts find it) |

pub mod broker;
pub mod commands;
pub mod complaints;
mod corrections;
mod elsewhere;
pub mod guests;
pub mod home_assistant;
pub mod hub;
pub mod messages;
pub mod orders;
pub mod outbox;
pub mod outward;
pub mod pairing;
pub mod remote;
pub mod senders;
pub mod server;
pub mod settings;
pub mod standing;
pub mod state;
pub mod their_clock;
pub mod topics;
pub mod turns;
