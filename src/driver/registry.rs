//! Every make of board this program can drive.

use super::{chessnut, citrine, dgt, identity::Identity, neo, pegasus, swpp, ucb};
#[cfg(test)]
use super::{toy, toy_pieces};

/// The makes: one line each.
pub static MAKES: &[&Identity] = &[
    &citrine::IDENTITY,
    &ucb::IDENTITY,
    &neo::IDENTITY,
    &swpp::IDENTITY,
    &chessnut::IDENTITY,
    &dgt::IDENTITY,
    &pegasus::IDENTITY,
    #[cfg(test)]
    &toy::IDENTITY,
    #[cfg(test)]
    &toy_pieces::IDENTITY,
];

/// The make of this name.
pub fn make(kind: &str) -> Option<&'static Identity> {
    let named = |make: &&&Identity| make.kind.as_str() == kind;
    MAKES.iter().find(named).copied()
}
