//! A simulated Chessnut board at a cable: a HID device with the same messages, each in a report.
//!
//! Where the protocol notes are silent, this board does so:
//! - A report has 65 bytes, whatever its message: zeros fill it up. The length of a position counts all but the last two.
//! - What comes sooner than 200 ms after the last command is lost.
//! - While it is plugged in it tells its charge every 10 s, unasked, and says 0 for it.

use std::time::{Duration, Instant};

use shakmaty::Move;

use super::{
    Chessnut,
    profile::{COMMANDS, POSITIONS, REPLIES},
};
use crate::{
    HandAction, Report, SimulatedBoard,
    game::Game,
    peripheral::Peripheral as _,
    pieces::{Order, Pieces},
    uhid::Identity,
};

/// The bytes of a report, its number with them (protocol notes).
pub const REPORT: usize = 65;
/// The type of a position.
const POSITION: u8 = 0x01;
/// The length of a position (protocol notes).
const POSITION_LENGTH: u8 = 0x3D;
/// The minimum time between two commands (protocol notes: 200 ms).
const WRITE_GAP: Duration = Duration::from_millis(200);
/// How often it tells its charge.
const CHARGE: Duration = Duration::from_secs(10);
/// Its charge, as it tells it unasked: unknown.
const UNKNOWN_CHARGE: [u8; 4] = [0x2A, 2, 0, 1];
/// The numbers of the reports it sends, and of those it takes: the types of the messages.
const SENT: [u8; 7] = [0x01, 0x0F, 0x23, 0x28, 0x2A, 0x32, 0x37];
const TAKEN: [u8; 9] = [0x0A, 0x0B, 0x1B, 0x21, 0x27, 0x29, 0x31, 0x33, 0x34];

/// A board at a cable. See the module documentation.
#[derive(Debug)]
pub struct UsbChessnut {
    board: Chessnut,
    /// Whether a computer has opened it.
    open: bool,
    /// After this time the last command came.
    last_write: Option<Instant>,
    tells: Option<Instant>,
    unasked: bool,
}

impl UsbChessnut {
    /// This board, at a cable.
    pub fn new(board: Chessnut) -> Self {
        Self {
            board,
            open: false,
            last_write: None,
            tells: None,
            unasked: false,
        }
    }

    /// The pieces and the person.
    pub fn pieces(&self) -> &Pieces {
        self.board.pieces()
    }

    /// Gives the person an order.
    pub fn order(&mut self, now: Instant, order: impl Into<Order>) {
        self.board.hand(now, order);
    }

    /// The cable is out, or the computer has closed the board.
    pub fn unplugged(&mut self, now: Instant) {
        self.open = false;
        self.tells = None;
        self.unasked = false;
        self.board.disconnected(now);
    }
}

/// What an Air is on USB: its numbers, and its descriptor.
pub fn identity() -> Identity {
    // Usage page FF00, usage 1, an application; values from 0 to 255, 8 bits each, 64 in a report.
    let mut descriptor = vec![0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01];
    descriptor.extend([0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40]);
    for (numbers, main) in [(&SENT[..], 0x81), (&TAKEN[..], 0x91)] {
        for number in numbers {
            descriptor.extend([0x85, *number, 0x09, 0x01, main, 0x02]);
        }
    }
    descriptor.push(0xC0);
    Identity {
        name: "Chessnut Air".to_owned(),
        vendor: 0x2D80,
        product: 0x8001,
        serial: String::new(),
        socket: "usb-simulated-1".to_owned(),
        descriptor,
    }
}

impl SimulatedBoard for UsbChessnut {
    fn plugged(&mut self, now: Instant) {
        self.unplugged(now);
        self.open = true;
        self.last_write = None;
        self.board.connected(now);
        for characteristic in [POSITIONS, REPLIES] {
            self.board.subscribed(now, characteristic, true);
        }
        self.tells = Some(now + CHARGE);
    }

    fn received(&mut self, now: Instant, report: &[u8]) {
        self.received_since(now, now, report);
    }

