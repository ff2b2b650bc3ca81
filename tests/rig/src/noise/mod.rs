//! A person at a board of sensors: untidy hands and untidy sensors, as pure generators with a seed.
//!
//! A hand's [gestures](gesture) are of the simulators; here are its [`Habits`]. [`Sensors`] turn touches into
//! [`Sensed`](boardbridge::sense::Sensed) things with the [`Faults`] of a real board. A [`Model`] is a choice of both.
//!
//! Nothing here knows how moves are recognised. Times are those of the captured game, where it has them.

mod faults;
mod habits;
mod model;
mod sensors;

pub use faults::Faults;
pub use habits::{BLITZ, Digression, Habits, Opponent, Pace, QUICK, THINKS};
pub use model::Model;
pub use sensors::{Sensors, sensed};
pub use simulators::gesture::{
    self, CaptureOrder, CastlingOrder, Deed, Doubt, EnPassantOrder, Promoting, Script, Step, Style,
    Touch,
};
