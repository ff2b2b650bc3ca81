//! A simulated Chessnut board: it tells the whole position ten times a second, and has a lamp on each square.
//!
//! Where the protocol notes are silent, this board does so:
//! - It answers commands before `21 01 00` too, but sends no positions. Its lamps go out when the link ends.
//! - A reply comes 30 ms after the command.
//! - A Move does not acknowledge `42` and `43`, and takes no notice of `0A` and `1B`. Its pieces set out one after the other; one that
//!   it has no spare of stays away.

mod command;
mod motor;
mod nibbles;
mod obeying;
pub mod profile;
mod settings;
pub mod usb;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Board, Move, Square};
use uuid::Uuid;

pub use self::settings::{Dense, Model, Settings, Tail};
use self::{
    motor::Drive,
    profile::{COMMANDS, POSITIONS, REPLIES},
};
use crate::{
    HandAction, Report,
    game::Game,
    garbage,
    gesture::Touch,
    peripheral::{Peripheral, Profile, Refused},
    pieces::{Order, Pieces},
    radio::RadioBoard,
};

/// Between two position frames (protocol notes: about 10 a second).
const PERIOD: Duration = Duration::from_millis(100);
/// From a command to its reply.
const REPLY_TIME: Duration = Duration::from_millis(30);
/// The minimum time between two writes (protocol notes: 100 ms).
const WRITE_GAP: Duration = Duration::from_millis(100);
/// A long press of the button tells of it twice, with this time between.
const LONG_PRESS: Duration = Duration::from_millis(3200);
/// The message of the button NEW GAME.
const BUTTON: [u8; 3] = [0x0F, 0x01, 0x02];
/// What a notification needs besides its value.
const NOTIFICATION_HEAD: usize = 3;
/// A nibble that means no piece.
const NO_PIECE: u8 = 0x0F;

/// A simulated Chessnut board. See the module documentation.
#[derive(Debug)]
pub struct Chessnut {
    settings: Settings,
    profile: Profile,
    pieces: Pieces,
    on: bool,
    /// When it was switched on, once the time is known.
    since: Option<Instant>,
    connected: bool,
    subscribed: Vec<Uuid>,
    real_time: bool,
    stale: bool,
    /// When the last link ended.
    left: Option<Instant>,
    last_write: Option<Instant>,
    tick: Option<Instant>,
    /// The squares that it sent last, since it was told to send them.
    sent: Option<[u8; nibbles::BYTES]>,
    lamps: Vec<Square>,
    lamp_writes: usize,
    replies: VecDeque<(Instant, Vec<u8>)>,
    drive: Option<Drive>,
    random: fastrand::Rng,
    output: VecDeque<(Uuid, Vec<u8>)>,
    reports: VecDeque<Report>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Touch,
    Driven,
    Reply,
    Tick,
}

impl Chessnut {
    /// A board that is switched on, the pieces on their starting squares.
    pub fn new(settings: Settings) -> Self {
        let name = settings.name.clone();
        let name = name.unwrap_or_else(|| settings.model.name().to_owned());
        Self {
            profile: profile::profile(name, settings.model.family()),
            pieces: Pieces::new(settings.pieces.clone()),
            on: true,
            since: None,
            connected: false,
            subscribed: Vec::new(),
            real_time: false,
            stale: false,
            left: None,
            last_write: None,
            tick: None,
            sent: None,
            lamps: Vec::new(),
            lamp_writes: 0,
            replies: VecDeque::new(),
            drive: None,
            random: fastrand::Rng::with_seed(settings.pieces.seed),
            output: VecDeque::new(),
            reports: VecDeque::new(),
            settings,
        }
    }

    /// Puts the pieces of a game on the board without a touch.
    pub fn found(&mut self, game: Game) {
        self.pieces.found(game);
    }

    /// The pieces and the person.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// The game that the people play.
    pub fn game(&self) -> &Game {
        self.pieces.game()
    }

    /// The move that the lamps show and the person has not executed yet.
    pub fn shown(&self) -> Option<Move> {
        self.pieces.shown()
    }

    /// The true squares whose lamps are on.
    pub fn lamps(&self) -> &[Square] {
        &self.lamps
    }

    /// How many times the lamps were written.
    pub fn lamp_writes(&self) -> usize {
        self.lamp_writes
    }

    /// Whether it is switched on.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether a computer is connected.
    fn is_connected(&self) -> bool {
        self.connected
    }

    /// Whether the motors work.
    pub fn is_driving(&self) -> bool {
        self.drive.is_some()
    }

