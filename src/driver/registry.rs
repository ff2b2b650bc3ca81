//! Every make of board this program can drive.

use super::{citrine, make::Make, neo, swpp, ucb};

/// The makes: one line each.
pub static MAKES: &[&Make] = &[&citrine::MAKE, &ucb::MAKE, &neo::MAKE, &swpp::MAKE];

/// The make of this name.
pub fn make(kind: &str) -> Option<&'static Make> {
    let named = |make: &&&Make| make.kind.as_str() == kind;
    MAKES.iter().find(named).copied()
}
