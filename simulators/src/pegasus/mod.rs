//! A simulated DGT Pegasus: a radio board that senses squares, not pieces, and has a lamp on each.
//!
//! Where the protocol notes are silent, this board does so:
//! - Each link begins locked, and tells no changes. The last key counts. A locked board does not light its lamps, and
//!   answers everything else.
//! - An answer comes 30 ms after the command is obeyed. Each write begins with a command; only a board that takes
//!   [dense](Dense) commands obeys a second one in the same write.
//! - Only what is written keeps the link. Its lamps go out when the link ends.
//! - When a lit square changes, all lamps go out. The person remembers what lamps showed that went out by themselves,
//!   until others are lit or the program turns them off.

mod answer;
mod battery;
mod command;
mod lamps;
mod obeying;
pub mod profile;
mod sensors;
mod settings;
mod square;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Move, Square};
use uuid::Uuid;

pub use self::settings::{Dense, KEY, KEY_BYTES, Settings};
use self::{
    answer::message,
    profile::{ANSWERS, COMMANDS},
    sensors::Sensors,
};
use crate::{
    HandAction, Report,
    game::Game,
    garbage,
    peripheral::{Peripheral, Profile, Refused},
    pieces::{Order, Pieces},
    radio::RadioBoard,
};

/// The bytes of a notification (protocol notes: answers are cut to 20).
const NOTIFICATION: usize = 20;
/// From a command to its answer.
const REPLY_TIME: Duration = Duration::from_millis(30);
/// The minimum time between two commands (protocol notes: 0.3 s).
const COMMAND_GAP: Duration = Duration::from_millis(300);
/// After this silence the board ends the link (protocol notes: about 1 minute).
const SILENCE: Duration = Duration::from_mins(1);

/// A simulated Pegasus. See the module documentation.
#[derive(Debug)]
pub struct Pegasus {
    settings: Settings,
    profile: Profile,
    pieces: Pieces,
    sensors: Sensors,
    on: bool,
    connected: bool,
    subscribed: bool,
    hangs_up: bool,
    unlocked: bool,
    tells_changes: bool,
    last_write: Option<Instant>,
    /// When the link ends if nothing is written.
    silent_at: Option<Instant>,
    /// A write that is obeyed unless another follows too closely.
    held: Option<(Instant, Vec<u8>)>,
    replies: VecDeque<(Instant, Vec<u8>)>,
    lamps: Vec<Square>,
    lamp_writes: usize,
    /// When the lamps go out by themselves.
    dark_at: Option<Instant>,
    /// When the battery loses or gains one per cent.
    drains_at: Option<Instant>,
    output: VecDeque<Vec<u8>>,
    reports: VecDeque<Report>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Touch,
    Sensor,
    Command,
    Reply,
    Dark,
    Drain,
    Silence,
}

impl Pegasus {
    /// A board that is switched on, the pieces on their starting squares.
    pub fn new(settings: Settings) -> Self {
        let pieces = Pieces::new(settings.pieces.clone());
        let hides = settings.hides_captures.then_some(settings.pieces.speed);
        Self {
            profile: profile::profile(settings.name.clone()),
            sensors: Sensors::new(pieces.board().occupied(), hides),
            pieces,
            on: true,
            connected: false,
            subscribed: false,
            hangs_up: false,
            unlocked: false,
            tells_changes: false,
            last_write: None,
            silent_at: None,
            held: None,
            replies: VecDeque::new(),
            lamps: Vec::new(),
            lamp_writes: 0,
            dark_at: None,
            drains_at: None,
            output: VecDeque::new(),
            reports: VecDeque::new(),
            settings,
        }
    }

    /// Puts the pieces of a game on the board without a touch.
    pub fn found(&mut self, game: Game) {
        self.pieces.found(game);
        self.sensors.found(self.pieces.board().occupied());
    }

    /// The pieces and the person.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// The game that the people play.
    pub fn game(&self) -> &Game {
        self.pieces.game()
    }

