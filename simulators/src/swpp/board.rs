//! A home-made board. It knows its pieces, enforces the rules, and shows one move at a time.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Move, uci::UciMove};

use super::{
    message::{Line, Lines, NewGame, Written, is_hex, quoted},
    profile::profile,
    style::Style,
};
use crate::{
    HandAction, Report, SimulatedBoard,
    game::{Game, uci},
    garbage, nothing_to_take_back, only_a_citrine,
    peripheral::Profile,
    shows_its_moves,
};

/// The version of the protocol it speaks (field notes: `01`).
const PROTOCOL: &str = "01";
/// The characters of the board's version (document: its length).
const VERSION_WIDTH: usize = 8;
/// Moves that wait behind the shown one: 64 bytes, the serial buffer of the usual microcontroller, at 8 bytes a
/// message.
const MAX_WAITING: usize = 8;
/// Bytes in a notification: the payload of Bluetooth's smallest packets (ATT: 23 less 3), without negotiation.
const NOTIFICATION: usize = 20;

/// How a board answers the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// At once, every time.
    #[default]
    Prompt,
    /// Every time, with this delay.
    Late(Duration),
    /// Never.
    Never,
    /// At once, but its version is not filled up to eight characters.
    Short,
}

/// Settings of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name it advertises.
    pub name: String,
    /// Its version; eight characters count.
    pub version: String,
    /// Its serial number; may be empty.
    pub serial: String,
    /// How tidily it writes.
    pub style: Style,
    /// How it answers the handshake.
    pub answer: Answer,
    /// Opening its port restarts it: it reads nothing for this long, and has forgotten its game. Its pieces stay.
    pub restarts: Option<Duration>,
    /// How long the player takes to execute a shown move; `None`: only when ordered to.
    pub hand_delay: Option<Duration>,
    /// Bytes in a notification.
    pub notification: usize,
    /// For random moves.
    pub seed: u64,
}

impl Default for Settings {
    /// As in the field notes' example.
    fn default() -> Self {
        Self {
            name: "SWPP board".to_owned(),
            version: "1.2".to_owned(),
            serial: "MY_SERIAL".to_owned(),
            style: Style::Exact,
            answer: Answer::Prompt,
            restarts: None,
            hand_delay: None,
            notification: NOTIFICATION,
            seed: 1,
        }
    }
}

/// A home-made board. See the module documentation.
#[derive(Debug)]
pub struct SwppBoard {
    pub(super) settings: Settings,
    pub(super) profile: Profile,
    pub(super) on: bool,
    /// Over Bluetooth: whether a central is connected, and subscribed.
    pub(super) connected: bool,
    pub(super) subscribed: bool,
    lines: Lines,
    /// Starting until then.
    starts_until: Option<Instant>,
    greeted: bool,
    playing: Option<NewGame>,
    /// The position on the board.
    game: Game,
    /// The same with the moves that wait to be executed.
    told: Game,
    /// The moves that wait to be executed; the first one is shown.
    waiting: VecDeque<Move>,
    executes_at: Option<Instant>,
    /// When the answers to handshakes are due.
    answers: VecDeque<Instant>,
    random: fastrand::Rng,
    pub(super) output: VecDeque<Vec<u8>>,
    reports: VecDeque<Report>,
}

impl SwppBoard {
    /// A board that is switched on, the pieces on their starting squares.
    pub fn new(settings: Settings) -> Self {
        Self {
            profile: profile(settings.name.clone()),
            random: fastrand::Rng::with_seed(settings.seed),
            settings,
            on: true,
            connected: false,
            subscribed: false,
            lines: Lines::default(),
            starts_until: None,
            greeted: false,
            playing: None,
            game: Game::standard(),
            told: Game::standard(),
            waiting: VecDeque::new(),
            executes_at: None,
            answers: VecDeque::new(),
            output: VecDeque::new(),
            reports: VecDeque::new(),
        }
    }

    /// The game that was announced last and has not ended.
    pub fn playing(&self) -> Option<NewGame> {
        self.playing
    }

    fn say(&mut self, text: &str) {
        self.output.push_back(self.settings.style.message(text));
    }

