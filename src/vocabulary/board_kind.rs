//! A board's make.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A board's make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoardKind {
    /// Novag Citrine and sister boards.
    NovagCitrine,
    /// Novag Universal Chess Board.
    NovagUcb,
    /// Miko Neo, formerly Square Off Neo.
    MikoNeo,
    /// Any board that speaks SWPP.
    Swpp,
}

impl fmt::Display for BoardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NovagCitrine => "novag-citrine",
            Self::NovagUcb => "novag-ucb",
            Self::MikoNeo => "miko-neo",
            Self::Swpp => "swpp",
        })
    }
}
