//! The game that a GUI has stated, and whether its board knows of it.

use crate::chess::game::{Game, GameError, MAX_PLIES};

/// The longest text of a game that is remembered, in bytes: the longest game. A longer one is mostly blanks.
const MAX_TEXT: usize = 100 + MAX_PLIES * "e7e8q ".len();

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
    /// The text of the last game with moves, and that game. Programs state the whole game again at every move; the moves that are
    /// already in this text are not played through again.
    before: (String, Game),
}

impl Default for Statement {
    fn default() -> Self {
        Self {
            game: Ok(Game::standard()),
            known: Known::Unsaid,
            before: (String::new(), Game::standard()),
        }
    }
}

impl Statement {
    /// The game, or why it was refused.
    pub fn game(&self) -> &Result<Game, String> {
        &self.game
    }

    /// The GUI states a game: the words after `position`.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let game = self.read(text);
        let game = game.map_err(|error| format!("position refused: {error}"));
        self.game.clone_from(&game);
        game.map(drop)
    }

    fn read(&mut self, text: &str) -> Result<Game, GameError> {
        let (known, game) = &mut self.before;
        let more = text.strip_prefix(known.as_str());
        let more = more.filter(|more| more.is_empty() || more.starts_with(char::is_whitespace));
        let game = match more.filter(|_| !known.is_empty()) {
            Some(more) => {
                let mut game = game.clone();
                game.play_uci(more.split_whitespace())?;
                game
            }
            None => Game::from_words(&text.split_whitespace().collect::<Vec<_>>())?,
        };
        if !game.is_empty() && text.len() <= MAX_TEXT {
            self.before = (text.to_owned(), game.clone());
        }
        Ok(game)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_game_means_the_same_whatever_was_stated_before() {
        let texts = [
            "startpos",
            "startpos moves e2e4",
            "startpos moves e2e4 e7e5",
            "startpos moves  e2e4 e7e5",
            "startpos moves e2e4 e7e5 e1g1",
            "startpos moves e2e4 e7e5 moves g1f3",
            "startpos moves e2e4 e7e",
            "fen 4k3/4P3/4K3/8/8/8/8/8 b - - 0 1",
            "fen 4k3/P7/4K3/8/8/8/8/8 w - - 0 1 moves a7a8q",
            "fen 4k3/P7/4K3/8/8/8/8/8 w - - 0 1 moves a7a8",
            "",
        ];
        for first in texts {
            for second in texts {
                let (mut one, mut other) = (Statement::default(), Statement::default());
                let _ = one.set(first);
                let _ = one.set(second);
                let _ = other.set(second);
                assert_eq!(one.game(), other.game(), "{second:?} after {first:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn nearly_right_positions_are_read_without_fault(
            text in "(startpos|fen [pnbrqkPNBRQK1-8/]{0,40} [wb] (-|[KQkq]{1,4}) (-|[a-h][36]) [0-9]{1,3} [0-9]{1,3})( moves( [a-h][1-8][a-h][1-8]q?){0,5})?"
        ) {
            let _ = Statement::default().set(&text);
        }
    }
}
