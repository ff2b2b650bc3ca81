//! The game that a GUI has stated, and whether its board knows of it.

use crate::chess::game::Game;

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
    known: Known,
}

impl Default for Statement {
    fn default() -> Self {
        Self {
            game: Ok(Game::standard()),
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

    /// The board is told of the game.
    pub fn said(&mut self) {
        self.known = Known::Said;
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
