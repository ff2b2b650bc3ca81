//! A Chessnut Air.

use std::time::{Duration, Instant};

use boardbridge::vocabulary::{Channel, Outgoing, Reply, Request};
use shakmaty::{Board, Color, File, Piece, Rank, Role, Square};
use uuid::{Uuid, uuid};

use super::{
    gesture::Touch,
    wood::{Air, Wood},
};

const POSITIONS: Uuid = uuid!("1b7e8262-2877-41c3-b46e-cf057c562023");
const ANSWERS: Uuid = uuid!("1b7e8273-2877-41c3-b46e-cf057c562023");
const FRAME: Duration = Duration::from_millis(100);
const RADIO: u64 = 50;

pub struct Chessnut {
    air: Air,
    frame_at: Option<Instant>,
    frames: u32,
}

fn nibble(piece: Option<Piece>) -> u8 {
    let Some(Piece { color, role }) = piece else {
        return 0;
    };
    let (white, black) = match role {
        Role::Queen => (0xb, 1),
        Role::King => (0xc, 2),
        Role::Bishop => (9, 3),
        Role::Pawn => (7, 4),
        Role::Knight => (0xa, 5),
        Role::Rook => (6, 8),
    };
    if color == Color::White { white } else { black }
}

impl Chessnut {
    pub fn new(seed: u64) -> Self {
        Self {
            air: Air::new(seed),
            frame_at: None,
            frames: 0,
        }
    }
}

impl Wood for Chessnut {
    fn keys(&self) -> &'static str {
        "kind = \"chessnut\"\n"
    }
    fn rests(&self) -> u64 {
        230
    }
    fn takes(&mut self, now: Instant, outgoing: &Outgoing, _: &Board) -> Option<Reply> {
        let answers = Channel::Gatt(ANSWERS);
        match &outgoing.request {
            Request::Command(bytes) | Request::Write(bytes) => match bytes.as_ref() {
                [0x21, 1, 0] => {
                    self.frame_at.get_or_insert(now + FRAME);
                    self.air.send(now, RADIO, answers, vec![0x23, 1, 0]);
                }
                [0x0a, 8, ..] | [0x0b, 4, ..] => {
                    self.air.send(now, RADIO, answers, vec![0x23, 1, 0])
                }
                [0x29, 1, 0] => self.air.send(now, RADIO, answers, vec![0x2a, 2, 0x58, 0]),
                [0x27, 1, _] => self.air.send(now, RADIO, answers, vec![0x28, 1, b'1', 0]),
                _ => {}
            },
            Request::Subscribe | Request::Read | Request::Secret(_) => {}
        }
        Some(Reply::Done)
    }
    fn touched(&mut self, _: Instant, _: Touch, _: &Board) {}
    fn next(&self) -> Option<Instant> {
        [self.frame_at, self.air.next()].into_iter().flatten().min()
    }
    fn passes(&mut self, now: Instant, board: &Board) {
        if self.frame_at.take_if(|at| *at <= now).is_none() {
            return;
        }
        self.frame_at = Some(now + FRAME);
        self.frames += 1;
        let mut frame = vec![1, 0x24];
        for rank in Rank::ALL.into_iter().rev() {
            for pair in File::ALL.rchunks(2) {
                let [low, high] = [pair[1], pair[0]]
                    .map(|file| nibble(board.piece_at(Square::from_coords(file, rank))));
                frame.push(high << 4 | low);
            }
        }
        frame.extend((self.frames / 10).to_le_bytes());
        self.air.send(now, RADIO, Channel::Gatt(POSITIONS), frame);
    }
    fn air(&mut self) -> &mut Air {
        &mut self.air
    }
    fn off(&mut self, _: &Board) {
        self.frame_at = None;
    }
}
