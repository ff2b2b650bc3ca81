//! What the board does with each command.

use std::time::Instant;

use shakmaty::Square;

use super::{
    Pegasus, REPLY_TIME,
    answer::{self, message},
    battery,
    command::{self, Command},
    lamps::Lamps,
    square,
};
use crate::Report;

/// What a dump has on each square while the board is locked.
const LOCKED: u8 = 0x7F;
/// What a dump has on each square of a board that is not calibrated, and on an occupied square.
const OCCUPIED: u8 = 1;

impl Pegasus {
    /// Obeys the commands of a write, or the first of them only.
    pub(super) fn obey(&mut self, now: Instant, value: &[u8], all: bool) {
        let mut left = value;
        loop {
            let Some((command, rest)) = command::read(left) else {
                self.report(Report::Fault(format!("not understood: {left:02X?}")));
                return;
            };
            self.command(now, command);
            left = rest;
            if left.is_empty() {
                return;
            }
            if !all {
                self.lose(left);
                return;
            }
        }
    }

    fn command(&mut self, now: Instant, command: Command) {
        match command {
            Command::Reset => self.tells_changes = false,
            Command::Changes => self.tells_changes = true,
            Command::Dump => {
                let squares = self.dump();
                self.reply(now, answer::DUMP, &squares);
            }
            Command::Serial => {
                let serial = self.settings.serial.clone();
                self.reply(now, answer::SERIAL, serial.as_bytes());
            }
            Command::LongSerial => {
                let serial = self.settings.long_serial.clone();
                self.reply(now, answer::LONG_SERIAL, serial.as_bytes());
            }
            Command::Text => {
                let text = self.settings.text.clone();
                self.reply(now, answer::TEXT, text.as_bytes());
            }
            Command::Hardware => {
                let (major, minor) = self.settings.hardware;
                self.reply(now, answer::HARDWARE, &[major, minor]);
            }
            Command::Version => {
                let (major, minor) = self.settings.version;
                self.reply(now, answer::VERSION, &[major, minor]);
            }
            Command::Battery => {
                let data = battery::data(self.settings.battery, self.settings.charging);
                self.reply(now, answer::BATTERY, &data);
            }
            Command::Key(key) => self.unlocked = key == self.settings.key,
            Command::KeyState if self.settings.tells_key => {
                let state = u8::from(self.unlocked);
                self.reply(now, answer::KEY_STATE, &[state]);
            }
            Command::KeyState | Command::Unknown => {}
            Command::Lamps(_) if !self.unlocked => {
                self.report(Report::Lost("lamps: the board is locked".to_owned()));
            }
            Command::Lamps(lamps) => self.light(now, &lamps),
        }
    }

    fn reply(&mut self, now: Instant, id: u8, data: &[u8]) {
        let at = now + self.scaled(REPLY_TIME);
        self.replies.push_back((at, message(id, data)));
    }

    /// All squares, in the order of their numbers.
    fn dump(&self) -> Vec<u8> {
        let occupied = self.sensors.occupied();
        let code = |numbered: Square| {
            if !self.unlocked {
                LOCKED
            } else if !self.settings.calibrated || occupied.contains(self.pieces.numbered(numbered))
            {
                OCCUPIED
            } else {
                0
            }
        };
        square::all().map(code).collect()
    }

    fn light(&mut self, now: Instant, lamps: &Lamps) {
        let numbered = lamps.squares.iter();
        let squares: Vec<Square> = numbered
            .map(|square| self.pieces.numbered(*square))
            .collect();
        self.lamp_writes += 1;
        self.lamps.clone_from(&squares);
        self.dark_at = lamps.lasts.map(|lasts| now + self.scaled(lasts));
        self.report(Report::Lit(squares.clone()));
        self.pieces.lit(now, squares);
    }
}
