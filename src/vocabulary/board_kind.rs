//! The kind of a board: its make.

use std::fmt;

use serde::Serialize;

/// The name of a board's make, as in the configuration. The registry of the drivers has them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BoardKind(&'static str);

impl BoardKind {
    /// The kind of this name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for BoardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}
