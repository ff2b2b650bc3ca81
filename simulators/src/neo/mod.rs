//! A simulated Miko Neo: a radio board that senses squares, not pieces, and moves pieces by a motor under the board.
//!
//! [`Neo`] is the board and, as for the other boards, the person at it: [`Neo::hand`] gives the person orders, and the
//! person touches pieces as people do. [`Table`] is the true placement of the pieces. A write that no real board
//! was ever seen to understand, and every path that would topple a piece, is a [`Report::Fault`].

mod hand;
mod message;
mod motor;
mod path;
pub mod profile;
mod settings;
mod spot;
mod table;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Bitboard, Move, Square};
use uuid::Uuid;

pub use hand::Hand;
pub use path::Path;
pub use settings::Settings;
pub use spot::{PARKING, Spot};
pub use table::Table;

use self::{
    hand::Ending,
    message::Message,
    motor::Drive,
    profile::{ANSWERS, BATTERY, EVENTS, GAME_SETTING, OCCUPANCY, PATHS, REQUESTS, SIGNS},
};
use super::{
    HandAction, Report,
    gesture::Step,
    peripheral::{Flags, Peripheral, Profile, Refused},
    radio::RadioBoard,
};
use crate::game::Game;

/// Between two occupancy strings, ms (captured, in their proportions).
const PERIODS: [u64; 6] = [2040, 2010, 2010, 2040, 1830, 1860];
/// From the motor's `OK` to a string (captured: 0.18 to 0.21 s).
const AFTER_OK: Duration = Duration::from_millis(190);
/// Between two unsolicited messages about the battery (captured: 122 s).
const BATTERY_PERIOD: Duration = Duration::from_secs(122);
/// The battery, per cent and as the board writes its voltage (captured together).
const BATTERY_LEVEL: (u8, &str) = (76, "4#3792.00*");
/// The address, as in the captures.
const ADDRESS: &str = "1#XX:XX:XX:XX:XX:XX*";
/// A square this near to the path of the carriage or of a piece may get stuck. In the captured game g7 did, 0.7 squares
/// from the path, and f6 and d7, on which the carriage had stood.
const STUCK_REACH: f64 = 0.8;

/// A simulated Neo.
#[derive(Debug)]
pub struct Neo {
    settings: Settings,
    profile: Profile,
    values: Vec<(Uuid, Vec<u8>)>,
    on: bool,
    connected: bool,
    subscribed: Vec<Uuid>,
    table: Table,
    stuck: Bitboard,
    carriage: Spot,
    drive: Option<Drive>,
    /// When the next string is due, the one after an `OK`, and the next battery message.
    tick: Option<Instant>,
    extra: Option<Instant>,
    battery: Option<Instant>,
    lamps: Vec<Square>,
    /// The game as the person knows it.
    game: Game,
    shown: Option<Move>,
    executes_at: Option<Instant>,
    missing: Option<(Instant, Square)>,
    orders: VecDeque<Hand>,
    script: VecDeque<(Instant, Step)>,
    ending: Option<Ending>,
    rng: fastrand::Rng,
    output: VecDeque<(Uuid, Vec<u8>)>,
    reports: VecDeque<Report>,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Step,
    Driven,
    Tick,
    Extra,
    Battery,
    Execute,
    Missing,
}

impl Neo {
    /// A board that is switched on, the pieces on their starting squares.
    pub fn new(settings: Settings) -> Self {
        let profile = profile::profile(format!("Square Off Neo - {}", settings.suffix));
        let game = Game::standard();
        let table = Table::new(board_of(&game));
        let rng = fastrand::Rng::with_seed(settings.seed);
        Self {
            settings,
            profile,
            values: profile::values(),
            on: true,
            connected: false,
            subscribed: Vec::new(),
            table,
            stuck: Bitboard::EMPTY,
            carriage: Spot { x: 0, y: 0 },
            drive: None,
            tick: None,
            extra: None,
            battery: None,
            lamps: Vec::new(),
            game,
            shown: None,
            executes_at: None,
            missing: None,
            orders: VecDeque::new(),
            script: VecDeque::new(),
            ending: None,
            rng,
            output: VecDeque::new(),
            reports: VecDeque::new(),
        }
    }

    /// Sets the placement and the game silently: a board found with a game on it.
    pub fn found(&mut self, game: Game) {
        self.table = Table::new(board_of(&game));
        self.game = game;
        self.stuck = Bitboard::EMPTY;
    }

    /// The true placement of the pieces.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What the sensors read, faults included.
    pub fn occupancy(&self) -> Bitboard {
        self.table.board().occupied() & !self.stuck
    }

