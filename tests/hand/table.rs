//! A program, its board's daemon without I/O, and the hand.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    board::{core::Core, settings::BoardConfig},
    chess::game::{Game, uci},
    vocabulary::{Advice, BoardName, By, Command, Event, Judge},
};
use fastrand::Rng;
use rig::{cable::CORRECTION_WAIT, clock::Clocked, program::Program};
use shakmaty::{Board, Color, Position, Square};

use super::{
    fate::Fate,
    gesture::{self, Habit, Touch},
    wood::Wood,
};

/// Longer than any wait of the board's daemon.
const LONG: Duration = Duration::from_secs(70);
/// The hand looks at what it is asked after this long.
const READS: Duration = Duration::from_secs(5);

/// A hand that has put all pieces as in the game so often in one game gives up: it would be asked for ever.
const MOST_PUT_UP: usize = 30;
/// The program takes back what the hand has taken back after this long.
const TAKES_BACK: Duration = Duration::from_secs(1);

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
    fate: Fate,
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
    /// When the link is lost, and when it is there again.
    cut_at: Option<Instant>,
    up_at: Option<Instant>,
    /// The board has not answered since: the hand waits.
    away: bool,
    back_at: Option<Instant>,
    /// The hand has taken moves back to this ply, and when the program does so too.
    back_to: Option<usize>,
    takes_back_at: Option<Instant>,
    /// The hand puts the pieces up for a new game.
    anew: bool,
    /// How the hand has ended the game.
    ended: bool,
    /// It has put its last piece straight.
    adjusted: bool,
    /// How often it has put all pieces as in the game.
    put_up: usize,
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
        fate: Fate,
        seed: u64,
    ) -> Self {
        let now = Instant::now();
        let board = BoardConfig::from_toml(wood.keys()).unwrap();
        let stands = if fate.elsewhere {
            fate.elsewhere(&line)
        } else {
            line.position_at(0).board().clone()
        };
        let mut core = Core::new(BoardName::default(), board.driver(), CORRECTION_WAIT);
        core.link_up(now);
        Self {
            now,
            began: now,
            core,
            wood,
            board: stands,
            touches: VecDeque::new(),
            touched: now,
            habit,
            fate,
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
            cut_at: None,
            up_at: None,
            away: false,
            back_at: None,
            back_to: None,
            takes_back_at: None,
            anew: false,
            ended: false,
            adjusted: false,
            put_up: 0,
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
        if self.fate.elsewhere {
            // The hand reads what to do, and does it.
            self.pass(READS);
            self.puts_up(&self.line.position_at(0).board().clone());
        }
        let ready = self.until(LONG, |table| table.core.snapshot().sure);
        self.progress = self.now;
        if ready {
            self.over = false;
            self.outcome.asked = 0;
            self.begins_game();
            self.plan();
            while !self.over {
                self.until(LONG, |table| table.over);
            }
            self.pass(LONG);
        }
        let misplaced = matches!(self.core.snapshot().advice, Advice::Misplaced(_));
        let kings = self.fate.kings && ready && !misplaced && self.outcome.wrong == 0;
        if kings && !self.line.position().is_game_over() && !self.ends_by_kings() {
            self.note("missed: kings in the centre".to_owned());
            self.outcome.missed = 1;
        }
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

    fn begins_game(&mut self) {
        if self.side == Some(self.game.turn()) {
            self.says_at = Some(self.now);
        } else {
            self.awaits(true);
        }
    }

    /// The board as it numbers its squares.
    fn seen(&self) -> Board {
        let mut board = self.board.clone();
        if self.fate.turned {
            board.rotate_180();
        }
        board
    }

    /// The hand brings the pieces there, in whatever order.
    fn puts_up(&mut self, wanted: &Board) {
        let mut at = self.now;
        for (wait, touch) in gesture::places(&self.board, wanted, &mut self.rng) {
            at += wait;
            self.touches.push_back((at, touch));
        }
    }

    /// The kings are put in the centre. `false`: nobody notices.
    fn ends_by_kings(&mut self) -> bool {
        let board = gesture::kings_in_the_centre(&self.board, &mut self.rng);
        self.puts_up(&board);
        self.until(LONG, |table| table.ended)
    }

    /// It happens now and then.
    fn happens(&mut self, percent: u8) -> bool {
        percent > 0 && self.rng.u8(..100) < percent
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
            || self.away
            || self.anew
            || self.back_to.is_some()
        {
            return;
        }
        let turn = self.line.position_at(self.made).turn();
        let programs = self.side == Some(turn);
        let heard = self.game.len() >= self.made;
        if programs && heard && self.fate.anew && self.made > 6 && self.happens(20) {
            self.fate.anew = false;
            self.anew = true;
            self.made = 0;
            // The program thinks for long.
            self.says_at = None;
            self.note("  hand puts up a new game".to_owned());
            self.puts_up(&Board::new());
            return;
        }
        let told = self.game.len() == self.made && self.made > 2 && self.fate.times > 0;
        if told && self.happens(self.fate.takes_back) {
            let most = if programs { 1 } else { 2 };
            let plies = if self.side.is_some() {
                most
            } else {
                self.rng.usize(1..=most)
            };
            // Squares do not tell two captures from each other.
            let last = self.line.moves()[self.made - plies..self.made].iter();
            let captures = last.filter(|m| m.is_capture()).count();
            let tells = self.habit.tells_pieces || captures < 2;
            if tells {
                self.fate.times -= 1;
                return self.takes_back(plies);
            }
        }
        // The program's answer is shown, and the hand takes its own move back instead of making that.
        let shown = programs && self.game.len() == self.made + 1 && self.made > 2;
        let regrets = shown && self.fate.times > 0 && self.habit.tells_pieces;
        if regrets && self.happens(self.fate.takes_back) {
            self.fate.times -= 1;
            return self.takes_back(1);
        }
        if self.made == self.line.len() || programs && self.game.len() <= self.made {
            return;
        }
        let pause = self.ms(self.habit.pause.clone());
        self.hand_at = Some(self.now.max(self.touched) + pause);
    }

    fn begins(&mut self) {
        let position = self.line.position_at(self.made);
        let m = self.line.moves()[self.made];
        self.note(format!("  hand begins {} {}", self.made + 1, uci(m)));
        let mut at = self.now;
        for (wait, touch) in gesture::makes(&position, m, &self.habit, &mut self.rng) {
            at += wait;
            self.touches.push_back((at, touch));
        }
        self.made += 1;
        if self.up_at.is_none() && self.happens(self.fate.cuts) {
            self.cut_at = Some(self.now + self.ms(0..1_500));
        }
    }

    /// The hand takes moves back, and plays another game from there.
    fn takes_back(&mut self, plies: usize) {
        let mut at = self.now;
        self.note(format!("  hand takes {plies} back"));
        for _ in 0..plies {
            self.made -= 1;
            let (before, m) = (
                self.line.position_at(self.made),
                self.line.moves()[self.made],
            );
            at += self.ms(300..900);
            for (wait, touch) in gesture::takes_back(&before, m, &mut self.rng) {
                at += wait;
                self.touches.push_back((at, touch));
            }
        }
        self.back_to = Some(self.made);
        // The program thinks for long.
        self.says_at = None;
        self.progress = self.now;
        self.line = self
            .fate
            .goes_on(&self.line.truncated(self.made), &mut self.rng);
        self.outcome.plies += self.line.len() - self.made;
    }

    /// The program takes back what the hand has.
    fn follows_back(&mut self) {
        let Some(to) = self.back_to else { return };
        let held = self.core.snapshot().game;
        let stands = |plies: &usize| {
            let then = self.game.position_at(*plies);
            then.board() == held.position().board() && then.turn() == held.turn()
        };
        let common = (0..=self.game.len()).rev().find(stands).unwrap_or_default();
        if common < to {
            self.note(format!("taken back to {common} instead of {to} WRONG"));
            self.outcome.wrong += 1;
            self.over = true;
            return;
        }
        self.note(format!("program takes back to {common}"));
        // There may be more to come.
        self.back_to = self.back_to.filter(|_| common > to);
        self.game = self.game.truncated(common);
        self.says_at = None;
        self.goes_at = None;
        self.awaits(false);
        self.states();
        if self.back_to.is_none() {
            self.begins_game();
        }
    }

    /// The hand has begun a new game.
    fn follows_anew(&mut self) {
        if !std::mem::take(&mut self.anew) {
            self.note("a new game WRONG".to_owned());
            self.outcome.wrong += 1;
            self.over = true;
            return;
        }
        self.game = Game::standard();
        self.line = self.fate.goes_on(&self.game, &mut self.rng);
        self.outcome.plies += self.line.len();
        self.progress = self.now;
        self.says_at = None;
        self.goes_at = None;
        self.awaits(false);
        let client = self.program.client;
        self.command(Command::NewGame { client });
        self.states();
        self.begins_game();
    }

    /// The link is lost, or the board is switched off and on.
    fn cut(&mut self) {
        self.note("the link is lost".to_owned());
        let forgets = self.rng.bool();
        if self.fate.silent && self.wood.dies_silently() {
            self.wood.off(&self.seen());
            return;
        }
        self.core.link_down(self.now, "it was cut".to_owned());
        self.away = true;
        self.back_at = None;
        self.hand_at = None;
        self.wood.air().clear();
        if forgets || !self.wood.dies_silently() {
            self.wood.off(&self.seen());
        }
        let time = self.ms(500..9_000).max(self.core.pause_between_links());
        self.up_at = Some(self.now + time);
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
                let thinks = self.ms(0..self.fate.thinks());
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
        if !asks || self.anew {
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
            self.back_to = None;
            self.progress = self.now;
            self.put_up += 1;
            self.over |= self.put_up > MOST_PUT_UP;
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
            if self.up_at.is_none()
                && let Some(outgoing) = self.core.poll_transmit(self.now)
            {
                self.note(format!("> {}", outgoing.bytes().escape_ascii()));
                if let Some(reply) = self.wood.takes(self.now, &outgoing, &self.seen()) {
                    self.core.answered(self.now, outgoing.channel, reply);
                }
            } else if let Some((channel, bytes)) = self.wood.air().comes(self.now)
                && self.up_at.is_none()
            {
                self.core.received(self.now, channel, &bytes);
            } else if let Some(event) = self.core.poll_event() {
                self.note(format!("* {event}"));
                match event {
                    Event::Mistake { .. } if !self.anew => self.outcome.asked += 1,
                    Event::TookBack {
                        by: By::Hand | By::HandUnseen,
                        ..
                    } => {
                        self.takes_back_at = Some(self.now + TAKES_BACK);
                    }
                    Event::NewGame { by: By::Hand } if !self.over => self.follows_anew(),
                    Event::Answers { .. } => self.back_at = Some(self.now + self.habit.looks),
                    Event::Ended {
                        by: Judge::Hand, ..
                    } => self.ended = true,
                    _ => {}
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
            self.cut_at,
            self.up_at,
            self.back_at,
            self.takes_back_at,
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
            let seen = self.seen();
            let touch = if self.fate.turned {
                touch.turned()
            } else {
                touch
            };
            self.wood.touched(now, touch, &seen);
        }
        if self.up_at.take_if(|at| *at <= now).is_some() {
            self.note("the link is there".to_owned());
            self.core.link_up(now);
        }
        if self.back_at.take_if(|at| *at <= now).is_some() {
            self.away = false;
        }
        if self.cut_at.take_if(|at| *at <= now).is_some() {
            self.cut();
        }
        if self.takes_back_at.take_if(|at| *at <= now).is_some() {
            self.follows_back();
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
        let seen = self.seen();
        self.wood.passes(now, &seen);
        if self.up_at.is_some() {
            self.wood.air().clear();
        }
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
