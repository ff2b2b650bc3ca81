//! A simulated Citrine. It loses commands that come too close together, shows a move only after a second send at the
//! right distance, echoes only the first, turns its lamps off when it is asked something, forgets its settings at
//! every new game and on command, and makes a move of its own when the wrong king is lifted.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Color, File, Move, Piece, Position, Rank, Role, Setup, Square, uci::UciMove};

use super::{
    HandAction, Report, SimulatedBoard, garbage, nothing_to_take_back, random_move, shows_its_moves,
};
use crate::game::{Game, uci};

/// Commands closer than this are lost (document: a delay of 0.1 second prevents it).
const COMMAND_GAP: Duration = Duration::from_millis(100);
/// The second send of a move must be at least this much later: 200 ms by the field notes, minus the delay of the first
/// by a pseudo-terminal on a loaded machine (40 ms measured on two cores with eight busy processes).
const SECOND_SEND: Duration = Duration::from_millis(160);
/// The second send of a capture: 3 s by the field notes, minus the same.
const SECOND_SEND_CAPTURE: Duration = Duration::from_millis(2960);

/// The level after a new game (document).
const LEVEL: &str = "TR1";

/// A move that is in the board's game and not yet executed by the player.
#[derive(Clone, Copy, Debug)]
struct Shown {
    m: Move,
    /// When it was first sent.
    first: Instant,
    /// It was sent twice, at the right distance.
    twice: bool,
    /// The lamps show it.
    lit: bool,
}

impl Shown {
    fn sent(m: Move, first: Instant) -> Self {
        Self {
            m,
            first,
            twice: false,
            lit: false,
        }
    }
}

/// A simulated Citrine.
#[derive(Debug)]
pub struct Citrine {
    speed: f64,
    on: bool,
    game: Game,
    /// A start position that the player has set up.
    origin: Option<Game>,
    /// Whether referee mode is on: the player moves both sides.
    referee: bool,
    xmit: bool,
    level: String,
    heard: Option<Instant>,
    line: Vec<u8>,
    /// The input being read came after this time.
    after: Option<Instant>,
    shown: Option<Shown>,
    /// How long after a shown move the player executes it; `None`: never by itself.
    hand_delay: Option<Duration>,
    executes_at: Option<Instant>,
    /// When the hand made its last move.
    hand_at: Option<Instant>,
    random: fastrand::Rng,
    output: VecDeque<Vec<u8>>,
    reports: VecDeque<Report>,
}

