//! What the board does with each command.

use std::time::Instant;

use shakmaty::Square;

use super::{
    Chessnut, Model, PERIOD, REPLY_TIME,
    command::{self, Command},
    motor::{self, Drive},
    nibbles::{self, BYTES},
};
use crate::Report;

/// The acknowledgement of everything that has one.
const ACK: [u8; 3] = [0x23, 1, 0];
/// The version of the controller.
const CONTROLLER_VERSION: &str = "MCU-1.0";
/// The version of Bluetooth, as in the maker's test.
const BLUETOOTH_VERSION: &str = "BLE-1.2";
/// The version of a Move.
const MOVE_VERSION: &str = "1.0.0";
/// The questions to a Move.
mod question {
    /// The firmware's version.
    pub(super) const VERSION: u8 = 0x09;
    /// The pieces.
    pub(super) const PIECES: u8 = 0x0B;
    /// The battery.
    pub(super) const BATTERY: u8 = 0x0C;
    /// The kind of the board.
    pub(super) const KIND: u8 = 0x15;
    /// Not a question: it closes all pieces.
    pub(super) const CLOSE: u8 = 0x18;
}

impl Chessnut {
    /// Carries out a command.
    pub(super) fn command(&mut self, now: Instant, bytes: &[u8]) {
        let is_move = self.settings.model == Model::Move;
        let Some(command) = command::read(bytes) else {
            self.fault(format!("not understood: {bytes:02X?}"));
            return;
        };
        match command {
            Command::RealTime(on) => {
                self.real_time = on;
                self.sent = None;
                let first = now + self.scaled(PERIOD);
                self.tick = on.then(|| self.tick.unwrap_or(first));
                self.reply(now, ACK.to_vec());
            }
            Command::Lamps(_) | Command::OwnBeeps if is_move => {
                self.report(Report::Lost(format!("not for a Move: {bytes:02X?}")));
            }
            Command::Lamps(squares) => {
                self.light(now, &squares);
                self.reply(now, ACK.to_vec());
            }
            Command::Beep => {
                self.report(Report::Beeped);
                self.reply(now, ACK.to_vec());
            }
            Command::Battery => {
                let level = self.battery();
                self.reply(now, [&[0x2A, 2], &level[..]].concat());
            }
            Command::Version { controller } => {
                let text = if controller {
                    CONTROLLER_VERSION
                } else {
                    BLUETOOTH_VERSION
                };
                self.reply(now, version(0x28, 0, text, 0));
            }
            Command::StoredGames => self.reply(now, vec![0x32, 1, 0]),
            Command::OwnBeeps | Command::StoredGame => {}
            // A regular board takes no notice of the question for its kind.
            Command::MoveQuestion(question::KIND) if !is_move => {}
            Command::MoveQuestion(asked) if is_move => self.asked(now, asked),
            Command::Drive { target, stops } if is_move => self.drive(now, &target, stops),
            Command::ColouredLamps(squares) if is_move => self.light(now, &squares),
            Command::MoveQuestion(_) | Command::Drive { .. } | Command::ColouredLamps(_) => {
                self.fault(format!("only for a Move: {bytes:02X?}"));
            }
        }
    }

    fn reply(&mut self, now: Instant, reply: Vec<u8>) {
        let at = now + self.scaled(REPLY_TIME);
        self.reply_at(at, reply);
    }

    /// The level of the battery in one of the two readings.
    fn battery(&self) -> [u8; 2] {
        let level = self.settings.battery.min(100);
        let charging = u8::from(self.settings.charging);
        if self.settings.charging_bit {
            [level | charging << 7, 0]
        } else {
            [level, charging]
        }
    }

    fn light(&mut self, now: Instant, numbered: &[Square]) {
        self.lamp_writes += 1;
        let mut squares: Vec<Square> = numbered
            .iter()
            .map(|square| self.pieces.numbered(*square))
            .collect();
        squares.sort_unstable();
        self.lamps.clone_from(&squares);
        self.report(Report::Lit(squares.clone()));
        self.pieces.lit(now, squares);
    }

    fn asked(&mut self, now: Instant, asked: u8) {
        if self.settings.mute && self.drive.is_some() {
            return;
        }
        if asked == question::KIND && self.settings.kinds_ignored > 0 {
            self.settings.kinds_ignored -= 1;
            return;
        }
        match asked {
            question::VERSION => self.reply(now, version(0x41, 1, MOVE_VERSION, asked)),
            question::PIECES => {
                let records = motor::records(&self.pieces);
                let length = u8::try_from(records.len() + 1).unwrap_or(u8::MAX);
                self.reply(now, [&[0x41, length, asked], &records[..]].concat());
            }
            question::BATTERY => {
                let (level, charging) = (self.settings.battery, self.settings.charging);
                self.reply(now, vec![0x41, 3, asked, u8::from(charging), level]);
            }
            // Nothing is known of the four bytes.
            question::KIND => self.reply(now, vec![0x41, 5, asked, 0, 0, 0, 0]),
            question::CLOSE => {}
            _ => self.fault(format!("never to be sent: 41 01 {asked:02X}")),
        }
    }

    /// The motors stop where they are.
    pub(super) fn halt(&mut self, now: Instant) {
        if let Some(drive) = self.drive.take() {
            let board = drive.board_at(now, self.pieces.board(), self.settings.stuck);
            self.pieces.driven(now, &board);
            self.pieces.hold(now, false);
        }
    }

    /// Begins to drive, or stops.
    fn drive(&mut self, now: Instant, target: &[u8; BYTES], stops: bool) {
        if target.iter().all(|byte| *byte == 0) {
            self.halt(now);
            return;
        }
        let Some(target) = nibbles::board(target) else {
            self.fault("a target with a nibble that means no piece");
            return;
        };
        let time = self.scaled(self.settings.drive_time);
        let (board, target) = (self.pieces.board(), self.lying(&target));
        self.drive = Some(Drive::new(now, time, board, &target, stops));
        self.pieces.hold(now, true);
    }
}

/// A version: the length counts what comes before the text, and the text, but not the closing zero.
fn version(kind: u8, before: u8, text: &str, asked: u8) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    let mut reply = vec![kind, length.saturating_add(before), asked];
    reply.extend(text.bytes());
    reply.push(0);
    reply
}
