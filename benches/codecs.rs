//! What one line costs, beside what merely looking at its bytes costs (the baseline of the same run).

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{hint::black_box, time::Instant};

use boardbridge::{
    board::{core::Core, held_game::Held},
    chess::game::Game,
    driver::{
        Driver, citrine,
        ucb::{self, codec::PositionFormat},
    },
    text::lines::Lines,
    vocabulary::{Channel, Reported},
};
use criterion::{Criterion, criterion_group, criterion_main};
use shakmaty::{Chess, Position, Role, Square};

fn lines(c: &mut Criterion) {
    let mut group = c.benchmark_group("line");
    let move_line = b"M   1,  e7-e5\r\n";
    group.bench_function("baseline: sum of its bytes", |b| {
        b.iter(|| {
            black_box(move_line)
                .iter()
                .map(|b| u32::from(*b))
                .sum::<u32>()
        });
    });
    group.bench_function("split", |b| {
        let mut lines = Lines::new(128);
        b.iter(|| {
            lines.push(black_box(move_line));
            lines.next_line()
        });
    });
    group.bench_function("citrine move", |b| {
        b.iter(|| citrine::codec::parse(black_box(b"M   1,  e7-e5")));
    });
    group.bench_function("ucb move", |b| {
        b.iter(|| ucb::codec::parse(black_box(b"Ma7a8/Q")));
    });
    let position = Chess::new();
    group.bench_function("ucb position", |b| {
        b.iter(|| ucb::codec::position(black_box(&position), PositionFormat::V2));
    });
    group.finish();
}

fn games(c: &mut Criterion) {
    let mut group = c.benchmark_group("game");
    let position = Chess::new();
    group.bench_function("baseline: the legal moves of a position", |b| {
        b.iter(|| black_box(&position).legal_moves());
    });
    group.bench_function("a reported move judged", |b| {
        let reported = Reported::squares(Square::E2, Square::E4, None);
        let mut held = Held::default();
        held.replace(Game::standard());
        b.iter(|| held.clone().hand_moved(black_box(reported), Role::Queen));
    });
    let text = "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8";
    group.bench_function("position with 16 moves read", |b| {
        b.iter(|| Game::from_words(&black_box(text).split(' ').collect::<Vec<_>>()));
    });
    group.bench_function("from a board's bytes to the snapshot", |b| {
        let begin = Instant::now();
        b.iter_batched(
            || {
                let driver: Box<dyn Driver> = Box::new(ucb::Ucb::new(ucb::Settings::default()));
                let mut core =
                    Core::new("bench".parse().unwrap(), driver, std::time::Duration::ZERO);
                core.link_up(begin);
                core.received(begin, Channel::Serial, b"N\r\n");
                core
            },
            |mut core| {
                core.received(begin, Channel::Serial, black_box(b"Me2e4\r\n"));
                core.poll_snapshot()
            },
            criterion::BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, lines, games);
criterion_main!(benches);
