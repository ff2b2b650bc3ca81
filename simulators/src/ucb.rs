//! A simulated UCB. It has no input buffer: what arrives while it is busy is lost. It acknowledges nothing.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{CastlingMode, Color, File, Move, Piece, Rank, Setup, Square, uci::UciMove};

use super::{
    HandAction, Report, SimulatedBoard, citrine::home_castling, garbage, nothing_to_take_back,
    only_a_citrine, random_move, shows_its_moves,
};
use crate::game::{Game, uci};

/// How long a line keeps the board busy. The document gives no number; nine lines back to back
/// at 9600 baud certainly leave it less time.
const BUSY: Duration = Duration::from_millis(80);
/// Between the requests of the power-on sequence.
const REQUEST_GAP: Duration = Duration::from_millis(300);
/// The power-on sequence.
const REQUESTS: [&str; 7] = [" ", "I", "E OFF", "V", "A OFF", "X ON", "P"];

/// A simulated UCB.
#[derive(Debug)]
pub struct Ucb {
    speed: f64,
    /// The "UCB Version", 1 or 2.
    format: u8,
    on: bool,
    game: Game,
    busy_until: Option<Instant>,
    line: Vec<u8>,
    /// The input being read came after this time.
    after: Option<Instant>,
    shown: Option<Move>,
    hand_delay: Option<Duration>,
    executes_at: Option<Instant>,
    /// After `New Game` the board does not send `N` when the pieces reach their squares.
    new_game_told: bool,
    position_lines: Vec<String>,
    requests: VecDeque<(Instant, &'static str)>,
    random: fastrand::Rng,
    output: VecDeque<Vec<u8>>,
    reports: VecDeque<Report>,
}

impl Ucb {
    /// A board whose limits are `speed` times shorter than a real one's.
    pub fn new(speed: f64, format: u8, hand_delay: Option<Duration>, seed: u64) -> Self {
        Self {
            speed,
            format,
            on: true,
            game: Game::standard(),
            busy_until: None,
            line: Vec::new(),
            after: None,
            shown: None,
            hand_delay,
            executes_at: None,
            new_game_told: false,
            position_lines: Vec::new(),
            requests: VecDeque::new(),
            random: fastrand::Rng::with_seed(seed),
            output: VecDeque::new(),
            reports: VecDeque::new(),
        }
    }

    fn scaled(&self, time: Duration) -> Duration {
        time.div_f64(self.speed)
    }

    fn say(&mut self, line: &str) {
        self.output.push_back(format!("{line}\r\n").into_bytes());
    }

    fn report(&mut self, report: Report) {
        self.reports.push_back(report);
    }

    fn power_on(&mut self, now: Instant) {
        self.on = true;
        self.game = Game::standard();
        self.shown = None;
        self.executes_at = None;
        self.position_lines.clear();
        self.new_game_told = false;
        let gap = self.scaled(REQUEST_GAP);
        self.requests = (0u32..)
            .zip(REQUESTS)
            .map(|(n, line)| (now + gap * n, line))
            .collect();
    }

    fn received_line(&mut self, now: Instant, line: &str) {
        if self.busy_until.is_some_and(|until| now < until) {
            self.report(Report::Lost(line.to_owned()));
            return;
        }
        self.busy_until = Some(self.after.unwrap_or(now) + self.scaled(BUSY));
        if line.starts_with('.') || line == "Position Board" {
            self.position_line(line);
            return;
        }
        if !self.position_lines.is_empty() {
            self.report(Report::Fault(format!(
                "a position was broken off by {line}"
            )));
            self.position_lines.clear();
        }
        match line.trim_end() {
            "New Game" => {
                self.game = Game::standard();
                self.shown = None;
                self.executes_at = None;
                self.new_game_told = true;
                self.report(Report::NewGame);
            }
            "ID SAPPHIRE II 1.02" | "Video Mode" | "Autoclock off" | "Xmit on" => {}
            command if command.starts_with('M') => self.show(now, &command[1..]),
            other => self.report(Report::Fault(format!("not understood: {other}"))),
        }
    }

    fn show(&mut self, now: Instant, text: &str) {
        if self.shown.is_some() {
            // It shows one move at a time and cannot store another.
            self.report(Report::Lost(format!("M{text}")));
            return;
        }
        let (squares, piece) = text.split_once('/').unwrap_or((text, ""));
        let Some((from, to)) = squares.split_once('-') else {
            self.report(Report::Fault(format!("no hyphen: M{text}")));
            return;
        };
        let wanted: Option<UciMove> = format!("{from}{to}{piece}").parse().ok();
        match wanted.and_then(|wanted| wanted.to_move(self.game.position()).ok()) {
            Some(m) => {
                self.shown = Some(m);
                self.executes_at = self.hand_delay.map(|delay| now + delay);
                self.report(Report::Shown(m));
            }
            None => self.report(Report::Fault(format!("illegal: M{text}"))),
        }
    }

