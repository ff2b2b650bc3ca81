//! A person at a board of sensors: untidy hands and untidy sensors, as pure generators with a seed.
//!
//! A hand's doings are a [`Script`] of timed [`Step`]s: touches, and when a deed is done. [`gesture`] writes scripts for
//! moves, take-backs and the like in a given [`Style`]; [`Sensors`] turn touches into [`Sensed`](crate::sense::Sensed)
//! things with the faults of a real board. A [`Model`] is a choice of both.
//!
//! Nothing here knows how moves are recognised. Times are those of the captured game, where it has them.

mod faults;
pub mod gesture;
mod habits;
mod making;
mod model;
mod pen;
mod pieces;
mod sensors;
mod style;
mod touch;

pub use faults::Faults;
pub use habits::{BLITZ, Digression, Habits, Opponent, Pace, QUICK, THINKS};
pub use model::Model;
pub use sensors::{Sensors, sensed};
pub use style::{CaptureOrder, CastlingOrder, Doubt, EnPassantOrder, Promoting, Style};
pub use touch::{Deed, Script, Step, Touch};
