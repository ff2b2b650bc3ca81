//! The DGT Pegasus (Bluetooth LE). It senses which squares are occupied, and has a lamp in each.
//!
//! Source: recorded traffic of the maker's app and others' notes, see `PROTOCOL.md`. What shaped this driver:
//!
//! - The board is locked until it has a key, which its maker issues: without one it shows no squares.
//! - Commands that come close together are dropped, all of them.
//! - A captured piece may be replaced by the capturing one without its square ever reading empty.
//! - Its lamps go out when one of their squares changes.

mod codec;
mod identity;
mod settings;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::Bitboard;

use self::codec::{ANSWERS, Ask, Message};
pub use self::{
    identity::IDENTITY,
    settings::{DeveloperKey, Settings},
};
use crate::{
    driver::{
        DriverEvent,
        dgt::{MAX_FRAME, cut},
        outbox::{Outbox, Settled},
        sensor::{Said, Wire},
    },
    text::{
        frames::{FRAME_WAIT, Frame, Frames},
        lines::printable,
    },
    vocabulary::{BoardKind, Channel, Outgoing, Reply},
};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("dgt-pegasus");
/// Why a text is not a key.
const NOT_A_KEY: &str = "this is not a key: a key has 12 digits, each of 0 to 9 or A to F";
/// The pause between the commands with which a link begins (recorded: the maker's app leaves 1.5 s).
const GREETING_GAP: Duration = Duration::from_millis(1_500);
/// The pause between later commands. The maker's app asks every second and lights squares besides.
const GAP: Duration = Duration::from_millis(500);
/// After the last change the squares are asked for: so long a piece may slide, or be replaced (document: about 1 s).
const REST: Duration = Duration::from_secs(1);
/// However often they change, they are asked for after this long: that keeps the link.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// How often the squares are asked for at rest. That also keeps the link, which ends after a minute without a command.
const WATCH: Duration = Duration::from_secs(2);
/// A board that has not answered for this long is reported silent. It answers at once.
const SILENT: Duration = Duration::from_secs(10);
/// A link without an answer for this long is opened again.
const DEAD: Duration = Duration::from_secs(30);
/// The charge is asked for this often, as a board that calls it empty is off in about three minutes (document). It also tells each
/// percent that it loses.
const CHARGE: Duration = Duration::from_mins(1);
/// Bytes of garbage that are shown.
const SHOWN: usize = 40;

/// What a request is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The board is useless without it.
    Essential,
    /// The beginning of a link, and its last command.
    Greeting,
    Greeted,
    /// The question for the squares: once is enough.
    Look,
    /// Squares to light: only the last such request counts.
    Lights,
    /// Nothing depends on it.
    Plain,
}

/// In which order the board was greeted on this link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Greeting {
    /// As the maker's app does it.
    AsTheApp,
    /// With the key before anything else: the sources differ.
    KeyFirst,
}

/// The wire of a Pegasus. See the module documentation.
#[derive(Debug)]
pub struct Pegasus {
    key: DeveloperKey,
    greeting: Greeting,
    outbox: Outbox<Purpose>,
    frames: Frames,
    /// When a message that has begun is given up.
    frame_ends: Option<Instant>,
    /// The squares as the board last showed them, with the changes since.
    squares: Option<Bitboard>,
    /// When the last change came.
    changed_at: Option<Instant>,
    number: Option<String>,
    /// It said that it does not accept the key.
    refuses_key: bool,
    answers: bool,
    lit: Bitboard,
    /// A change was missed: the lamps may have gone out, and are to be lit again once the squares are known.
    dark: bool,
    /// When to ask for the squares; `None` while the board is greeted.
    look_at: Option<Instant>,
    /// When they were last asked for.
    asked_at: Option<Instant>,
    /// They are to be shown for [`Wire::look`], and whether the question for that has left.
    looks: Option<bool>,
    /// When to ask for the charge.
    charge_at: Option<Instant>,
    /// When the board is silent unless it says something.
    silent_at: Option<Instant>,
    /// When the link is given up.
    dead_at: Option<Instant>,
    hang_up: Option<String>,
    said: VecDeque<Said>,
}

