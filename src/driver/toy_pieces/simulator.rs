//! The toy board of pieces in software, written from `PROTOCOL.md`: its lines, around the pieces and the hand that all simulated boards
//! of pieces share.

use std::{collections::VecDeque, time::Instant};

use shakmaty::{Board, Move, Square};
use simulators::{
    HandAction, Report, SimulatedBoard,
    game::Game,
    pieces::{self, Order, Pieces},
};

/// The board. See the module documentation.
#[derive(Debug)]
pub struct Wood {
    pieces: Pieces,
    /// A line from the computer whose end has not come yet.
    line: Vec<u8>,
    out: VecDeque<Vec<u8>>,
    faults: VecDeque<Report>,
}

impl Wood {
    /// A board at the start, with a person at it.
    pub fn new(settings: pieces::Settings) -> Self {
        Self {
            pieces: Pieces::new(settings),
            line: Vec::new(),
            out: VecDeque::new(),
            faults: VecDeque::new(),
        }
    }

    /// Gives the person an order.
    pub fn order(&mut self, now: Instant, order: Order) {
        self.pieces.hand(now, order);
        self.sense();
    }

    /// Writes where the pieces stand if a square has changed.
    fn sense(&mut self) {
        let changes = std::iter::from_fn(|| self.pieces.poll_change()).count();
        if changes > 0 {
            self.write();
        }
    }

    fn write(&mut self) {
        let mut seen = Board::empty();
        for (square, piece) in self.pieces.board().clone() {
            seen.set_piece_at(self.pieces.numbered(square), piece);
        }
        let line = format!("{}\n", seen.board_fen());
        self.out.push_back(line.into_bytes());
    }

    fn obey(&mut self, now: Instant, line: &str) {
        if line == "?" {
            return self.write();
        }
        let squares = line.strip_prefix('L').and_then(squares);
        match squares {
            Some(squares) => {
                let lit = squares.iter().map(|square| self.pieces.numbered(*square));
                let lit = lit.collect();
                self.pieces.lit(now, lit);
            }
            None => self.faults.push_back(Report::Fault(line.to_owned())),
        }
    }
}

/// `e2e4`
fn squares(text: &str) -> Option<Vec<Square>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Square::from_ascii(pair).ok()).collect()
}

impl SimulatedBoard for Wood {
    fn plugged(&mut self, _now: Instant) {
        self.line.clear();
        self.out.clear();
    }

    fn received(&mut self, now: Instant, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.obey(now, &String::from_utf8_lossy(&line));
            } else {
                self.line.push(*byte);
            }
        }
    }

    fn hand(&mut self, now: Instant, action: HandAction) {
        self.order(now, action.into());
    }

    fn timeout(&mut self, now: Instant) {
        self.pieces.timeout(now);
        self.sense();
    }

    fn deadline(&self) -> Option<Instant> {
        self.pieces.deadline()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.out.pop_front()
    }

    fn poll_report(&mut self) -> Option<Report> {
        let fault = self.faults.pop_front();
        fault.or_else(|| self.pieces.poll_report())
    }

    fn game(&self) -> &Game {
        self.pieces.game()
    }

    fn shown(&self) -> Option<Move> {
        self.pieces.shown()
    }

    fn is_at_work(&self) -> bool {
        self.pieces.is_at_work()
    }
}