    pub(super) fn report(&mut self, report: Report) {
        self.reports.push_back(report);
    }

    pub(super) fn fault(&mut self, what: impl Into<String>) {
        self.report(Report::Fault(what.into()));
    }

    /// A new link: an incomplete message of the previous one is dropped.
    pub(super) fn hear_anew(&mut self) {
        self.lines = Lines::default();
        self.greeted = false;
        self.answers.clear();
        self.output.clear();
    }

    fn reset(&mut self, game: Game) {
        self.told = game.clone();
        self.game = game;
        self.waiting.clear();
        self.executes_at = None;
    }

    fn line(&mut self, now: Instant, line: &[u8]) {
        let Some((kind, field)) = line.split_at_checked(2) else {
            self.fault(format!("no message: {}", quoted(line)));
            return;
        };
        if kind != b"H0" && !self.greeted {
            self.fault(format!("before the handshake: {}", quoted(line)));
        }
        match kind {
            b"H0" => self.greet(now, field),
            b"NG" => match NewGame::read(field) {
                Some(new) => {
                    self.reset(Game::standard());
                    self.playing = Some(new);
                    self.report(Report::NewGame);
                    self.report(Report::Announced(new.to_string()));
                }
                None => self.fault(format!("not exactly NG: {}", quoted(line))),
            },
            b"GE" => match field {
                [code @ b'0'..=b'4'] => {
                    if self.playing.take().is_none() {
                        self.fault("GE, but no game was announced");
                    }
                    self.report(Report::Ended(char::from(*code)));
                }
                _ => self.fault(format!("not exactly GE: {}", quoted(line))),
            },
            b"MA" => match Written::read(field) {
                Some(written) => self.told_move(now, written, line),
                None => self.fault(format!("not exactly MA: {}", quoted(line))),
            },
            _ => self.fault(format!("unknown: {}", quoted(line))),
        }
    }

    fn greet(&mut self, now: Instant, field: &[u8]) {
        if !is_hex(field, 6) {
            self.fault(format!("not exactly H0: {}", quoted(field)));
        }
        self.greeted = true;
        self.report(Report::Greeted(
            String::from_utf8_lossy(field).escape_debug().to_string(),
        ));
        match self.settings.answer {
            Answer::Prompt | Answer::Short => self.answer(),
            Answer::Late(wait) => self.answers.push_back(now + wait),
            Answer::Never => {}
        }
    }

    fn answer(&mut self) {
        let Settings {
            version, serial, ..
        } = &self.settings;
        let text = if self.settings.answer == Answer::Short {
            format!("H1{PROTOCOL}{version}{serial}")
        } else {
            format!("H1{PROTOCOL}{version:>VERSION_WIDTH$.VERSION_WIDTH$}{serial}")
        };
        self.say(&text);
    }

    fn told_move(&mut self, now: Instant, written: Written, line: &[u8]) {
        if self.playing.is_none() {
            self.fault(format!("no game was announced: {}", quoted(line)));
        }
        // A legal move first: `0-0` twice may be one of each side.
        let Some(m) = written.in_game(&self.told, false) else {
            match self.told.last() {
                Some(m) if written.means(m, false) => self.report(Report::ToldAgain(m)),
                _ => self.fault(format!("illegal: {}", quoted(line))),
            }
            return;
        };
        if self.waiting.len() > MAX_WAITING {
            self.report(Report::Lost(String::from_utf8_lossy(line).into_owned()));
            return;
        }
        self.told.push(m);
        self.waiting.push_back(m);
        if self.waiting.len() == 1 {
            self.show(now);
        }
    }

    fn show(&mut self, now: Instant) {
        let Some(&m) = self.waiting.front() else {
            return;
        };
        self.executes_at = self.settings.hand_delay.map(|delay| now + delay);
        self.report(Report::Shown(m));
    }

    fn execute(&mut self, now: Instant) {
        self.executes_at = None;
        if let Some(m) = self.waiting.pop_front() {
            self.game.push(m);
            // The protocol has no message for it: the app knows the move.
            self.report(Report::Executed(m));
            self.show(now);
        }
    }

