//! Positions of real games, disturbed.

use boardbridge::chess::{game::Game, guidance::Picture};
use fastrand::Rng;
use shakmaty::{Bitboard, Board, Color, Piece, Position, Role, Square};

/// The most pieces disturbed.
pub const MAX_PIECES: usize = 8;

/// This many positions of the games (one a line, in UCI moves), in equal distances.
pub fn positions(games: &str, count: usize) -> Result<Vec<Board>, String> {
    let mut all = Vec::new();
    for (number, line) in (1..).zip(games.lines()) {
        let mut game = Game::standard();
        for word in line.split_whitespace() {
            game.play_uci([word])
                .map_err(|error| format!("line {number}: {error}"))?;
            all.push(game.position().board().clone());
        }
    }
    if all.is_empty() {
        return Err("no moves".to_owned());
    }
    Ok((0..count)
        .map(|number| all[number * all.len() / count % all.len()].clone())
        .collect())
}

/// Disturbs up to this many pieces. Some stand elsewhere then, some are gone, some are too many; some are in each
/// other's places, and of none, some or all of the wrong ones it is unknown what they are.
pub fn disturbed(wanted: &Board, pieces: usize, rng: &mut Rng) -> Picture {
    let mut board = wanted.clone();
    let mut squares: Vec<Square> = wanted.occupied().into_iter().collect();
    rng.shuffle(&mut squares);
    squares.truncate(pieces);
    match rng.u8(..6) {
        // To free squares.
        0 => {
            for &square in &squares {
                let free = any((!board.occupied()).without(wanted.occupied()), rng);
                carry(&mut board, square, free);
            }
        }
        // In a ring, of which one piece makes none.
        1 if squares.len() > 1 => ring(&mut board, &squares),
        // In rings of two and three.
        2 if squares.len() > 1 => {
            let mut rest = squares.as_slice();
            while !rest.is_empty() {
                let (some, others) = rest.split_at(rng.usize(2..=3).min(rest.len()));
                ring(&mut board, some);
                rest = others;
            }
        }
        // Off the board.
        3 => squares
            .iter()
            .for_each(|square| board.discard_piece_at(*square)),
        // Others beside them, or in their places.
        4 => {
            for &square in &squares {
                let free = any(!board.occupied(), rng);
                let square = if rng.bool() { Some(square) } else { free };
                put(&mut board, square, foreign(rng));
            }
        }
        // Anything of that, one after another.
        _ => {
            for &square in &squares {
                match rng.u8(..4) {
                    0 => board.discard_piece_at(square),
                    1 => put(&mut board, any(!wanted.occupied(), rng), foreign(rng)),
                    2 => ring(&mut board, &[square, squares[rng.usize(..squares.len())]]),
                    _ => {
                        let free = any(!board.occupied(), rng);
                        carry(&mut board, square, free);
                    }
                }
            }
        }
    }
    let chance = [0.0, 0.0, 0.5, 1.0][rng.usize(..4)];
    let mut stands = Picture::from(board);
    for (square, piece) in stands.board.clone() {
        if wanted.piece_at(square) != Some(piece) && rng.f64() < chance {
            stands.board.discard_piece_at(square);
            stands.unknown.add(square);
        }
    }
    stands
}

/// Each piece to the next one's square, the last one's to the first.
fn ring(board: &mut Board, squares: &[Square]) {
    let pieces: Vec<_> = squares
        .iter()
        .map(|square| board.piece_at(*square))
        .collect();
    for (square, piece) in squares.iter().cycle().skip(1).zip(pieces) {
        board.discard_piece_at(*square);
        if let Some(piece) = piece {
            board.set_piece_at(*square, piece);
        }
    }
}

fn carry(board: &mut Board, from: Square, to: Option<Square>) {
    if let (Some(piece), Some(to)) = (board.piece_at(from), to) {
        board.discard_piece_at(from);
        board.set_piece_at(to, piece);
    }
}

fn put(board: &mut Board, square: Option<Square>, piece: Piece) {
    if let Some(square) = square {
        board.set_piece_at(square, piece);
    }
}

fn any(squares: Bitboard, rng: &mut Rng) -> Option<Square> {
    let count = squares.count();
    (count > 0).then(|| squares.into_iter().nth(rng.usize(..count)))?
}

/// Any piece.
pub fn foreign(rng: &mut Rng) -> Piece {
    let color = if rng.bool() {
        Color::White
    } else {
        Color::Black
    };
    Piece {
        color,
        role: Role::ALL[rng.usize(..Role::ALL.len())],
    }
}
