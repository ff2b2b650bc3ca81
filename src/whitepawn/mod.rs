//! A board toward the `WhitePawn` app: `BoardBridge` speaks SWPP as the board, and the board behind it plays.

pub mod connection;

pub use connection::Connection;
