//! Whatever stands and whatever is wanted: guidance keeps all its promises.
#![no_main]

#[path = "../../examples/guidance/bound.rs"]
mod bound;
#[path = "../../examples/guidance/check.rs"]
mod check;

use boardbridge::chess::guidance::{Picture, guide};
use shakmaty::{Board, Color, Piece, Role, Square};

/// Most squares empty, some with an unknown piece.
fn picture(bytes: [u8; 64]) -> Picture {
    let mut picture = Picture::from(Board::empty());
    for (square, byte) in Square::ALL.into_iter().zip(bytes) {
        let color = Color::from_white(byte % 2 == 0);
        match usize::from(byte / 2) {
            role @ 0..6 => picture.board.set_piece_at(
                square,
                Piece {
                    color,
                    role: Role::ALL[role],
                },
            ),
            6 => picture.unknown.add(square),
            _ => {}
        }
    }
    picture
}

libfuzzer_sys::fuzz_target!(|input: ([u8; 64], [u8; 64])| {
    let (stands, wanted) = (picture(input.0), picture(input.1).board);
    let actions = guide(&stands, &wanted);
    if let Err(broken) = check::check(&stands, &wanted, &actions) {
        panic!("{broken}");
    }
});
