//! What a request to the board is part of.

/// What a request is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing depends on it.
    Plain,
    /// The board is unusable without it.
    Essential,
    /// The greeting, which the board answers.
    Hello,
    /// This path for the motor.
    Path(u32),
    /// The last request of the start of a game.
    GameBegun,
}
