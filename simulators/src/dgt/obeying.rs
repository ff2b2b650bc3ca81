//! What the board does with each command.

use std::time::{Duration, Instant};

use shakmaty::Square;

use super::{
    Dgt, Mode, Model, answer, clock,
    field::{self, FIELDS},
};
use crate::Report;

/// How long a plain board hangs after `60` (protocol notes: for a while).
const HANG: Duration = Duration::from_secs(10);
/// From a clock message to its acknowledgement (protocol notes: to be awaited for 1 to 2 s).
const ACK_TIME: Duration = Duration::from_millis(300);
/// The text that this board answers to `47`. DGT's own text is a trade mark.
pub(super) const TEXT: &str = "A simulated board of BoardBridge, not made by DGT";
/// The end of the stored changes.
const STORED_END: u8 = 0x6B;
/// The battery: 80 %, nothing else known, discharging. The length is that of the protocol notes: 12.
const BATTERY: [u8; 9] = [80, 0x7F, 0x7F, 0, 0, 0, 0, 0, 2];
/// The field number that means no field in a message for the lamps.
const NO_FIELD: u8 = 0x40;

impl Dgt {
    /// Carries out a command of one byte. Returns the length of its answer.
    pub(super) fn command(&mut self, byte: u8) -> usize {
        if self.mode == Mode::Bus && (0x40..=0x5F).contains(&byte) && byte != 0x4A {
            self.mode = Mode::Idle;
        }
        let has_battery = self.settings.model != Model::Cable;
        match byte {
            0x40 => self.mode = Mode::Idle,
            0x43 => self.mode = Mode::FieldsAndClock,
            0x44 => self.mode = Mode::Fields,
            0x4B => self.mode = Mode::Nice,
            0x4A => self.mode = Mode::Bus,
            0x41 => return self.say_times(),
            0x42 => {
                let sensed = self.scan.as_ref().map(|scan| *scan.sensed());
                let codes = sensed.unwrap_or_else(|| self.codes());
                return self.say(answer::POSITION, &codes);
            }
            0x45 => {
                let digits = format!("{:05}", self.settings.serial % 100_000);
                return self.say(answer::SERIAL, digits.as_bytes());
            }
            0x55 => {
                let digits = format!("{:010}", self.settings.serial);
                return self.say(answer::LONG_SERIAL, digits.as_bytes());
            }
            0x46 => {
                let [_, _, high, low] = self.settings.serial.to_be_bytes();
                return self.say(answer::BUS_ADDRESS, &[high & 0x7F, low & 0x7F]);
            }
            0x47 => return self.say(answer::TRADE_MARK, TEXT.as_bytes()),
            0x49 => return self.say(answer::STORED, &[STORED_END]),
            0x4C if has_battery => return self.say(answer::BATTERY, &BATTERY),
            0x4C => {}
            0x4D => {
                let (major, minor) = self.settings.version;
                return self.say(answer::VERSION, &[major, minor]);
            }
            0x4E | 0x51 | 0x53 | 0x54 => {
                self.bricked = true;
                self.fault(format!("{byte:02X} bricked the board"));
            }
            _ => self.fault(format!("not understood: {byte:02X}")),
        }
        0
    }

    pub(super) fn clock_message(&mut self, now: Instant, data: &[u8]) -> usize {
        if self.mode == Mode::Bus {
            self.mode = Mode::Idle;
        }
        let Some(clock) = &mut self.clock else {
            return 0;
        };
        if self.ack.is_some() {
            self.report(Report::Lost(format!(
                "a clock message before the acknowledgement of the last one: {data:02X?}"
            )));
            return 0;
        }
        let before = clock.text().to_owned();
        let mut reports = Vec::new();
        let ack = clock.message(data, &mut reports);
        let text = clock.text().to_owned();
        self.reports.extend(reports);
        self.ack = Some((now + self.scaled(ACK_TIME), ack));
        if data.get(1) == Some(&clock::SET_AND_RUN) {
            // The seconds of a clock that is set begin then.
            self.second = None;
        }
        if text != before {
            self.pieces.reads(now, &text);
        }
        0
    }

    pub(super) fn lamps_message(&mut self, now: Instant, data: &[u8]) -> usize {
        if self.settings.model != Model::Revelation {
            self.hangs_until = Some(now + self.scaled(HANG));
            self.fault("60 hangs a board without lamps");
            return 0;
        }
        let &[on @ (0 | 1), start, end, 0] = data else {
            self.fault(format!("not for the lamps: {data:02X?}"));
            return 0;
        };
        let named: Vec<u8> = [start, end]
            .into_iter()
            .filter(|field| usize::from(*field) < FIELDS)
            .collect();
        match (on, start, end) {
            (0, NO_FIELD, NO_FIELD) => self.lamps.clear(),
            (0, ..) => self.lamps.retain(|lamp| !named.contains(lamp)),
            _ => self.lamps = named,
        }
        let squares: Vec<Square> = self
            .lamps
            .iter()
            .filter_map(|field| field::square(*field))
            .map(|square| self.pieces.numbered(square))
            .collect();
        self.report(Report::Lit(squares.clone()));
        self.pieces.lit(now, squares);
        0
    }
}