    /// The move that the lamps showed last and the person has not executed yet.
    pub fn shown(&self) -> Option<Move> {
        self.pieces.shown()
    }

    /// The true squares that the sensors see occupied.
    pub fn occupancy(&self) -> Bitboard {
        self.sensors.occupied()
    }

    /// The true squares whose lamps are on, in the order in which they were written.
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

    /// Whether the key was accepted on this link.
    pub fn is_unlocked(&self) -> bool {
        self.unlocked
    }

    /// Whether the person has nothing to do, and the pieces stand as in the game.
    pub fn is_settled(&self) -> bool {
        self.pieces.is_settled()
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
                self.hangs_up = self.connected;
                self.forget_link(now);
                self.report(Report::Off);
            }
            Order::Do(HandAction::On { forgetful }) => {
                self.on = true;
                self.report(Report::On { forgetful });
            }
            Order::Do(HandAction::Garbage(length)) => self.send(&garbage(length)),
            // The host controls the radio.
            Order::Do(HandAction::Unplug | HandAction::Plug) => {}
            order => self.pieces.hand(now, order),
        }
        self.timeout(now);
    }

    /// The battery has this level from now on, per cent. The board tells so unasked if that is another one.
    pub fn set_battery(&mut self, now: Instant, level: u8) {
        self.timeout(now);
        let level = level.min(battery::FULL);
        if level != self.settings.battery {
            self.settings.battery = level;
            self.tell_battery();
        }
    }

    /// The person connects or disconnects the charger.
    pub fn set_charging(&mut self, now: Instant, charging: bool) {
        self.timeout(now);
        self.settings.charging = charging;
    }

    fn tell_battery(&mut self) {
        let data = battery::data(self.settings.battery, self.settings.charging);
        self.send(&message(answer::BATTERY, &data));
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

    fn lose(&mut self, written: &[u8]) {
        self.report(Report::Lost(format!("{written:02X?}: too dense")));
    }

    /// Notifies in parts.
    fn send(&mut self, bytes: &[u8]) {
        if self.connected && self.subscribed {
            let parts = bytes.chunks(NOTIFICATION).map(<[u8]>::to_vec);
            self.output.extend(parts);
        }
    }

    /// The link is gone, and what was said on it is forgotten.
    fn forget_link(&mut self, now: Instant) {
        self.connected = false;
        self.subscribed = false;
        self.unlocked = false;
        self.tells_changes = false;
        self.last_write = None;
        self.silent_at = None;
        self.held = None;
        self.replies.clear();
        self.output.clear();
        self.go_dark();
        self.pieces.lit(now, Vec::new());
    }

    /// The lamps go out by themselves.
    fn go_dark(&mut self) {
        self.dark_at = None;
        if !self.lamps.is_empty() {
            self.lamps.clear();
            self.report(Report::Lit(Vec::new()));
        }
    }

    fn written(&mut self, now: Instant, value: &[u8]) {
        let gap = self.scaled(COMMAND_GAP);
        let dense = self.last_write.is_some_and(|last| now < last + gap);
        self.last_write = Some(now);
        match self.settings.dense {
            Dense::Taken => self.obey(now, value, true),
            Dense::LaterLost if dense => self.lose(value),
            Dense::LaterLost => self.obey(now, value, false),
            Dense::AllLost if dense => {
                if let Some((_, first)) = self.held.take() {
                    self.lose(&first);
                }
                self.lose(value);
            }
            Dense::AllLost if command::read(value).is_some_and(|(_, rest)| !rest.is_empty()) => {
                self.lose(value);
            }
            Dense::AllLost => self.held = Some((now + gap, value.to_vec())),
        }
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        [
            (self.pieces.deadline(), Due::Touch),
            (self.sensors.deadline(), Due::Sensor),
            (self.held.as_ref().map(|(at, _)| *at), Due::Command),
            (self.replies.front().map(|(at, _)| *at), Due::Reply),
            (self.dark_at, Due::Dark),
            (self.drains_at, Due::Drain),
            (self.silent_at, Due::Silence),
        ]
        .into_iter()
        .filter_map(|(at, due)| at.map(|at| (at, due)))
        .min()
    }

    fn happen(&mut self, at: Instant, due: Due) {
        match due {
            Due::Touch => self.pieces.timeout(at),
            Due::Sensor => self.sensors.timeout(at),
            Due::Command => {
                if let Some((_, value)) = self.held.take() {
                    self.obey(at, &value, false);
                }
            }
            Due::Reply => {
                if let Some((_, reply)) = self.replies.pop_front() {
                    self.send(&reply);
                }
            }
            Due::Dark => self.go_dark(),
            Due::Drain => self.drain(at),
            Due::Silence => {
                self.hangs_up = true;
                self.forget_link(at);
                self.report(Report::HungUp);
            }
        }
        self.sense();
    }

    /// The battery loses one per cent, or gains it.
    fn drain(&mut self, at: Instant) {
        self.drains_at = None;
        self.wind(at);
        let Settings {
            battery, charging, ..
        } = self.settings;
        let next = if charging {
            battery.saturating_add(1).min(battery::FULL)
        } else {
            battery.saturating_sub(1)
        };
        if next != battery {
            self.settings.battery = next;
            self.tell_battery();
        }
    }

    /// Lets the battery drain from when the time is first known.
    fn wind(&mut self, now: Instant) {
        if self.drains_at.is_none() {
            self.drains_at = self.settings.drain.map(|drain| now + self.scaled(drain));
        }
    }

    /// Takes what the person did, and tells what the sensors see of it.
    fn sense(&mut self) {
        while let Some(change) = self.pieces.poll_change() {
            self.sensors.change(change);
        }
        while let Some((square, occupied)) = self.sensors.poll_seen() {
            if self.tells_changes && self.unlocked && self.settings.calibrated {
                let number = square::number(self.pieces.numbered(square));
                self.send(&message(answer::CHANGE, &[number, u8::from(occupied)]));
            }
            if self.lamps.contains(&square) {
                self.go_dark();
            }
        }
        while let Some(report) = self.pieces.poll_report() {
            self.reports.push_back(report);
        }
    }
}