    fn position_line(&mut self, line: &str) {
        let head = line == "Position Board";
        if head {
            // A new position, whatever happened to the previous one.
            self.position_lines.clear();
        }
        if head != (self.format == 2 && self.position_lines.is_empty()) {
            self.report(Report::Fault(format!(
                "not this board's position format: {line}"
            )));
            self.position_lines.clear();
            return;
        }
        self.position_lines.push(line.to_owned());
        if self.position_lines.len() < 7 + usize::from(self.format) {
            return;
        }
        let lines = std::mem::take(&mut self.position_lines);
        match position_of(&lines[usize::from(self.format) - 1..], self.format) {
            Some(position) => {
                self.game = Game::from_start(position);
                self.new_game_told &= self.game.is_standard();
                self.shown = None;
                self.executes_at = None;
                let fen = self.game.fen().to_string();
                self.report(Report::SetUp(fen));
            }
            None => self.report(Report::Fault(format!("no position: {}", lines.join("|")))),
        }
    }

    fn hand_move(&mut self, wanted: UciMove) {
        if let Some(m) = self.shown {
            self.report(Report::Refused(format!("{wanted}: {} is shown", uci(m))));
            return;
        }
        match wanted.to_move(self.game.position()) {
            Ok(m) => {
                self.game.push(m);
                self.new_game_told = false;
                self.say(&made(m));
                self.report(Report::Made(m));
            }
            Err(_) => self.report(Report::Refused(format!("{wanted}: illegal"))),
        }
    }
}

/// `Me2e4`, `Ma7a8/Q`
fn made(m: Move) -> String {
    let squares = uci(m);
    let square = |s: Option<Square>| s.map(|s| s.to_string()).unwrap_or_default();
    let mut line = format!("M{}{}", square(squares.from()), square(squares.to()));
    if let Some(role) = m.promotion() {
        line.push('/');
        line.push(role.upper_char());
    }
    line
}

fn position_of(lines: &[String], format: u8) -> Option<shakmaty::Chess> {
    let mut setup = Setup::empty();
    for (line, rank) in lines.iter().zip(Rank::ALL.into_iter().rev()) {
        let cells = line.strip_prefix('.')?;
        let cells = match format {
            2 => cells.strip_prefix(rank.char())?,
            _ => cells,
        };
        for (cell, file) in cells.chars().zip(File::ALL) {
            if let Some(piece) = Piece::from_char(cell) {
                setup
                    .board
                    .set_piece_at(Square::from_coords(file, rank), piece);
            } else if cell != ' ' {
                return None;
            }
        }
        if rank == Rank::First {
            setup.turn = match cells.chars().nth(8)? {
                '+' => Color::White,
                '-' => Color::Black,
                _ => return None,
            };
        }
    }
    home_castling(&mut setup);
    setup.position(CastlingMode::Standard).ok()
}

impl SimulatedBoard for Ucb {
    fn plugged(&mut self, _now: Instant) {}

    fn received(&mut self, now: Instant, bytes: &[u8]) {
        if !self.on {
            return;
        }
        for &byte in bytes {
            if byte == b'\r' || byte == b'\n' {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                if !line.is_empty() {
                    self.received_line(now, &line);
                }
            } else if self.line.len() < 512 {
                self.line.push(byte);
            }
        }
    }

    fn received_since(&mut self, after: Instant, now: Instant, bytes: &[u8]) {
        self.after = Some(after);
        self.received(now, bytes);
        self.after = None;
    }

    fn least_gap(&self) -> Option<Duration> {
        Some(self.scaled(BUSY))
    }

    fn hand(&mut self, now: Instant, action: HandAction) {
        match action {
            HandAction::Off => {
                self.on = false;
                self.executes_at = None;
                self.requests.clear();
                self.report(Report::Off);
            }
            HandAction::On { forgetful } => {
                self.report(Report::On { forgetful });
                self.power_on(now);
                self.timeout(now);
            }
            _ if !self.on => self.report(Report::Refused("the board is off".to_owned())),
            HandAction::Move(m) => self.hand_move(m),
            HandAction::Random => {
                if let Some(m) = random_move(&self.game, &mut self.random) {
                    self.hand_move(uci(m));
                }
            }
            HandAction::Execute => {
                self.executes_at = None;
                if let Some(m) = self.shown.take() {
                    self.game.push(m);
                    self.new_game_told = false;
                    self.report(Report::Executed(m));
                }
            }
            HandAction::Wrong(m) if self.shown.is_some_and(|shown| uci(shown) == m) => {
                self.hand(now, HandAction::Execute);
            }
            // It reports every move of the player, and keeps showing its own.
            HandAction::Wrong(m) => {
                let line = format!("M{m}");
                self.say(&line);
                self.report(Report::Wrong(m));
            }
            HandAction::TakeBack => match self.game.pop() {
                Some(m) => {
                    self.say("T");
                    self.report(Report::TookBack(m));
                }
                None => self.report(nothing_to_take_back()),
            },
            // The pieces stand there already.
            HandAction::NewGame if self.game.is_standard() && self.game.is_empty() => {}
            HandAction::NewGame => {
                self.game = Game::standard();
                self.shown = None;
                if !std::mem::take(&mut self.new_game_told) {
                    self.say("N");
                }
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
        while let Some((at, line)) = self.requests.front().copied() {
            if at > now {
                break;
            }
            self.requests.pop_front();
            self.say(line);
        }
        if self.executes_at.is_some_and(|at| at <= now) {
            self.hand(now, HandAction::Execute);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let request = self.requests.front().map(|(at, _)| *at);
        [request, self.executes_at].into_iter().flatten().min()
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
        self.shown
    }
}
