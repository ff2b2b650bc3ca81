//! The keys that can be set on the page.

/// A key that can be set on the page, unless the main file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its table.
    pub table: &'static str,
    /// Its name there.
    pub name: &'static str,
}

impl Key {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::LISTEN,
        Self::BOARD,
        Self::ACCEPT,
        Self::TAKE_BACKS,
        Self::PLAYER,
        Self::SITE,
        Self::EVERY_MOVE,
    ];
    /// Where chess programs connect.
    pub const LISTEN: Self = Self::of("uci", "listen");
    /// Where games on Lichess are played.
    pub const BOARD: Self = Self::of("lichess", "board");
    /// What is done with challenges.
    pub const ACCEPT: Self = Self::of("lichess", "accept");
    /// How the opponent's take-back proposals are answered.
    pub const TAKE_BACKS: Self = Self::of("lichess", "take_backs");
    /// The name of the player at the board.
    pub const PLAYER: Self = Self::of("games", "player");
    /// The place of saved games.
    pub const SITE: Self = Self::of("games", "site");
    /// Whether each move of a running game is written at once.
    pub const EVERY_MOVE: Self = Self::of("games", "every_move");

    const fn of(table: &'static str, name: &'static str) -> Self {
        Self { table, name }
    }
}
