//! Chessnut boards (Bluetooth LE, USB): Air, Air+, Pro, Go, Move. They sense which piece stands where, and have a lamp in each square;
//! the pieces of a Move have motors.
//!
//! Source: the maker's texts and others' captures, see `PROTOCOL.md`. What shaped this driver:
//!
//! - The board sends its pieces ten times a second, but only after it was asked to, anew on each link.
//! - Its answers do not say what they answer: one command at a time, 0.1 s apart, on USB 0.2 s, and they are counted. Lamps whose
//!   writing is not answered are written once more.
//! - A link that a process has left behind answers, and shows no pieces.

mod codec;
mod drive;
mod identity;
mod settings;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Board};

use self::{
    codec::{
        ANSWERS, BATTERY, BEEP, COMMANDS, Joined, KIND as ASK_KIND, MOVE_BATTERY, Message,
        PIECE_RECORDS, POSITIONS, REAL_TIME, STOP,
    },
    drive::{Drive, Progress},
};
pub use self::{identity::IDENTITY, settings::Settings};
use crate::{
    driver::{
        DriverEvent,
        outbox::{Outbox, Settled},
        sensor::{Said, Wire},
    },
    text::lines::printable,
    vocabulary::{BoardKind, Channel, Outgoing, Reply},
};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("chessnut");
/// The pause after each write. The board may drop what comes within 0.1 s (the maker's app leaves that much); the radio may bring two
/// writes nearer to each other than they were sent.
const GAP: Duration = Duration::from_millis(150);
/// The pause after each write on USB: what the maker's `EasyLinkSDK` leaves (`WRITE_INTERVAL`, 200 ms), and as much more as by radio, for a
/// busy machine may hand two reports over nearer to each other than they were written.
const GAP_ON_USB: Duration = Duration::from_millis(250);
/// A board that has shown no pieces for this long is asked again to. It shows them ten times a second.
const WATCH: Duration = Duration::from_secs(5);
/// One that was asked again and still shows none after this long is silent (chosen: it shows them within 0.1 s of the question, which may
/// wait for others).
const REPLIES: Duration = Duration::from_secs(2);
/// Pieces that are shown sooner after those before have waited on their way, and come together: the board leaves 100 ms between two.
const WAITED: Duration = Duration::from_millis(10);
/// A link without any pieces for this long is opened again: a link left behind by another process never shows any.
const SILENCE: Duration = Duration::from_secs(30);
/// A board that has not said what it is within this time is asked again (chosen: an answer takes less than 0.1 s).
const KIND_WAIT: Duration = Duration::from_secs(5);
/// How often it is asked at most, at the start of a link and each time that the board was silent (chosen). Only a Move answers.
const KIND_TRIES: u8 = 3;
/// A link left behind answers again after this long without one (captured: not after 2 s, but after 8).
const PAUSE: Duration = Duration::from_secs(9);
/// Lamps are written once more unless the board has answered all that it was sent within this time (chosen: an answer takes less
/// than 0.1 s, and a beep may go out 0.25 s after the lamps).
const ANSWER_WAIT: Duration = Duration::from_secs(1);
/// At this percentage the player is told that the battery will not last (chosen: when the board switches off is not known).
const EMPTY: u8 = 5;
/// The charge is asked for this often.
const CHARGE: Duration = Duration::from_mins(5);
/// A board that has taken the command to stop has stopped after this long: it sends its pieces ten times in a second.
const STOPS: Duration = Duration::from_secs(1);
/// Until that command is taken or given up: three tries, 1 s apart, of a request that may wait 5 s.
const LONGEST_STOP: Duration = Duration::from_secs(20);
/// Bytes of an unreadable value that are shown.
const SHOWN: usize = 40;

