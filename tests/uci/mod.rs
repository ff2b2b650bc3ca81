//! What a GUI may rely on.

mod bad_input;
mod front_end;
mod info_json;
mod relay;
mod session;
