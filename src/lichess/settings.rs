//! The settings of `[lichess]` that the game goes by.

use serde::Deserialize;

/// What is done with challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accept {
    /// The player is asked.
    #[default]
    Ask,
    /// Those that a board can play are accepted while it has no game.
    All,
    /// They are left alone, for another program of the account.
    None,
}

/// How the opponent's take-back proposals are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TakeBacks {
    /// The player is asked.
    #[default]
    Ask,
    /// They are accepted.
    Yes,
    /// They are declined.
    No,
}

/// What the session goes by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Challenges.
    pub accept: Accept,
    /// Take-backs.
    pub take_backs: TakeBacks,
    /// The server, for addresses of games.
    pub url: String,
}
