//! What only a Move has: a motor in every piece.

use std::time::{Duration, Instant};

use shakmaty::{Board, Color, Piece, Role, Square};

use crate::pieces::Pieces;

/// How long a drive takes. The protocol notes give no time; pieces are slow.
pub(super) const DRIVE_TIME: Duration = Duration::from_secs(5);
/// The pieces of one side, in the order of their records; for each its role and its identity.
const SET: [(Role, u8, usize); 6] = [
    (Role::Pawn, 1, 8),
    (Role::Rook, 2, 2),
    (Role::Knight, 3, 2),
    (Role::Bishop, 4, 2),
    (Role::Queen, 6, 2),
    (Role::King, 5, 1),
];
/// What is added to the identity of a black piece.
const BLACK: u8 = 6;
/// The battery of every piece, per cent.
const BATTERY: u8 = 100;
/// The raw coordinates of a square: the scale is not published, so this is a choice.
const SQUARE: u8 = 32;

/// The motors at work.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    /// Where the pieces go, as they really lie.
    pub(super) target: Board,
    /// When they are there.
    pub(super) until: Instant,
    /// Whether a hand that moves a piece stops them.
    pub(super) stops: bool,
}

/// The records of all pieces: identity, x, y, battery.
pub(super) fn records(pieces: &Pieces) -> Vec<u8> {
    let mut records = Vec::new();
    for color in Color::ALL {
        for (role, identity, count) in SET {
            let piece = Piece { color, role };
            let identity = identity + color.fold_wb(0, BLACK);
            let standing = pieces.board().by_piece(piece).into_iter();
            let standing = standing.map(|square| place(pieces.numbered(square)));
            for (x, y) in standing.chain(std::iter::repeat((0, 0))).take(count) {
                records.extend([identity, x, y, BATTERY]);
            }
        }
    }
    records
}

/// The raw coordinates of the middle of a square: 255 less the board's, and exchanged.
fn place(square: Square) -> (u8, u8) {
    let middle = |index: u32| {
        let index = u8::try_from(index).unwrap_or_default();
        index * SQUARE + SQUARE / 2
    };
    let x = middle(square.file().into());
    let y = middle(square.rank().into());
    (u8::MAX - y, u8::MAX - x)
}