/// What a request is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The board is useless without it.
    Essential,
    /// Nothing depends on it.
    Plain,
    /// Squares to light: only the last such request counts. `again`: the board may have dropped the one before.
    Lights { again: bool },
    /// Where the pieces are to go: the drive of this number.
    Drive(u32),
    /// The pieces are to stop. What it shows before it has stopped is on the way.
    Stop,
    /// What it is: one such request may wait.
    Kind,
    /// Its charge: one such request may wait.
    Charge,
    /// Where the pieces are: one such request may wait.
    Poll,
}

/// The wire of a Chessnut board. See the module documentation.
#[derive(Debug)]
pub struct Chessnut {
    beeps: bool,
    by_usb: bool,
    motor: bool,
    /// It has said that it is a Move.
    is_move: bool,
    /// Whether it is asked for its pieces with a response the next time.
    confirms: bool,
    /// How often it may still be asked what it is.
    kind_tries: u8,
    /// When to ask it again.
    kind_at: Option<Instant>,
    drive: Option<Drive>,
    /// The number of the last drive.
    drives: u32,
    /// Until then, what it shows may be on the way: it was told to stop.
    stops_until: Option<Instant>,
    outbox: Outbox<Purpose>,
    positions: Joined,
    answers: Joined,
    /// The board has shown its pieces on this link.
    shows: bool,
    /// When it last did.
    shown_at: Option<Instant>,
    /// When it was first to show them again.
    looks: Option<Instant>,
    lit: Bitboard,
    /// Commands that the board has not said to have taken.
    unanswered: u8,
    /// When to write the lamps once more.
    light_at: Option<Instant>,
    /// When to ask again for the pieces.
    look_at: Option<Instant>,
    /// It was asked again, and is silent from then on unless it shows its pieces.
    quiet_at: Option<Instant>,
    /// When the link is given up.
    silent_at: Option<Instant>,
    /// When to ask for the charge.
    charge_at: Option<Instant>,
    hang_up: Option<String>,
    said: VecDeque<Said>,
}

impl Chessnut {
    /// A board of which nothing is known. `beeps`: when it lights squares. `motor`: if it has motors, they are used. `by_usb`: it is no
    /// Bluetooth board.
    pub fn new(beeps: bool, motor: bool, by_usb: bool) -> Self {
        Self {
            beeps,
            by_usb,
            motor,
            is_move: false,
            confirms: false,
            kind_tries: 0,
            kind_at: None,
            drive: None,
            drives: 0,
            stops_until: None,
            outbox: Outbox::spaced(if by_usb { GAP_ON_USB } else { GAP }),
            positions: Joined::positions(),
            answers: Joined::answers(),
            shows: false,
            shown_at: None,
            looks: None,
            lit: Bitboard::EMPTY,
            unanswered: 0,
            light_at: None,
            look_at: None,
            quiet_at: None,
            silent_at: None,
            charge_at: None,
            hang_up: None,
            said: VecDeque::new(),
        }
    }

    fn send(&mut self, command: &[u8], purpose: Purpose) {
        let command = codec::command(self.channel(), command.to_vec());
        self.outbox.push(command, purpose);
    }

    /// Where commands go.
    fn channel(&self) -> Channel {
        if self.by_usb {
            Channel::Hid
        } else {
            Channel::Gatt(COMMANDS)
        }
    }

    /// Sends what a Move takes.
    fn send_confirmed(&mut self, command: &[u8], purpose: Purpose) {
        let command = codec::confirmed(self.channel(), command.to_vec());
        self.outbox.push(command, purpose);
    }

    /// Has the board show its pieces. A Move is asked with a response, as the maker's app does it; others are so only each second time.
    fn ask_pieces(&mut self, purpose: Purpose) {
        let confirms = self.confirms;
        self.confirms = !confirms;
        if self.is_move || confirms && !self.by_usb {
            self.send_confirmed(&REAL_TIME, purpose);
        } else {
            self.send(&REAL_TIME, purpose);
        }
    }

