//! What each side had left after its moves, as far as a client has told: a chess program by the `wtime` and `btime` of its
//! `go`.

use std::{sync::Arc, time::Duration};

use crate::{chess::game::Game, vocabulary::Clocks};

/// What was left after each move of a game.
#[derive(Clone, Debug, Default)]
pub(super) struct ClockTimes {
    game: Game,
    /// By the ply; never more than the game has.
    left: Vec<Option<Duration>>,
    /// Something was told since the identity of the game was last looked at.
    is_fresh: bool,
}

impl ClockTimes {
    /// A client plays this game, and told its clocks. While that of the side to move runs, they show what the other side has left
    /// after its last move, and what this side had left when its clock last stopped.
    pub fn note(&mut self, game: &Game, clocks: &Clocks) {
        let (plies, turn) = (game.len(), game.turn());
        if clocks.runs != Some(turn) {
            return;
        }
        let common = self.game.common_plies(game).unwrap_or(0);
        self.left.truncate(common);
        self.left.resize(plies, None);
        self.game = game.clone();
        self.is_fresh = true;
        let mut last = self.left.iter_mut().rev();
        if let Some(left) = last.next() {
            *left = Some(*clocks.left.get(turn.other()));
        }
        // A client may tell its clocks again while this side thinks: the first time counts.
        if let Some(left) = last.next() {
            left.get_or_insert(*clocks.left.get(turn));
        }
    }

    /// The identity of the game was looked at: if it is another game now, what was told before is not about it, even if it begins
    /// with the same moves.
    pub fn settle(&mut self, is_another: bool) {
        if is_another && !self.is_fresh {
            *self = Self::default();
        }
        self.is_fresh = false;
    }

    /// What was left after each move of this game, up to the last of which something may be known.
    pub fn of(&self, game: &Game) -> Arc<[Option<Duration>]> {
        let common = self.game.common_plies(game).unwrap_or(0);
        self.left.iter().copied().take(common).collect()
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{ByColor, Color};

    use super::*;

    fn game(moves: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    }

    fn told(white: u64, black: u64, runs: Option<Color>) -> Clocks {
        Clocks {
            left: ByColor {
                white: Duration::from_secs(white),
                black: Duration::from_secs(black),
            },
            runs,
        }
    }

    fn seconds(times: &ClockTimes, of: &str) -> Vec<Option<u64>> {
        let left = times.of(&game(of));
        left.iter()
            .map(|left| left.map(|left| left.as_secs()))
            .collect()
    }

    const WHITE: Option<Color> = Some(Color::White);
    const BLACK: Option<Color> = Some(Color::Black);

    #[test]
    fn a_clock_that_is_told_belongs_to_the_move_that_stopped_it() {
        let mut times = ClockTimes::default();
        times.note(&game(""), &told(300, 300, WHITE));
        times.note(&game("e2e4 e7e5"), &told(295, 290, WHITE));
        assert_eq!(seconds(&times, "e2e4 e7e5"), [Some(295), Some(290)]);
        // The program asks again while White thinks.
        times.note(&game("e2e4 e7e5"), &told(280, 290, WHITE));
        assert_eq!(seconds(&times, "e2e4 e7e5"), [Some(295), Some(290)]);
        // Clocks that stand, or run for a side that is not to move, are not those of a move.
        times.note(&game("e2e4 e7e5"), &told(1, 1, None));
        times.note(&game("e2e4 e7e5"), &told(1, 1, BLACK));
        times.note(&game("e2e4 e7e5 g1f3 b8c6"), &told(270, 260, WHITE));
        let all = [Some(295), Some(290), Some(270), Some(260)];
        assert_eq!(seconds(&times, "e2e4 e7e5 g1f3 b8c6"), all);
        assert_eq!(seconds(&times, "e2e4 e7e5 g1f3 b8c6 f1b5"), all);
        // Another move in the same place is not the one whose clock was told.
        assert_eq!(seconds(&times, "e2e4 c7c5"), [Some(295)]);
        assert_eq!(seconds(&times, "d2d4"), []);
    }

    #[test]
    fn the_next_game_has_none_of_the_clocks_even_if_it_begins_with_the_same_moves() {
        let mut times = ClockTimes::default();
        times.note(&game("e2e4 e7e5"), &told(295, 290, WHITE));
        times.settle(false);
        assert_eq!(seconds(&times, "e2e4"), [Some(295)]);
        let mut untold = times.clone();
        untold.settle(true);
        assert_eq!(seconds(&untold, "e2e4"), []);
        // Its own clocks may be told before it is known to be another game.
        times.note(&game("e2e4"), &told(900, 900, BLACK));
        times.settle(true);
        assert_eq!(seconds(&times, "e2e4 e7e5"), [Some(900)]);
    }
}