    fn hand_move(&mut self, wanted: UciMove) {
        if let Some(&m) = self.waiting.front() {
            self.report(Report::Refused(format!("{wanted}: {} is shown", uci(m))));
            return;
        }
        match wanted.to_move(self.game.position()) {
            Ok(m) => {
                self.game.push(m);
                self.told.push(m);
                let text = format!("MB{}", self.settings.style.moved(m));
                self.say(&text);
                self.report(Report::Made(m));
            }
            Err(_) => self.report(Report::Refused(format!("{wanted}: illegal"))),
        }
    }

    /// What the board would send if its sensors or its rules were wrong.
    fn wrong_move(&mut self, wanted: UciMove) {
        let legal = wanted.to_move(self.game.position()).ok();
        let text = match legal {
            Some(m) => self.settings.style.moved(m),
            None => format!("{:>5}", wanted.to_string()),
        };
        self.say(&format!("MB{text}"));
        self.report(Report::Wrong(wanted));
    }
}

impl SimulatedBoard for SwppBoard {
    fn plugged(&mut self, now: Instant) {
        self.hear_anew();
        if let Some(start) = self.settings.restarts.filter(|_| self.on) {
            self.starts_until = Some(now + start);
            self.playing = None;
            self.reset(Game::standard());
            self.report(Report::On { forgetful: true });
        }
    }

    fn received(&mut self, now: Instant, bytes: &[u8]) {
        if !self.on || self.starts_until.is_some_and(|until| now < until) {
            return;
        }
        for &byte in bytes {
            match self.lines.push(byte) {
                Some(Line::Whole(line)) => self.line(now, &line),
                Some(Line::Overlong) => self.fault("a line without end"),
                None => {}
            }
        }
    }

    fn hand(&mut self, now: Instant, action: HandAction) {
        match action {
            HandAction::Off => {
                self.on = false;
                self.executes_at = None;
                self.lines = Lines::default();
                self.answers.clear();
                self.output.clear();
                self.report(Report::Off);
            }
            HandAction::On { forgetful } => {
                self.on = true;
                self.report(Report::On { forgetful });
                if forgetful {
                    self.playing = None;
                    self.reset(Game::standard());
                }
                self.show(now);
            }
            _ if !self.on => self.report(Report::Refused("the board is off".to_owned())),
            HandAction::Move(m) => self.hand_move(m),
            HandAction::Random => match self
                .settings
                .style
                .random_move(&self.game, &mut self.random)
            {
                Some(m) => self.hand_move(uci(m)),
                None => self.report(Report::Refused("the game is over".to_owned())),
            },
            HandAction::Execute => self.execute(now),
            HandAction::Wrong(m) if self.shown().is_some_and(|shown| uci(shown) == m) => {
                self.execute(now);
            }
            HandAction::Wrong(m) => self.wrong_move(m),
            HandAction::TakeBack => {
                // The protocol has no message for it, so none is sent. The shown move no longer fits.
                let mut game = self.game.clone();
                match game.pop() {
                    Some(m) => {
                        self.reset(game);
                        self.report(Report::TookBack(m));
                    }
                    None => self.report(nothing_to_take_back()),
                }
            }
            HandAction::NewGame => {
                self.reset(Game::standard());
                self.report(Report::NewGame);
            }
            HandAction::ForgetSettings | HandAction::LiftKing | HandAction::SetUp(_) => {
                self.report(only_a_citrine());
            }
            HandAction::Hear(_) => self.report(shows_its_moves()),
            HandAction::Garbage(length) => self.output.push_back(garbage(length)),
            HandAction::Unplug | HandAction::Plug => {}
        }
    }

    fn timeout(&mut self, now: Instant) {
        while self.answers.front().is_some_and(|at| *at <= now) {
            self.answers.pop_front();
            self.answer();
        }
        if self.executes_at.is_some_and(|at| at <= now) {
            self.execute(now);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let answer = self.answers.front().copied();
        [answer, self.executes_at].into_iter().flatten().min()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.output.pop_front()
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    fn game(&self) -> &Game {
        &self.game
    }

    fn shown(&self) -> Option<Move> {
        self.waiting.front().copied()
    }
}