    /// From now on this square reads empty, until its piece is lifted or moved.
    pub fn stick(&mut self, square: Square) {
        self.stuck.add(square);
    }

    /// The game as the person knows it.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The move that the lamps show and the person has not executed yet.
    pub fn shown(&self) -> Option<Move> {
        self.shown
    }

    /// The lamps that are lit.
    pub fn lamps(&self) -> &[Square] {
        &self.lamps
    }

    /// Whether the motor moves.
    pub fn is_driving(&self) -> bool {
        self.drive.is_some()
    }

    /// Whether the person is doing something, or will be.
    pub fn is_at_work(&self) -> bool {
        !self.script.is_empty() || !self.orders.is_empty()
    }

    /// Whether it is switched on. A host stops advertising a board that is off.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether nothing moves, the person has nothing to do, and the pieces stand as in [`Self::game`].
    pub fn is_settled(&self) -> bool {
        self.drive.is_none()
            && self.script.is_empty()
            && self.orders.is_empty()
            && self.executes_at.is_none()
            && *self.table.board() == board_of(&self.game)
    }

    /// The next observable event.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
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

    /// Notifies if the characteristic is subscribed to.
    fn notify(&mut self, characteristic: Uuid, value: &[u8]) {
        if self.on && self.subscribed.contains(&characteristic) {
            self.output.push_back((characteristic, value.to_vec()));
        }
    }

    /// 64 ones and zeroes, a1 to a8, b1 to b8 and so on (document, characteristic 777ac5a4).
    fn string(&self) -> String {
        let occupied = self.occupancy();
        (0..64u32)
            .map(|index| {
                let square = Square::new((index % 8) * 8 + index / 8);
                if occupied.contains(square) { '1' } else { '0' }
            })
            .collect()
    }

    fn say_occupancy(&mut self) {
        if self.drive.is_none() {
            let string = self.string();
            self.notify(OCCUPANCY, string.as_bytes());
        }
    }

    fn chance(&mut self, likely: f64) -> bool {
        likely > 0.0 && self.rng.f64() < likely
    }

    fn understood(&mut self, now: Instant, message: Message) {
        match message {
            Message::Address => self.notify(ANSWERS, ADDRESS.as_bytes()),
            Message::Battery => self.notify(ANSWERS, BATTERY_LEVEL.1.as_bytes()),
            Message::Occupancy => {
                let answer = format!("30#{}*", self.string());
                self.notify(ANSWERS, answer.as_bytes());
            }
            Message::NewGame => self.report(Report::NewGame),
            Message::Unknown => {}
            Message::Lamps(squares) => self.lit(now, squares),
            Message::Sign(sign) => self.report(Report::Sign(sign.to_owned())),
            Message::OlderSign(sign) if self.settings.older_signs => {
                self.report(Report::Sign(sign.to_owned()));
            }
            Message::OlderSign(sign) => self.fault(format!("an older sign: 27#{sign}*")),
            Message::Missing(square) => {
                // A stuck square lacks no piece, but a program cannot know.
                if self.occupancy().contains(square) {
                    self.fault(format!("{square} lacks no piece"));
                }
                self.report(Report::Missing(square));
                if let Some(delay) = self.settings.hand_delay {
                    self.missing.get_or_insert((now + delay, square));
                }
            }
        }
    }

    fn drive(&mut self, now: Instant, text: &str) {
        let path = match Path::parse(text) {
            Ok(path) => path,
            Err(what) => {
                self.fault(what);
                return;
            }
        };
        let obstacle = self.table.obstacle(&path);
        let fails = obstacle.is_some();
        if let Some(what) = obstacle {
            self.fault(what);
        }
        let until = now + self.scaled(motor::duration(self.carriage, &path));
        self.drive = Some(Drive {
            path,
            fails,
            until,
            start: self.carriage,
        });
    }

    fn driven(&mut self, now: Instant) {
        let Some(drive) = self.drive.take() else {
            return;
        };
        self.carriage = drive.path.to;
        if !drive.fails {
            self.table.carry(&drive.path);
            for square in Table::squares(&drive.path) {
                self.stuck.discard(square);
            }
            for square in self.table.board().occupied() {
                let near = drive.distance(Spot::from(square).centre()) < STUCK_REACH;
                if near && self.chance(self.settings.stuck_motor) {
                    self.stuck.add(square);
                }
            }
            self.report(Report::Carried(drive.path.from, drive.path.to));
        }
        self.notify(EVENTS, b"OK");
        self.extra = Some(now + self.scaled(AFTER_OK));
        self.learn();
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        [
            (self.script.front().map(|(at, _)| *at), Due::Step),
            (self.drive.as_ref().map(|drive| drive.until), Due::Driven),
            (self.tick, Due::Tick),
            (self.extra, Due::Extra),
            (self.battery, Due::Battery),
            (self.executes_at, Due::Execute),
            (self.missing.map(|(at, _)| at), Due::Missing),
        ]
        .into_iter()
        .filter_map(|(at, due)| at.map(|at| (at, due)))
        .min()
    }

