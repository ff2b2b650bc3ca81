//! Games on each kind of board, many of them.

use std::fmt::Write as _;

use boardbridge::chess::game::Game;
use fastrand::Rng;
use shakmaty::{Board, Color, Position};

use crate::{
    chessnut::Chessnut,
    dgt::Dgt,
    gesture::Habit,
    neo::Neo,
    pegasus::Pegasus,
    table::{Outcome, Table},
    wood::Wood,
};

const GAMES: &str = include_str!("../games/lichess-428.uci");
/// Pawns that become each piece, with and without a capture, on either side.
const STUDIES: [(&str, &str); 4] = [
    (
        "8/P1P5/7k/8/8/8/p1p4K/8 w - - 0 1",
        "a7a8n a2a1b c7c8r c2c1n c8h8 h6g5 a8b6 a1h8",
    ),
    (
        "8/P1P5/7k/8/8/8/p1p4K/8 w - - 0 1",
        "c7c8q a2a1q a7a8b c2c1r c8c1 a1c1",
    ),
    (
        "1n1r3k/P1P5/8/8/8/8/p1p4K/1N1R4 w - - 0 1",
        "a7b8r a2b1n c7d8b c2d1q d8f6 h8h7 b8e8 d1d2",
    ),
    (
        "r3k2r/8/8/2Pp4/3pP3/8/8/R3K2R b KQkq e3 0 1",
        "d4e3 e1g1 e8c8 c5c6 c8b8 a1e1",
    ),
];
/// Every which game is played; `HAND_EVERY=1 HAND_SEEDS=3` plays all of them three times.
const EVERY: usize = 214;
/// How often.
const SEEDS: usize = 1;

fn given(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|n| n.parse().unwrap())
}

fn games() -> Vec<Game> {
    let studies = STUDIES
        .into_iter()
        .map(|(fen, moves)| (Game::from_fen(fen).unwrap(), moves));
    let whole = GAMES.lines().step_by(given("HAND_EVERY").unwrap_or(EVERY));
    let all = studies.chain(whole.map(|moves| (Game::standard(), moves)));
    all.map(|(mut game, moves)| {
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    })
    .collect()
}

/// Plays all games; `pushes` captures of a hundred never leave their square empty.
fn play_all(name: &str, wood: impl Fn(u64, &Board) -> Box<dyn Wood>, pushes: u8) -> Outcome {
    let mut all = Outcome::default();
    let games = games();
    let mut count = 0;
    let only = given("HAND_ONLY");
    for round in 0..given("HAND_SEEDS").unwrap_or(SEEDS) {
        for (index, game) in games.iter().enumerate() {
            let seed = u64::try_from(round * 1_000 + index).unwrap();
            if only.is_some_and(|only| u64::try_from(only).unwrap() != seed) {
                continue;
            }
            // The program has White, Black, or neither.
            let side = [Some(Color::White), Some(Color::Black), None][(index + round) % 3];
            let wood = wood(seed, game.position_at(0).board());
            let habit = Habit {
                untidy: if Rng::with_seed(seed).bool() { 20 } else { 0 },
                pushes,
                rests: wood.rests(),
            };
            let one = Table::new(wood, game.clone(), side, habit, seed).plays();
            count += 1;
            all.plies += one.plies;
            all.wrong += one.wrong;
            all.missed += one.missed;
            all.asked += one.asked;
            if one.wrong + one.missed + one.asked > 0 {
                writeln!(
                    all.story,
                    "{name} seed {seed} {side:?}: {} wrong {} missed {} asked",
                    one.wrong, one.missed, one.asked
                )
                .unwrap();
                if let Ok(folder) = std::env::var("HAND_STORIES") {
                    std::fs::write(format!("{folder}/{name}-{pushes}-{seed}"), one.story).unwrap();
                }
            }
        }
    }
    println!("{}", all.story);
    println!(
        "{name}: {count} games, {} plies: {} wrong, {} missed, {} asked",
        all.plies, all.wrong, all.missed, all.asked
    );
    all
}

/// Nothing is wrong, missed or asked.
fn is_right(all: &Outcome) {
    assert_eq!((all.wrong, all.missed, all.asked), (0, 0, 0));
}

#[test]
fn games_in_a_hurry_are_followed_on_a_pegasus() {
    is_right(&play_all(
        "pegasus",
        |seed, board| Box::new(Pegasus::new(seed, board)),
        0,
    ));
}

#[test]
fn games_in_a_hurry_are_followed_on_a_neo() {
    is_right(&play_all("neo", |seed, _| Box::new(Neo::new(seed)), 0));
}

#[test]
fn games_in_a_hurry_are_followed_on_a_dgt_board() {
    is_right(&play_all(
        "dgt",
        |seed, board| Box::new(Dgt::new(seed, board)),
        30,
    ));
}

#[test]
fn games_in_a_hurry_are_followed_on_a_chessnut_board() {
    is_right(&play_all(
        "chessnut",
        |seed, _| Box::new(Chessnut::new(seed)),
        30,
    ));
}

/// What cannot be told is asked, and once the hand has answered the game goes on.
#[test]
fn captures_that_a_pegasus_cannot_see_are_found_or_asked_about() {
    let all = play_all(
        "pegasus",
        |seed, board| Box::new(Pegasus::new(seed, board)),
        20,
    );
    assert_eq!((all.wrong, all.missed), (0, 0));
}
