//! A DGT board on a cable, without a clock.

use std::time::{Duration, Instant};

use boardbridge::vocabulary::{Channel, Outgoing, Reply};
use shakmaty::{Board, Color, Piece, Role, Square};

use super::{
    gesture::Touch,
    wood::{Air, Wood, field},
};

/// A row of squares is read in this time: a scan takes 224 ms.
const ROW: Duration = Duration::from_millis(28);
const CABLE: u64 = 15;

pub struct Dgt {
    air: Air,
    tells: bool,
    seen: Board,
    row: u8,
    row_at: Option<Instant>,
}

fn code(piece: Option<Piece>) -> u8 {
    piece.map_or(0, |piece| {
        let white = match piece.role {
            Role::Pawn => 1,
            Role::Rook => 2,
            Role::Knight => 3,
            Role::Bishop => 4,
            Role::King => 5,
            Role::Queen => 6,
        };
        white + if piece.color == Color::White { 0 } else { 6 }
    })
}

impl Dgt {
    pub fn new(seed: u64, board: &Board) -> Self {
        Self {
            air: Air::new(seed),
            tells: false,
            seen: board.clone(),
            row: 0,
            row_at: None,
        }
    }

    fn says(&mut self, now: Instant, id: u8, data: &[u8]) {
        let length = u8::try_from(data.len() + 3).unwrap();
        let whole = [id, 0, length]
            .into_iter()
            .chain(data.iter().copied())
            .collect();
        self.air.send(now, CABLE, Channel::Serial, whole);
    }
}

impl Wood for Dgt {
    fn keys(&self) -> &'static str {
        "kind = \"dgt\"\n"
    }
    fn rests(&self) -> u64 {
        130
    }
    fn takes(&mut self, now: Instant, outgoing: &Outgoing, _: &Board) -> Option<Reply> {
        match outgoing.bytes() {
            [0x40] => self.tells = false,
            [0x43 | 0x44 | 0x4b] => self.tells = true,
            [0x42] => {
                let mut fields = [0; 64];
                for square in Square::ALL {
                    fields[usize::from(field(square))] = code(self.seen.piece_at(square));
                }
                self.says(now, 0x86, &fields);
            }
            [0x41] => self.says(now, 0x8d, &[0, 0, 0, 0, 0, 0, 0x20]),
            [0x45] => self.says(now, 0x91, b"01234"),
            [0x55] => self.says(now, 0xa2, b"0123456789"),
            [0x47] => self.says(now, 0x92, b"a board of a test"),
            [0x4c] => {}
            [0x4d] => self.says(now, 0x93, &[1, 8]),
            [0x2b, ..] => {}
            other => panic!("a DGT board knows no {other:x?}"),
        }
        None
    }
    fn touched(&mut self, now: Instant, _: Touch, _: &Board) {
        self.row_at.get_or_insert(now + ROW);
    }
    fn next(&self) -> Option<Instant> {
        [self.row_at, self.air.next()].into_iter().flatten().min()
    }
    fn passes(&mut self, now: Instant, board: &Board) {
        if self.row_at.take_if(|at| *at <= now).is_none() {
            return;
        }
        self.row = (self.row + 1) % 8;
        for square in Square::ALL.into_iter().rev() {
            let piece = board.piece_at(square);
            if field(square) / 8 == self.row && piece != self.seen.piece_at(square) {
                match piece {
                    Some(piece) => self.seen.set_piece_at(square, piece),
                    None => self.seen.discard_piece_at(square),
                }
                if self.tells {
                    self.says(now, 0x8e, &[field(square), code(piece)]);
                }
            }
        }
        if self.seen != *board {
            self.row_at = Some(now + ROW);
        }
    }
    fn air(&mut self) -> &mut Air {
        &mut self.air
    }
    fn off(&mut self, board: &Board) {
        self.tells = false;
        self.row_at = None;
        self.seen = board.clone();
    }
    fn dies_silently(&self) -> bool {
        true
    }
}