impl Peripheral for Pegasus {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn connected(&mut self, now: Instant) {
        self.timeout(now);
        self.forget_link(now);
        self.hangs_up = !self.on;
        self.connected = self.on;
        self.silent_at = self.on.then(|| now + self.scaled(SILENCE));
        self.timeout(now);
    }

    fn disconnected(&mut self, now: Instant) {
        self.timeout(now);
        self.forget_link(now);
        self.hangs_up = false;
        self.timeout(now);
    }

    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool) {
        self.timeout(now);
        if characteristic == ANSWERS {
            self.subscribed = on;
        } else {
            self.fault(format!("{characteristic} does not notify"));
        }
    }

    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        self.timeout(now);
        self.fault(format!("{characteristic} cannot be read"));
        Err(Refused)
    }

    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        self.timeout(now);
        if characteristic != COMMANDS {
            self.fault(format!("{characteristic} cannot be written"));
            return Err(Refused);
        }
        if !self.connected {
            self.report(Report::Lost(format!("{value:02X?}: there is no link")));
            return Err(Refused);
        }
        self.silent_at = Some(now + self.scaled(SILENCE));
        self.written(now, value);
        self.timeout(now);
        Ok(())
    }

    fn timeout(&mut self, now: Instant) {
        self.wind(now);
        self.sense();
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at <= now) {
            self.happen(at, due);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_due().map(|(at, _)| at)
    }

    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        self.output.pop_front().map(|part| (ANSWERS, part))
    }

    fn hangs_up(&mut self) -> bool {
        std::mem::take(&mut self.hangs_up)
    }
}

impl RadioBoard for Pegasus {
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
