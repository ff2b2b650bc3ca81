//! A simulated DGT e-board: it senses every piece, and has no lamps. The Revelation II has.
//!
//! Where the protocol notes are silent, this board does so:
//! - Bytes arrive at 9600 baud. The board reads while it is idle; after a command it does not read for 20 ms and
//!   for as long as its answer takes, and its buffer of ten bytes drops what is too much.
//! - Fields are scanned one after the other, in every mode. A change that the scan finds in a mode without updates is
//!   not told later. `42` answers with what the last scan found.
//! - A board that is switched on wakes in bus mode; opening its line changes nothing.
//! - A message that is not complete is dropped when the next byte comes more than half a second later.

mod answer;
pub mod clock;
mod command;
mod field;
mod obeying;
mod scan;
mod segments;
mod settings;
mod wire;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Move, Square};

pub use self::settings::{Model, Settings};
use self::{
    clock::{Ack, Button, Clock, Side},
    command::{Command, Commands},
    field::FIELDS,
    scan::Scan,
    wire::{BYTE_TIME, Wire},
};
use crate::{
    HandAction, Report, SimulatedBoard,
    game::Game,
    garbage,
    pieces::{Order, Pieces},
};

/// How long a command keeps the board busy, without its answer. With a dump's 70 ms it makes the 0.1 s that picochess
/// leaves between commands.
const COMMAND_TIME: Duration = Duration::from_millis(20);
/// After this silence a message that was begun is not continued.
const MESSAGE_WAIT: Duration = Duration::from_millis(500);
/// After an acknowledgement, clock messages may repeat it for so long (protocol notes: about 1 s).
const ACK_REPEATS: Duration = Duration::from_secs(1);
/// Between two messages about the clock, and what a clock counts.
const SECOND: Duration = Duration::from_secs(1);
/// How much slower a scan over Bluetooth is (protocol notes: half speed).
const BLUETOOTH_ROUNDS: u32 = 2;
/// What the board sends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing; it waits for a command to a single board.
    Bus,
    /// Nothing.
    Idle,
    /// Changes of fields.
    Fields,
    /// Changes of fields, and the clock every second.
    FieldsAndClock,
    /// Changes of fields, and the clock when it changes.
    Nice,
}

impl Mode {
    fn has_fields(self) -> bool {
        matches!(self, Self::Fields | Self::FieldsAndClock | Self::Nice)
    }

    fn has_clock(self) -> bool {
        matches!(self, Self::FieldsAndClock | Self::Nice)
    }
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Touch,
    Byte,
    Read,
    Scan,
    Ack,
    Second,
}

/// A simulated DGT board. See the module documentation.
#[derive(Debug)]
pub struct Dgt {
    settings: Settings,
    pieces: Pieces,
    on: bool,
    /// A command has destroyed its program.
    bricked: bool,
    mode: Mode,
    scan: Option<Scan>,
    wire: Wire,
    commands: Commands,
    last_byte: Option<Instant>,
    /// It does not read until then.
    busy_until: Option<Instant>,
    hangs_until: Option<Instant>,
    clock: Option<Clock>,
    ack: Option<(Instant, Ack)>,
    acknowledged: Option<(Instant, Ack)>,
    second: Option<Instant>,
    lamps: Vec<u8>,
    random: fastrand::Rng,
    output: VecDeque<Vec<u8>>,
    reports: VecDeque<Report>,
}

impl Dgt {
    /// A board that is switched on, the pieces on their starting squares.
    pub fn new(settings: Settings) -> Self {
        Self {
            pieces: Pieces::new(settings.pieces.clone()),
            on: true,
            bricked: false,
            mode: Mode::Bus,
            scan: None,
            wire: Wire::default(),
            commands: Commands::default(),
            last_byte: None,
            busy_until: None,
            hangs_until: None,
            clock: settings.clock.map(Clock::new),
            ack: None,
            acknowledged: None,
            second: None,
            lamps: Vec::new(),
            random: fastrand::Rng::with_seed(settings.pieces.seed),
            output: VecDeque::new(),
            reports: VecDeque::new(),
            settings,
        }
    }

    /// Puts the pieces of a game on the board before it is switched on.
    pub fn found(&mut self, game: Game) {
        self.pieces.found(game);
        self.scan = None;
    }

    /// The pieces and the person.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Gives the person an order.
    pub fn order(&mut self, now: Instant, order: impl Into<Order>) {
        self.timeout(now);
        self.pieces.hand(now, order);
        self.timeout(now);
    }

    /// The person hears of a move that the board cannot show, and executes it like a shown one.
    pub fn tell(&mut self, now: Instant, m: Move) {
        self.timeout(now);
        self.pieces.told(now, m);
        self.timeout(now);
    }

    /// The person presses a button of the clock.
    pub fn press(&mut self, now: Instant, button: Button) {
        self.timeout(now);
        if self.mode.has_clock() {
            self.acknowledge(now, Clock::button(button));
        }
    }

