//! The DGT e-board: USB, serial, Bluetooth Classic. It senses which piece stands where.
//!
//! Source: the maker's header file, see `PROTOCOL.md`. What shaped this driver:
//!
//! - The board scans its squares four times a second and reports each change as it finds it: a moved piece may stand on its new square
//!   before it has left the old one. So the changes are followed, and the whole position is asked for when they seem to have ended.
//! - By Bluetooth it scans at half that speed, and runs on a battery.
//! - Its input buffer has ten bytes, and it answers most questions: one at a time, with a pause between.

mod clock;
mod codec;
mod identity;
mod segments;
mod settings;
mod tick;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Board, Square};

pub(super) use self::codec::{HEADER, MAX_FRAME, cut, printable as number_of, square};
use self::{
    clock::{Clock, Heard},
    codec::{Ask, Message},
    tick::Button,
};
pub use self::{
    identity::IDENTITY,
    settings::{Letters, Model, Settings},
};
use crate::{
    driver::{
        DriverEvent, Greeting,
        pacer::Pacer,
        sensor::{Said, Shown, Times, Wire},
    },
    text::{
        frames::{FRAME_WAIT, Frame, Frames},
        lines::printable,
    },
    vocabulary::{BoardKind, Channel, Outgoing},
};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("dgt");
/// The speed of its serial line, in baud (document).
pub const BAUD: u32 = 9600;
/// The pause between two commands: its input buffer has ten bytes (document; the pause is picochess's).
const GAP: Duration = Duration::from_millis(100);
/// The same before a message for the clock: it is longer than the buffer, and the answer to a position takes 0.1 s.
const CLOCK_GAP: Duration = Duration::from_millis(200);
/// How long a scan of the board takes (document: 200 to 250 ms). After garbage the position is asked for then.
const SCAN: Duration = Duration::from_millis(250);
/// How many times as long a scan takes by Bluetooth (document: half the speed).
pub(super) const RADIO_SCANS: u32 = 2;
/// How often a board by Bluetooth is asked for its battery, which lasts for hours.
const BATTERY: Duration = Duration::from_mins(5);
/// A board that has said nothing for this long is asked for its position: a change may have been lost, or the board may be gone.
const WATCH: Duration = Duration::from_secs(2);
/// A board that has not answered for this long is reported silent. It answers within 0.1 s.
const SILENCE: Duration = Duration::from_secs(4);
/// A question for the position that is not answered by then was lost. It is answered within 0.1 s.
const LOST: Duration = Duration::from_secs(1);
/// What the player is told of a clock that cannot be set.
const WRONG_MODE: &str = "the clock cannot show the times of the game: set it to mode 23 (a DGT 3000: mode 25), or read them on the page";
/// What the player is told of a clock that answers the times by an error.
const NO_TIMES: &str = "the clock refuses the times of the game: read them on the page; it is tried again in the next game";
/// What the player is told of a clock that answers a move by an error.
const NO_TEXT: &str =
    "the clock refuses to show moves: read them on the page; it is tried again in the next game";
/// Pictures kept until a position proves them, which is asked for at once: as many as two moves make, see `sensing`. The oldest are dropped.
const MAX_UNPROVEN: usize = 64;
/// Bytes of garbage that are shown.
const SHOWN: usize = 40;

/// The wire of a DGT board. See the module documentation.
#[derive(Debug)]
pub struct Dgt {
    /// By Bluetooth.
    by_radio: bool,
    model: Model,
    frames: Frames,
    /// When a message that has begun is given up.
    frame_ends: Option<Instant>,
    pacer: Pacer<()>,
    /// The pieces as the board last showed them, with the changes since.
    board: Option<Board>,
    /// A position that the changes do not explain, until it comes again.
    doubtful: Option<Board>,
    /// What the board showed by changes since it was told again to send them: it may have missed some before, so that they say nothing
    /// until a position agrees.
    unproven: Option<Vec<Board>>,
    /// When to ask for the position.
    look_at: Option<Instant>,
    /// How often the position was asked for without an answer, and when last.
    unanswered: u32,
    asked_at: Option<Instant>,
    /// So many of the answers are to come until that to [`Wire::look`].
    looks: Option<u32>,
    /// When to ask for the battery.
    battery_at: Option<Instant>,
    /// When the board is silent unless it says something.
    silent_at: Option<Instant>,
    version: Option<(u8, u8)>,
    serial: Option<String>,
    /// The letters of the pieces on the clock: king, queen, rook, bishop, knight.
    letters: Letters,
    clock: Clock,
    /// The squares of the move that is shown.
    ends: Option<[Square; 2]>,
    /// What the lamps of a Revelation II were last told on this link.
    lit: Option<Vec<u8>>,
    answers: bool,
    said: VecDeque<Said>,
}