impl Pegasus {
    /// A board of which nothing is known, with the key that unlocks it.
    pub fn new(key: DeveloperKey) -> Self {
        Self {
            key,
            greeting: Greeting::AsTheApp,
            outbox: Outbox::spaced(GREETING_GAP),
            frames: Frames::new(MAX_FRAME, cut),
            frame_ends: None,
            squares: None,
            changed_at: None,
            number: None,
            refuses_key: false,
            answers: false,
            lit: Bitboard::EMPTY,
            dark: false,
            look_at: None,
            asked_at: None,
            looks: None,
            charge_at: None,
            silent_at: None,
            dead_at: None,
            hang_up: None,
            said: VecDeque::new(),
        }
    }

    fn ask(&mut self, ask: Ask, purpose: Purpose) {
        self.outbox.push(codec::command(vec![ask as u8]), purpose);
    }

    fn unlock(&mut self) {
        if let Some(key) = self.key.bytes() {
            self.outbox.push(codec::unlock(key), Purpose::Greeting);
            self.ask(Ask::KeyState, Purpose::Greeting);
        }
    }

    fn greet(&mut self, greeting: Greeting) {
        self.greeting = greeting;
        self.look_at = None;
        self.outbox.space(GREETING_GAP);
        if greeting == Greeting::KeyFirst {
            self.unlock();
        }
        self.ask(Ask::Idle, Purpose::Greeting);
        if greeting == Greeting::AsTheApp {
            self.unlock();
        }
        self.ask(Ask::Number, Purpose::Greeting);
        // In this order no change is lost: one that comes before the squares is in them.
        self.ask(Ask::Changes, Purpose::Greeting);
        self.ask(Ask::Squares, Purpose::Greeted);
        self.ask(Ask::Battery, Purpose::Plain);
    }

    fn heard(&mut self, now: Instant) {
        self.silent_at = Some(now + SILENT);
        self.dead_at = Some(now + DEAD);
    }

    fn message(&mut self, now: Instant, message: Message) {
        self.heard(now);
        match message {
            Message::Squares(squares) => {
                let changed = self.squares.is_some_and(|before| before != squares);
                if changed && self.changed_at.is_some_and(|at| now < at + REST) {
                    // It may be older than the last change. They are asked for again.
                    return;
                }
                if changed && self.look_at.is_some() {
                    // It did not tell of a change.
                    self.ask(Ask::Changes, Purpose::Plain);
                    self.dark = true;
                }
                if self.dark {
                    self.write_lights();
                }
                self.answer();
                self.show(squares);
                if self.looks.take_if(|asked| *asked).is_some() {
                    self.said.push_back(Said::Looked);
                }
            }
            Message::Change(square, full) => {
                self.changed_at = Some(now);
                let latest = self.asked_at.map_or(now, |at| at + LONGEST_REST);
                self.look_at = self.look_at.map(|_| (now + REST).min(latest.max(now)));
                if let Some(mut squares) = self.squares {
                    squares.set(square, full);
                    self.show(squares);
                }
                // If the move is made by now, other lamps replace these before they are written.
                if self.lit.contains(square) {
                    self.write_lights();
                }
            }
            Message::Locked => self.locked(match self.key.bytes() {
                None => "the board is locked: set `key` to the developer key that DGT has issued to you".to_owned(),
                Some(_) if self.refuses_key => {
                    "the board does not accept the `key`: is it the developer key that DGT has issued to you?".to_owned()
                }
                Some(_) => "the board stays locked: is `key` the developer key that DGT has issued to you? If so, switch the board off and on"
                    .to_owned(),
            }),
            Message::Uncalibrated => self.locked(
                "the board is not calibrated: take all pieces off, and hold its button until d4, d5, e4 and e5 blink".to_owned(),
            ),
            Message::Number(number) => self.number = Some(number),
            Message::Battery { percent, is_empty } => {
                let event = DriverEvent::Battery { percent, is_empty };
                self.said.push_back(Said::Event(event));
            }
            Message::Key(accepted) => self.refuses_key = !accepted,
            Message::Other => {}
        }
    }

    /// The board shows no squares. It is greeted once more in the other order, then given up.
    fn locked(&mut self, why: String) {
        let is_greeted = self.look_at.is_some();
        match self.greeting {
            _ if self.key.bytes().is_none() => self.hang_up = Some(why),
            Greeting::AsTheApp if is_greeted => self.greet(Greeting::KeyFirst),
            Greeting::KeyFirst if is_greeted => self.hang_up = Some(why),
            // The rest of the greeting may change it.
            Greeting::AsTheApp | Greeting::KeyFirst => {}
        }
    }

