//! What it costs the recogniser to take in one thing sensed, beside searching the legal moves each time.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use boardbridge::chess::{
    game::Game,
    recognise::{Recogniser, Waits},
    sense::Sensed,
};
use criterion::{Criterion, criterion_group, criterion_main};
use shakmaty::{Bitboard, Position};

/// The position with the most legal moves known: 218.
const MOST_MOVES: &str = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
const MIDDLE_GAME: &str =
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";

/// The position, a hand that lifts each piece of the side to move in turn and puts it back, and pictures between.
fn events(game: &Game) -> Vec<Sensed> {
    let board = game.position().board();
    let occupied = board.occupied();
    let own = board.by_color(game.turn());
    own.into_iter()
        .flat_map(|square| {
            let lifted = occupied & !Bitboard::from(square);
            [
                Sensed::Lifted(square),
                Sensed::Occupied(lifted),
                Sensed::Placed(square),
                Sensed::Occupied(occupied),
            ]
        })
        .collect()
}

fn following(game: &Game, now: Instant) -> Recogniser {
    let board = game.position().board().clone();
    let mut recogniser = Recogniser::new(Waits::default(), board);
    recogniser.follow(now, game, true);
    recogniser
}

/// Each position of the games given, or the one middle game.
fn positions() -> Vec<Game> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/games/lichess.uci");
    let mut all = Vec::new();
    for line in fs::read_to_string(file).unwrap().lines().take(10) {
        let mut game = Game::standard();
        game.play_uci(line.split_whitespace()).unwrap();
        all.extend((0..game.len()).map(|plies| game.truncated(plies)));
    }
    all
}

fn one_event(c: &mut Criterion) {
    let mut group = c.benchmark_group("recogniser");
    for (name, fen) in [("middle game", MIDDLE_GAME), ("218 moves", MOST_MOVES)] {
        let game = Game::from_fen(fen).unwrap();
        let events = events(&game);
        let mut now = Instant::now();
        let mut recogniser = following(&game, now);
        let mut next = events.iter().cycle();
        group.bench_function(format!("one event, {name}"), |b| {
            b.iter(|| {
                now += Duration::from_millis(100);
                recogniser.sense(now, *black_box(next.next().unwrap()));
            });
        });
        group.bench_function(format!("follow, {name}"), |b| {
            b.iter(|| recogniser.follow(now, black_box(&game), true));
        });
    }
    group.finish();
    median_of_positions();
}

/// The median over the positions of real games; also what `compare-recogniser` reads.
fn median_of_positions() {
    let mut medians: Vec<f64> = positions().iter().map(median).collect();
    medians.sort_by(f64::total_cmp);
    println!("positions of real games: {}", medians.len());
    println!("median ns per event: {:.0}", medians[medians.len() / 2]);
    println!(
        "slowest position ns per event: {:.0}",
        medians[medians.len() - 1]
    );
    for (name, fen) in [("218 moves", MOST_MOVES), ("middle game", MIDDLE_GAME)] {
        println!(
            "{name} ns per event: {:.0}",
            median(&Game::from_fen(fen).unwrap())
        );
    }
}

/// Median time of one event in a position, of rounds of all its events.
fn median(game: &Game) -> f64 {
    let events = events(game);
    let mut now = Instant::now();
    let mut recogniser = following(game, now);
    let mut rounds: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            for event in &events {
                now += Duration::from_millis(100);
                recogniser.sense(now, *black_box(event));
            }
            start.elapsed().as_nanos() as f64 / events.len() as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

criterion_group!(benches, one_event);
criterion_main!(benches);
