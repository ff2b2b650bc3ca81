//! What the `WhitePawn` app may rely on.

mod bad_input;
mod bluetooth;
mod front_end;
mod games;
mod handshake;
mod radio;
