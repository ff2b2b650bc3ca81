//! A game of the simulators as one of `BoardBridge`, and the other way.

use boardbridge::game::Game;

/// What a simulator has as a game, as `BoardBridge` would have it.
pub fn ours(game: &simulators::game::Game) -> Game {
    let mut ours = Game::from_start(game.start().clone());
    for &m in game.moves() {
        ours.push(m);
    }
    ours
}

/// A game as a simulator has it.
pub fn simulated(game: &Game) -> simulators::game::Game {
    simulators::game::Game::of(game.start(), game.moves())
}