impl Citrine {
    /// A board whose limits are `speed` times shorter than a real one's.
    pub fn new(speed: f64, hand_delay: Option<Duration>, seed: u64) -> Self {
        Self {
            speed,
            on: true,
            game: Game::standard(),
            origin: None,
            referee: false,
            xmit: false,
            level: LEVEL.to_owned(),
            heard: None,
            line: Vec::new(),
            after: None,
            shown: None,
            hand_delay,
            executes_at: None,
            hand_at: None,
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

    fn forget_settings(&mut self) {
        self.referee = false;
        self.xmit = false;
        LEVEL.clone_into(&mut self.level);
    }

    /// The shown move was executed, or is no longer wanted.
    fn show_nothing(&mut self) {
        self.shown = None;
        self.executes_at = None;
    }

    /// Turns the lamps off, so that the player no longer sees what to do. Returns the move that they showed.
    fn darken(&mut self) -> Option<Move> {
        self.executes_at = None;
        let shown = self.shown.as_mut()?;
        std::mem::take(&mut shown.lit).then_some(shown.m)
    }

    fn new_game(&mut self, start: Game) {
        self.game = start;
        self.forget_settings();
        self.show_nothing();
        self.say("New Game");
        self.report(Report::NewGame);
    }

    /// `   1,  e7-e5`: the number in four columns, the comma for Black.
    fn numbered(&self, letter: char, m: Move, ply: usize) -> String {
        let black = self.game.start().turn() == Color::Black;
        let ply = ply + usize::from(black);
        let comma = if ply.is_multiple_of(2) { ' ' } else { ',' };
        format!("{letter}{:4}{comma}  {}", ply / 2 + 1, words(m))
    }

    fn echo(&mut self, letter: char, m: Move, ply: usize) {
        if self.xmit {
            let line = self.numbered(letter, m, ply);
            self.say(&line);
        }
    }

    fn push(&mut self, m: Move) {
        let ply = self.game.len();
        self.game.push(m);
        self.echo('M', m, ply);
        if let Some(code) = self.over() {
            self.say(code);
        }
    }

    fn over(&self) -> Option<&'static str> {
        let position = self.game.position();
        if position.is_checkmate() {
            Some("M#5")
        } else if position.is_stalemate() {
            Some("M#4")
        } else if position.is_insufficient_material() {
            Some("M#3")
        } else {
            None
        }
    }

    fn command(&mut self, now: Instant, line: &str) {
        let too_close = self
            .heard
            .is_some_and(|at| now.duration_since(at) < self.scaled(COMMAND_GAP));
        self.heard = Some(self.after.unwrap_or(now));
        if too_close {
            self.report(Report::Lost(line.to_owned()));
            return;
        }
        let upper = line.to_ascii_uppercase();
        let mut words = upper.split_whitespace();
        let (verb, argument) = (words.next().unwrap_or(""), words.next());
        match (verb, argument) {
            ("U", Some("ON")) => self.referee = true,
            ("U", Some("OFF")) => self.referee = false,
            ("X", Some("ON")) => self.xmit = true,
            ("X", Some("OFF")) => self.xmit = false,
            ("L", Some(level)) => level.clone_into(&mut self.level),
            // A question turns the lamps off (document).
            ("U" | "X" | "L" | "C" | "G" | "P" | "I", None) => {
                if let Some(m) = self.darken() {
                    self.report(Report::PutOut(m));
                }
            }
            _ => {}
        }
        match verb {
            "U" => self.say(if self.referee {
                ".Referee on"
            } else {
                ".Referee off"
            }),
            "X" => self.say(if self.xmit { "Xmit on" } else { "Xmit off" }),
            "L" => {
                let line = format!("Level {}", self.level.to_ascii_lowercase());
                self.say(&line);
            }
            "I" => self.say("ID.UCBII V1.09"),
            "N" => self.new_game(Game::standard()),
            // Back to the start position of the player's own.
            "O" if self.origin.is_some() => self.new_game(self.origin.clone().unwrap_or_default()),
            "T" => self.take_back(true),
            "G" => self.list(),
            "P" => self.grid(),
            "J" => self.play_itself(now),
            _ if upper.starts_with("PC") => self.set_up(&line[2..]),
            _ if upper.starts_with('M') => self.sent_move(now, &upper[1..]),
            // Invalid commands are ignored.
            _ => self.report(Report::Fault(format!("ignored: {line}"))),
        }
    }

    fn sent_move(&mut self, now: Instant, text: &str) {
        if let Some(shown) = self.shown.filter(|shown| same(text, shown.m)) {
            let least = if shown.m.is_capture() {
                SECOND_SEND_CAPTURE
            } else {
                SECOND_SEND
            };
            if !shown.twice && now.duration_since(shown.first) < self.scaled(least) {
                self.report(Report::Fault(format!("second send of {text} too early")));
                return;
            }
            let report = if shown.twice {
                Report::LitAgain(shown.m)
            } else {
                Report::Shown(shown.m)
            };
            self.light(now, shown);
            self.report(report);
            return;
        }
        let found = self
            .game
            .position()
            .legal_moves()
            .into_iter()
            .find(|m| same(text, *m));
        let Some(m) = found else {
            // An error on the display, as after every second send. The hand may have moved while that was on its way.
            let crossed =
                (self.hand_at).is_some_and(|at| now.duration_since(at) < self.scaled(COMMAND_GAP));
            let mut last = self
                .game
                .moves()
                .iter()
                .rev()
                .take(1 + usize::from(crossed));
            if !last.any(|m| same(text, *m)) {
                self.report(Report::Fault(format!("illegal: {text}")));
            }
            return;
        };
        if let Some(before) = self.shown {
            // The lamps can show one move only.
            self.report(Report::Fault(format!(
                "{} was not executed yet",
                uci(before.m)
            )));
        }
        self.push(m);
        self.shown = Some(Shown::sent(m, self.after.unwrap_or(now)));
        self.executes_at = None;
        if !self.referee {
            self.report(Report::Fault(
                "not in referee mode: the board plays itself".to_owned(),
            ));
            if let Some(reply) = random_move(&self.game, &mut self.random) {
                self.push(reply);
            }
        }
    }

    /// The lamps show a move that is in the game.
    fn light(&mut self, now: Instant, shown: Shown) {
        self.shown = Some(Shown {
            twice: true,
            lit: true,
            ..shown
        });
        self.executes_at = self.hand_delay.map(|delay| now + delay);
    }

    /// The board makes a move of its own, and echoes it like any other.
    fn play_itself(&mut self, now: Instant) {
        if let Some(m) = random_move(&self.game, &mut self.random) {
            self.push(m);
            self.light(now, Shown::sent(m, now));
            self.report(Report::Shown(m));
        }
    }

    fn take_back(&mut self, asked: bool) {
        let Some(m) = self.game.pop() else {
            if !asked {
                self.report(nothing_to_take_back());
            }
            return;
        };
        self.show_nothing();
        let ply = self.game.len();
        self.echo('T', m, ply);
        self.report(if asked {
            Report::TakeBack(m)
        } else {
            Report::TookBack(m)
        });
    }

    fn list(&mut self) {
        let plies = self.game.len().min(112);
        self.say(&format!("Game {:3}", plies.div_ceil(2).max(1)));
        self.say(".      white       black");
        let offset = usize::from(self.game.start().turn() == Color::Black);
        let moves: Vec<String> = std::iter::repeat_n("...".to_owned(), offset)
            .chain(self.game.moves()[..plies].iter().map(|m| words(*m)))
            .collect();
        for (index, pair) in moves.chunks(2).enumerate() {
            let black = pair.get(1).map_or("", String::as_str);
            let row = format!(".{:4}  {:10}  {black}", index + 1, pair[0]);
            self.say(row.trim_end());
        }
    }

    fn grid(&mut self) {
        let board = self.game.position().board().clone();
        for rank in Rank::ALL.into_iter().rev() {
            let cells = File::ALL.map(|file| {
                let square = Square::from_coords(file, rank);
                match board.piece_at(square) {
                    Some(Piece {
                        color: Color::White,
                        role,
                    }) => format!("W{}", role.upper_char()),
                    Some(Piece { role, .. }) => format!("b{}", role.char()),
                    None if square.is_dark() => "::".to_owned(),
                    None => "  ".to_owned(),
                }
            });
            self.say(&cells.join(" "));
        }
    }

    /// `pa2pb2…bpa7…+`
    fn set_up(&mut self, text: &str) {
        match position_of(text) {
            Some(position) => {
                self.game = Game::from_start(position);
                self.show_nothing();
                let fen = self.game.fen().to_string();
                self.report(Report::SetUp(fen));
            }
            None => self.report(Report::Fault(format!("no position: {text}"))),
        }
    }

    fn hand_move(&mut self, now: Instant, wanted: UciMove) {
        if let Some(m) = self.shown() {
            self.report(Report::Refused(format!("{wanted}: {} is shown", uci(m))));
            return;
        }
        match wanted.to_move(self.game.position()) {
            Ok(m) => {
                self.hand_at = Some(now);
                self.push(m);
                self.report(Report::Made(m));
            }
            Err(_) => self.report(Report::Refused(format!("{wanted}: illegal"))),
        }
    }
}

fn position_of(text: &str) -> Option<shakmaty::Chess> {
    let mut setup = Setup::empty();
    let turn = match text.chars().last()? {
        '+' => Color::White,
        '-' => Color::Black,
        _ => return None,
    };
    let mut rest = &text[..text.len() - 1];
    let mut color = Color::White;
    while !rest.is_empty() {
        // A `b` before a piece is Black's; a `b` before a square is a bishop.
        let piece = rest.as_bytes();
        if piece.first()? == &b'b'
            && piece.get(1)?.is_ascii_alphabetic()
            && piece.get(2)?.is_ascii_alphabetic()
        {
            color = Color::Black;
            rest = &rest[1..];
        }
        let role = Role::from_char(rest.chars().next()?)?;
        let square = Square::from_ascii(rest.get(1..3)?.as_bytes()).ok()?;
        setup.board.set_piece_at(square, role.of(color));
        color = Color::White;
        rest = &rest[3..];
    }
    setup.turn = turn;
    home_castling(&mut setup);
    setup.position(shakmaty::CastlingMode::Standard).ok()
}

/// Kings and rooks on their home squares may castle: a board that is given only squares can assume nothing better.
pub(super) fn home_castling(setup: &mut Setup) {
    for color in Color::ALL {
        let rank = color.backrank();
        let at = |file| Square::from_coords(file, rank);
        if setup.board.piece_at(at(File::E)) != Some(color.king()) {
            continue;
        }
        for file in [File::A, File::H] {
            if setup.board.piece_at(at(file)) == Some(color.rook()) {
                setup.castling_rights.add(at(file));
            }
        }
    }
}

/// A move as the board prints it.
fn words(m: Move) -> String {
    match m {
        Move::Castle { king, rook } if rook > king => "O-O".to_owned(),
        Move::Castle { .. } => "O-O-O".to_owned(),
        Move::EnPassant { from, to } => format!("{from}x{to}ep"),
        _ => {
            let from = m.from().map(|s| s.to_string()).unwrap_or_default();
            let sign = if m.is_capture() { 'x' } else { '-' };
            let piece = m.promotion().map(|role| format!("/{}", role.upper_char()));
            format!("{from}{sign}{}{}", m.to(), piece.unwrap_or_default())
        }
    }
}

/// Whether an upper-case text names the move: `E2E4`, `NG1F3`, `O-O`, `E7E8/N`.
fn same(text: &str, m: Move) -> bool {
    let castle = text.replace('0', "O");
    if let Move::Castle { king, rook } = m {
        castle == if rook > king { "O-O" } else { "O-O-O" }
    } else {
        let squares = text.replace('-', "");
        let from = m.from().map(|s| s.to_string()).unwrap_or_default();
        let plain = format!("{from}{}", m.to()).to_ascii_uppercase();
        let whole = match m.promotion() {
            Some(role) => format!("{plain}/{}", role.upper_char()),
            None => plain.clone(),
        };
        let lettered = format!("{}{whole}", m.role().upper_char());
        squares == whole
            || squares == lettered
            || (m.promotion() == Some(Role::Queen) && squares == plain)
    }
}

impl SimulatedBoard for Citrine {
    fn plugged(&mut self, _now: Instant) {
        // It sends nothing by itself.
    }