    /// Asks the board what it is, unless it has said it, or was asked often enough.
    fn ask_kind(&mut self, now: Instant) {
        self.kind_at = None;
        if !self.is_move && self.kind_tries > 0 {
            while self.outbox.retract(Purpose::Kind) {}
            // Most boards are no Move, and are written to without a response first.
            if self.kind_tries == KIND_TRIES {
                self.send(&ASK_KIND, Purpose::Kind);
            } else {
                self.send_confirmed(&ASK_KIND, Purpose::Kind);
            }
            self.kind_tries -= 1;
            self.kind_at = Some(now + KIND_WAIT);
        }
    }

    fn write_lights(&mut self, again: bool) {
        for again in [false, true] {
            while self.outbox.retract(Purpose::Lights { again }) {}
        }
        self.light_at = None;
        let purpose = Purpose::Lights { again };
        if self.is_move {
            self.send(&codec::coloured_lights(self.lit), purpose);
        } else {
            self.send(&codec::lights(self.lit), purpose);
        }
    }

    fn ask_charge(&mut self) {
        while self.outbox.retract(Purpose::Charge) {}
        if self.is_move {
            self.send_confirmed(&MOVE_BATTERY, Purpose::Charge);
        } else {
            self.send(&BATTERY, Purpose::Charge);
        }
    }

    /// The board is there.
    fn heard(&mut self, now: Instant) {
        self.look_at = Some(now + WATCH);
        self.quiet_at = None;
        self.silent_at = Some(now + SILENCE);
    }

    fn answers(&mut self) {
        let id = if self.is_move {
            "Chessnut Move"
        } else {
            "Chessnut"
        };
        let id = Some(id.to_owned());
        self.said.push_back(Said::Answers { id });
        self.ask_charge();
    }

    /// Ends a drive whose pieces are not where they were to be.
    fn give_up(&mut self, now: Instant) {
        self.stop(now);
        self.said.push_back(Said::Stuck);
    }

    /// Ends a drive.
    fn stop(&mut self, now: Instant) {
        if self.drive.take().is_some() {
            self.outbox.retract(Purpose::Drive(self.drives));
            self.send_confirmed(&STOP, Purpose::Stop);
            self.stops_until = Some(now + LONGEST_STOP);
        }
    }

    fn message(&mut self, now: Instant, message: Message) {
        match message {
            Message::Position(board) => {
                let was_quiet = self.quiet_at.is_some();
                self.heard(now);
                if !std::mem::replace(&mut self.shows, true) {
                    self.answers();
                } else if was_quiet && self.lit.any() {
                    // It may have slept, and its lamps are dark then.
                    self.light(now, self.lit);
                }
                let before = self.shown_at.replace(now);
                let drive = self.drive.as_mut();
                match drive.map(|drive| drive.shown(now, &board)) {
                    Some(Progress::Arrived) => self.drive = None,
                    Some(Progress::Stopped) => self.give_up(now),
                    Some(Progress::Drives) | None => {}
                }
                let waits = self.drive.as_ref().is_some_and(|drive| !drive.is_taken());
                let stops = self.stops_until.is_some_and(|until| now < until);
                if !waits && !stops {
                    self.stops_until = None;
                    self.said.push_back(Said::Pieces(board));
                    // Those before were shown after the question, and nothing waited between them and these.
                    let looks = self.looks.filter(|since| {
                        before.is_some_and(|at| *since <= at && at + WAITED <= now)
                    });
                    if looks.is_some() {
                        self.looks = None;
                        self.said.push_back(Said::Looked);
                    }
                }
            }
            Message::IsMove => {
                self.kind_at = None;
                // Its lamps take other bytes.
                if !std::mem::replace(&mut self.is_move, true) && self.shows {
                    self.answers();
                }
            }
            Message::Records => {
                if self.drive.is_some() {
                    self.heard(now);
                }
            }
            Message::Battery { percent, charges } => {
                let is_empty = !charges && percent <= EMPTY;
                let event = DriverEvent::Battery { percent, is_empty };
                self.said.push_back(Said::Event(event));
            }
            Message::NewGame => self.said.push_back(Said::Key),
            Message::Taken => {
                // It may be the beep that is answered, and the lamps before it were dropped.
                self.unanswered = self.unanswered.saturating_sub(1);
                self.light_at = self.light_at.filter(|_| self.unanswered > 0);
            }
            Message::Other => {}
        }
    }
}

