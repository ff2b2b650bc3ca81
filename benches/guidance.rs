//! What it costs to guide the hand: nothing wrong, a few pieces wrong, everything wrong.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::hint::black_box;

use boardbridge::chess::guidance::{Picture, guide};
use criterion::{Criterion, criterion_group, criterion_main};
use shakmaty::{Bitboard, Board};

fn board(fen: &str) -> Board {
    fen.parse().unwrap()
}

/// What stands, and what is wanted.
fn cases() -> Vec<(&'static str, Picture, Board)> {
    let start = Board::new();
    let game = board("r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1");
    let mut turned = game.clone();
    turned.rotate_180();
    let pawns = board("pppppppp/pppppppp/pppppppp/pppppppp/8/8/8/8");
    let mut pawns_down = pawns.clone();
    pawns_down.flip_vertical();
    let full = board("rrrrrrrr/nnnnnnnn/bbbbbbbb/qqqqqqqq/RRRRRRRR/NNNNNNNN/BBBBBBBB/QQQQQQQQ");
    let mut full_turned = full.clone();
    full_turned.flip_diagonal();
    let nobody_knows = Picture {
        board: Board::empty(),
        unknown: Bitboard(0xffff_ffff << 32),
    };
    let of = Picture::from;
    vec![
        ("nothing wrong", of(start.clone()), start.clone()),
        (
            "five misplaced",
            of(board(
                "r1bq1rk1/pp2bppp/2n1p3/3pn3/2PP4/5N2/PPN1BPPP/R1BB1RKQ",
            )),
            game.clone(),
        ),
        ("a new game", of(game.clone()), start),
        ("turned round", of(turned), game),
        ("32 of one kind", of(pawns), pawns_down.clone()),
        ("32 unknown", nobody_knows, pawns_down),
        ("64 in cycles", of(full_turned), full),
    ]
}

fn lists(c: &mut Criterion) {
    let mut group = c.benchmark_group("guidance");
    for (name, stands, wanted) in cases() {
        group.bench_function(name, |b| {
            b.iter(|| guide(black_box(&stands), black_box(&wanted)));
        });
    }
    group.finish();
}

criterion_group!(benches, lists);
criterion_main!(benches);
