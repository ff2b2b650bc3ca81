//! The `WhitePawn` app on a phone.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::uci::UciMove;

use super::{
    message::{Heard, Line, Lines, NewGame, Written, is_hex, quoted},
    opponent::{Opponent, Turn},
    order::Order,
    seen::{HANDSHAKE_WAIT, RETRIES, Seen},
    style::Style,
};
use crate::{
    game::{Game, uci},
    garbage, random_to_queen,
};

/// From the connection to the first handshake (field notes: about 300 ms).
pub const SETTLE: Duration = Duration::from_millis(300);
/// The least that a handshake's answer has after its type: protocol and board version (document).
const ANSWER_FIELDS: (usize, usize) = (2, 8);

/// Settings of the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How tidily it writes.
    pub style: Style,
    /// The protocol's version.
    pub protocol: u8,
    /// The app's build.
    pub build: u16,
    /// For random moves.
    pub seed: u64,
}

impl Default for Settings {
    /// As in the field notes' example, `H0010023`.
    fn default() -> Self {
        Self {
            style: Style::Exact,
            protocol: 1,
            build: 0x0023,
            seed: 1,
        }
    }
}

/// The state of the app's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no link.
    Apart,
    /// It sends the handshake, again at this time.
    Greeting(Instant),
    /// The handshake was answered.
    Ready,
    /// The handshake was not answered.
    Failed,
}

/// The app. See the module documentation.
#[derive(Debug)]
pub struct WhitePawnApp {
    settings: Settings,
    opponent: Option<Opponent>,
    state: State,
    lines: Lines,
    /// Input received instead of an answer to the handshake, and not reported yet.
    heard: Heard,
    jammed: bool,
    /// Handshakes sent and answered over this link.
    asked: u32,
    answered: u32,
    game: Game,
    playing: Option<NewGame>,
    plays_at: Option<Instant>,
    random: fastrand::Rng,
    output: VecDeque<Vec<u8>>,
    seen: VecDeque<Seen>,
}

impl WhitePawnApp {
    /// An app without a link, and its automatic player, if any.
    pub fn new(settings: Settings, opponent: Option<Opponent>) -> Self {
        Self {
            settings,
            opponent,
            state: State::Apart,
            lines: Lines::default(),
            heard: Heard::default(),
            jammed: false,
            asked: 0,
            answered: 0,
            game: Game::standard(),
            playing: None,
            plays_at: None,
            random: fastrand::Rng::with_seed(settings.seed),
            output: VecDeque::new(),
            seen: VecDeque::new(),
        }
    }

    /// The link is up.
    pub fn connected(&mut self, now: Instant) {
        self.forget_link();
        self.state = State::Greeting(now + SETTLE);
    }

    /// The link is gone.
    pub fn disconnected(&mut self, _now: Instant) {
        self.forget_link();
    }

    fn forget_link(&mut self) {
        self.state = State::Apart;
        self.lines = Lines::default();
        self.heard = Heard::default();
        self.jammed = false;
        self.asked = 0;
        self.answered = 0;
        self.plays_at = None;
        self.output.clear();
    }

    /// Bytes came from the board.
    pub fn received(&mut self, now: Instant, bytes: &[u8]) {
        for &byte in bytes {
            // For diagnosis; the app itself reads nothing more.
            if matches!(self.state, State::Greeting(_)) {
                self.heard.push(byte);
            }
            if self.is_deaf() {
                continue;
            }
            match self.lines.push(byte) {
                Some(Line::Whole(line)) if line.len() < 2 => {
                    self.jammed = true;
                    self.see(Seen::Jammed);
                }
                Some(Line::Whole(line)) => self.line(now, &line),
                Some(Line::Overlong) => self.fault("a line without end"),
                None => {}
            }
        }
    }