    fn happen(&mut self, at: Instant, due: Due) {
        match due {
            Due::Step => self.step(),
            Due::Driven => self.driven(at),
            Due::Tick => {
                let period = PERIODS[self.rng.usize(..PERIODS.len())];
                self.tick = Some(at + self.scaled(Duration::from_millis(period)));
                self.say_occupancy();
            }
            Due::Extra => {
                self.extra = None;
                self.say_occupancy();
            }
            Due::Battery => {
                self.battery = Some(at + self.scaled(BATTERY_PERIOD));
                self.notify(ANSWERS, BATTERY_LEVEL.1.as_bytes());
                self.notify(BATTERY, &[BATTERY_LEVEL.0]);
            }
            Due::Execute => {
                self.executes_at = None;
                if self.shown.is_some() {
                    self.orders.push_back(Hand::Board(HandAction::Execute));
                }
            }
            Due::Missing => self.put_missing(),
        }
    }

    fn flags(&self, characteristic: Uuid) -> Option<Flags> {
        self.profile
            .services
            .iter()
            .flat_map(|service| &service.characteristics)
            .find(|known| known.uuid == characteristic)
            .map(|known| known.flags)
    }

    fn silence(&mut self) {
        self.connected = false;
        self.subscribed.clear();
        self.output.clear();
        self.tick = None;
        self.extra = None;
        self.battery = None;
    }
}

fn board_of(game: &Game) -> shakmaty::Board {
    use shakmaty::Position;
    game.position().board().clone()
}

impl Peripheral for Neo {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn connected(&mut self, now: Instant) {
        self.timeout(now);
        self.silence();
        self.connected = self.on;
        let first = self.rng.u64(200..PERIODS[0]);
        self.tick = Some(now + self.scaled(Duration::from_millis(first)));
        self.battery = Some(now + self.scaled(BATTERY_PERIOD));
    }

    /// The motor continues.
    fn disconnected(&mut self, now: Instant) {
        self.timeout(now);
        self.silence();
    }

    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool) {
        self.timeout(now);
        self.subscribed.retain(|other| *other != characteristic);
        if !self.flags(characteristic).is_some_and(|flags| flags.notify) {
            self.fault(format!("{characteristic} does not notify"));
        } else if on {
            self.subscribed.push(characteristic);
        }
    }

    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        self.timeout(now);
        let readable = self.flags(characteristic).is_some_and(|flags| flags.read);
        if !self.connected || !readable {
            self.fault(format!("{characteristic} cannot be read"));
            return Err(Refused);
        }
        if characteristic == BATTERY {
            return Ok(vec![BATTERY_LEVEL.0]);
        }
        self.values
            .iter()
            .find(|(known, _)| *known == characteristic)
            .map(|(_, value)| value.clone())
            .ok_or(Refused)
    }

    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        self.timeout(now);
        let writable = self.flags(characteristic).is_some_and(|flags| flags.write);
        if !self.connected || !writable {
            self.fault(format!("{characteristic} cannot be written"));
            return Err(Refused);
        }
        let Ok(text) = std::str::from_utf8(value) else {
            self.fault(format!("{characteristic}: no text"));
            return Ok(());
        };
        if self.drive.is_some() && (self.settings.strict || characteristic == PATHS) {
            self.fault(format!("written while the motor is busy: {text}"));
            return Ok(());
        }
        let message = match characteristic {
            PATHS => {
                self.drive(now, text);
                return Ok(());
            }
            GAME_SETTING if text == "0" => {
                self.values
                    .iter_mut()
                    .filter(|(known, _)| *known == characteristic)
                    .for_each(|(_, known)| *known = value.to_vec());
                return Ok(());
            }
            REQUESTS => message::request(text),
            SIGNS => message::state(text),
            _ => None,
        };
        match message {
            Some(message) => self.understood(now, message),
            None => self.fault(format!("not understood: {text}")),
        }
        Ok(())
    }

    fn timeout(&mut self, now: Instant) {
        self.begin(now);
        while let Some((at, due)) = self.next_due() {
            if at > now {
                return;
            }
            self.happen(at, due);
            self.begin(at);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_due().map(|(at, _)| at)
    }

    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        self.output.pop_front()
    }
}

impl RadioBoard for Neo {
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