impl Dgt {
    /// A board of which nothing is known, by Bluetooth or by cable. Its clock shows moves with these letters.
    pub fn new(by_radio: bool, letters: Letters, model: Model) -> Self {
        Self {
            letters,
            clock: Clock::new(model),
            ends: None,
            lit: None,
            by_radio,
            model,
            frames: Frames::new(MAX_FRAME, cut),
            frame_ends: None,
            pacer: Pacer::default(),
            board: None,
            doubtful: None,
            unproven: None,
            look_at: None,
            unanswered: 0,
            asked_at: None,
            looks: None,
            battery_at: None,
            silent_at: None,
            version: None,
            serial: None,
            answers: false,
            said: VecDeque::new(),
        }
    }

    /// How long a scan of the board takes.
    fn scan(&self) -> Duration {
        if self.by_radio {
            SCAN * RADIO_SCANS
        } else {
            SCAN
        }
    }

    fn ask(&mut self, now: Instant, ask: Ask) {
        self.send(now, vec![ask as u8]);
    }

    /// It is to send changes, whether it does already or not.
    fn ask_updates(&mut self, now: Instant) {
        self.ask(now, Ask::Updates);
        self.unproven.get_or_insert_default();
    }

    fn ask_position(&mut self, now: Instant) {
        if self.asked_at.is_some_and(|at| at + LOST <= now) {
            self.unanswered = 0;
        }
        self.asked_at = Some(now);
        self.unanswered = self.unanswered.saturating_add(1);
        self.ask(now, Ask::Position);
    }

    fn send(&mut self, now: Instant, bytes: Vec<u8>) {
        self.pacer.push(now, bytes, (), GAP, Duration::ZERO);
    }

    /// A whole message came.
    fn message(&mut self, now: Instant, message: Message) {
        self.silent_at = Some(now + SILENCE);
        match message {
            Message::Version(major, minor) => {
                let first = self.version.replace((major, minor)).is_none();
                if first {
                    self.ask_updates(now);
                    self.ask(now, Ask::Serial);
                    self.ask_position(now);
                    self.battery_at = self.by_radio.then_some(now);
                }
            }
            Message::Serial(serial) => self.serial = Some(serial),
            Message::Position(board) => {
                self.look_at = Some(now + WATCH);
                self.answer();
                self.tell_clock(now);
                self.positioned(now, board);
            }
            Message::Change(square, piece) => {
                self.look_at = Some(now + WATCH);
                for board in [&mut self.board, &mut self.doubtful].into_iter().flatten() {
                    match piece {
                        Some(piece) => board.set_piece_at(square, piece),
                        None => board.discard_piece_at(square),
                    }
                }
                match (self.board.clone(), &mut self.unproven) {
                    (Some(board), Some(unproven)) => {
                        if unproven.len() == MAX_UNPROVEN {
                            unproven.remove(0);
                        }
                        unproven.push(board);
                    }
                    (Some(board), None) => self.show(board),
                    (None, _) => {}
                }
            }
            Message::Battery(percent) => {
                let event = DriverEvent::Battery {
                    percent,
                    is_empty: false,
                };
                self.said.push_back(Said::Event(event));
            }
            Message::Clock(tick) => {
                let said = match self.clock.ticks(now, tick) {
                    Some(Heard::Button(Button::Ok)) => Some(Said::Key),
                    Some(Heard::Lever) => Some(Said::Lever),
                    Some(Heard::Button(Button::Back)) => Some(Said::BackKey),
                    Some(Heard::WrongMode) => Some(Said::Event(DriverEvent::Trouble(WRONG_MODE))),
                    Some(Heard::RefusesTimes) => Some(Said::Event(DriverEvent::Trouble(NO_TIMES))),
                    Some(Heard::RefusesText) => Some(Said::Event(DriverEvent::Trouble(NO_TEXT))),
                    Some(Heard::Button(Button::Other)) | None => None,
                };
                self.said.extend(said);
                self.tell_clock(now);
            }
            Message::Other => {}
        }
    }

    /// A position came. One that differs from the changes is believed when it comes twice: messages have no checksum.
    fn positioned(&mut self, now: Instant, board: Board) {
        self.unanswered = self.unanswered.saturating_sub(1);
        self.looks = self.looks.map(|answers| answers.saturating_sub(1));
        let agrees = self.board.as_ref() == Some(&board);
        if agrees || self.doubtful.as_ref() == Some(&board) {
            self.doubtful = None;
            let unproven = self.unproven.take().filter(|_| agrees);
            for board in unproven.unwrap_or_default() {
                self.show(board);
            }
            self.show(board);
            if self.looks.take_if(|answers| *answers == 0).is_some() {
                self.said.push_back(Said::Looked);
            }
        } else {
            if self.board.is_some() {
                // It did not tell of a change: it may have been switched off and on.
                self.ask_updates(now);
            }
            self.ask_position(now);
            self.looks = self.looks.map(|_| self.unanswered);
            self.doubtful = Some(board);
        }
    }

    /// Sends the clock what is due.
    fn tell_clock(&mut self, now: Instant) {
        if !self.answers {
            return;
        }
        if self.clock.asks_times(now) {
            self.ask(now, Ask::Clock);
        }
        if let Some(message) = self.clock.next(now) {
            self.pacer.push(now, message, (), CLOCK_GAP, Duration::ZERO);
        }
    }

