//! Random histories, and those that are kept because they once went wrong.

use std::{fs, path::Path, str::FromStr};

use boardbridge::chess::game::Game;
use proptest::{prelude::ProptestConfig, test_runner::RngSeed};
use shakmaty::{
    Move, Position,
    uci::{ParseUciMoveError, UciMove},
};

use crate::pace::gives_way;

/// The number of histories, the same ones each time; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` explore others. Their thread gives way.
pub fn histories(usual: u32) -> ProptestConfig {
    gives_way();
    let given = |name| std::env::var(name).ok();
    let cases = given("PROPTEST_CASES").and_then(|n| n.parse().ok());
    let seed = given("PROPTEST_RNG_SEED").and_then(|seed| seed.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(usual),
        max_shrink_iters: 2000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed.unwrap_or(64)),
        ..ProptestConfig::default()
    }
}

/// The move of an act: in a random history the legal one of this number, in a kept one the move itself.
#[derive(Clone, Copy, Debug)]
pub enum Pick {
    /// Counted round and round.
    Nth(usize),
    /// It must be legal.
    This(UciMove),
}

impl Pick {
    /// The move in the position after this game; `None` if it has no legal move.
    ///
    /// # Panics
    /// The move of a kept history is not legal.
    pub fn of(self, game: &Game) -> Option<Move> {
        let moves = game.position().legal_moves();
        match self {
            Self::Nth(n) => moves.get(n % moves.len().max(1)).copied(),
            Self::This(m) => match m.to_move(game.position()) {
                Ok(m) => Some(m),
                Err(error) => panic!("a kept history has {m} after {game}: {error}"),
            },
        }
    }
}

impl FromStr for Pick {
    type Err = ParseUciMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::This)
    }
}

/// The histories in `tests/histories/FOLDER`: the name of each file and its acts, one a line. `#` begins a comment.
///
/// # Panics
/// There are none, or they cannot be read.
pub fn kept_in(folder: &str) -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../histories")
        .join(folder);
    let failed = |error| -> ! { panic!("{}: {error}", folder.display()) };
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| failed(error));
    let mut histories: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap_or_else(|error| failed(error)).path();
            let text = fs::read_to_string(&path).unwrap_or_else(|error| failed(error));
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let acts = text.lines().filter(|line| !line.starts_with('#'));
            (name.into_owned(), acts.map(str::to_owned).collect())
        })
        .collect();
    assert!(!histories.is_empty(), "{}", folder.display());
    histories.sort();
    histories
}