    fn received(&mut self, now: Instant, bytes: &[u8]) {
        if !self.on {
            return;
        }
        for &byte in bytes {
            if byte == b'\r' || byte == b'\n' {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                if !line.is_empty() {
                    self.command(now, line.trim());
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
        Some(self.scaled(COMMAND_GAP))
    }

    fn hand(&mut self, now: Instant, action: HandAction) {
        match action {
            HandAction::Off => {
                self.on = false;
                self.darken();
                self.report(Report::Off);
            }
            HandAction::On { forgetful } => {
                self.on = true;
                self.report(Report::On { forgetful });
                self.line.clear();
                if forgetful {
                    self.origin = None;
                    self.new_game(Game::standard());
                }
            }
            _ if !self.on => self.report(Report::Refused("the board is off".to_owned())),
            HandAction::Move(m) => self.hand_move(now, m),
            HandAction::Random => {
                if let Some(m) = random_move(&self.game, &mut self.random) {
                    self.hand_move(now, uci(m));
                }
            }
            HandAction::Execute => {
                // With or without the lamps: the player may have been told in words.
                if let Some(m) = self.shown() {
                    self.show_nothing();
                    self.report(Report::Executed(m));
                }
            }
            HandAction::Wrong(m) => self.report(Report::Refused(format!(
                "wrong {m}: a Citrine beeps at a wrong move itself, and does not report it"
            ))),
            HandAction::TakeBack => self.take_back(false),
            HandAction::NewGame => self.new_game(Game::standard()),
            HandAction::SetUp(game) => {
                self.origin = Some((*game).clone());
                self.new_game(*game);
            }
            HandAction::ForgetSettings => {
                self.forget_settings();
                self.report(Report::ForgotSettings);
            }
            HandAction::LiftKing if self.shown.is_some() => {
                self.report(Report::Refused("a move is shown".to_owned()));
            }
            HandAction::LiftKing => self.play_itself(now),
            HandAction::Hear(_) => self.report(shows_its_moves()),
            HandAction::Garbage(length) => self.output.push_back(garbage(length)),
            HandAction::Unplug | HandAction::Plug => {}
        }
        self.timeout(now);
    }

    fn timeout(&mut self, now: Instant) {
        if self.executes_at.is_some_and(|at| at <= now) {
            self.executes_at = None;
            self.hand(now, HandAction::Execute);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.executes_at
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
        self.shown.map(|shown| shown.m)
    }
}
