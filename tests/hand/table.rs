//! A program, its board's daemon without I/O, and the hand.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    board::{core::Core, settings::BoardConfig},
    chess::game::{Game, uci},
    vocabulary::{Advice, BoardName, Command, Event},
};
use fastrand::Rng;
use rig::{cable::CORRECTION_WAIT, clock::Clocked, program::Program};
use shakmaty::{Board, Color, Position, Square};

use crate::{
    gesture::{self, Habit, Touch},
    wood::Wood,
};

/// Longer than any wait of the board's daemon.
const LONG: Duration = Duration::from_secs(70);
/// The hand looks at what it is asked after this long.
const READS: Duration = Duration::from_secs(5);

/// What became of a game.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub plies: usize,
    /// Moves that were told and not made.
    pub wrong: usize,
    /// The game could not be finished, or the daemon still asks though all pieces stand right.
    pub missed: usize,
    /// How often the hand was asked to put something right.
    pub asked: usize,
    pub story: String,
}

pub struct Table {
    now: Instant,
    began: Instant,
    core: Core,
    wood: Box<dyn Wood>,
    board: Board,
    touches: VecDeque<(Instant, Touch)>,
    touched: Instant,
    habit: Habit,
    rng: Rng,
    program: Program,
    /// The game as the program has it.
    game: Game,
    awaits: bool,
    line: Game,
    /// Plies that the hand has begun.
    made: usize,
    /// The program's side; `None`: both are the hand's.
    side: Option<Color>,
    hand_at: Option<Instant>,
    says_at: Option<Instant>,
    goes_at: Option<Instant>,
    asks_since: Option<Instant>,
    /// It has put its last piece straight.
    adjusted: bool,
    progress: Instant,
    outcome: Outcome,
    log: Vec<String>,
    over: bool,
}

impl Table {
    pub fn new(
        wood: Box<dyn Wood>,
        line: Game,
        side: Option<Color>,
        habit: Habit,
        seed: u64,
    ) -> Self {
        let now = Instant::now();
        let board = BoardConfig::from_toml(wood.keys()).unwrap();
        let start = line.position_at(0);
        let mut core = Core::new(BoardName::default(), board.driver(), CORRECTION_WAIT);
        core.link_up(now);
        Self {
            now,
            began: now,
            core,
            wood,
            board: start.board().clone(),
            touches: VecDeque::new(),
            touched: now,
            habit,
            rng: Rng::with_seed(seed),
            program: Program::default(),
            game: Game::from_start(line.start().clone()),
            awaits: false,
            made: 0,
            side,
            hand_at: None,
            says_at: None,
            goes_at: None,
            asks_since: None,
            adjusted: false,
            progress: now,
            outcome: Outcome {
                plies: line.len(),
                ..Outcome::default()
            },
            line,
            log: Vec::new(),
            over: true,
        }
    }

    /// Plays the game to its end.
    pub fn plays(mut self) -> Outcome {
        self.states();
        let ready = self.until(LONG, |table| table.core.snapshot().sure);
        self.progress = self.now;
        if ready {
            self.over = false;
            if self.side == Some(self.game.turn()) {
                self.says_at = Some(self.now);
            } else {
                self.awaits(true);
            }
            self.plan();
            while !self.over {
                self.until(LONG, |table| table.over);
            }
            self.pass(LONG);
        }
        let misplaced = matches!(self.core.snapshot().advice, Advice::Misplaced(_));
        if !ready || misplaced || self.game.len() < self.line.len() {
            self.note(format!(
                "missed: ready {ready}, misplaced {misplaced}, {} of {}",
                self.game.len(),
                self.line.len()
            ));
            self.outcome.missed = 1;
        }
        self.outcome.story = self.log.join("\n");
        self.outcome
    }

    fn note(&mut self, what: String) {
        let at = (self.now - self.began).as_secs_f64();
        self.log.push(format!("{at:9.3} {what}"));
    }

    fn command(&mut self, command: Command) {
        self.core.command(self.now, command);
    }

    fn states(&mut self) {
        let command = self.program.states(&self.game);
        self.command(command);
        // The hand has chosen what its next pawn becomes.
        let ahead = self.line.moves()[self.game.len()..].iter().enumerate();
        let own =
            |ply: usize| Some(self.line.position_at(self.game.len() + ply).turn()) != self.side;
        let role = ahead
            .filter(|(ply, _)| own(*ply))
            .find_map(|(_, m)| m.promotion());
        if let Some(role) = role {
            let client = self.program.client;
            self.command(Command::Promotion { client, role });
        }
    }

    fn awaits(&mut self, on: bool) {
        self.awaits = on;
        let command = self.program.awaits(on);
        self.command(command);
    }