    /// The board has shown its pieces: it can be used.
    fn answer(&mut self) {
        if !std::mem::replace(&mut self.answers, true) {
            let version = self
                .version
                .map(|(major, minor)| format!(", version {major}.{minor}"));
            let serial = self
                .serial
                .as_ref()
                .map(|serial| format!(", number {serial}"));
            let id = format!(
                "DGT board{}{}",
                version.unwrap_or_default(),
                serial.unwrap_or_default()
            );
            self.said.push_back(Said::Answers { id: Some(id) });
        }
    }

    fn show(&mut self, board: Board) {
        self.said.push_back(Said::Pieces(board.clone()));
        self.board = Some(board);
    }

    fn unreadable(&mut self, bytes: &[u8]) {
        let text = printable(bytes, SHOWN);
        self.said
            .push_back(Said::Event(DriverEvent::Unreadable(text)));
    }

    fn take_frames(&mut self, now: Instant) {
        while let Some(frame) = self.frames.next_frame() {
            match frame {
                Frame::Whole(frame) => match codec::read(&frame) {
                    Some(message) => self.message(now, message),
                    None => self.unreadable(&frame),
                },
                Frame::Garbage(bytes) => {
                    // A change may have been among them.
                    let scanned = now + self.scan();
                    self.look_at = self.look_at.map(|at| at.min(scanned));
                    self.unreadable(&bytes);
                }
            }
        }
        self.frame_ends = self.frames.is_unfinished().then_some(now + FRAME_WAIT);
    }
}

impl Wire for Dgt {
    fn link_up(&mut self, now: Instant) {
        self.link_down();
        self.pacer.link_began(now);
        self.silent_at = Some(now + SILENCE);
        self.look_at = Some(now + WATCH);
        self.ask(now, Ask::Idle);
        self.ask(now, Ask::Version);
    }

    fn link_down(&mut self) {
        let clock = self.clock.anew();
        *self = Self::new(self.by_radio, self.letters, self.model);
        self.clock = clock;
    }

    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        if channel == Channel::Serial {
            self.frames.push(bytes);
            self.take_frames(now);
        }
    }

    fn timeout(&mut self, now: Instant) {
        if self.frame_ends.take_if(|at| *at <= now).is_some() {
            self.frames.give_up();
            self.take_frames(now);
        }
        if self.silent_at.take_if(|at| *at <= now).is_some() {
            self.answers = false;
            self.version = None;
            self.battery_at = None;
            self.clock = self.clock.anew();
            self.lit = None;
            self.said.push_back(Said::Event(DriverEvent::Silent));
        }
        self.tell_clock(now);
        if self.battery_at.is_some_and(|at| at <= now) {
            self.battery_at = Some(now + BATTERY);
            self.ask(now, Ask::Battery);
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = Some(now + WATCH);
            if self.version.is_none() {
                self.ask(now, Ask::Version);
            } else {
                // A board that was switched off and on meanwhile sends no changes.
                self.ask_updates(now);
                self.ask_position(now);
            }
        }
    }

    fn look(&mut self, now: Instant) -> bool {
        self.ask_position(now);
        self.looks.get_or_insert(self.unanswered);
        true
    }

    fn greet(&mut self, now: Instant, on: bool) -> Greeting {
        let greeting = self.clock.greet(on);
        self.tell_clock(now);
        greeting
    }

    fn begins(&mut self, now: Instant) {
        self.clock.begins();
        self.tell_clock(now);
    }

    fn set_clock(&mut self, now: Instant, times: Option<Times>) {
        self.clock.set(now, times);
        self.tell_clock(now);
    }

    fn has_lamps(&self) -> bool {
        self.model == Model::RevelationIi
    }

    fn light(&mut self, now: Instant, squares: Bitboard) {
        if !self.has_lamps() {
            // It would hang.
            return;
        }
        let mut all = squares.into_iter();
        let first = all.next();
        let two = first.map(|first| [first, all.next().unwrap_or(first)]);
        // It lights two squares: of a castling, those of the king.
        let two = self.ends.filter(|_| squares.count() > 2).or(two);
        let (off, message) = (codec::lamps(None), codec::lamps(two));
        if self.lit.as_ref() == Some(&message) {
            return;
        }
        if two.is_some() && self.lit.as_ref() != Some(&off) {
            // Also what was lit on an earlier link.
            self.send(now, off);
        }
        self.send(now, message.clone());
        self.lit = Some(message);
    }

    fn show(&mut self, now: Instant, shown: Option<Shown>) {
        self.ends = shown.as_ref().map(|shown| shown.lights);
        self.clock.show(shown.map(|shown| Shown {
            san: self.letters.in_words(&shown.san),
            ..shown
        }));
        self.tell_clock(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let waits = [
            // A silent board is told nothing.
            self.clock.deadline().filter(|_| self.answers),
            self.frame_ends,
            self.silent_at,
            self.look_at,
            self.battery_at,
            self.pacer.deadline(),
        ];
        waits.into_iter().flatten().min()
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let (bytes, ()) = self.pacer.poll(now)?;
        Some(Outgoing::serial(bytes))
    }

    fn poll(&mut self) -> Option<Said> {
        self.said.pop_front()
    }
}
