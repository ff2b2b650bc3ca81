//! A Miko Neo whose motor rests.

use std::time::{Duration, Instant};

use boardbridge::vocabulary::{Channel, Outgoing, Reply, Request};
use shakmaty::{Board, File, Rank, Square};
use uuid::{Uuid, uuid};

use super::{
    gesture::Touch,
    wood::{Air, Wood},
};

const ANSWERS: Uuid = uuid!("6e400003-b5a3-f393-e0a9-e50e24dcca9e");
const EVENTS: Uuid = uuid!("4496994f-2600-4e7e-81d5-e0f7b67ebd48");
const OCCUPANCY: Uuid = uuid!("777ac5a4-6fa8-474b-841d-091bd57d28c4");
/// It tells its squares so often, as captured.
const PERIOD: Duration = Duration::from_millis(2_010);
const RADIO: u64 = 60;

pub struct Neo {
    air: Air,
    tells_at: Option<Instant>,
}

fn occupancy(board: &Board) -> Vec<u8> {
    let mut digits = Vec::with_capacity(64);
    for file in File::ALL {
        for rank in Rank::ALL {
            let full = board.piece_at(Square::from_coords(file, rank)).is_some();
            digits.push(if full { b'1' } else { b'0' });
        }
    }
    digits
}

impl Neo {
    pub fn new(seed: u64) -> Self {
        Self {
            air: Air::new(seed),
            tells_at: None,
        }
    }
}

impl Wood for Neo {
    fn keys(&self) -> &'static str {
        "kind = \"miko-neo\"\nmotor = false\n"
    }
    fn rests(&self) -> u64 {
        350
    }
    fn takes(&mut self, now: Instant, outgoing: &Outgoing, board: &Board) -> Option<Reply> {
        match &outgoing.request {
            Request::Write(bytes) => match bytes.as_ref() {
                b"1#*" => {
                    let address = b"1#00:11:22:33:44:55*".to_vec();
                    self.air.send(now, RADIO, Channel::Gatt(ANSWERS), address);
                    self.tells_at.get_or_insert(now + PERIOD);
                }
                b"30#R*" => {
                    let squares = [b"30#", occupancy(board).as_slice(), b"*"].concat();
                    self.air.send(now, RADIO, Channel::Gatt(ANSWERS), squares);
                }
                _ => {}
            },
            Request::Read => {
                let value = match outgoing.channel {
                    Channel::Gatt(uuid)
                        if uuid == uuid!("00002a19-0000-1000-8000-00805f9b34fb") =>
                    {
                        vec![83]
                    }
                    Channel::Gatt(uuid)
                        if uuid == uuid!("00002a26-0000-1000-8000-00805f9b34fb") =>
                    {
                        b"3.1.1".to_vec()
                    }
                    _ => b"100111".to_vec(),
                };
                self.air.send(now, RADIO, outgoing.channel, value);
            }
            Request::Subscribe | Request::Command(_) | Request::Secret(_) => {}
        }
        Some(Reply::Done)
    }
    fn touched(&mut self, now: Instant, touch: Touch, _: &Board) {
        let event = match touch {
            Touch::Lift(square) => format!("{square}u"),
            Touch::Put(square, _) => format!("{square}d"),
        };
        self.air
            .send(now, RADIO, Channel::Gatt(EVENTS), event.into_bytes());
    }
    fn next(&self) -> Option<Instant> {
        [self.tells_at, self.air.next()].into_iter().flatten().min()
    }
    fn passes(&mut self, now: Instant, board: &Board) {
        if self.tells_at.take_if(|at| *at <= now).is_some() {
            self.tells_at = Some(now + PERIOD);
            let squares = occupancy(board);
            self.air.send(now, RADIO, Channel::Gatt(OCCUPANCY), squares);
        }
    }
    fn air(&mut self) -> &mut Air {
        &mut self.air
    }
    fn off(&mut self, _: &Board) {
        self.tells_at = None;
    }
}
