//! A person at a board of sensors: untidy play and unreliable sensors, as pure generators with a seed.
//!
//! The [gestures](gesture) are those of the simulators; here are the person's [`Habits`]. [`Sensors`] turn touches into
//! [`Sensed`](boardbridge::chess::sense::Sensed) inputs with the [`Faults`] of a real board. A [`Model`] is a choice of both.
//!
//! Nothing here knows how moves are recognised. Times are those of the captured game, if it has them.

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
