//! What only a Move has: a motor in every piece.

use std::time::{Duration, Instant};

use shakmaty::{Board, Color, Piece, Role, Square};

use crate::pieces::Pieces;

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
    /// Where each piece goes, as the board really lies.
    ways: Vec<Way>,
    /// When they set out.
    since: Instant,
    /// When they are there.
    pub(super) until: Instant,
    /// Whether a hand that moves a piece stops them.
    pub(super) stops: bool,
}

/// Where one piece goes; nothing stands for beside the board.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: Option<Square>,
    to: Option<Square>,
    piece: Piece,
}

impl Drive {
    /// From these pieces to those of `target`.
    pub(super) fn new(
        now: Instant,
        time: Duration,
        board: &Board,
        target: &Board,
        stops: bool,
    ) -> Self {
        Self {
            ways: ways(board, target),
            since: now,
            until: now + time,
            stops,
        }
    }

    /// How the pieces stand at this time: one after the other has arrived. The piece on the square `stuck` does not move, and of each
    /// kind there are no more pieces than the set has.
    pub(super) fn board_at(&self, now: Instant, board: &Board, stuck: Option<Square>) -> Board {
        let whole = (self.until - self.since).as_millis().max(1);
        let part = now.saturating_duration_since(self.since).as_millis();
        let all = u128::try_from(self.ways.len()).unwrap_or(u128::MAX);
        let arrived = (1..)
            .zip(&self.ways)
            .filter(|(nth, _)| part * all >= whole * nth);
        let moves = |way: &Way| {
            let Some(from) = way.from else { return true };
            way.from != stuck && board.piece_at(from) == Some(way.piece)
        };
        let mut left: Vec<Way> = arrived.map(|(_, way)| *way).filter(moves).collect();
        let mut board = board.clone();
        // A piece waits until its square is free.
        while let Some(index) = left
            .iter()
            .position(|way| way.to.is_none_or(|to| board.piece_at(to).is_none()))
        {
            let Way { from, to, piece } = left.remove(index);
            if let Some(from) = from {
                board.discard_piece_at(from);
            }
            if let Some(to) = to {
                board.set_piece_at(to, piece);
            }
        }
        // Those that wait for one another make way on squares in between.
        let stays = |left: &[Way], square| !left.iter().any(|way| way.from == Some(square));
        while let Some(index) = left.iter().position(|way| {
            way.to
                .is_some_and(|to| board.piece_at(to).is_some() && stays(&left, to))
        }) {
            left.remove(index);
        }
        for from in left.iter().filter_map(|way| way.from) {
            board.discard_piece_at(from);
        }
        for way in left {
            if let Some(to) = way.to {
                board.set_piece_at(to, way.piece);
            }
        }
        board
    }
}

/// The ways of all pieces, those off the board first.
fn ways(board: &Board, target: &Board) -> Vec<Way> {
    let wrong = |square: &Square| board.piece_at(*square) != target.piece_at(*square);
    let mut leaving: Vec<Square> = board.occupied().into_iter().filter(wrong).collect();
    let mut ways = Vec::new();
    for (role, _, count) in SET {
        for color in Color::ALL {
            let piece = Piece { color, role };
            let mut beside = count.saturating_sub(board.by_piece(piece).count());
            for to in target.by_piece(piece).into_iter().filter(wrong) {
                let of_its_kind = |square: &Square| board.piece_at(*square) == Some(piece);
                let from = leaving.iter().position(of_its_kind);
                let from = from.map(|index| leaving.remove(index));
                if from.is_none() {
                    let Some(fewer) = beside.checked_sub(1) else {
                        continue;
                    };
                    beside = fewer;
                }
                let to = Some(to);
                ways.push(Way { from, to, piece });
            }
        }
    }
    let off = leaving.into_iter().filter_map(|square| {
        Some(Way {
            from: Some(square),
            to: None,
            piece: board.piece_at(square)?,
        })
    });
    off.chain(ways).collect()
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