    fn ms(&mut self, range: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.u64(range))
    }

    /// The hand's next move, if it is its turn to touch the pieces.
    fn plan(&mut self) {
        if self.over
            || self.hand_at.is_some()
            || !self.touches.is_empty()
            || self.asks_since.is_some()
            || self.made == self.line.len()
        {
            return;
        }
        let turn = self.line.position_at(self.made).turn();
        if self.side == Some(turn) && self.game.len() <= self.made {
            return;
        }
        let pause = self.ms(200..2_000);
        self.hand_at = Some(self.now.max(self.touched) + pause);
    }

    fn begins(&mut self) {
        let position = self.line.position_at(self.made);
        let m = self.line.moves()[self.made];
        self.note(format!("  hand begins {} {}", self.made + 1, uci(m)));
        let mut at = self.now;
        for (wait, touch) in gesture::makes(&position, m, self.habit, &mut self.rng) {
            at += wait;
            self.touches.push_back((at, touch));
        }
        self.made += 1;
    }

    /// Looks whether the program is told a move.
    fn hears(&mut self) {
        while self.awaits {
            let Some(m) = self.program.answer(&self.core.snapshot()) else {
                return;
            };
            let right =
                self.line.moves().get(self.game.len()) == Some(&m) && self.game.len() < self.made;
            self.note(format!(
                "told {} {}",
                uci(m),
                if right { "" } else { "WRONG" }
            ));
            if !right {
                self.outcome.wrong += 1;
                self.over = true;
                self.awaits(false);
                return;
            }
            self.game.push(m);
            self.progress = self.now;
            let command = self.program.answered(uci(m));
            self.command(command);
            if self.game.len() == self.line.len() {
                self.awaits(false);
                self.over = true;
            } else if self.side.is_some() {
                self.awaits(false);
                self.states();
                let thinks = self.ms(0..900);
                self.says_at = Some(self.now + thinks);
            } else {
                self.states();
                self.awaits(true);
            }
        }
    }

    /// The program makes its move, and waits for the hand's after a while.
    fn says(&mut self) {
        let m = self.line.moves()[self.game.len()];
        self.note(format!("program says {}", uci(m)));
        self.game.push(m);
        self.progress = self.now;
        self.states();
        let dawdles = self.ms(0..900);
        self.goes_at = Some(self.now + dawdles);
    }

    /// The hand heeds what it is asked once it rests, and gives up in the end.
    fn heeds(&mut self) {
        let asks = matches!(self.core.snapshot().advice, Advice::Misplaced(_));
        if !asks {
            self.asks_since = None;
            self.adjusted = false;
        } else if self.asks_since.is_none() && self.touches.is_empty() {
            self.asks_since = Some(self.now);
            self.hand_at = None;
        }
    }

    /// The hand puts straight what it moved last; if that does not help, it puts all pieces as in the game that was told.
    fn stands_again(&mut self) {
        let m = self.line.moves()[self.made.saturating_sub(1)];
        let at = m.from().filter(|_| m.is_castle()).unwrap_or(m.to());
        let step = Duration::from_millis(400);
        let mut after = self.now;
        let mut touch = |touch| {
            after += step;
            self.touches.push_back((after, touch));
        };
        if let Some(piece) = self.board.piece_at(at).filter(|_| !self.adjusted) {
            touch(Touch::Lift(at));
            touch(Touch::Put(at, piece));
        } else {
            let board = self.game.position().board().clone();
            let wrong = || {
                Square::ALL
                    .into_iter()
                    .filter(|s| self.board.piece_at(*s) != board.piece_at(*s))
            };
            for square in wrong().filter(|square| self.board.piece_at(*square).is_some()) {
                touch(Touch::Lift(square));
            }
            for square in wrong() {
                if let Some(piece) = board.piece_at(square) {
                    touch(Touch::Put(square, piece));
                }
            }
            self.made = self.game.len();
        }
        self.adjusted = true;
        self.asks_since = Some(after);
    }
}

impl Clocked for Table {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }
    fn carry(&mut self) {
        loop {
            if let Some(outgoing) = self.core.poll_transmit(self.now) {
                self.note(format!("> {}", outgoing.bytes().escape_ascii()));
                if let Some(reply) = self.wood.takes(self.now, &outgoing, &self.board) {
                    self.core.answered(self.now, outgoing.channel, reply);
                }
            } else if let Some((channel, bytes)) = self.wood.air().comes(self.now) {
                self.core.received(self.now, channel, &bytes);
            } else if let Some(event) = self.core.poll_event() {
                self.note(format!("* {event}"));
                if let Event::Mistake { .. } = event {
                    self.outcome.asked += 1;
                }
                self.hears();
                self.heeds();
            } else {
                break;
            }
        }
        self.hears();
        self.plan();
    }
    fn deadline(&self) -> Option<Instant> {
        let next = [
            self.core.deadline(),
            self.wood.next(),
            self.touches.front().map(|(at, _)| *at),
            self.hand_at,
            self.says_at,
            self.goes_at,
            self.asks_since
                .map(|at| at + READS)
                .filter(|_| self.touches.is_empty() && !self.over),
            (!self.over).then_some(self.progress + 2 * LONG),
        ];
        next.into_iter().flatten().min()
    }
    fn timeout(&mut self, now: Instant) {
        if self.progress + 2 * LONG <= now {
            self.over = true;
        }
        while let Some((_, touch)) = self.touches.pop_front_if(|(at, _)| *at <= now) {
            touch.apply(&mut self.board);
            self.touched = now;
            self.note(format!("  {touch:?}"));
            self.wood.touched(now, touch, &self.board);
        }
        if self.hand_at.take_if(|at| *at <= now).is_some() {
            self.begins();
        }
        if self.says_at.take_if(|at| *at <= now).is_some() {
            self.says();
        }
        if self.goes_at.take_if(|at| *at <= now).is_some() {
            self.awaits(true);
        }
        self.wood.passes(now, &self.board);
        self.core.timeout(now);
        if self.asks_since.is_some_and(|at| at + READS <= now)
            && self.touches.is_empty()
            && !self.over
        {
            self.heeds();
            if self.asks_since.is_some() {
                self.stands_again();
            }
        }
    }
}