    fn received_since(&mut self, after: Instant, now: Instant, report: &[u8]) {
        self.timeout(now);
        let gap = self.last_write.replace(after);
        if gap.is_some_and(|last| now < last + WRITE_GAP) {
            let lost = Report::Lost(format!("{report:02X?}: too dense"));
            return self.board.report(lost);
        }
        // It is open, and the characteristic is that of commands: nothing is refused.
        let _ = self.board.write(now, COMMANDS, report);
    }

    fn least_gap(&self) -> Option<Duration> {
        Some(WRITE_GAP)
    }

    fn hand(&mut self, now: Instant, action: HandAction) {
        self.board.hand(now, action);
        // Its link does not end by radio: the cable is still in, and it answers when it is switched on.
        if self.open && self.board.is_on() && !self.board.is_connected() {
            self.plugged(now);
        }
    }

    fn timeout(&mut self, now: Instant) {
        self.board.timeout(now);
        if self.tells.is_some_and(|at| at <= now) {
            self.tells = Some(now + CHARGE);
            self.unasked = self.board.is_on();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let times = [self.board.deadline(), self.tells];
        times.into_iter().flatten().min()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let mut report = if std::mem::take(&mut self.unasked) {
            UNKNOWN_CHARGE.to_vec()
        } else {
            self.board.poll_notify()?.1
        };
        if let [POSITION, length, ..] = &mut report[..] {
            *length = POSITION_LENGTH;
        }
        report.resize(REPORT, 0);
        Some(report)
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.board.poll_report()
    }

    fn game(&self) -> &Game {
        self.board.game()
    }

    fn shown(&self) -> Option<Move> {
        self.board.shown()
    }

    fn is_at_work(&self) -> bool {
        !self.board.is_settled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chessnut::Settings;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn plugged(now: Instant) -> UsbChessnut {
        let mut board = UsbChessnut::new(Chessnut::new(Settings::default()));
        board.plugged(now);
        board
    }

    fn reports(board: &mut UsbChessnut, now: Instant) -> Vec<Vec<u8>> {
        board.timeout(now);
        std::iter::from_fn(|| board.poll_transmit()).collect()
    }

    #[test]
    fn every_message_is_in_a_report_of_its_own_that_is_filled_up() {
        let now = Instant::now();
        let mut board = plugged(now);
        assert_eq!(reports(&mut board, now + ms(1000)), [[0; 0]; 0]);
        board.received(now + ms(1000), &[0x21, 1, 0]);
        board.received(now + ms(1200), &[0x29, 1, 0]);
        let sent = reports(&mut board, now + ms(1300));
        assert!(sent.iter().all(|report| report.len() == REPORT));
        let begin: Vec<&[u8]> = sent.iter().map(|report| &report[..4]).collect();
        let (acknowledged, charge) = ([0x23, 1, 0, 0], [0x2A, 2, 88, 0]);
        assert!(begin.contains(&&acknowledged[..]), "{begin:?}");
        assert!(begin.contains(&&charge[..]), "{begin:?}");
        // The pieces from h8 on, as in the protocol notes.
        assert!(begin.contains(&&[0x01, 0x3D, 0x58, 0x23][..]), "{begin:?}");
    }

    #[test]
    fn what_comes_too_soon_is_lost_and_a_board_that_was_closed_has_forgotten() {
        let now = Instant::now();
        let mut board = plugged(now);
        board.received(now, &[0x29, 1, 0]);
        board.received(now + ms(199), &[0x21, 1, 0]);
        assert!(matches!(board.poll_report(), Some(Report::Lost(_))));
        board.received(now + ms(400), &[0x21, 1, 0]);
        assert!(!reports(&mut board, now + ms(1000)).is_empty());
        board.plugged(now + ms(1000));
        assert_eq!(reports(&mut board, now + ms(2000)), [[0; 0]; 0]);
        assert_eq!(
            reports(&mut board, now + ms(11_000))[0][..3],
            UNKNOWN_CHARGE[..3]
        );
    }
}