    /// The person presses the lever of the clock: the other side is high then.
    pub fn press_lever(&mut self, now: Instant) {
        self.timeout(now);
        if let Some(clock) = &mut self.clock {
            clock.press_lever();
        }
        if self.mode == Mode::Nice {
            self.say_times();
        }
    }

    /// The person puts the clock into the mode in which a program may set it, or into another one.
    pub fn set_clock_mode(&mut self, now: Instant, settable: bool) {
        self.timeout(now);
        if let Some(clock) = &mut self.clock {
            let said = clock.set_mode(settable);
            if self.mode.has_clock() {
                self.acknowledge(now, said);
            }
        }
    }

    /// What the clock counts: left and right in seconds, and the side that runs.
    pub fn clock_counts(&self) -> Option<(u32, u32, Option<Side>)> {
        self.clock.as_ref().map(Clock::counts)
    }

    /// The squares whose lamps are lit, as the board numbers them.
    pub fn lamps(&self) -> Vec<Square> {
        let lit = self.lamps.iter();
        lit.filter_map(|field| field::square(*field)).collect()
    }

    /// What the clock shows instead of its times.
    pub fn clock_text(&self) -> &str {
        self.clock.as_ref().map_or("", Clock::text)
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

    fn field(&self, square: Square) -> u8 {
        field::of(self.pieces.numbered(square))
    }

    /// The codes of what really stands on the fields.
    fn codes(&self) -> [u8; FIELDS] {
        let mut codes = [0; FIELDS];
        for square in self.pieces.board().occupied() {
            codes[usize::from(self.field(square))] =
                field::code(self.pieces.board().piece_at(square));
        }
        codes
    }

    /// The scan, which begins when the time is first known.
    fn scan_from(&mut self, now: Instant) {
        if self.scan.is_none() {
            let rounds = match self.settings.model {
                Model::Cable => 1,
                Model::Bluetooth | Model::Revelation => BLUETOOTH_ROUNDS,
            };
            let round = self.scaled(scan::ROUND * rounds);
            self.scan = Some(Scan::new(now, round, self.codes()));
        }
    }

    fn say(&mut self, id: u8, data: &[u8]) -> usize {
        let message = answer::message(id, data);
        let length = message.len();
        if self.settings.silent {
            return length;
        }
        let bytes = self.faulty(message);
        let chunk = self.settings.chunk.unwrap_or(usize::MAX).max(1);
        for bytes in bytes.chunks(chunk) {
            self.output.push_back(bytes.to_vec());
        }
        length
    }

    /// Loses and doubles bytes.
    fn faulty(&mut self, message: Vec<u8>) -> Vec<u8> {
        let Settings { lost, doubled, .. } = self.settings;
        if lost <= 0.0 && doubled <= 0.0 {
            return message;
        }
        let mut bytes = Vec::with_capacity(message.len());
        for byte in message {
            if self.random.f64() < lost {
                continue;
            }
            bytes.push(byte);
            if self.random.f64() < doubled {
                bytes.push(byte);
            }
        }
        bytes
    }

    fn say_times(&mut self) -> usize {
        let times = match &self.clock {
            Some(clock) => clock.times(),
            None => clock::NO_CLOCK.to_vec(),
        };
        self.say(answer::CLOCK, &times)
    }

    fn acknowledge(&mut self, now: Instant, ack: Ack) {
        if let Some(clock) = &self.clock {
            let data = clock.acknowledgement(ack);
            self.acknowledged = Some((now, ack));
            self.say(answer::CLOCK, &data);
        }
    }

    /// Whether it neither reads nor answers.
    fn is_dead(&self, now: Instant) -> bool {
        !self.on || self.bricked || self.hangs_until.is_some_and(|until| now < until)
    }

    fn read(&mut self, now: Instant) {
        let Some(byte) = self.wire.read() else {
            return;
        };
        if self.is_dead(now) {
            return;
        }
        let wait = self.scaled(MESSAGE_WAIT);
        let late = self.last_byte.is_some_and(|last| now > last + wait);
        if late && self.commands.drop_begun() {
            self.report(Report::Lost("a message without its end".to_owned()));
        }
        self.last_byte = Some(now);
        if let Some(command) = self.commands.push(byte) {
            let sent = match command {
                Command::Byte(byte) => self.command(byte),
                Command::Clock(data) => self.clock_message(now, &data),
                Command::Lamps(data) => self.lamps_message(now, &data),
            };
            let sending = BYTE_TIME * u32::try_from(sent).unwrap_or(u32::MAX);
            self.busy_until = Some(now + self.scaled(COMMAND_TIME + sending));
            self.wind(now);
        }
    }

    /// Lets the seconds pass while someone needs them.
    fn wind(&mut self, now: Instant) {
        let runs = self.clock.as_ref().is_some_and(Clock::runs);
        let needed = self.on && (runs || self.mode == Mode::FieldsAndClock);
        let next = now + self.scaled(SECOND);
        self.second = needed.then(|| self.second.unwrap_or(next));
    }

    fn second_passed(&mut self, at: Instant) {
        let runs = self.clock.as_ref().is_some_and(Clock::runs);
        if let Some(clock) = &mut self.clock {
            clock.tick();
        }
        self.second = Some(at + self.scaled(SECOND));
        if self.is_dead(at) {
            return;
        }
        let repeats = self.scaled(ACK_REPEATS);
        match self.acknowledged {
            Some((since, ack)) if self.mode.has_clock() && at <= since + repeats => {
                if let Some(clock) = &self.clock {
                    let data = clock.acknowledgement(ack);
                    self.say(answer::CLOCK, &data);
                }
            }
            _ if self.mode == Mode::FieldsAndClock || (self.mode == Mode::Nice && runs) => {
                self.say_times();
            }
            _ => {}
        }
    }

    fn next_due(&self) -> Option<(Instant, Due)> {
        let arrives = self.wire.arrives_at();
        // A byte that waits came before now: it is read as soon as the board is free.
        let free = self.busy_until.or(self.last_byte);
        let reads = free.filter(|_| self.wire.has_input());
        [
            (self.pieces.deadline(), Due::Touch),
            (arrives, Due::Byte),
            (reads, Due::Read),
            (self.scan.as_ref().and_then(Scan::deadline), Due::Scan),
            (self.ack.map(|(at, _)| at), Due::Ack),
            (self.second, Due::Second),
        ]
        .into_iter()
        .filter_map(|(at, due)| at.map(|at| (at, due)))
        .min()
    }

    fn happen(&mut self, at: Instant, due: Due) {
        match due {
            Due::Touch => self.pieces.timeout(at),
            Due::Byte => {
                if let Some(byte) = self.wire.arrive() {
                    self.report(Report::Lost(format!("{byte:02X}: the buffer is full")));
                } else if self.busy_until.is_none_or(|until| until <= at) {
                    self.read(at);
                }
            }
            Due::Read => {
                self.busy_until = None;
                self.read(at);
            }
            Due::Scan => {
                let found = self.scan.as_mut().and_then(Scan::find);
                if let Some((field, code)) = found
                    && self.mode.has_fields()
                    && !self.is_dead(at)
                {
                    self.say(answer::CHANGE, &[field, code]);
                }
            }
            Due::Ack => {
                if let Some((_, ack)) = self.ack.take()
                    && self.mode.has_clock()
                    && !self.is_dead(at)
                {
                    self.acknowledge(at, ack);
                }
            }
            Due::Second => self.second_passed(at),
        }
        self.sense();
    }

    /// Takes what the person did.
    fn sense(&mut self) {
        while let Some(change) = self.pieces.poll_change() {
            let field = self.field(change.square);
            if let Some(scan) = &mut self.scan {
                scan.change(change.at, field, field::code(change.piece));
            }
        }
        while let Some(report) = self.pieces.poll_report() {
            self.reports.push_back(report);
        }
    }

    /// It starts anew: what it was told before is gone.
    fn wake(&mut self) {
        self.mode = Mode::Bus;
        self.wire.clear();
        self.commands = Commands::default();
        self.busy_until = None;
        self.hangs_until = None;
        self.ack = None;
        self.acknowledged = None;
        self.second = None;
        self.lamps.clear();
        self.output.clear();
    }
}

impl SimulatedBoard for Dgt {
    fn plugged(&mut self, now: Instant) {
        self.timeout(now);
        self.wire.clear();
    }

    fn received(&mut self, now: Instant, bytes: &[u8]) {
        self.timeout(now);
        let dropped = self.wire.send(now, self.scaled(BYTE_TIME), bytes);
        if dropped > 0 {
            self.report(Report::Lost(format!("{dropped} bytes: a flood")));
        }
    }

    fn hand(&mut self, now: Instant, action: HandAction) {
        self.timeout(now);
        match action {
            HandAction::Off => {
                self.on = false;
                self.wake();
                self.report(Report::Off);
            }
            HandAction::On { forgetful } => {
                self.on = true;
                self.wake();
                self.report(Report::On { forgetful });
            }
            HandAction::Garbage(length) => self.output.push_back(garbage(length)),
            HandAction::Unplug | HandAction::Plug => {}
            action => self.order(now, action),
        }
    }

    fn timeout(&mut self, now: Instant) {
        self.scan_from(now);
        self.sense();
        while let Some((at, due)) = self.next_due().filter(|(at, _)| *at <= now) {
            self.happen(at, due);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_due().map(|(at, _)| at)
    }

    fn tell(&mut self, now: Instant, m: Move) {
        Self::tell(self, now, m);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.output.pop_front()
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
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

#[cfg(test)]
mod tests;