    /// Whether the person and the motors have nothing to do, and the pieces stand as in the game.
    pub fn is_settled(&self) -> bool {
        self.drive.is_none() && self.pieces.is_settled()
    }

    /// From now on the link is stale: the board answers, but sends no positions until it is switched off and on.
    pub fn go_stale(&mut self) {
        self.stale = true;
    }

    /// The next observable event.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// Gives the person an order.
    pub fn hand(&mut self, now: Instant, order: impl Into<Order>) {
        self.timeout(now);
        match order.into() {
            Order::Do(HandAction::Off) => {
                self.on = false;
                self.drive = None;
                self.pieces.hold(now, false);
                self.hang_up(now);
                self.report(Report::Off);
            }
            Order::Do(HandAction::On { forgetful }) => {
                self.on = true;
                self.stale = false;
                self.since = Some(now);
                self.left = None;
                self.report(Report::On { forgetful });
            }
            Order::Do(HandAction::Garbage(length)) => self.notify(POSITIONS, &garbage(length)),
            // The host controls the radio.
            Order::Do(HandAction::Unplug | HandAction::Plug) => {}
            order => self.pieces.hand(now, order),
        }
        self.timeout(now);
    }

    /// A hand touches a piece at once, even while motors move them.
    pub fn grab(&mut self, now: Instant, touch: Touch) {
        self.timeout(now);
        if self.drive.as_ref().is_some_and(|drive| drive.stops) {
            self.halt(now);
        }
        self.pieces.grab(now, touch);
        self.timeout(now);
    }

    /// The person presses the button NEW GAME. The board itself changes nothing.
    pub fn press_new_game(&mut self, now: Instant, long: bool) {
        self.timeout(now);
        self.notify(REPLIES, &BUTTON);
        if long {
            let at = now + self.scaled(LONG_PRESS);
            self.reply_at(at, BUTTON.to_vec());
        }
    }

    fn scaled(&self, time: Duration) -> Duration {
        time.div_f64(self.settings.speed)
    }

    fn report(&mut self, report: Report) {
        self.reports.push_back(report);
    }

    fn fault(&mut self, what: impl Into<String>) {
        self.report(Report::Fault(what.into()));
    }

    /// Notifies in pieces that fit, if the characteristic is subscribed to.
    fn notify(&mut self, characteristic: Uuid, value: &[u8]) {
        if self.on && self.connected && self.subscribed.contains(&characteristic) {
            let room = self.settings.mtu.saturating_sub(NOTIFICATION_HEAD).max(1);
            for part in value.chunks(room) {
                self.output.push_back((characteristic, part.to_vec()));
            }
        }
    }

    /// Replies at this time; replies keep their order in time.
    fn reply_at(&mut self, at: Instant, reply: Vec<u8>) {
        let place = self.replies.partition_point(|(other, _)| *other <= at);
        self.replies.insert(place, (at, reply));
    }

    /// What the board senses, with its own numbers for the squares.
    fn position(&self) -> [u8; nibbles::BYTES] {
        let board = self.pieces.board();
        nibbles::packed(|square| nibbles::nibble(board.piece_at(self.pieces.numbered(square))))
    }

    fn frame(&mut self, now: Instant) -> Vec<u8> {
        let mut squares = self.position();
        if self.chance(self.settings.spoiled) {
            let index = self.random.usize(..squares.len());
            if let Some(byte) = squares.get_mut(index) {
                *byte |= NO_PIECE;
            }
        }
        let on_for = now.saturating_duration_since(self.since.unwrap_or(now));
        let seconds = u32::try_from(on_for.as_secs()).unwrap_or(u32::MAX);
        let [first, second, ..] = seconds.to_le_bytes();
        let tail = match self.settings.tail {
            Tail::Seconds => seconds.to_le_bytes().to_vec(),
            Tail::Short => vec![first, second],
            Tail::Untold => vec![0, 0],
            Tail::None => Vec::new(),
        };
        let counted = match self.settings.tail {
            Tail::Untold => size_of::<u32>(),
            _ => tail.len(),
        };
        let length = u8::try_from(squares.len() + counted).unwrap_or(u8::MAX);
        let mut frame = vec![0x01, length];
        frame.extend(squares);
        frame.extend(tail);
        frame
    }

    fn chance(&mut self, likely: f64) -> bool {
        likely > 0.0 && self.random.f64() < likely
    }

