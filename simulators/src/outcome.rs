//! How a simulation ended.

/// How a simulation ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The input ended, or the game in the file was played to its end.
    Done,
    /// The board left the game in the file.
    Astray,
}