    /// Obeys an order; the link itself ([`Order::HangUp`], [`Order::Connect`]) is the host's.
    pub fn order(&mut self, now: Instant, order: Order) {
        match order {
            Order::HangUp | Order::Connect => {}
            _ if self.state == State::Apart => self.refuse("there is no link"),
            Order::Garbage(length) => self.output.push_back(garbage(length)),
            Order::Raw(text) => self.output.push_back(format!("{text}\n").into_bytes()),
            _ if self.state != State::Ready => self.refuse("the handshake is not done"),
            Order::NewGame(new) => self.announce(now, new),
            Order::Move(m) => self.play(now, m),
            // On a Neo the player sees only lamps, which do not show a piece.
            Order::Random => match random_to_queen(&self.game, &mut self.random) {
                Some(m) => self.play(now, uci(m)),
                None => self.refuse("the game is over"),
            },
            Order::Wrong(m) => self.wrong_move(m),
            Order::End(code) => self.end(code),
        }
    }

    /// The time given by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        if let State::Greeting(at) = self.state
            && at <= now
        {
            self.ask(now);
        }
        if self.plays_at.is_some_and(|at| at <= now) {
            self.plays_at = None;
            let turn = self
                .opponent
                .as_ref()
                .map(|opponent| opponent.turn(&self.game));
            match turn {
                Some(Turn::Play(Some(m))) => self.play(now, m),
                Some(Turn::Play(None)) => self.order(now, Order::Random),
                _ => {}
            }
        }
    }

    /// When [`Self::timeout`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let asks = match self.state {
            State::Greeting(at) => Some(at),
            _ => None,
        };
        [asks, self.plays_at].into_iter().flatten().min()
    }

    /// The next message for the board.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.output.pop_front()
    }

    /// The next observable event.
    pub fn poll_seen(&mut self) -> Option<Seen> {
        self.seen.pop_front()
    }

    /// The game in the app.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The game that was announced last and has not ended.
    pub fn playing(&self) -> Option<NewGame> {
        self.playing
    }

    /// Whether the handshake is done.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether it reads nothing, until it is connected again.
    pub fn is_deaf(&self) -> bool {
        self.jammed || matches!(self.state, State::Apart | State::Failed)
    }

    /// Whether the handshake has failed on the present link.
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// Whether it has an automatic player.
    pub fn has_opponent(&self) -> bool {
        self.opponent.is_some()
    }

    fn say(&mut self, text: &str) {
        self.output.push_back(self.settings.style.message(text));
    }

    pub(super) fn see(&mut self, seen: Seen) {
        self.seen.push_back(seen);
    }

    fn fault(&mut self, what: impl Into<String>) {
        self.see(Seen::Fault(what.into()));
    }

    pub(super) fn refuse(&mut self, what: impl Into<String>) {
        self.see(Seen::Refused(what.into()));
    }

    fn ask(&mut self, now: Instant) {
        if let Some(text) = self.heard.take() {
            self.see(Seen::Unreadable(text));
        }
        if self.asked > RETRIES {
            self.state = State::Failed;
            self.see(Seen::GaveUp);
            return;
        }
        self.asked += 1;
        let Settings {
            protocol, build, ..
        } = self.settings;
        self.say(&format!("H0{protocol:02X}{build:04X}"));
        self.state = State::Greeting(now + HANDSHAKE_WAIT);
        self.see(Seen::Asked(self.asked));
    }

    fn line(&mut self, now: Instant, line: &[u8]) {
        let (kind, field) = line.split_at(2);
        // Errors in it are reported.
        self.heard = Heard::default();
        match kind {
            b"H1" => self.answered(now, field),
            _ if self.state != State::Ready => {
                self.fault(format!("before the handshake: {}", quoted(line)));
            }
            b"MB" => match self.moved(field) {
                Ok(m) => {
                    self.game.push(m);
                    self.see(Seen::Made(m));
                    self.go_on(now);
                }
                Err(why) => self.fault(format!("{why}: {}", quoted(line))),
            },
            _ => self.fault(format!("unknown: {}", quoted(line))),
        }
    }

    /// `01`, eight characters, and what may follow.
    fn answered(&mut self, now: Instant, field: &[u8]) {
        self.answered += 1;
        if self.answered > self.asked {
            self.fault(format!("H1 without a request: {}", quoted(field)));
        }
        if self.state == State::Ready {
            // One for each time it asked.
            return;
        }
        let (protocol, rest) = field.split_at(field.len().min(ANSWER_FIELDS.0));
        let Some((version, serial)) = rest.split_at_checked(ANSWER_FIELDS.1) else {
            self.fail(format!("H1 is too short: {}", quoted(field)));
            return;
        };
        let printable = |text: &[u8]| text.iter().all(|byte| (b' '..=b'~').contains(byte));
        if !is_hex(protocol, ANSWER_FIELDS.0) || !printable(version) {
            self.fail(format!("not exactly H1: {}", quoted(field)));
            return;
        }
        if !printable(serial) {
            self.fault(format!(
                "a serial number that cannot be printed: {}",
                quoted(field)
            ));
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).escape_debug().to_string();
        if version.trim_ascii().len() == ANSWER_FIELDS.1 && !serial.is_empty() {
            self.see(Seen::Doubt(format!(
                "the version reads {}: is it filled up to {} characters?",
                quoted(version),
                ANSWER_FIELDS.1
            )));
        }
        self.state = State::Ready;
        self.see(Seen::Ready {
            protocol: text(protocol),
            version: text(version.trim_ascii()),
            serial: text(serial),
        });
        match &self.opponent {
            Some(opponent) if self.playing.is_none() => {
                let new = opponent.game();
                self.announce(now, new);
            }
            _ => self.go_on(now),
        }
    }

    fn fail(&mut self, why: String) {
        self.state = State::Failed;
        self.see(Seen::Failed(why));
    }

    fn moved(&self, field: &[u8]) -> Result<shakmaty::Move, &'static str> {
        let written = Written::read(field).ok_or("not exactly MB")?;
        let playing = self.playing.ok_or("no game is being played")?;
        if !playing.board_has(self.game.turn()) {
            return Err("not the board's turn");
        }
        written.in_game(&self.game, true).ok_or("illegal")
    }

    fn announce(&mut self, now: Instant, new: NewGame) {
        self.game = Game::standard();
        self.playing = Some(new);
        self.plays_at = None;
        self.say(&format!("NG{new}"));
        self.see(Seen::NewGame(new));
        self.go_on(now);
    }

    fn play(&mut self, now: Instant, wanted: UciMove) {
        let Some(playing) = self.playing else {
            self.refuse(format!("{wanted}: no game is being played"));
            return;
        };
        // Offline, either side may move.
        if playing.kind != 0 && playing.board_has(self.game.turn()) {
            self.refuse(format!("{wanted}: it is the board's turn"));
            return;
        }
        match wanted.to_move(self.game.position()) {
            Ok(m) => {
                self.game.push(m);
                let text = format!("MA{}", self.settings.style.moved(m));
                self.say(&text);
                self.see(Seen::Sent(m));
                self.go_on(now);
            }
            Err(_) => self.refuse(format!("{wanted}: illegal")),
        }
    }

    fn wrong_move(&mut self, wanted: UciMove) {
        let text = match wanted.to_move(self.game.position()) {
            Ok(m) => self.settings.style.moved(m),
            Err(_) => format!("{:>5}", wanted.to_string()),
        };
        self.say(&format!("MA{text}"));
    }

    fn end(&mut self, code: char) {
        self.playing = None;
        self.plays_at = None;
        self.say(&format!("GE{code}"));
        self.see(Seen::Ended(code));
    }

    /// The app's player looks at the game.
    fn go_on(&mut self, now: Instant) {
        let (Some(opponent), Some(_)) = (&self.opponent, self.playing) else {
            return;
        };
        match opponent.turn(&self.game) {
            Turn::Play(_) => self.plays_at = Some(now + opponent.delay()),
            Turn::Wait => {}
            Turn::End(code) => self.end(code),
            Turn::Astray => self.see(Seen::Astray),
        }
    }
}
