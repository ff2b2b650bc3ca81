//! A board that does not exist: the smallest driver, and the proof that a folder, a line in [`super`] and one in
//! [`super::registry`] are enough to add a board. Part of the unit tests only.

mod identity;
mod settings;
#[cfg(test)]
mod tests;

use std::{collections::VecDeque, time::Instant};

use bytes::Bytes;
use shakmaty::{Chess, uci::UciMove};

pub use self::{identity::IDENTITY, settings::Settings};
use super::{Driver, DriverEvent, Profile, Step};
use crate::{
    chess::game::uci,
    text::lines::{Line, Lines, printable},
    vocabulary::{Channel, Outgoing, Reported},
};

/// The longest line read, in bytes.
const MAX_LINE: usize = 16;

/// The driver.
#[derive(Debug)]
pub struct Toy {
    settings: Settings,
    up: bool,
    lines: Lines,
    events: VecDeque<DriverEvent>,
    outgoing: Option<Bytes>,
    /// The player's deadline for the shown move.
    hand: Option<Instant>,
}

impl Toy {
    /// A driver with these settings.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            up: false,
            lines: Lines::new(MAX_LINE),
            events: VecDeque::new(),
            outgoing: None,
            hand: None,
        }
    }
}

impl Driver for Toy {
    fn profile(&self) -> Profile {
        Profile::Unlisted
    }

    fn link_up(&mut self, _now: Instant) {
        self.up = true;
        self.events.push_back(DriverEvent::Unheard);
    }

    fn link_down(&mut self) {
        *self = Self::new(self.settings.clone());
    }

    fn received(&mut self, _now: Instant, _channel: Channel, bytes: &[u8]) {
        self.lines.push(bytes);
        while let Some(line) = self.lines.next_line() {
            let Line::Whole(line) = line else { continue };
            let event = match UciMove::from_ascii(&line) {
                Ok(UciMove::Normal {
                    from,
                    to,
                    promotion,
                }) => DriverEvent::Moved(Reported::squares(from, to, promotion)),
                _ => DriverEvent::Unreadable(printable(&line, MAX_LINE)),
            };
            self.events.push_back(event);
        }
    }

    fn timeout(&mut self, now: Instant) {
        self.hand = self.hand.filter(|until| *until > now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.hand
    }

    fn idle(&self) -> bool {
        self.up && self.hand.is_none() && self.outgoing.is_none()
    }

    fn stepping(&self) -> bool {
        self.outgoing.is_some()
    }

    fn start(&mut self, _now: Instant, step: Step) {
        match step {
            Step::Show(m) => {
                let line = format!("{}\n", uci(m));
                let loud = self.settings.loud;
                let line = if loud { line.to_uppercase() } else { line };
                self.outgoing = Some(line.into());
            }
            // The protocol has no messages for these.
            Step::NewGame(_) | Step::TakeBack(_) | Step::SetUp(_) => {
                self.events.push_back(DriverEvent::Accepted);
            }
        }
    }

    fn confirm(&mut self, _now: Instant) {
        self.hand = None;
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {}

    fn learn(&mut self, _now: Instant) {}

    fn look(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let line = self.outgoing.take()?;
        self.hand = Some(now + self.settings.move_wait);
        self.events.push_back(DriverEvent::Accepted);
        Some(Outgoing::serial(line))
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}
