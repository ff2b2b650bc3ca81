//! Every make of board this program can drive.

#[cfg(test)]
use super::toy;
use super::{
    chessnut, citrine, dgt,
    identity::{Identity, Medium},
    neo, swpp, ucb,
};
use crate::vocabulary::BoardKind;

/// The makes: one line each.
pub static MAKES: &[&Identity] = &[
    &citrine::IDENTITY,
    &ucb::IDENTITY,
    &neo::IDENTITY,
    &swpp::IDENTITY,
    &chessnut::IDENTITY,
    &dgt::IDENTITY,
    #[cfg(test)]
    &toy::IDENTITY,
];

/// The make of this name.
pub fn make(kind: &str) -> Option<&'static Identity> {
    let named = |make: &&&Identity| make.kind.as_str() == kind;
    MAKES.iter().find(named).copied()
}

/// The other kinds that this one may be taken for: those with a cable, if it has one too.
pub fn others(kind: BoardKind) -> Vec<BoardKind> {
    let wired = MAKES
        .iter()
        .filter(|make| make.media.contains(&Medium::Serial));
    let kinds: Vec<BoardKind> = wired.map(|make| make.kind).collect();
    let fits = kinds.contains(&kind);
    kinds
        .into_iter()
        .filter(|other| fits && *other != kind)
        .collect()
}
