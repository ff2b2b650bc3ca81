//! A DGT Pegasus.

use std::time::{Duration, Instant};

use boardbridge::vocabulary::{Channel, Outgoing, Reply, Request, Secret};
use shakmaty::{Bitboard, Board, Square};
use uuid::{Uuid, uuid};

use super::{
    gesture::Touch,
    wood::{Air, Wood, field},
};

const ANSWERS: Uuid = uuid!("6e400003-b5a3-f393-e0a9-e50e24dcca9e");
const KEY: [u8; 9] = [0x63, 7, 1, 2, 3, 4, 5, 6, 0];
const SCAN: Duration = Duration::from_millis(40);
const RADIO: u64 = 60;
const VALUE: usize = 20;

pub struct Pegasus {
    air: Air,
    unlocked: bool,
    tells: bool,
    seen: Bitboard,
    scan_at: Option<Instant>,
}

impl Pegasus {
    pub fn new(seed: u64, board: &Board) -> Self {
        Self {
            air: Air::new(seed),
            unlocked: false,
            tells: false,
            seen: board.occupied(),
            scan_at: None,
        }
    }

    fn says(&mut self, now: Instant, id: u8, data: &[u8]) {
        let length = u8::try_from(data.len() + 3).unwrap();
        let whole: Vec<u8> = [id, 0, length]
            .into_iter()
            .chain(data.iter().copied())
            .collect();
        for value in whole.chunks(VALUE) {
            self.air
                .send(now, RADIO, Channel::Gatt(ANSWERS), value.to_vec());
        }
    }
}

impl Wood for Pegasus {
    fn keys(&self) -> &'static str {
        "kind = \"dgt-pegasus\"\nkey = \"010203040506\"\n"
    }
    fn rests(&self) -> u64 {
        350
    }
    fn takes(&mut self, now: Instant, outgoing: &Outgoing, _: &Board) -> Option<Reply> {
        let bytes = match &outgoing.request {
            Request::Command(bytes) | Request::Write(bytes) | Request::Secret(Secret(bytes)) => {
                bytes.clone()
            }
            Request::Subscribe | Request::Read => return Some(Reply::Done),
        };
        match bytes.as_ref() {
            [0x40] => self.tells = false,
            [0x44] => self.tells = true,
            [0x42] if self.unlocked => {
                let mut fields = [0; 64];
                for square in self.seen {
                    fields[usize::from(field(square))] = 1;
                }
                self.says(now, 0x86, &fields);
            }
            [0x42] => self.says(now, 0x86, &[0x7f; 64]),
            [0x55] => self.says(now, 0xa2, b"0123456789"),
            [0x4c] => self.says(now, 0xa0, &[0x58, 0, 0, 0, 0, 0, 0, 0, 2]),
            [0x5a] => self.says(now, 0xa5, &[u8::from(self.unlocked)]),
            key if key == KEY => self.unlocked = true,
            [0x60, ..] => {}
            other => panic!("a Pegasus knows no {other:x?}"),
        }
        Some(Reply::Done)
    }
    fn touched(&mut self, now: Instant, _: Touch, _: &Board) {
        self.scan_at.get_or_insert(now + SCAN);
    }
    fn next(&self) -> Option<Instant> {
        [self.scan_at, self.air.next()].into_iter().flatten().min()
    }
    fn passes(&mut self, now: Instant, board: &Board) {
        if self.scan_at.take_if(|at| *at <= now).is_none() {
            return;
        }
        let full = board.occupied();
        let mut changed: Vec<Square> = (full ^ self.seen).into_iter().collect();
        changed.sort_by_key(|square| field(*square));
        self.seen = full;
        if self.tells && self.unlocked {
            for square in changed {
                self.says(now, 0x8e, &[field(square), u8::from(full.contains(square))]);
            }
        }
    }
    fn air(&mut self) -> &mut Air {
        &mut self.air
    }
    fn off(&mut self, board: &Board) {
        self.unlocked = false;
        self.tells = false;
        self.scan_at = None;
        self.seen = board.occupied();
    }
}
