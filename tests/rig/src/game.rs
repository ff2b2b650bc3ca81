//! Converts games between the simulators and `BoardBridge`.

use boardbridge::chess::game::Game;

/// A simulator's game as a game of `BoardBridge`.
pub fn ours(game: &simulators::game::Game) -> Game {
    let mut ours = Game::from_start(game.start().clone());
    for &m in game.moves() {
        ours.push(m);
    }
    ours
}

/// A game as a simulator's.
pub fn simulated(game: &Game) -> simulators::game::Game {
    simulators::game::Game::of(game.start(), game.moves())
}
