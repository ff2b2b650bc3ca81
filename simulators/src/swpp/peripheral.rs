//! A home-made board on Bluetooth.

use std::time::Instant;

use uuid::Uuid;

use super::{
    board::SwppBoard,
    message::quoted,
    profile::{FROM_BOARD, TO_BOARD},
};
use crate::{
    HandAction, Report, SimulatedBoard,
    game::Game,
    peripheral::{Peripheral, Profile, Refused},
    radio::RadioBoard,
};

impl Peripheral for SwppBoard {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn connected(&mut self, _now: Instant) {
        self.hear_anew();
        self.connected = self.on;
        self.subscribed = false;
    }

    fn disconnected(&mut self, _now: Instant) {
        self.hear_anew();
        self.connected = false;
        self.subscribed = false;
    }

    fn subscribed(&mut self, _now: Instant, characteristic: Uuid, on: bool) {
        if characteristic == FROM_BOARD {
            self.subscribed = on;
        } else {
            self.fault(format!("{characteristic} does not notify"));
        }
    }

    fn read(&mut self, _now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        self.fault(format!("{characteristic} cannot be read"));
        Err(Refused)
    }

    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        if !self.connected || characteristic != TO_BOARD {
            self.fault(format!("{characteristic} cannot be written"));
            return Err(Refused);
        }
        // Captured: the app writes one message at a time, and a home-made board may well rely on it.
        let ends = value.iter().filter(|byte| **byte == b'\n').count();
        if ends != 1 || value.last() != Some(&b'\n') {
            self.fault(format!(
                "a write that is not one message: {}",
                quoted(value)
            ));
        }
        self.received(now, value);
        Ok(())
    }

    fn timeout(&mut self, now: Instant) {
        SimulatedBoard::timeout(self, now);
    }

    fn deadline(&self) -> Option<Instant> {
        SimulatedBoard::deadline(self)
    }

    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        while !self.subscribed {
            // No central is subscribed yet.
            let message = self.output.pop_front()?;
            let text = String::from_utf8_lossy(message.trim_ascii_end()).into_owned();
            self.report(Report::Lost(text));
        }
        let mut message = self.output.pop_front()?;
        let length = self.settings.notification.max(1);
        if message.len() > length {
            self.output.push_front(message.split_off(length));
        }
        Some((FROM_BOARD, message))
    }
}

impl RadioBoard for SwppBoard {
    fn order(&mut self, now: Instant, action: HandAction) {
        self.hand(now, action);
    }

    fn look(&mut self) -> Option<Report> {
        self.poll_report()
    }

    fn stands(&self) -> Option<(&Game, bool)> {
        Some((self.game(), self.shown().is_some()))
    }
}
