//! A board that does not exist and senses which piece stands where: the smallest [`Wire`]. Part of the unit tests only. They play
//! on it, with the simulated pieces and the simulated hand that all such boards share.

mod identity;
mod settings;
#[cfg(all(test, target_os = "linux"))]
mod simulator;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::{collections::VecDeque, time::Instant};

use shakmaty::{Bitboard, Board};

pub use self::{identity::IDENTITY, settings::Settings};
use super::{
    DriverEvent,
    sensor::{Said, Wire},
};
use crate::{
    text::lines::{Line, Lines, printable},
    vocabulary::{Channel, Outgoing},
};

/// The longest line read, in bytes: 64 pieces and 7 strokes.
const MAX_LINE: usize = 71;

/// The wire of a toy board of pieces.
#[derive(Debug)]
pub struct ToyPieces {
    lines: Lines,
    /// Where the pieces stand is to be asked.
    asks: bool,
    /// The board has answered on this link.
    answers: bool,
    /// The squares to light.
    lights: Option<Bitboard>,
    said: VecDeque<Said>,
}

impl Default for ToyPieces {
    fn default() -> Self {
        Self {
            lines: Lines::new(MAX_LINE),
            asks: false,
            answers: false,
            lights: None,
            said: VecDeque::new(),
        }
    }
}

impl Wire for ToyPieces {
    fn link_up(&mut self, _now: Instant) {
        self.link_down();
        self.asks = true;
    }

    fn link_down(&mut self) {
        *self = Self::default();
    }

    fn received(&mut self, _now: Instant, _channel: Channel, bytes: &[u8]) {
        self.lines.push(bytes);
        while let Some(line) = self.lines.next_line() {
            let Line::Whole(line) = line else { continue };
            let Ok(board) = Board::from_ascii_board_fen(&line) else {
                let event = DriverEvent::Unreadable(printable(&line, MAX_LINE));
                self.said.push_back(Said::Event(event));
                continue;
            };
            if !std::mem::replace(&mut self.answers, true) {
                self.said.push_back(Said::Answers { id: None });
            }
            self.said.push_back(Said::Pieces(board));
        }
    }

    fn timeout(&mut self, _now: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn light(&mut self, _now: Instant, squares: Bitboard) {
        self.lights = Some(squares);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Outgoing> {
        if std::mem::take(&mut self.asks) {
            return Some(Outgoing::serial("?\n".into()));
        }
        let squares = self.lights.take()?.into_iter();
        let squares: String = squares.map(|square| square.to_string()).collect();
        Some(Outgoing::serial(format!("L{squares}\n").into()))
    }

    fn poll(&mut self) -> Option<Said> {
        self.said.pop_front()
    }
}