    /// The board whose squares are numbered as this one numbers them, as it really lies.
    fn lying(&self, numbered: &Board) -> Board {
        let mut board = Board::empty();
        for square in numbered.occupied() {
            if let Some(piece) = numbered.piece_at(square) {
                board.set_piece_at(self.pieces.numbered(square), piece);
            }
        }
        board
    }

    /// The link is gone, and what was said on it is forgotten.
    fn hang_up(&mut self, now: Instant) {
        self.connected = false;
        self.subscribed.clear();
        self.real_time = false;
        self.tick = None;
        self.last_write = None;
        self.replies.clear();
        self.output.clear();
        self.lamps.clear();
        self.pieces.lit(now, Vec::new());
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        [
            (self.pieces.deadline(), Due::Touch),
            (self.drive.as_ref().map(|drive| drive.until), Due::Driven),
            (self.replies.front().map(|(at, _)| *at), Due::Reply),
            (self.tick, Due::Tick),
        ]
        .into_iter()
        .filter_map(|(at, due)| at.map(|at| (at, due)))
        .min()
    }

    fn happen(&mut self, at: Instant, due: Due) {
        match due {
            Due::Touch => self.pieces.timeout(at),
            Due::Driven => self.halt(at),
            Due::Reply => {
                if let Some((_, reply)) = self.replies.pop_front() {
                    self.notify(REPLIES, &reply);
                }
            }
            Due::Tick => {
                self.tick = Some(at + self.scaled(PERIOD));
                let sends = self.real_time && !self.stale && self.drive.is_none();
                let is_new = self.sent != Some(self.position());
                let sends = sends && (is_new || !self.settings.only_changes);
                if sends && !self.chance(self.settings.lost) {
                    self.sent = Some(self.position());
                    let frame = self.frame(at);
                    self.notify(POSITIONS, &frame);
                }
            }
        }
        self.hear(at);
    }

    /// Takes what the person did. The board looks at the pieces by itself.
    fn hear(&mut self, now: Instant) {
        let mut touched = false;
        while self.pieces.poll_change().is_some() {
            touched = true;
        }
        if touched && self.drive.as_ref().is_some_and(|drive| drive.stops) {
            self.drive = None;
            self.pieces.hold(now, false);
        }
        while let Some(report) = self.pieces.poll_report() {
            self.reports.push_back(report);
        }
    }
}

impl Peripheral for Chessnut {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn connected(&mut self, now: Instant) {
        self.timeout(now);
        self.hang_up(now);
        let within = self.settings.stale_within.map(|within| self.scaled(within));
        let soon = |within| self.left.is_some_and(|left| now < left + within);
        self.stale |= within.is_some_and(soon);
        self.connected = self.on;
    }

    fn disconnected(&mut self, now: Instant) {
        self.timeout(now);
        self.hang_up(now);
        self.left = Some(now);
    }

    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool) {
        self.timeout(now);
        self.subscribed.retain(|other| *other != characteristic);
        if ![POSITIONS, REPLIES].contains(&characteristic) {
            self.fault(format!("{characteristic} does not notify"));
        } else if on {
            self.subscribed.push(characteristic);
        }
    }

    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        self.timeout(now);
        self.fault(format!("{characteristic} cannot be read"));
        Err(Refused)
    }

    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        self.timeout(now);
        if !self.connected || characteristic != COMMANDS {
            self.fault(format!("{characteristic} cannot be written"));
            return Err(Refused);
        }
        let gap = self.scaled(WRITE_GAP);
        let dense = self.last_write.is_some_and(|last| now < last + gap);
        self.last_write = Some(now);
        if dense && self.settings.dense != Dense::Taken {
            self.report(Report::Lost(format!("{value:02X?}: too dense")));
            return match self.settings.dense {
                Dense::Refused => Err(Refused),
                Dense::Taken | Dense::Lost => Ok(()),
            };
        }
        self.command(now, value);
        self.timeout(now);
        Ok(())
    }

    fn timeout(&mut self, now: Instant) {
        self.since.get_or_insert(now);
        self.hear(now);
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at <= now) {
            self.happen(at, due);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_due().map(|(at, _)| at)
    }

    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        self.output.pop_front()
    }
}

impl RadioBoard for Chessnut {
    fn order(&mut self, now: Instant, action: HandAction) {
        self.hand(now, action);
    }

    fn look(&mut self) -> Option<Report> {
        self.poll_report()
    }

    fn stands(&self) -> Option<(&Game, bool)> {
        let shown = self.shown().is_some();
        self.is_settled().then(|| (self.game(), shown))
    }
}

#[cfg(test)]
mod tests;
