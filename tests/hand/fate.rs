//! What befalls a game beside its moves.

use boardbridge::chess::game::Game;
use fastrand::Rng;
use shakmaty::{Board, Position};

/// How many plies are played after moves were taken back, at most.
const GOES_ON: usize = 20;

/// What befalls a game beside its moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Black sits where the board expects White.
    pub turned: bool,
    /// The pieces stand as in another game before this one.
    pub elsewhere: bool,
    /// In how many of a hundred pauses the hand takes moves back.
    pub takes_back: u8,
    /// How often in a game, at most.
    pub times: u8,
    /// In how many of a hundred moves the link is lost.
    pub cuts: u8,
    /// The board is switched off and on instead, if its link stays then.
    pub silent: bool,
    /// The hand puts up a new game while a move of the program is awaited or to be made.
    pub anew: bool,
    /// At the end the kings are put in the centre.
    pub kings: bool,
}

impl Fate {
    /// How the pieces stand before the game.
    pub fn elsewhere(self, line: &Game) -> Board {
        if line.is_standard() {
            line.position_at(line.len() / 2).board().clone()
        } else {
            Board::new()
        }
    }

    /// How long the program thinks, ms.
    pub fn thinks(self) -> u64 {
        if self.takes_back > 0 || self.anew {
            4_000
        } else {
            900
        }
    }

    /// Another game from there, of any legal moves.
    pub fn goes_on(self, game: &Game, rng: &mut Rng) -> Game {
        let mut line = game.clone();
        for _ in 0..GOES_ON {
            let moves = line.position().legal_moves();
            let Some(m) = rng.choice(&moves) else { break };
            if line.position().is_game_over() || !line.push(*m) {
                break;
            }
        }
        line
    }
}
