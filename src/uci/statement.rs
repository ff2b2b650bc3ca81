//! The game that a GUI has stated, and whether its board knows of it.

use crate::game::Game;

/// Whether the board knows of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Not known.
    Unsaid,
    /// Known.
    Said,
    /// Known and answered: the game must be stated again before it can be answered again.
    Answered,
}

/// The game that a GUI has stated, and whether its board knows of it.
#[derive(Debug)]
pub(super) struct Statement {
    game: Result<Game, String>,
    /// Counts the targets given to boards.
    number: u64,
    known: Known,
}

impl Default for Statement {
    fn default() -> Self {
        Self {
            game: Ok(Game::standard()),
            number: 0,
            known: Known::Unsaid,
        }
    }
}

impl Statement {
    /// The game, or why it was refused.
    pub fn game(&self) -> &Result<Game, String> {
        &self.game
    }

    /// The GUI states a game, or one that is refused for this reason.
    pub fn set(&mut self, game: Result<Game, String>) {
        self.game = game;
    }

    /// The number under which the board knows the game.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The board is told of the game; returns its number.
    pub fn say(&mut self) -> u64 {
        self.number += 1;
        self.known = Known::Said;
        self.number
    }

    /// The board has answered the game.
    pub fn answered(&mut self) {
        self.known = Known::Answered;
    }

    /// The board is left.
    pub fn unsay(&mut self) {
        self.known = Known::Unsaid;
    }

    /// Whether the board knows of a game.
    pub fn is_said(&self) -> bool {
        self.known != Known::Unsaid
    }

    /// Whether the board may answer the game.
    pub fn can_be_answered(&self) -> bool {
        self.known == Known::Said
    }
}