    /// The board has shown its squares: it can be used.
    fn answer(&mut self) {
        if !std::mem::replace(&mut self.answers, true) {
            let number = self.number.as_ref();
            let number = number.map(|number| format!(", number {number}"));
            let id = format!("DGT Pegasus{}", number.unwrap_or_default());
            self.said.push_back(Said::Answers { id: Some(id) });
        }
    }

    fn show(&mut self, squares: Bitboard) {
        self.squares = Some(squares);
        self.said.push_back(Said::Squares(squares));
    }

    fn ask_squares(&mut self, now: Instant) {
        self.look_at = Some(now + WATCH);
        self.asked_at = Some(now);
        self.outbox.retract(Purpose::Look);
        self.ask(Ask::Squares, Purpose::Look);
    }

    fn write_lights(&mut self) {
        self.dark = false;
        self.outbox.retract(Purpose::Lights);
        let lights = codec::command(codec::lights(self.lit));
        self.outbox.push(lights, Purpose::Lights);
    }

    fn unreadable(&mut self, bytes: &[u8]) {
        let event = DriverEvent::Unreadable(printable(bytes, SHOWN));
        self.said.push_back(Said::Event(event));
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
                    self.look_at = self.look_at.map(|at| at.min(now + REST));
                    self.unreadable(&bytes);
                }
            }
        }
        self.frame_ends = self.frames.is_unfinished().then_some(now + FRAME_WAIT);
    }
}

impl Wire for Pegasus {
    fn link_up(&mut self, now: Instant) {
        self.link_down();
        self.outbox.push(codec::subscribe(), Purpose::Essential);
        self.greet(Greeting::AsTheApp);
        self.charge_at = Some(now + CHARGE);
        self.heard(now);
    }

    fn link_down(&mut self) {
        *self = Self::new(self.key);
    }

    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        if channel == Channel::Gatt(ANSWERS) {
            self.frames.push(bytes);
            self.take_frames(now);
        }
    }

    fn answered(&mut self, now: Instant, _channel: Channel, outcome: Reply) {
        match self.outbox.answered(now, outcome) {
            Some(Settled::GivenUp(Purpose::Essential, why)) => {
                self.hang_up = Some(format!(
                    "the board rejects the connection ({why}): switch it off and on, and close the maker's app"
                ));
            }
            Some(Settled::Done(Purpose::Greeted) | Settled::GivenUp(Purpose::Greeted, _)) => {
                self.outbox.space(GAP);
                self.look_at = Some(now + WATCH);
                self.asked_at = Some(now);
            }
            Some(Settled::Done(Purpose::Look)) => self.looks = self.looks.map(|_| true),
            _ => {}
        }
    }

    fn timeout(&mut self, now: Instant) {
        if self.frame_ends.take_if(|at| *at <= now).is_some() {
            self.frames.give_up();
            self.take_frames(now);
        }
        if self.silent_at.take_if(|at| *at <= now).is_some() {
            self.answers = false;
            self.said.push_back(Said::Event(DriverEvent::Silent));
        }
        if self.dead_at.take_if(|at| *at <= now).is_some() {
            self.hang_up = Some(
                "the board is connected and does not answer: switch it off and on, and close the maker's app".to_owned(),
            );
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.ask_squares(now);
        }
        if self.charge_at.is_some_and(|at| at <= now) {
            self.charge_at = Some(now + CHARGE);
            self.ask(Ask::Battery, Purpose::Plain);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let waits = [
            self.frame_ends,
            self.silent_at,
            self.dead_at,
            self.look_at,
            self.charge_at,
            self.outbox.deadline(),
        ];
        waits.into_iter().flatten().min()
    }

    fn look(&mut self, now: Instant) -> bool {
        let greeted = self.look_at.is_some();
        if greeted {
            self.looks.get_or_insert(false);
            self.ask_squares(now);
        }
        greeted
    }

    fn light(&mut self, _now: Instant, squares: Bitboard) {
        self.lit = squares;
        self.write_lights();
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        self.outbox.poll(now, false)
    }

    fn poll(&mut self) -> Option<Said> {
        self.said.pop_front()
    }

    fn poll_hang_up(&mut self) -> Option<String> {
        self.hang_up.take()
    }
}