impl Wire for Chessnut {
    fn link_up(&mut self, now: Instant) {
        self.link_down();
        if !self.by_usb {
            for notifies in [POSITIONS, ANSWERS] {
                let subscribe = codec::subscribe(notifies);
                self.outbox.push(subscribe, Purpose::Essential);
            }
        }
        self.ask_pieces(Purpose::Essential);
        if !self.by_usb {
            // By USB no Move is known.
            self.kind_tries = KIND_TRIES;
            self.ask_kind(now);
        }
        self.heard(now);
        self.charge_at = Some(now + CHARGE);
    }

    fn link_down(&mut self) {
        *self = Self::new(self.beeps, self.motor, self.by_usb);
    }

    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        let whole = match channel {
            Channel::Gatt(POSITIONS) => self.positions.push(bytes),
            Channel::Gatt(ANSWERS) => self.answers.push(bytes),
            Channel::Hid => Some(codec::of_report(bytes).to_vec()),
            Channel::Gatt(_) | Channel::Serial => return,
        };
        let Some(whole) = whole else {
            return;
        };
        if let Some(message) = codec::read(&whole) {
            self.message(now, message);
        } else {
            let event = DriverEvent::Unreadable(printable(&whole, SHOWN));
            self.said.push_back(Said::Event(event));
        }
    }

    fn answered(&mut self, now: Instant, _channel: Channel, outcome: Reply) {
        match self.outbox.answered(now, outcome) {
            Some(Settled::GivenUp(Purpose::Essential | Purpose::Stop, why)) => {
                self.hang_up = Some(format!(
                    "the board rejects the connection ({why}): switch it off and on, and close the maker's app"
                ));
            }
            Some(Settled::GivenUp(Purpose::Drive(number), _))
                if number == self.drives && self.drive.is_some() =>
            {
                self.give_up(now);
            }
            Some(Settled::Done(Purpose::Drive(number))) if number == self.drives => {
                if let Some(drive) = &mut self.drive {
                    drive.taken(now);
                }
            }
            // The link has brought the question to the board, which may be too busy to answer it.
            Some(Settled::Done(Purpose::Poll)) if self.drive.is_some() => self.heard(now),
            Some(Settled::Done(Purpose::Stop)) => self.stops_until = Some(now + STOPS),
            _ => {}
        }
    }

    fn timeout(&mut self, now: Instant) {
        if self.silent_at.take_if(|at| *at <= now).is_some() {
            self.hang_up = Some(
                "the board is connected and does not show its pieces: switch it off and on, and close the maker's app"
                    .to_owned(),
            );
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = Some(now + WATCH);
            self.ask_pieces(Purpose::Plain);
            if self.shows && !self.by_usb {
                // The answer may have been lost with the pieces.
                self.kind_tries = KIND_TRIES;
            }
            self.ask_kind(now);
            self.quiet_at = self.shows.then_some(now + REPLIES);
        }
        // Once it shows its pieces it answers anew.
        if self.quiet_at.take_if(|at| *at <= now).is_some() && std::mem::take(&mut self.shows) {
            self.said.push_back(Said::Event(DriverEvent::Silent));
        }
        if self.kind_at.is_some_and(|at| at <= now) {
            self.ask_kind(now);
        }
        if self.charge_at.is_some_and(|at| at <= now) {
            self.charge_at = Some(now + CHARGE);
            self.ask_charge();
        }
        if self.light_at.take_if(|at| *at <= now).is_some() {
            self.unanswered = 0;
            self.write_lights(true);
        }
        if let Some(drive) = &mut self.drive {
            if drive.is_late(now) {
                self.give_up(now);
            } else if drive.take_poll(now) {
                while self.outbox.retract(Purpose::Poll) {}
                self.send_confirmed(&PIECE_RECORDS, Purpose::Poll);
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let waits = [
            self.look_at,
            self.quiet_at,
            self.silent_at,
            self.charge_at,
            self.kind_at,
            self.light_at,
            self.drive.as_ref().map(Drive::deadline),
            self.outbox.deadline(),
        ];
        waits.into_iter().flatten().min()
    }

    /// It shows its pieces all the time, changed or not. One that has become quiet shows them only when they change.
    fn look(&mut self, now: Instant) -> bool {
        let since = *self.looks.get_or_insert(now);
        let last = self.shown_at.map_or(since, |at| at.max(since));
        let shows = now < last + WATCH;
        if !shows {
            self.looks = None;
        }
        shows
    }

    fn light(&mut self, _now: Instant, squares: Bitboard) {
        let lights_up = self.lit.is_empty() && squares.any();
        self.lit = squares;
        self.write_lights(false);
        if lights_up && self.beeps {
            self.send(&BEEP, Purpose::Plain);
        }
    }

    fn has_motor(&self) -> bool {
        self.motor && self.is_move
    }

    fn drive(&mut self, now: Instant, to: Option<&Board>) {
        // What a board makes of another target while it drives is unknown.
        self.stop(now);
        if let Some(to) = to {
            self.drives = self.drives.wrapping_add(1);
            self.send_confirmed(&codec::drive(to), Purpose::Drive(self.drives));
            self.drive = Some(Drive::new(now, to.clone()));
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let outgoing = self.outbox.poll(now, false)?;
        if codec::is_answered(&outgoing.request) {
            self.unanswered = self.unanswered.saturating_add(1);
        }
        // Whether a Move answers its own is not known.
        if self.outbox.under_way() == Some(Purpose::Lights { again: false }) && !self.is_move {
            self.light_at = Some(now + ANSWER_WAIT);
        }
        Some(outgoing)
    }

    fn poll(&mut self) -> Option<Said> {
        self.said.pop_front()
    }

    fn poll_hang_up(&mut self) -> Option<String> {
        self.hang_up.take()
    }

    fn pause_between_links(&self) -> Duration {
        if self.by_usb { Duration::ZERO } else { PAUSE }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;
    use crate::vocabulary::Request;

    /// What is written for two lit squares: each command's first byte, 150 ms apart. `answers`: whether the board takes the command of
    /// this number.
    fn written(answers: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut board = Chessnut::new(true, false, false);
        let (mut now, mut written) = (Instant::now(), Vec::new());
        board.light(now, [Square::E2, Square::E4].into_iter().collect());
        while written.len() < 9 {
            if let Some(Outgoing { channel, request }) = board.poll_transmit(now) {
                let Request::Command(bytes) = request else {
                    panic!("{request:?}");
                };
                board.answered(now, channel, Reply::Done);
                if answers(written.len()) {
                    board.received(now, Channel::Gatt(ANSWERS), &[0x23, 1, 0]);
                }
                written.push(bytes[0]);
            }
            match board.deadline() {
                Some(at) => now = at,
                None => break,
            }
            board.timeout(now);
        }
        written
    }

    #[test]
    fn lamps_that_the_board_may_have_dropped_are_written_once_more_and_a_beep_answers_for_no_lamps()
    {
        const LAMPS: u8 = 0x0a;
        assert_eq!(written(|_| true), [LAMPS, BEEP[0]]);
        assert_eq!(written(|number| number != 0), [LAMPS, BEEP[0], LAMPS]);
        // A board that never answers.
        assert_eq!(written(|_| false), [LAMPS, BEEP[0], LAMPS]);
    }

    #[test]
    fn one_that_shows_its_pieces_only_when_they_change_is_believed_after_a_while() {
        let mut board = Chessnut::new(false, false, false);
        let now = Instant::now();
        board.link_up(now);
        assert!(board.look(now));
        assert!(board.look(now + WATCH / 2));
        assert!(!board.look(now + WATCH));
    }
}
