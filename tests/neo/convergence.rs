//! Whatever happens to a Neo and its game, it ends up in the program's game: the core against a simulated
//! Neo, both without I/O, on one virtual clock.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    board::core::Core,
    driver::neo::{Neo as Driver, Promotion, Settings as DriverSettings},
    game::{Game, uci},
    guidance::{Action, in_words, name},
    vocabulary::{
        Advice, BoardName, By, Channel, ClientId, Command, Event, GameEnd, Judge, LinkState,
        Misplaced, Outgoing, Reply, Request, Snapshot,
    },
};
use proptest::prelude::*;
use rig::noise::{CaptureOrder, Habits, Promoting, Style, Touch, gesture};
use rig::{
    clock::{Clocked, log},
    game::{ours, simulated},
    histories::histories,
    program::Program,
};
use shakmaty::{Bitboard, Board, Color, Move, Piece, Position, Role, Square, uci::UciMove};
use simulators::{
    HandAction, Report,
    neo::{Hand, Neo, Settings, profile},
    peripheral::Peripheral,
};

const CLIENT: ClientId = ClientId(1);
/// How long a request is on the air, each way.
const AIR: Duration = Duration::from_millis(30);
/// The pause before a closed link is opened again.
const REOPEN: Duration = Duration::from_secs(3);
/// A player in the middle of an action touches the next piece within this time.
const CROSSING: Duration = Duration::from_secs(2);
/// A refused request is made three times, a second apart.
const REPEATED: Duration = Duration::from_secs(3);
/// Longer than any wait of the board and its driver.
const LONG: Duration = Duration::from_secs(60);
/// After this long on a link the pictures have shown everything.
const SEEN: Duration = Duration::from_secs(8);
/// Longer than one path of the motor.
const PATH: Duration = Duration::from_secs(8);

/// A request on the air.
struct OnAir {
    outgoing: Outgoing,
    /// When it reaches the board, and the board's answer, once it has.
    at: Instant,
    answer: Option<(Option<Vec<u8>>, Reply)>,
}

struct World {
    core: Core,
    driver: DriverSettings,
    neo: Neo,
    began: Instant,
    now: Instant,
    linked: bool,
    /// Since when.
    linked_at: Instant,
    /// The actions asked of the player since the program last saw everything; whether a capture is taken back.
    unseen: Vec<bool>,
    reopens: Option<Instant>,
    air: VecDeque<OnAir>,
    /// The number of next writes to refuse.
    refuses: usize,
    /// When the player last touched a piece.
    touched: Option<Instant>,
    target: Game,
    program: Program,
    /// What the program wrote, subscribed to and read.
    asked: Vec<String>,
    reports: Vec<String>,
    events: Vec<String>,
    faults: Vec<String>,
    /// Moves the player was told to make and the core has not reported.
    intended: Vec<UciMove>,
    /// Reported moves that the player did not make.
    invented: Vec<String>,
}

impl Clocked for World {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    /// Carries everything both ways that is due.
    fn carry(&mut self) {
        loop {
            let mut moved = false;
            while let Some(outgoing) = self.core.poll_transmit(self.now) {
                moved = true;
                if self.linked {
                    self.air.push_back(OnAir {
                        outgoing,
                        at: self.now + AIR,
                        answer: None,
                    });
                }
            }
            moved |= self.answers();
            while let Some((characteristic, value)) = self.neo.poll_notify() {
                moved = true;
                self.log(|| format!("< {}", value.escape_ascii()));
                if characteristic == profile::EVENTS && value != b"OK" {
                    self.touched = Some(self.now);
                }
                self.core
                    .received(self.now, Channel::Gatt(characteristic), &value);
            }
            while let Some(report) = self.neo.poll_report() {
                // A hand that reaches for a piece while a path or a question is on the air is not a fault; nor is one that
                // held a piece when the link came back, whose square may as well read wrong.
                let touches = |within| self.touched.is_some_and(|at| at + within > self.now);
                let says = |what| report.to_string().contains(what);
                let crossed = says("the motor") && (touches(CROSSING) || self.neo.is_at_work())
                    || says("lacks no piece") && touches(CROSSING + REPEATED);
                if matches!(report, Report::Fault(_)) && !crossed {
                    self.faults.push(report.to_string());
                }
                self.log(|| format!("  . {report}"));
                self.reports.push(report.to_string());
            }
            while let Some(event) = self.core.poll_event() {
                self.happened(&event);
            }
            if self.core.poll_hang_up().is_some() && self.linked {
                moved = true;
                self.unlink();
                self.reopens = Some(self.now + REOPEN);
            }
            if !moved {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let next = [
            self.core.deadline(),
            self.neo.deadline(),
            self.air.front().map(|first| first.at),
            self.reopens,
        ];
        next.into_iter().flatten().min()
    }

    fn timeout(&mut self, now: Instant) {
        if self.reopens.is_some_and(|at| at <= now) {
            self.link();
        }
        self.neo.timeout(now);
        self.carry();
        self.core.timeout(now);
    }

    fn story(&self) -> String {
        Self::story(self)
    }
}

fn core(driver: DriverSettings) -> Core {
    Core::new(
        BoardName::default(),
        Box::new(Driver::new(driver)),
        Duration::from_secs(3),
    )
}

impl World {
    fn with(driver: DriverSettings, board: Settings) -> Self {
        let began = Instant::now();
        Self {
            core: core(driver.clone()),
            driver,
            neo: Neo::new(board),
            began,
            now: began,
            linked: false,
            linked_at: began,
            unseen: Vec::new(),
            reopens: None,
            air: VecDeque::new(),
            refuses: 0,
            touched: None,
            target: Game::standard(),
            program: Program::default(),
            asked: Vec::new(),
            reports: Vec::new(),
            events: Vec::new(),
            faults: Vec::new(),
            intended: Vec::new(),
            invented: Vec::new(),
        }
    }

    /// A board with its game begun: the program follows the start position and awaits the player.
    fn begun() -> Self {
        Self::at("")
    }

    /// The same, with these moves made.
    fn at(moves: &str) -> Self {
        Self::at_with(moves, DriverSettings::default(), Settings::default())
    }

    fn at_with(moves: &str, driver: DriverSettings, board: Settings) -> Self {
        let mut world = Self::with(driver, board);
        world.neo.found(simulated(&game(moves)));
        world.link();
        world.follows(moves);
        world.awaits(true);
        world.pass(Duration::from_secs(10));
        world.stands(moves);
        world
    }

    /// A board that no program plays on and that was not met before; these moves were made on it.
    fn alone(moves: &str) -> Self {
        let mut world = Self::with(DriverSettings::default(), Settings::default());
        world.neo.found(simulated(&game(moves)));
        world.link();
        world.pass(Duration::from_secs(10));
        world
    }

    /// These moves are shown, and not as certain.
    fn guesses(&self, moves: &str) {
        let snapshot = self.snapshot();
        assert_eq!(*snapshot.game, game(moves), "{}", self.story());
        assert!(!snapshot.sure, "{}", self.story());
        self.is_clean();
    }

    /// With `CONVERGENCE_LOG` set, events are logged to standard error.
    fn log(&self, what: impl FnOnce() -> String) {
        log("CONVERGENCE_LOG", self.now - self.began, what);
    }

    fn command(&mut self, command: Command) {
        self.core.command(self.now, command);
        self.carry();
    }

    fn state(&mut self) {
        let command = self.program.states(&self.target);
        self.command(command);
    }

    fn awaits(&mut self, on: bool) {
        let command = self.program.awaits(on);
        self.command(command);
    }

    /// The program follows this game from now on.
    fn follows(&mut self, moves: &str) {
        self.target = game(moves);
        self.state();
    }

    fn link(&mut self) {
        self.reopens = None;
        if !self.linked {
            self.linked = true;
            self.linked_at = self.now;
            self.neo.connected(self.now);
            self.core.link_up(self.now);
            self.carry();
        }
    }

    fn unlink(&mut self) {
        self.reopens = None;
        if self.linked {
            self.linked = false;
            self.air.clear();
            self.neo.disconnected(self.now);
            self.core.link_down(self.now, "out of reach".to_owned());
            self.carry();
        }
    }

    /// The core ends with its link, and another one goes on with what was kept of it.
    fn goes_on(&mut self) {
        let kept = serde_json::to_string(&self.core.memory()).unwrap();
        self.unlink();
        self.core = core(self.driver.clone());
        self.core
            .resume(self.now, serde_json::from_str(&kept).unwrap());
        self.link();
    }

    fn happened(&mut self, event: &Event) {
        if let Event::Moved { uci, by, .. } = event
            && matches!(by, By::Hand | By::HandUnseen)
        {
            match self.intended.iter().position(|m| m == uci) {
                Some(at) => drop(self.intended.remove(at)),
                // Two steps of one piece, made unseen, read as one.
                None if self.unseen_steps(*uci) => {}
                None => self.invented.push(event.to_string()),
            }
        }
        self.log(|| format!("  = {event}"));
        self.events.push(event.to_string());
    }

    fn unseen_steps(&self, made: UciMove) -> bool {
        let ends = |m: &UciMove| Some((m.from()?, m.to()?));
        let Some((from, to)) = ends(&made) else {
            return false;
        };
        let all = || self.intended.iter().filter_map(ends);
        all().any(|(first, by)| first == from && all().any(|last| last == (by, to)))
    }

    /// Advances the request on the air.
    fn answers(&mut self) -> bool {
        let Some(first) = self.air.front_mut() else {
            return false;
        };
        if first.at > self.now {
            return false;
        }
        let Channel::Gatt(characteristic) = first.outgoing.channel else {
            panic!("a serial line on the air");
        };
        if let Some((value, outcome)) = first.answer.take() {
            let channel = first.outgoing.channel;
            self.air.pop_front();
            if let Some(value) = value {
                self.core.received(self.now, channel, &value);
            }
            self.core.answered(self.now, channel, outcome);
            return true;
        }
        first.at = self.now + AIR;
        let text = match &first.outgoing.request {
            Request::Subscribe => "subscribe".to_owned(),
            Request::Read => "read".to_owned(),
            Request::Write(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        };
        self.asked
            .push(format!("{} {text}", first.outgoing.channel));
        let refused = Reply::Refused("the test refuses".to_owned());
        first.answer = Some(match &first.outgoing.request {
            Request::Subscribe => {
                self.neo.subscribed(self.now, characteristic, true);
                (None, Reply::Done)
            }
            Request::Read => match self.neo.read(self.now, characteristic) {
                Ok(value) => (Some(value), Reply::Done),
                Err(_) => (None, refused),
            },
            Request::Write(_) if self.refuses > 0 => {
                self.refuses -= 1;
                (None, refused)
            }
            Request::Write(bytes) => match self.neo.write(self.now, characteristic, bytes) {
                Ok(()) => (None, Reply::Done),
                Err(_) => (None, refused),
            },
        });
        self.log(|| format!("> {}", self.asked.last().unwrap()));
        true
    }

    fn comes(&mut self, so: impl Fn(&Self) -> bool, what: &str) {
        assert!(
            self.until(Duration::from_secs(300), so),
            "{what} does not come: {}",
            self.story()
        );
    }

    fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    fn pieces(&self) -> &Board {
        self.neo.table().board()
    }

    /// The state, for a failure message.
    fn story(&self) -> String {
        let snapshot = self.snapshot();
        format!(
            "held {} (sure {}), target {}, {:?}, advice {}\npieces {}\nparked {:?}\nfaults {:?}\ninvented {:?}\nevents {:#?}",
            snapshot.game,
            snapshot.sure,
            self.target,
            snapshot.link,
            snapshot.advice,
            self.pieces(),
            self.neo.table().parked(),
            self.faults,
            self.invented,
            self.events,
        )
    }

    /// Nothing forbidden was done.
    fn is_clean(&self) {
        assert!(self.faults.is_empty(), "{}", self.story());
        assert!(self.invented.is_empty(), "{}", self.story());
    }

    /// Core and pieces are at the end of this game, for certain, and nothing went wrong on the way.
    fn stands(&self, moves: &str) {
        let game = game(moves);
        let snapshot = self.snapshot();
        assert!(snapshot.sure, "{}", self.story());
        assert_eq!(
            snapshot.game.position(),
            game.position(),
            "{}",
            self.story()
        );
        assert_eq!(self.pieces(), game.position().board(), "{}", self.story());
        self.is_clean();
    }

    /// The person knows the program's game, if the pieces stand so.
    fn knows(&mut self) {
        let game = (*self.snapshot().game).clone();
        if game.position().board() == self.pieces() && game != ours(self.neo.game()) {
            self.neo
                .hand(self.now, Hand::SetUp(Box::new(simulated(&game))));
        }
    }

    fn hand(&mut self, order: impl Into<Hand>) {
        let order = order.into();
        if let Hand::Move(m, _) | Hand::Board(HandAction::Move(m)) = &order {
            self.intended.push(*m);
        }
        self.neo.hand(self.now, order);
        self.carry();
    }

    /// The player moves, and the core reports it.
    fn plays(&mut self, m: &str) {
        let plies = self.snapshot().game.len() + 1;
        self.hand(HandAction::Move(m.parse().unwrap()));
        self.comes(|w| w.snapshot().game.len() == plies, m);
        self.pass(Duration::from_secs(1));
    }

    /// The answer, as a program would take it.
    fn take_answer(&mut self) -> Option<String> {
        let m = self.program.answer(&self.snapshot())?;
        assert!(self.target.position().is_legal(m), "illegal: {m:?}");
        self.target.push(m);
        let command = self.program.answered(uci(m));
        self.command(command);
        Some(uci(m).to_string())
    }

    /// The player does as asked, if anything is asked.
    fn obey(&mut self) {
        // No player acts at once.
        self.pass(Duration::from_secs(1));
        let snapshot = self.snapshot();
        let last = |text: &str| self.asked.iter().rposition(|asked| asked.ends_with(text));
        // The person knows that a position is being set up, and puts right also what the board cannot see.
        let setting_up = last(" 14#1*") > last(" R:ISG") && snapshot.link == LinkState::Up;
        match &snapshot.advice {
            Advice::Misplaced(misplaced)
                if !setting_up && (snapshot.sure || misplaced.lacking.len() <= 4) =>
            {
                self.mend(misplaced);
            }
            Advice::Misplaced(misplaced) => {
                let meant = self.meant(misplaced);
                self.hand(Hand::Touches(gesture::restored(
                    self.pieces(),
                    &meant,
                    &mut fastrand::Rng::with_seed(1),
                )));
            }
            Advice::NewGame => self.hand(Hand::SetUp(Box::new(simulators::game::Game::standard()))),
            Advice::SetUp(fen) | Advice::SetUpByHand(fen) => {
                // What is asked for, and not what the program has come to since.
                let games = (0..=self.target.len()).map(|plies| self.target.truncated(plies));
                let asked = games.into_iter().find(|game| game.fen() == *fen);
                let game = simulated(&asked.unwrap_or_else(|| self.target.clone()));
                self.hand(Hand::SetUp(Box::new(game)));
            }
            Advice::PutBack { made, .. } => {
                let m = uci(*made);
                self.knows();
                self.hand(HandAction::Move(m));
            }
            Advice::Make(m) | Advice::Shown { m, .. } => {
                // The person knows which squares are lit, or reads the words.
                let m = *m;
                let mut game = self.neo.game().clone();
                if game.position().is_legal(m) && game.push(m) {
                    self.hand(Hand::SetUp(Box::new(game)));
                }
            }
            Advice::TakeBack(_) => self.hand(HandAction::TakeBack),
            _ => {}
        }
    }

    /// The intended position follows from where pieces are wanted.
    fn meant(&self, misplaced: &Misplaced) -> Board {
        let lacking: Bitboard = misplaced.lacking.iter().map(|(s, _)| *s).collect();
        let meant = (self.neo.occupancy() & !misplaced.surplus) | lacking;
        let held = self.snapshot().game.position().board().clone();
        let wanted = (0..=self.target.len()).map(|n| self.target.position_at(n).board().clone());
        std::iter::once(held.clone())
            .chain(wanted)
            .min_by_key(|board| (board.occupied() ^ meant).count())
            .unwrap_or(held)
    }

    /// Surplus pieces come off, and missing ones are put: the one that was moved there, if there is one.
    fn mend(&mut self, misplaced: &Misplaced) {
        let game = self.meant(misplaced);
        let mut there = self.pieces().clone();
        let mut held = Vec::new();
        let mut orders = Vec::new();
        for square in misplaced.surplus {
            if let Some(piece) = there.remove_piece_at(square) {
                orders.push(Hand::Lift(square));
                // A person puts a piece back where it came from, asked or not.
                let home = Square::ALL
                    .into_iter()
                    .find(|s| game.piece_at(*s) == Some(piece) && there.piece_at(*s).is_none());
                let asked = |s: Square| misplaced.lacking.iter().any(|(other, _)| *other == s);
                let of_a_kind = |other: &&Piece| **other == piece;
                let lacking = misplaced.lacking.iter().map(|(_, other)| other);
                let wanted =
                    lacking.filter(of_a_kind).count() > held.iter().filter(of_a_kind).count();
                if let Some(home) = home.filter(|s| !asked(*s) && !wanted) {
                    there.set_piece_at(home, piece);
                    orders.push(Hand::Put(home, piece));
                } else {
                    held.push(piece);
                }
            }
        }
        let mut lacking = VecDeque::from(misplaced.lacking.clone());
        while let Some((square, piece)) = lacking.pop_front() {
            if there.piece_at(square).is_some() {
                orders.push(Hand::Adjust(square));
                continue;
            }
            // There is no second king: a piece that stands wrong is taken, and what belongs there is put there.
            if let Some(at) = held.iter().position(|other| *other == piece) {
                held.remove(at);
            } else if let Some(stray) = Square::ALL
                .into_iter()
                .find(|s| there.piece_at(*s) == Some(piece) && game.piece_at(*s) != Some(piece))
            {
                there.discard_piece_at(stray);
                orders.push(Hand::Lift(stray));
                if let Some(gone) = game.piece_at(stray) {
                    lacking.push_front((stray, gone));
                }
            }
            there.set_piece_at(square, piece);
            orders.push(Hand::Put(square, piece));
        }
        for order in orders {
            self.hand(order);
            self.pass(Duration::from_millis(700));
        }
    }
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

fn paths(world: &World) -> Vec<&str> {
    let prefix = format!("{} ", Channel::Gatt(profile::PATHS));
    world
        .asked
        .iter()
        .filter_map(|line| line.strip_prefix(&prefix))
        .collect()
}

fn carried(world: &World) -> Vec<&str> {
    let of = |report: &'_ String| report.starts_with("carried");
    world
        .reports
        .iter()
        .filter(|r| of(r))
        .map(String::as_str)
        .collect()
}

#[test]
fn the_start_is_the_captured_one() {
    let world = World::begun();
    assert_eq!(
        world.asked,
        [
            "6e400003 subscribe",
            "2a19 read",
            "2a19 subscribe",
            "2a26 read",
            "c8659211 subscribe",
            "4496994f subscribe",
            "777ac5a4 subscribe",
            "d804b644 read",
            "6e400002 1#*",
            "c7d64c44 S:po",
            "6e400002 14#3*",
            "6e400002 30#2000*",
            "6e400002 14#1*",
            "c7d64c44 S:po",
            "c7d64c44 R:ISG",
            "c7d64c45 0",
        ]
    );
    world.stands("");
}

#[test]
fn what_the_hand_plays_from_the_start_is_shown_while_nobody_plays_and_a_program_goes_on_with_it() {
    for restarts in [false, true] {
        let mut world = World::alone("");
        world.plays("e2e4");
        world.guesses("e2e4");
        world.plays("d7d5");
        if restarts {
            world.goes_on();
            world.pass(Duration::from_secs(10));
        }
        world.plays("e4d5");
        world.guesses("e2e4 d7d5 e4d5");
        world.asked.clear();
        world.follows("e2e4 d7d5 e4d5");
        world.awaits(true);
        world.pass(LONG);
        let begins = |asked: &String| asked.contains("14#1*") || asked.contains("30#2000*");
        assert!(!world.asked.iter().any(begins), "{:?}", world.asked);
        world.stands("e2e4 d7d5 e4d5");
        assert_eq!(world.take_answer(), None);
        world.plays("d8d5");
        assert_eq!(world.take_answer().as_deref(), Some("d8d5"));
        world.follows("e2e4 d7d5 e4d5 d8d5 b1c3");
        world.pass(LONG);
        world.stands("e2e4 d7d5 e4d5 d8d5 b1c3");
    }
}

#[test]
fn a_first_move_that_crosses_a_programs_new_game_is_its_answer() {
    let mut world = World::alone("");
    world.pass(Duration::from_secs(30));
    world.hand(HandAction::Move("e2e4".parse().unwrap()));
    world.follows("");
    world.awaits(true);
    world.pass(Duration::from_secs(60));
    assert_eq!(world.take_answer().as_deref(), Some("e2e4"));
    world.stands("e2e4");
}

#[test]
fn a_program_that_comes_after_the_hands_last_move_is_answered_by_it() {
    for (before, made) in [("", "g1f3"), ("e2e4", "e7e5")] {
        let mut world = World::alone("");
        before.split_whitespace().for_each(|m| world.plays(m));
        world.plays(made);
        world.follows(before);
        world.awaits(true);
        world.pass(Duration::from_secs(30));
        assert_eq!(world.take_answer().as_deref(), Some(made));
        world.stands(format!("{before} {made}").trim());
    }
}

#[test]
fn a_program_with_another_game_than_the_hands_begins_it_and_is_not_answered_by_a_move_from_before()
{
    for (made, stated) in [
        ("g1f3 g8f6", ""),
        ("e2e4 e7e5 g1f3", "e2e4"),
        ("e2e4", "d2d4"),
    ] {
        let mut world = World::alone("");
        made.split(' ').for_each(|m| world.plays(m));
        world.guesses(made);
        world.follows(stated);
        world.awaits(true);
        for _ in 0..20 {
            world.obey();
            world.pass(Duration::from_secs(5));
            assert_eq!(world.program.answer(&world.snapshot()), None);
        }
        world.stands(stated);
    }
}

#[test]
fn the_player_is_told_that_pieces_which_do_not_stand_at_the_start_are_unknown_and_may_put_them_there()
 {
    let mut world = World::alone("e2e4 e7e5 g1f3");
    world.hand(HandAction::Move("b8c6".parse().unwrap()));
    world.intended.clear();
    world.pass(Duration::from_secs(10));
    assert_eq!(world.snapshot().advice, Advice::Unplaced(None));
    world.guesses("");
    let start = simulators::game::Game::standard();
    world.hand(Hand::SetUp(Box::new(start)));
    world.pass(Duration::from_secs(20));
    assert_eq!(world.snapshot().advice, Advice::Nothing);
    world.plays("d2d4");
    world.guesses("d2d4");
}

#[test]
fn a_whole_game_is_played_by_hand_and_motor() {
    // Captures, castling of both sides, en passant, promotion by capture.
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d4 e5d4 e4e5 d7d5 e5d6 f8d6 e1g1 e8g8 f3d4 c6d4 d1d4 c8e6 \
                 c4e6 f7e6 d4e4 b7b5 e4a8 b5b4 a8d8 b4b3 d8d6 b3c2 d6f8 g8f8 a2a4 c2b1r a1b1 a7a6 a4a5 c7c5 b2b4 c5b4 c1b2 b4b3 f1d1 f6d5 d1d5 e6d5";
    let mut world = World::begun();
    for (index, m) in moves.split_whitespace().enumerate() {
        if index % 2 == 0 {
            world.plays(m);
            assert_eq!(world.take_answer().as_deref(), Some(m));
        } else {
            world.target.play_uci([m]).unwrap();
            world.state();
            let plies = index + 1;
            for _ in 0..40 {
                let there = |w: &World| {
                    w.snapshot().game.len() == plies
                        || matches!(w.snapshot().advice, Advice::Misplaced(_))
                };
                world.comes(there, m);
                if world.snapshot().game.len() == plies {
                    break;
                }
                world.obey();
                world.pass(Duration::from_secs(5));
            }
            world.pass(Duration::from_secs(2));
        }
        let so_far: Vec<&str> = moves.split_whitespace().take(index + 1).collect();
        world.stands(&so_far.join(" "));
    }
}

#[test]
fn the_program_takes_back_whatever_the_motor_made() {
    for (before, m) in [
        ("e2e4 d7d5", "e4d5"),
        ("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "e1g1"),
        ("d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7", "e1c1"),
        ("e2e4 a7a6 e4e5 d7d5", "e5d6"),
        ("a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6", "b7a8q"),
        ("a2a4 b7b5 a4b5 h7h6 b5b6 h6h5 b6c7 b8a6", "c7d8n"),
    ] {
        let mut world = World::at(before);
        let after = format!("{before} {m}");
        world.follows(&after);
        world.pass(LONG);
        world.obey();
        world.pass(LONG);
        world.stands(&after);
        world.follows(before);
        world.pass(LONG);
        world.obey();
        world.pass(LONG);
        world.stands(before);
        world.follows(&after);
        world.pass(LONG);
        world.obey();
        world.pass(LONG);
        world.stands(&after);
    }
}

#[test]
fn the_program_takes_back_what_the_hand_made() {
    let before = "e2e4 d7d5";
    let mut world = World::at(before);
    world.plays("e4d5");
    world.take_answer();
    world.follows(before);
    world.pass(LONG);
    // The captured pawn is in the player's hands.
    world.obey();
    world.pass(LONG);
    world.stands(before);
}

#[test]
fn the_player_takes_back_and_plays_another_move() {
    let mut world = World::at("e2e4 d7d5");
    world.plays("e4d5");
    world.hand(HandAction::TakeBack);
    world.comes(|w| w.snapshot().game.len() == 2, "the take-back");
    world.plays("b1c3");
    assert_eq!(world.take_answer().as_deref(), Some("b1c3"));
    world.stands("e2e4 d7d5 b1c3");
}

#[test]
fn a_move_that_was_answered_and_taken_back_is_asked_for_again() {
    let mut world = World::begun();
    world.plays("e2e4");
    world.take_answer();
    world.hand(HandAction::TakeBack);
    world.comes(
        |w| matches!(w.snapshot().advice, Advice::PutBack { .. }) || paths(w).len() == 1,
        "the way back",
    );
    world.pass(LONG);
    world.obey();
    world.pass(LONG);
    world.stands("e2e4");
}

#[test]
fn a_path_whose_write_was_lost_is_sent_again() {
    let mut world = World::begun();
    world.plays("e2e4");
    world.take_answer();
    world.follows("e2e4 e7e5");
    // On its way, and not at the board yet.
    world.comes(|w| !w.air.is_empty(), "the path");
    assert!(paths(&world).is_empty());
    world.unlink();
    world.pass(Duration::from_secs(5));
    world.link();
    world.pass(LONG);
    world.stands("e2e4 e7e5");
    assert_eq!(carried(&world), ["carried e7 e5"]);
}

#[test]
fn a_path_is_not_sent_again_if_the_link_was_lost_while_the_motor_ran() {
    for away in [0, 1, 2, 3, 5, 10, 100] {
        for running in [50, 500, 2500] {
            let mut world = World::begun();
            world.plays("e2e4");
            world.take_answer();
            world.follows("e2e4 b8c6");
            world.comes(|w| w.neo.is_driving(), "the path");
            world.pass(Duration::from_millis(running));
            assert!(world.neo.is_driving());
            world.unlink();
            world.pass(Duration::from_secs(away));
            world.link();
            world.pass(LONG);
            world.stands("e2e4 b8c6");
            assert_eq!(carried(&world), ["carried b8 c6"]);
        }
    }
}

#[test]
fn a_capture_goes_on_where_the_link_was_lost() {
    for step in 0..2 {
        for away in [1, 20] {
            let mut world = World::at("e2e4 d7d5 a2a3");
            let before = carried(&world).len();
            world.follows("e2e4 d7d5 a2a3 d5e4");
            world.comes(
                |w| carried(w).len() == before + step && w.neo.is_driving(),
                "the path",
            );
            world.pass(Duration::from_secs(1));
            world.unlink();
            world.pass(Duration::from_secs(away));
            world.link();
            world.pass(LONG);
            world.stands("e2e4 d7d5 a2a3 d5e4");
            assert_eq!(carried(&world).len(), before + 2);
        }
    }
}

#[test]
fn a_path_whose_square_went_stuck_is_not_sent_again() {
    for away in [1, 10] {
        let mut world = World::begun();
        world.plays("e2e4");
        world.take_answer();
        world.follows("e2e4 b8c6");
        world.comes(|w| w.neo.is_driving(), "the path");
        world.unlink();
        world.pass(PATH);
        world.neo.stick(Square::C6);
        world.pass(Duration::from_secs(away));
        world.link();
        world.pass(LONG);
        world.stands("e2e4 b8c6");
        assert_eq!(carried(&world), ["carried b8 c6"]);
    }
}

#[test]
fn the_program_may_want_another_move_while_the_link_is_lost_in_mid_capture() {
    for then in ["e2e4 d7d5 a2a3", "e2e4 d7d5 a2a3 g8f6", "e2e4 d7d5", ""] {
        let mut world = World::at("e2e4 d7d5 a2a3");
        let before = carried(&world).len();
        world.follows("e2e4 d7d5 a2a3 d5e4");
        world.comes(|w| carried(w).len() == before + 1, "the first path");
        world.unlink();
        world.follows(then);
        world.pass(Duration::from_secs(10));
        world.link();
        for _ in 0..4 {
            world.pass(LONG);
            world.obey();
        }
        world.stands(then);
    }
}

#[test]
fn the_set_up_begins_again_when_the_link_was_lost_in_it() {
    let mut world = World::with(DriverSettings::default(), Settings::default());
    // The pieces stand as after no ply of the game.
    world.hand(Hand::Lift(Square::A2));
    world.hand(Hand::Lift(Square::H7));
    world.link();
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6";
    world.follows(moves);
    world.awaits(true);
    world.pass(Duration::from_secs(5));
    assert!(
        matches!(
            world.snapshot().advice,
            Advice::SetUp(_) | Advice::Misplaced(_)
        ),
        "{}",
        world.story()
    );
    world.unlink();
    world.pass(Duration::from_secs(5));
    world.hand(Hand::SetUp(Box::new(simulated(&game(moves)))));
    world.link();
    world.pass(LONG);
    world.stands(moves);
}

#[test]
fn a_move_made_while_the_link_was_down_is_taken_from_the_first_pictures() {
    for (before, m) in [
        ("e2e4 e7e5", "g1f3"),
        ("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "e1g1"),
        ("e2e4 a7a6 e4e5 d7d5", "e5d6"),
        ("e2e4 d7d5", "e4d5"),
    ] {
        let mut world = World::at(before);
        world.unlink();
        world.hand(HandAction::Move(m.parse().unwrap()));
        world.pass(LONG);
        world.link();
        let plies = before.split_whitespace().count() + 1;
        world.comes(|w| w.snapshot().game.len() == plies && w.snapshot().sure, m);
        assert_eq!(world.take_answer().as_deref(), Some(m));
        world.stands(&format!("{before} {m}"));
    }
}

#[test]
fn a_capture_made_while_the_link_was_down_is_asked_for_where_two_are_possible() {
    let before = "e2e4 d7d5 a2a3 f7f5";
    let mut world = World::at(before);
    world.unlink();
    world.hand(HandAction::Move("e4d5".parse().unwrap()));
    world.pass(LONG);
    world.link();
    world.comes(
        |w| matches!(&w.snapshot().advice, Advice::Misplaced(m) if m.lacking[0].0 == Square::E4),
        "the question",
    );
    world.obey();
    world.pass(LONG);
    world.stands(before);
    world.knows();
    world.plays("e4f5");
    assert_eq!(world.take_answer().as_deref(), Some("e4f5"));
}

#[test]
fn corrupt_notifications_are_ignored() {
    let mut world = World::begun();
    for (characteristic, value) in [
        (profile::EVENTS, &b"e2x"[..]),
        (profile::EVENTS, b"\xff\xff\xff"),
        (profile::EVENTS, b""),
        (profile::OCCUPANCY, b"1100"),
        (profile::ANSWERS, b"30#0101*"),
        (profile::BATTERY, b"\xff"),
    ] {
        world
            .core
            .received(world.now, Channel::Gatt(characteristic), value);
        world.pass(Duration::from_secs(3));
    }
    world.stands("");
    world.plays("e2e4");
    world.follows("e2e4 e7e5");
    world.pass(LONG);
    world.stands("e2e4 e7e5");
}

#[test]
fn a_refused_write_is_made_again() {
    for refusals in [1, 2, 3, 5] {
        let mut world = World::begun();
        world.plays("e2e4");
        world.take_answer();
        world.refuses = refusals;
        world.follows("e2e4 e7e5");
        world.pass(LONG);
        world.stands("e2e4 e7e5");
        assert_eq!(carried(&world), ["carried e7 e5"]);
    }
}

#[test]
fn refusals_at_the_start_do_not_keep_the_game_from_beginning() {
    for refusals in 1..12 {
        let mut world = World::with(DriverSettings::default(), Settings::default());
        world.refuses = refusals;
        world.link();
        world.state();
        world.awaits(true);
        world.pass(Duration::from_secs(120));
        world.stands("");
    }
}

#[test]
fn without_the_motor_the_hand_makes_the_moves_of_both_sides() {
    let driver = DriverSettings {
        motor: false,
        ..DriverSettings::default()
    };
    let board = Settings {
        hand_delay: Some(Duration::from_secs(1)),
        ..Settings::default()
    };
    let mut world = World::at_with("", driver, board);
    for (index, m) in "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 d2d4 c7c5 c1d2 b8c6 d4c5"
        .split_whitespace()
        .enumerate()
    {
        if index % 2 == 0 {
            world.plays(m);
            world.take_answer();
        } else {
            world.target.play_uci([m]).unwrap();
            world.state();
        }
        world.pass(Duration::from_secs(15));
        let moves = world.target.clone();
        assert_eq!(
            world.pieces(),
            moves.position().board(),
            "{}",
            world.story()
        );
        assert_eq!(*world.snapshot().game, moves, "{}", world.story());
    }
    assert!(paths(&world).is_empty());
    world.is_clean();
}

#[test]
fn a_missing_piece_is_asked_for_and_the_start_goes_on_when_it_stands() {
    let mut world = World::with(DriverSettings::default(), Settings::default());
    world.hand(Hand::Lift(Square::C8));
    world.link();
    world.state();
    world.awaits(true);
    world.pass(Duration::from_secs(10));
    assert!(
        world.reports.contains(&"missing c8".to_owned()),
        "{}",
        world.story()
    );
    assert!(
        in_words(&world.snapshot().guidance).contains("the black bishop on c8"),
        "{}",
        world.story()
    );
    world.hand(Hand::Put(Square::C8, Color::Black.bishop()));
    world.pass(Duration::from_secs(5));
    world.stands("");
}

#[test]
fn squares_that_read_empty_do_not_stop_the_game() {
    let mut world = World::begun();
    for square in [Square::G7, Square::E7, Square::E2, Square::D8] {
        world.neo.stick(square);
    }
    world.pass(Duration::from_secs(30));
    let moves = "e2e4 e7e5 d2d4 e5d4 d1d4 d8h4 d4g7 h4e4 f1e2 f8g7";
    for (index, m) in moves.split_whitespace().enumerate() {
        if index % 2 == 0 {
            world.plays(m);
            world.take_answer();
        } else {
            world.target.play_uci([m]).unwrap();
            world.state();
            world.pass(LONG);
        }
        if index == 3 {
            world.neo.stick(Square::D4);
        }
    }
    world.stands(moves);
}

#[test]
fn the_players_promotion_is_chosen_by_the_gesture() {
    let before = "a2a4 b7b5 a4b5 h7h6 b5b6 h6h5 b6a7 h5h4";
    for (adjusted, m, role) in [
        (0, "a7b8q", Role::Queen),
        (2, "a7b8n", Role::Knight),
        (3, "a7b8r", Role::Rook),
        (4, "a7b8b", Role::Bishop),
    ] {
        let driver = DriverSettings {
            promotion: Promotion::Gesture,
            ..DriverSettings::default()
        };
        let mut world = World::at_with(before, driver, Settings::default());
        // No pawn is put down before its piece.
        let style = Style {
            promoting: Promoting::Direct,
            ..Style::default()
        };
        world.hand(Hand::Move(m.parse().unwrap(), style));
        for _ in 0..adjusted {
            let stands = |w: &World| w.pieces().piece_at(Square::B8) == Some(role.of(Color::White));
            world.comes(stands, "the piece");
            world.pass(Duration::from_millis(400));
            world.hand(Hand::Adjust(Square::B8));
        }
        world.comes(|w| w.snapshot().game.len() == 9, m);
        let board = world.snapshot().game.position().board().clone();
        assert_eq!(board.role_at(Square::B8), Some(role), "{}", world.story());
        assert_eq!(world.take_answer().as_deref(), Some(m));
    }
}

#[test]
fn kings_in_the_centre_are_no_move() {
    let before = "e2e4 e7e5 e1e2 e8e7 d2d3 d7d6";
    let mut world = World::at(before);
    world.hand(Hand::KingsToCentre);
    world.pass(LONG);
    assert_eq!(*world.snapshot().game, game(before), "{}", world.story());
    world.hand(Hand::Restore);
    world.pass(LONG);
    world.stands(before);
}

#[test]
fn pieces_put_on_their_starting_squares_begin_a_new_game() {
    let mut world = World::at("e2e4 e7e5 g1f3");
    world.awaits(false);
    world.hand(HandAction::NewGame);
    world.comes(|w| w.snapshot().game.is_empty(), "the new game");
    world.pass(LONG);
    world.stands("");
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.awaits(true);
    world.pass(Duration::from_secs(5));
    world.plays("d2d4");
    assert_eq!(world.take_answer().as_deref(), Some("d2d4"));
}

/// One event of a history.
#[derive(Clone, Debug)]
enum Act {
    /// The program continues: the legal move of this number.
    GuiMoves(usize),
    /// The program takes back this many plies.
    GuiTakesBack(usize),
    /// The program begins a new game.
    GuiNewGame,
    /// The program awaits the player's move, or not.
    Await(bool),
    /// The player plays the legal move of this number, in a style of this number.
    HandMoves(usize, u64),
    /// The player takes back.
    HandTakesBack(u64),
    /// The player does as asked.
    Obeys,
    /// The link is lost, or comes back.
    Unlink,
    Link,
    /// The core ends, and another one goes on with what was kept of it.
    GoesOn,
    /// This many writes are refused.
    Refuse(usize),
    /// A square reads empty.
    Stick(u32),
    /// Time passes, in milliseconds.
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<usize>().prop_map(Act::GuiMoves),
        1 => (1..4usize).prop_map(Act::GuiTakesBack),
        1 => Just(Act::GuiNewGame),
        2 => any::<bool>().prop_map(Act::Await),
        4 => (any::<usize>(), any::<u64>()).prop_map(|(n, style)| Act::HandMoves(n, style)),
        1 => any::<u64>().prop_map(Act::HandTakesBack),
        3 => Just(Act::Obeys),
        1 => Just(Act::Unlink),
        2 => Just(Act::Link),
        1 => Just(Act::GoesOn),
        1 => (1..5usize).prop_map(Act::Refuse),
        1 => (0..64u32).prop_map(Act::Stick),
        6 => (1..4000u64).prop_map(Act::Wait),
        6 => (4000..30_000u64).prop_map(Act::Wait),
    ]
}

fn style(number: u64) -> Style {
    let habits = Habits {
        capture: None,
        castling: None,
        en_passant: None,
        promoting: None,
        slides: 0.2,
        bounces: 0.2,
        ..Habits::default()
    };
    habits.style(&mut fastrand::Rng::with_seed(number))
}

impl World {
    /// The player does one thing after the other, and nothing while the motor visibly works.
    fn hand_is_free(&mut self) {
        for _ in 0..60 {
            if self.neo.is_at_work() || self.neo.is_driving() || !self.air.is_empty() {
                self.pass(Duration::from_secs(1));
            }
        }
    }

    fn is_seen(&self) -> bool {
        self.linked && self.linked_at + SEEN <= self.now
    }

    /// A capture taken back unseen, together with something else: the capturing piece is back on its square, and the
    /// other square is occupied as before. A piece put there from beside the board reads the same.
    fn mind_unseen(&mut self, takes_capture_back: bool) {
        if self.is_seen() && !self.neo.is_at_work() {
            self.unseen.clear();
        }
        let first = self.unseen.is_empty();
        let either = self.unseen.contains(&true) || (takes_capture_back && !first);
        if either && !self.is_seen() {
            self.link();
            self.pass(SEEN);
            self.unseen.clear();
        }
        self.unseen.push(takes_capture_back);
    }

    fn does(&mut self, act: &Act) {
        let legal = |game: &Game, n: usize| {
            let moves = game.position().legal_moves();
            (!moves.is_empty()).then(|| moves[n % moves.len()])
        };
        // Neither does a program move while the hand does, nor the hand while the motor does.
        let program = matches!(
            act,
            Act::GuiMoves(_) | Act::GuiTakesBack(_) | Act::GuiNewGame | Act::Await(_)
        );
        let hand = matches!(act, Act::HandMoves(..) | Act::HandTakesBack(_) | Act::Obeys);
        let rests = |w: &Self| w.touched.is_none_or(|at| at + CROSSING <= w.now);
        for _ in 0..10 {
            if program && !rests(self) {
                self.pass(Duration::from_secs(1));
            }
        }
        if hand {
            self.hand_is_free();
        }
        self.log(|| format!("# {act:?}"));
        match *act {
            Act::GuiMoves(n) => {
                self.take_answer();
                if let Some(m) = legal(&self.target, n) {
                    self.target.push(m);
                    self.state();
                }
            }
            Act::GuiTakesBack(plies) => {
                self.take_answer();
                let left = self.target.len().saturating_sub(plies);
                self.target = self.target.truncated(left);
                self.state();
            }
            Act::GuiNewGame => {
                // A piece that cannot be seen would stay where it is.
                for square in self.pieces().occupied() & !self.neo.occupancy() {
                    self.hand_is_free();
                    self.hand(Hand::Adjust(square));
                    self.pass(Duration::from_secs(3));
                }
                self.command(Command::NewGame { client: CLIENT });
                self.target = Game::standard();
                self.state();
            }
            Act::Await(on) => self.awaits(on),
            Act::HandMoves(n, number) => {
                self.knows();
                // No square tells what a pawn became: the program's choice counts, and that is a queen.
                let queen = |m: &Move| m.promotion().is_none_or(|role| role == Role::Queen);
                if let Some(m) = legal(&ours(self.neo.game()), n).filter(queen) {
                    self.mind_unseen(false);
                    self.hand(Hand::Move(uci(m), style(number)));
                }
            }
            Act::HandTakesBack(number) => {
                self.knows();
                self.mind_unseen(self.neo.game().last().is_some_and(|m| m.is_capture()));
                // While a take-back of the program is interrupted, this may look like a move back.
                if let Some(UciMove::Normal { from, to, .. }) = self.neo.game().last().map(uci) {
                    self.intended.push(UciMove::Normal {
                        from: to,
                        to: from,
                        promotion: None,
                    });
                }
                self.hand(Hand::TakeBack(style(number)));
            }
            Act::Obeys => self.obey(),
            Act::Unlink => {
                if !self.neo.is_at_work() {
                    self.unseen.clear();
                }
                self.unlink();
            }
            Act::Link => self.link(),
            Act::GoesOn => {
                if !self.neo.is_at_work() {
                    self.unseen.clear();
                }
                self.goes_on();
            }
            Act::Refuse(count) => self.refuses = count,
            Act::Stick(square) => {
                let square = Square::new(square);
                // A square that goes stuck unseen cannot be told from a capture made unseen.
                self.pass(SEEN);
                if self.pieces().piece_at(square).is_some() && self.is_seen() {
                    self.neo.stick(square);
                    self.pass(Duration::from_secs(8));
                }
            }
            Act::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.carry();
    }

    /// The end of a history: the link is up, the program awaits the player, who does as asked, and time passes.
    fn settles(&mut self, acts: &[Act]) {
        self.refuses = 0;
        self.link();
        self.take_answer();
        self.state();
        self.awaits(true);
        // What is asked right after the link came back is not asked for long.
        for wait in [4, 4, 4, 4, 4, 60, 60, 60, 60, 60] {
            self.pass(Duration::from_secs(wait));
            self.hand_is_free();
            self.obey();
        }
        self.pass(LONG);
        let snapshot = self.snapshot();
        let story = || format!("{}\n{acts:?}", self.story());
        self.is_clean();
        assert!(snapshot.sure, "{}", story());
        assert!(
            snapshot.game.continues(snapshot.target.as_ref().unwrap()),
            "{}",
            story()
        );
        let target = snapshot.target.as_ref().unwrap().position().clone();
        assert_eq!(&target, self.target.position(), "{}", story());
        assert_eq!(
            self.pieces(),
            snapshot.game.position().board(),
            "{}",
            story()
        );
        // And the game goes on: the hand's next move is the answer, if it has not moved yet.
        if snapshot.game.len() == snapshot.target.unwrap().len()
            && let Some(&m) = self.target.position().legal_moves().first()
        {
            self.knows();
            self.hand(HandAction::Move(uci(m)));
            self.pass(LONG);
            let answer = self.program.answer(&self.snapshot());
            assert_eq!(answer, Some(m), "{}\n{acts:?}", self.story());
        }
    }
}

proptest! {
    #![proptest_config(histories(200))]

    #[test]
    fn a_neo_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..30)) {
        ends_up(&acts);
    }
}

#[test]
fn kings_in_the_centre_end_the_game_and_put_back_it_goes_on() {
    for (white, black, end, sign) in [
        (Square::D4, Square::D5, GameEnd::AGREED, "sign dw"),
        (
            Square::D4,
            Square::E5,
            GameEnd::resigned(Color::White),
            "sign bl",
        ),
        (
            Square::D5,
            Square::E4,
            GameEnd::resigned(Color::Black),
            "sign wt",
        ),
    ] {
        let moves = "e2e3 e7e6";
        let mut world = World::at(moves);
        for (from, to, color) in [
            (Square::E1, white, Color::White),
            (Square::E8, black, Color::Black),
        ] {
            world.hand(Hand::Lift(from));
            world.pass(Duration::from_secs(1));
            world.hand(Hand::Put(to, color.king()));
            world.pass(Duration::from_secs(1));
        }
        world.comes(|w| w.snapshot().ending == Some(end), "the game's end");
        let told = |report: &String| report == sign;
        world.comes(|w| w.reports.iter().any(told), "the board's sign");
        world.pass(LONG);
        assert!(world.snapshot().guidance.is_empty(), "{}", world.story());
        assert_eq!(world.snapshot().judge, Some(Judge::Hand));
        assert!(world.neo.lamps().is_empty(), "{}", world.story());
        for (from, to, color) in [
            (black, Square::E8, Color::Black),
            (white, Square::E1, Color::White),
        ] {
            world.hand(Hand::Lift(from));
            world.hand(Hand::Put(to, color.king()));
        }
        world.comes(|w| w.snapshot().ending.is_none(), "the game");
        world.stands(moves);
        world.plays("g1f3");
        world.stands("e2e3 e7e6 g1f3");
    }
}

#[test]
fn kings_in_the_centre_free_the_board_for_a_program_that_waits() {
    let moves = "e2e3 e7e6";
    let mut world = World::at(moves);
    world.program.label = "127.0.0.1:50000";
    world.follows(moves);
    world.awaits(true);
    let mut waiting = Program {
        client: ClientId(2),
        label: "192.168.1.5:50000",
        number: 0,
    };
    let states = waiting.states(&game(""));
    world.command(states);
    world.command(waiting.awaits(true));
    world.pass(LONG);
    let has = |world: &World, client| {
        let places = world.snapshot().places;
        places
            .iter()
            .any(|place| place.client == client && place.joined)
    };
    assert!(has(&world, CLIENT) && !has(&world, waiting.client));
    for (from, to, color) in [
        (Square::E1, Square::D4, Color::White),
        (Square::E8, Square::E5, Color::Black),
    ] {
        world.hand(Hand::Lift(from));
        world.hand(Hand::Put(to, color.king()));
    }
    let end = Some(GameEnd::resigned(Color::White));
    world.comes(|w| w.snapshot().ending == end, "the game's end");
    assert!(has(&world, CLIENT), "the kings may be put back");
    world.comes(|w| has(w, waiting.client), "the next program");
    assert!(!has(&world, CLIENT), "{}", world.story());
}

#[test]
fn the_game_is_not_over_while_only_one_king_stands_in_the_centre() {
    let mut world = World::at("e2e3 e7e6");
    world.hand(Hand::Lift(Square::E1));
    world.pass(Duration::from_secs(1));
    world.hand(Hand::Put(Square::D4, Color::White.king()));
    world.pass(LONG);
    assert_eq!(world.snapshot().ending, None);
    assert_eq!(
        in_words(&world.snapshot().guidance),
        "move the white king from d4 to e1"
    );
}

/// The castling is the last move. King and rook change places, or the king stays, or goes far.
const CHESS960: [&str; 3] = [
    "fen nrk1bbqn/pp1ppprp/8/2p3p1/2P3P1/8/PP1PPPRP/NRK1BBQN w Qq - 0 1 moves c1b1",
    "fen bb1nqkrn/pppppp1p/8/6p1/6P1/8/PPPPPP1P/BB1NQKRN w KQkq - 0 1 moves f1g1",
    "fen rk2bqnr/pppppppp/8/8/8/8/PPPPPPPP/RK2BQNR w KQkq - 0 1 moves b1a1",
];

#[test]
fn a_chess960_start_is_set_up_and_castled_in_by_motor_and_by_hand() {
    for text in CHESS960 {
        let words: Vec<&str> = text.split(' ').collect();
        let castled = Game::from_words(&words).unwrap();
        let start = castled.truncated(0);
        for by_hand in [false, true] {
            let mut world = World::with(DriverSettings::default(), Settings::default());
            world.link();
            world.target = start.clone();
            world.state();
            world.awaits(true);
            world.pass(Duration::from_secs(5));
            world.hand(Hand::SetUp(Box::new(simulated(&start))));
            world.comes(|w| w.snapshot().sure, "the set-up");
            if by_hand {
                world.hand(HandAction::Move(castled.uci_moves().last().unwrap()));
                world.comes(|w| *w.snapshot().game == castled, "the castling by hand");
            }
            world.target = castled.clone();
            world.state();
            world.comes(|w| *w.snapshot().game == castled, "the castling");
            world.pass(LONG);
            assert_eq!(
                world.pieces(),
                castled.position().board(),
                "{text} {}",
                world.story()
            );
            world.target = start.clone();
            world.state();
            world.comes(|w| *w.snapshot().game == start, "the take-back");
            world.pass(LONG);
            assert_eq!(
                world.pieces(),
                start.position().board(),
                "{text} {}",
                world.story()
            );
            world.is_clean();
        }
    }
}

#[test]
fn the_hand_takes_back_ply_after_ply_over_every_kind_of_move() {
    for moves in [
        "e2e4 d7d5 e4d5",
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1",
        "e2e4 a7a6 e4e5 d7d5 e5d6",
        "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8q",
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8",
    ] {
        let mut world = World::at(moves);
        let all: Vec<&str> = moves.split(' ').collect();
        for left in (all.len() - 3..all.len()).rev() {
            world.hand(HandAction::TakeBack);
            world.comes(|w| w.snapshot().game.len() == left, "the take-back");
            world.follows(&all[..left].join(" "));
            world.awaits(true);
            world.pass(LONG);
            world.stands(&all[..left].join(" "));
        }
    }
}

#[test]
fn two_pieces_lifted_together_are_not_taken_for_each_other() {
    let fen = "rnb1kbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1";
    let mut world = World::begun();
    world.target = Game::from_fen(fen).unwrap();
    world.state();
    world.pass(Duration::from_secs(3));
    for square in [Square::G1, Square::H1] {
        world.hand(Hand::Lift(square));
        world.pass(Duration::from_secs(1));
    }
    world.hand(Hand::Put(Square::F3, Color::White.knight()));
    world.pass(Duration::from_secs(3));
    let told = in_words(&world.snapshot().guidance);
    assert!(told.contains("put the white rook on h1"), "{told}");
    assert!(!told.contains("f3"), "{told}");
}

#[test]
fn kings_lifted_together_and_put_in_the_centre_end_the_game() {
    let moves = "e2e3 e7e6";
    for (first, second, end) in [
        (Square::D4, Square::D5, GameEnd::AGREED),
        (Square::D4, Square::E5, GameEnd::resigned(Color::White)),
        (Square::D5, Square::E4, GameEnd::resigned(Color::Black)),
    ] {
        for white_first in [true, false] {
            let mut world = World::at(moves);
            for square in [Square::E8, Square::E1] {
                world.hand(Hand::Lift(square));
                world.pass(Duration::from_secs(1));
            }
            let white = Color::from_white(white_first);
            for (square, color) in [(first, white), (second, !white)] {
                world.hand(Hand::Put(square, color.king()));
                world.pass(Duration::from_secs(1));
            }
            world.comes(|w| w.snapshot().ending == Some(end), "the game's end");
            world.pass(LONG);
            assert!(world.snapshot().guidance.is_empty(), "{}", world.story());
            for square in [first, second] {
                world.hand(Hand::Lift(square));
            }
            for (square, color) in [(Square::E8, Color::Black), (Square::E1, Color::White)] {
                world.hand(Hand::Put(square, color.king()));
            }
            world.comes(|w| w.snapshot().ending.is_none(), "the game");
            world.stands(moves);
            world.plays("g1f3");
        }
    }
}

#[test]
fn a_capture_that_cannot_be_is_led_back_whichever_piece_was_lifted_first() {
    let moves = "e2e4 d7d5";
    for lifts in [[Square::D5, Square::G1], [Square::G1, Square::D5]] {
        let mut world = World::at(moves);
        for square in lifts {
            world.hand(Hand::Lift(square));
            world.pass(Duration::from_secs(1));
        }
        world.hand(Hand::Put(Square::D5, Color::White.knight()));
        world.pass(Duration::from_secs(10));
        assert_eq!(
            in_words(&world.snapshot().guidance),
            "move the white knight from d5 to g1, then put the black pawn on d5"
        );
        world.hand(Hand::Lift(Square::D5));
        world.hand(Hand::Put(Square::D5, Color::Black.pawn()));
        world.hand(Hand::Put(Square::G1, Color::White.knight()));
        world.pass(LONG);
        world.stands(moves);
        // It is put back in either order.
        for (square, piece) in [
            (Square::D5, Color::Black.pawn()),
            (Square::G1, Color::White.knight()),
        ] {
            for square in lifts {
                world.hand(Hand::Lift(square));
            }
            world.hand(Hand::Put(Square::D5, Color::White.knight()));
            world.pass(Duration::from_secs(10));
            world.hand(Hand::Lift(Square::D5));
            world.hand(Hand::Put(square, piece));
            world.pass(Duration::from_secs(10));
            let told = in_words(&world.snapshot().guidance);
            let (other, piece) = match square {
                Square::D5 => (Square::G1, Color::White.knight()),
                _ => (Square::D5, Color::Black.pawn()),
            };
            assert_eq!(told, format!("put the {} on {other}", name(piece)));
            world.hand(Hand::Put(other, piece));
            world.pass(LONG);
            world.stands(moves);
        }
    }
}

#[test]
fn pieces_straightened_together_or_put_down_twice_are_still_known() {
    let mut world = World::at("e2e4 d7d5");
    // One stands wrong all the time.
    world.hand(Hand::Lift(Square::G1));
    world.hand(Hand::Put(Square::D4, Color::White.knight()));
    for _ in 0..2 {
        world.hand(Hand::Lift(Square::D4));
        world.hand(Hand::Put(Square::D4, Color::White.knight()));
    }
    for square in [Square::D5, Square::A1] {
        world.hand(Hand::Lift(square));
        world.pass(Duration::from_secs(1));
    }
    for (square, piece) in [
        (Square::D5, Color::Black.pawn()),
        (Square::A1, Color::White.rook()),
    ] {
        world.hand(Hand::Put(square, piece));
        world.pass(Duration::from_secs(1));
    }
    world.pass(Duration::from_secs(10));
    assert_eq!(
        in_words(&world.snapshot().guidance),
        "move the white knight from d4 to g1"
    );
}

#[test]
fn a_piece_taken_off_as_told_is_not_taken_for_the_next_that_is_brought() {
    let fen = "r1bqkbnr/pppppppp/8/8/8/Q6Q/1PPPPPP1/RNBQKBNR w KQkq - 0 1";
    let mut world = World::begun();
    world.target = Game::from_fen(fen).unwrap();
    world.state();
    world.pass(Duration::from_secs(5));
    for square in [Square::A2, Square::H2, Square::B8] {
        world.hand(Hand::Lift(square));
        world.pass(Duration::from_secs(3));
    }
    world.hand(Hand::Put(Square::H3, Color::White.queen()));
    world.pass(Duration::from_secs(3));
    assert_eq!(
        in_words(&world.snapshot().guidance),
        "put the white queen on a3"
    );
    world.hand(Hand::Put(Square::A3, Color::White.queen()));
    world.comes(
        |w| w.snapshot().sure && *w.snapshot().game == w.target,
        "the set-up",
    );
}

#[test]
fn a_set_up_is_not_done_while_pieces_that_nobody_touched_are_others() {
    let chess960 = "bbnnrqkr/pppppppp/8/8/8/8/PPPPPPPP/BBNNRQKR w KQkq - 0 1";
    let start = Game::from_fen(chess960).unwrap();
    let mut world = World::begun();
    world.target = start.clone();
    world.state();
    world.awaits(true);
    world.pass(Duration::from_secs(20));
    assert!(!world.snapshot().guidance.is_empty(), "{}", world.story());
    assert!(world.snapshot().game.is_standard());
    world.hand(Hand::SetUp(Box::new(simulated(&start))));
    world.comes(|w| *w.snapshot().game == start, "the set-up");
    assert!(world.snapshot().guidance.is_empty());
    assert_eq!(world.pieces(), start.position().board());
    world.is_clean();
}

#[test]
fn what_is_to_be_put_right_changes_with_every_touch_and_the_lamps_with_it() {
    let mut world = World::at("e2e4 e7e5");
    for (from, to, piece) in [
        (Square::B1, Square::B4, Color::White.knight()),
        (Square::G8, Square::G5, Color::Black.knight()),
    ] {
        world.hand(Hand::Lift(from));
        world.hand(Hand::Put(to, piece));
        world.pass(Duration::from_secs(1));
    }
    world.comes(|w| w.snapshot().guidance.len() == 2, "the list");
    world.hand(Hand::Lift(Square::B4));
    world.pass(Duration::from_millis(200));
    let words = in_words(&world.snapshot().guidance);
    assert!(words.contains("put the white knight on b1"), "{words}");
    world.hand(Hand::Put(Square::B1, Color::White.knight()));
    world.pass(Duration::from_millis(200));
    let words = in_words(&world.snapshot().guidance);
    assert_eq!(words, "move the black knight from g5 to g8");
    let mistakes = |w: &World| {
        w.events
            .iter()
            .filter(|e| e.contains("are misplaced"))
            .count()
    };
    assert!(mistakes(&world) <= 2, "{}", world.story());
}

#[test]
fn kings_that_take_the_place_of_pieces_in_the_centre_end_the_game() {
    for victim_first in [true, false] {
        let mut world = World::at("d2d4 e7e5");
        for (from, to, king) in [
            (Square::E1, Square::D4, Color::White.king()),
            (Square::E8, Square::E5, Color::Black.king()),
        ] {
            let mut lifts = [from, to];
            if victim_first {
                lifts.reverse();
            }
            for square in lifts {
                world.hand(Hand::Lift(square));
                world.pass(Duration::from_millis(500));
            }
            world.hand(Hand::Put(to, king));
            world.pass(Duration::from_millis(500));
        }
        world.comes(|w| w.snapshot().ending.is_some(), "the game's end");
        assert_eq!(
            world.snapshot().ending,
            Some(GameEnd::resigned(Color::White))
        );
        world.pass(LONG);
        assert!(world.snapshot().guidance.is_empty(), "{}", world.story());
        assert!(world.neo.lamps().is_empty(), "{}", world.story());
    }
}

/// The player's actions on the pieces, one at a time.
impl World {
    fn lifts(&mut self, square: Square) {
        self.hand(Hand::Lift(square));
        self.pass(Duration::from_millis(700));
    }

    fn puts(&mut self, square: Square, piece: Piece) {
        self.hand(Hand::Put(square, piece));
        self.pass(Duration::from_millis(700));
    }

    fn carries(&mut self, from: Square, to: Square) {
        let piece = self.pieces().piece_at(from);
        let piece = piece.unwrap_or_else(|| panic!("{from} to {to}: {}", self.story()));
        self.lifts(from);
        self.puts(to, piece);
    }

    fn told(&self) -> Vec<Action> {
        self.snapshot().guidance.to_vec()
    }

    fn told_words(&self) -> String {
        in_words(&self.snapshot().guidance)
    }

    /// Does the first action asked for, and nothing else. `hands` are the pieces beside the board.
    fn does_first(&mut self, hands: &mut Vec<Piece>, case: &str) {
        let action = self.told()[0];
        let piece = match action.from {
            Some(from) => {
                let piece = self.pieces().piece_at(from);
                let piece = piece.unwrap_or_else(|| panic!("{case}: {action}: {}", self.story()));
                assert!(
                    action.piece.is_none_or(|told| told == piece),
                    "{case}: {action} is a {piece:?}: {}",
                    self.story()
                );
                self.lifts(from);
                piece
            }
            None => {
                let piece = action.piece.unwrap();
                let at = hands.iter().position(|other| *other == piece);
                hands.remove(
                    at.unwrap_or_else(|| panic!("{case}: {action}: {hands:?} {}", self.story())),
                )
            }
        };
        match action.to {
            Some(to) => self.puts(to, piece),
            None => hands.push(piece),
        }
    }

    /// Obeys the list to its end: each action done leaves the rest of it, and at its end the placement is right.
    fn obeys_to_the_end(&mut self, hands: &mut Vec<Piece>, rng: &mut fastrand::Rng, case: &str) {
        let mut told = self.told();
        while !told.is_empty() {
            let before = in_words(&told);
            self.does_first(hands, case);
            let rest = &told[1..];
            let now = self.told();
            let undone = now.iter().any(|action| {
                action.piece == told[0].piece && action.from.is_some() && action.from == told[0].to
            });
            assert!(
                now.len() == rest.len() && !undone,
                "{case}: told {before}; after the first of it, {}: {}",
                in_words(&now),
                self.story()
            );
            // A hand that looks up, or does not.
            self.pass(Duration::from_secs(if rng.bool() { 12 } else { 1 }));
            told = self.told();
            assert_eq!(in_words(&told), in_words(&now), "{case}");
        }
        let held = self.snapshot().game.position().board().clone();
        assert_eq!(*self.pieces(), held, "{case}: {}", self.story());
    }
}

#[test]
fn a_list_is_not_withdrawn_while_pieces_stand_exchanged() {
    let mut world = World::at("");
    world.carries(Square::B1, Square::B5);
    world.comes(|w| !w.told().is_empty(), "the list");
    for (from, to) in [
        (Square::A1, Square::A5),
        (Square::D1, Square::A1),
        (Square::A5, Square::D1),
    ] {
        world.carries(from, to);
    }
    world.carries(Square::B5, Square::B1);
    world.pass(LONG);
    assert_eq!(
        world.told_words(),
        "put the white rook from d1 aside for now, then move the white queen from a1 to d1, then put the white rook \
         on a1"
    );
    // No move is made of it meanwhile, and then the game goes on.
    let mut rng = fastrand::Rng::with_seed(1);
    world.obeys_to_the_end(&mut Vec::new(), &mut rng, "the exchange");
    world.stands("");
    world.plays("b1c3");
}

#[test]
fn pieces_exchanged_before_anything_was_told_are_told_of() {
    let mut world = World::at("");
    for (from, to) in [
        (Square::A1, Square::A5),
        (Square::D1, Square::A1),
        (Square::A5, Square::D1),
    ] {
        world.carries(from, to);
    }
    world.comes(|w| w.told().len() == 3, "the list");
    // The player knows better.
    world.command(Command::Ready { client: CLIENT });
    assert_eq!(world.told_words(), "");
}

#[test]
fn what_the_hand_was_told_to_do_is_what_it_does() {
    let queen = Color::White.queen();
    let mut world = World::at("");
    for square in [Square::D1, Square::F7] {
        world.lifts(square);
    }
    world.comes(|w| w.told().len() == 2, "the list");
    world.puts(Square::D1, queen);
    assert_eq!(world.told_words(), "put the black pawn on f7");
    world.puts(Square::F7, Color::Black.pawn());
    world.pass(LONG);
    world.stands("");
}

/// Whatever the player has done to the pieces, doing as told leaves the rest of the list, and the list is done when the
/// placement is right and not before.
#[test]
fn a_hand_that_obeys_is_never_contradicted() {
    let number = |name: &str, or: u64| std::env::var(name).ok().map_or(or, |n| n.parse().unwrap());
    let (first, cases) = (number("GUIDANCE_SEED", 1), number("GUIDANCE_CASES", 150));
    let games = [
        "",
        "e2e4 d7d5",
        "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
        "a2a4 b7b5 a4b5 a7a6 b5a6 a8a6",
    ];
    for seed in first..first + cases {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut world = World::at(games[rng.usize(..games.len())]);
        let mut hands = Vec::new();
        let mut done = vec![format!("seed {seed}")];
        let wait = |rng: &mut fastrand::Rng| Duration::from_millis(rng.u64(0..12_000));
        for _ in 0..rng.usize(1..5) {
            world.comes(|w| !w.neo.is_driving(), "the motor's rest");
            let stand: Vec<Square> = world.pieces().occupied().into_iter().collect();
            let free: Vec<Square> = (!world.pieces().occupied()).into_iter().collect();
            let one = stand[rng.usize(..stand.len())];
            let other = stand[rng.usize(..stand.len())];
            let by = free[rng.usize(..free.len())];
            // With pieces in both hands it is unknown which is put down; while none is, each is known.
            match rng.u8(if hands.is_empty() { 0..4 } else { 2..4 }) {
                0 => {
                    done.push(format!("{one} to {by}"));
                    world.carries(one, by);
                }
                1 if one != other => {
                    let last = world.snapshot().game.last();
                    if last.is_some_and(|m| (m.to(), m.from()) == (one, Some(by))) {
                        // The motor makes a move that was taken back again, at any time.
                        continue;
                    }
                    done.push(format!("{one} and {other} exchanged by way of {by}"));
                    world.carries(one, by);
                    let time = wait(&mut rng);
                    world.pass(time);
                    world.carries(other, one);
                    world.carries(by, other);
                }
                2 => {
                    done.push(format!("{one} off"));
                    hands.push(world.pieces().piece_at(one).unwrap());
                    world.lifts(one);
                }
                _ if one != other => {
                    done.push(format!("{one} and {other} off"));
                    for square in [one, other] {
                        hands.push(world.pieces().piece_at(square).unwrap());
                        world.lifts(square);
                    }
                }
                _ => {}
            }
            let time = wait(&mut rng);
            world.pass(time);
        }
        world.pass(Duration::from_secs(30));
        world.obeys_to_the_end(&mut hands, &mut rng, &done.join(", "));
    }
}

/// The pieces stand as after a move, or as before the last one, but for a pawn of the other side: the list asks for both
/// back. The pawn is put back.
fn all_but_a_move_undone(before: &str, pawn: (Square, Square), touches: &[Touch]) -> World {
    let mut world = World::at(before);
    world.carries(pawn.0, pawn.1);
    for touch in touches {
        world.hand(match *touch {
            Touch::Lift(square) => Hand::Lift(square),
            Touch::Put(square, piece) => Hand::Put(square, piece),
        });
        world.pass(Duration::from_millis(700));
    }
    world.comes(|w| w.told().len() > 1, "the list");
    world.pass(Duration::from_secs(5));
    world.carries(pawn.1, pawn.0);
    world
}

/// A move, a capture and a take-back that the hand is asked to undo.
fn undone() -> [(&'static str, World); 3] {
    let white = [(Square::A7, Square::A6), (Square::H2, Square::H3)];
    let (knight, pawn) = (Color::White.knight(), Color::White.pawn());
    let moved = [Touch::Lift(Square::B1), Touch::Put(Square::C3, knight)];
    let took = [
        Touch::Lift(Square::E4),
        Touch::Lift(Square::D5),
        Touch::Put(Square::D5, pawn),
    ];
    let back = [Touch::Lift(Square::C3), Touch::Put(Square::B1, knight)];
    [
        ("e2e4 d7d5", white[0], &moved[..]),
        ("e2e4 d7d5", white[0], &took[..]),
        ("e2e4 d7d5 b1c3", white[1], &back[..]),
    ]
    .map(|(before, pawn, touches)| (before, all_but_a_move_undone(before, pawn, touches)))
}

#[test]
fn what_the_hand_is_still_asked_to_undo_is_not_told_as_made() {
    for (before, mut world) in undone() {
        world.pass(LONG);
        assert_eq!(*world.snapshot().game, game(before), "{}", world.story());
        assert!(!world.told().is_empty(), "{}", world.story());
        let mut hands = vec![Color::Black.pawn()];
        let mut rng = fastrand::Rng::with_seed(1);
        world.obeys_to_the_end(&mut hands, &mut rng, before);
        world.stands(before);
    }
}

#[test]
fn a_move_that_the_hand_is_asked_to_undo_counts_when_its_piece_is_put_down_again() {
    let after = ["e2e4 d7d5 b1c3", "e2e4 d7d5 e4d5", "e2e4 d7d5"];
    let squares = [Square::C3, Square::D5, Square::B1];
    for ((after, square), (_, mut world)) in after.into_iter().zip(squares).zip(undone()) {
        world.pass(LONG);
        world.hand(Hand::Adjust(square));
        world.intended.extend(game(after).last().map(uci));
        world.comes(|w| *w.snapshot().game == game(after), after);
        world.is_clean();
    }
}

/// A hand that thinks with a piece in the air is asked to put it back, and moves all the same.
#[test]
fn a_move_goes_on_after_the_hand_was_asked_to_put_a_piece_back() {
    let (white, black) = (Color::White.pawn(), Color::Black.pawn());
    let castled = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5";
    let (lift, put) = (Touch::Lift, Touch::Put);
    for (before, m, touches) in [
        (
            "e2e4 d7d5",
            "e4d5",
            vec![lift(Square::E4), lift(Square::D5), put(Square::D5, white)],
        ),
        (
            "e2e4 d7d5",
            "e4d5",
            vec![lift(Square::D5), lift(Square::E4), put(Square::D5, white)],
        ),
        (
            "e2e4 d7d5",
            "b1c3",
            vec![lift(Square::B1), put(Square::C3, Color::White.knight())],
        ),
        (
            "e2e4 a7a6 e4e5 d7d5",
            "e5d6",
            vec![lift(Square::E5), put(Square::D6, white), lift(Square::D5)],
        ),
        (
            castled,
            "e1g1",
            vec![
                lift(Square::E1),
                put(Square::G1, Color::White.king()),
                lift(Square::H1),
                put(Square::F1, Color::White.rook()),
            ],
        ),
        // Tried elsewhere first, where it may not go.
        (
            "e2e4 d7d5",
            "e4d5",
            vec![
                lift(Square::E4),
                put(Square::E6, white),
                lift(Square::D5),
                lift(Square::E6),
                put(Square::D5, white),
            ],
        ),
        (
            "e2e4",
            "d7d5",
            vec![
                lift(Square::D7),
                put(Square::D4, black),
                lift(Square::D4),
                put(Square::D5, black),
            ],
        ),
    ] {
        // After which touch the hand thinks.
        for thinks in 0..touches.len() - 1 {
            let lifted = |touch: &&Touch| matches!(touch, Touch::Lift(_));
            let lifts = touches[..=thinks].iter().filter(lifted).count();
            if lifts * 2 > thinks + 2 {
                // With both pieces of a capture in the hand it may as well do as it was asked.
                continue;
            }
            let mut world = World::at(before);
            world.intended.push(m.parse().unwrap());
            for (number, touch) in touches.iter().enumerate() {
                world.hand(match *touch {
                    Touch::Lift(square) => Hand::Lift(square),
                    Touch::Put(square, piece) => Hand::Put(square, piece),
                });
                world.pass(Duration::from_millis(1_300));
                if number == thinks && world.snapshot().game.len() == game(before).len() {
                    world.pass(Duration::from_secs(11));
                }
            }
            let after = game(&format!("{before} {m}"));
            let made = |w: &World| *w.snapshot().game == after;
            assert!(world.until(LONG, made), "{m} {thinks}: {}", world.story());
        }
    }
}

#[test]
fn a_lost_link_leaves_nothing_due() {
    let before = "e2e4 d7d5";
    let mut world = World::at(before);
    world.plays("e4d5");
    world.take_answer();
    world.follows(before);
    let taken_back = |w: &World| w.snapshot().game.len() == 2;
    world.comes(taken_back, "the take-back");
    // The captured pawn is about to be asked for.
    world.unlink();
    world.pass(LONG);
    world.link();
    world.pass(LONG);
    world.obey();
    world.pass(LONG);
    world.stands(before);
}

#[test]
fn a_piece_that_slides_on_while_the_link_is_lost_has_not_moved_yet() {
    let mut world = World::begun();
    world.hand(Hand::Lift(Square::A2));
    world.hand(Hand::Put(Square::A3, Color::White.pawn()));
    world.unlink();
    world.pass(Duration::from_secs(3));
    world.hand(Hand::Lift(Square::A3));
    world.hand(Hand::Put(Square::A4, Color::White.pawn()));
    world.intended.push("a2a4".parse().unwrap());
    world.link();
    world.comes(|w| w.snapshot().game.len() == 1, "the move");
    world.stands("a2a4");
}

#[test]
fn what_was_waited_for_does_not_end_the_set_up_of_a_new_game() {
    let mut world = World::at("b1a3");
    world.unlink();
    world.hand(Hand::Lift(Square::A3));
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.link();
    world.comes(|w| w.snapshot().link == LinkState::Up, "the board");
    world.hand(Hand::Put(Square::B1, Color::White.knight()));
    let begins = |w: &World| w.snapshot().advice == Advice::NewGame;
    world.comes(begins, "the set-up");
    // The board is slow to take it.
    world.refuses = 1;
    world.pass(LONG);
    world.stands("");
    world.plays("a2a3");
    assert_eq!(world.take_answer().as_deref(), Some("a2a3"));
}

#[test]
fn a_move_made_while_the_board_is_told_of_the_new_game_counts() {
    let mut world = World::at("e2e4");
    world.refuses = 1;
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.hand(Hand::Lift(Square::E4));
    world.hand(Hand::Put(Square::E2, Color::White.pawn()));
    world.pass(Duration::from_millis(200));
    world.hand(Hand::Lift(Square::D2));
    world.hand(Hand::Put(Square::D4, Color::White.pawn()));
    world.intended.push("d2d4".parse().unwrap());
    let made = |w: &World| *w.snapshot().game == game("d2d4");
    assert!(
        world.until(Duration::from_secs(3), made),
        "{}",
        world.story()
    );
    assert_eq!(world.take_answer().as_deref(), Some("d2d4"));
    world.stands("d2d4");
}

#[test]
fn a_path_that_was_lost_on_the_air_is_sent_again_though_its_square_read_empty_before() {
    let mut world = World::begun();
    world.neo.stick(Square::B2);
    world.pass(Duration::from_secs(8));
    world.follows("b2b3");
    world.comes(|w| !w.air.is_empty(), "the path");
    world.unlink();
    world.pass(Duration::from_secs(1));
    world.link();
    world.pass(LONG);
    // It may be missing.
    assert_eq!(world.told_words(), "put the white pawn on b2");
    world.hand(Hand::Adjust(Square::B2));
    world.pass(LONG);
    world.stands("b2b3");
}

#[test]
fn what_the_hand_did_with_a_piece_whose_path_was_lost_on_the_air_is_seen() {
    for held in [1, 5] {
        for to in [Square::G3, Square::G4] {
            let mut world = World::begun();
            world.follows("g2g3");
            world.comes(|w| !w.air.is_empty(), "the path");
            world.unlink();
            world.hand(Hand::Lift(Square::G2));
            let put = |world: &mut World| {
                world.hand(Hand::Put(to, Color::White.pawn()));
                let m = format!("g2{to}");
                world.intended.push(m.parse().unwrap());
            };
            // It may still be in the hand when the link is back.
            if held == 1 {
                put(&mut world);
            }
            world.pass(Duration::from_secs(1));
            world.link();
            world.pass(Duration::from_secs(held));
            if held > 1 {
                put(&mut world);
            }
            world.pass(LONG);
            world.obey();
            world.pass(LONG);
            world.stands("g2g3");
        }
    }
}

#[test]
fn a_path_whose_piece_was_in_the_hand_carried_nothing() {
    let mut world = World::begun();
    world.follows("b2b3");
    world.comes(|w| !w.air.is_empty(), "the path");
    world.hand(Hand::Lift(Square::B2));
    world.pass(Duration::from_millis(300));
    world.hand(Hand::Put(Square::B2, Color::White.pawn()));
    world.pass(LONG);
    world.stands("b2b3");
}

#[test]
fn a_piece_that_is_asked_for_is_asked_for_until_it_stands() {
    let mut world = World::at("e2e4 d7d5");
    world.plays("e4d5");
    world.take_answer();
    world.follows("e2e4 d7d5");
    let asked = |w: &World| matches!(w.snapshot().advice, Advice::Misplaced(_));
    world.comes(asked, "the question");
    let after = "e2e4 d7d5 b1c3";
    world.follows(after);
    world.comes(|w| w.snapshot().game.len() == 3, "the move");
    world.pass(Duration::from_secs(5));
    assert_eq!(world.told_words(), "put the black pawn on d5");
    world.obey();
    world.pass(LONG);
    world.stands(after);
}

#[test]
fn a_set_up_is_not_done_because_a_square_goes_dark() {
    let mut world = World::begun();
    world.plays("c2c4");
    world.command(Command::NewGame { client: CLIENT });
    world.follows("");
    world.pass(Duration::from_secs(5));
    world.neo.stick(Square::C4);
    world.pass(Duration::from_secs(40));
    assert_eq!(world.told_words(), "move the white pawn from c4 to c2");
    world.obey();
    world.pass(LONG);
    world.stands("");
}

/// Absences: the link is lost, and the player continues.
impl World {
    fn away(&mut self, moves: &[&str]) {
        self.unlink();
        for m in moves {
            self.hand(HandAction::Move(m.parse().unwrap()));
        }
        self.pass(Duration::from_secs(5));
        self.link();
    }
}

#[test]
fn what_was_not_understood_is_forgotten_once_all_pieces_stand() {
    let mut world = World::begun();
    world.away(&["a2a3"]);
    world.pass(Duration::from_secs(1));
    for (from, to) in [(Square::A7, Square::A6), (Square::A6, Square::A7)] {
        world.hand(Hand::Lift(from));
        world.pass(Duration::from_secs(1));
        world.hand(Hand::Put(to, Color::Black.pawn()));
        world.pass(Duration::from_secs(1));
    }
    world.comes(|w| !w.told().is_empty(), "the list");
    world.carries(Square::A3, Square::A2);
    world.pass(LONG);
    world.stands("");
    world.plays("a2a3");
}

/// Histories that once failed.
fn ends_up(acts: &[Act]) {
    let mut world = World::begun();
    for act in acts {
        world.does(act);
    }
    world.settles(acts);
}

#[test]
fn pieces_that_were_confused_are_known_again_once_all_stand() {
    // The first picture comes while the knight is in the hand: the pawn on a3 is taken for it.
    ends_up(&[
        Act::Wait(5323),
        Act::Stick(16),
        Act::Unlink,
        Act::HandMoves(0, 5688010639153968209),
        Act::GuiTakesBack(1),
        Act::HandMoves(7440527010470774743, 0),
        Act::HandMoves(0, 1166583313133446),
        Act::Link,
        Act::HandMoves(12204971159977989674, 0),
        Act::HandTakesBack(0),
    ]);
}

#[test]
fn a_piece_of_a_capture_half_taken_back_is_not_looked_for_beside_the_board() {
    // The hand takes back two moves of the program at once, the later one a capture.
    ends_up(&[
        Act::GuiMoves(17332188162280151086),
        Act::GuiMoves(5043228508439256390),
        Act::HandMoves(5149608103485545876, 0),
        Act::GuiMoves(8379663946568801223),
        Act::GuiMoves(6517840766764516208),
        Act::HandTakesBack(0),
        Act::GuiMoves(8216131034895336599),
        Act::HandMoves(8072076095003006839, 0),
        Act::GuiMoves(10889761195405705070),
        Act::HandTakesBack(0),
        Act::HandTakesBack(0),
        Act::GuiTakesBack(1),
    ]);
}

#[test]
fn a_capture_whose_take_back_is_seen_in_part_is_taken_back() {
    // The lift is not heard; both landings are, after a picture that lacks nothing new.
    ends_up(&[
        Act::GuiMoves(3781256128939891735),
        Act::HandMoves(15621318300333339208, 0),
        Act::GuiMoves(11719093734971319258),
        Act::GuiMoves(2457160780298556464),
        Act::Wait(17842),
        Act::Unlink,
        Act::HandTakesBack(0),
    ]);
}

#[test]
fn a_stray_piece_that_is_lifted_again_still_lacks_its_square() {
    ends_up(&[
        Act::GuiMoves(5960467549571778000),
        Act::GuiMoves(15522124001589933267),
        Act::GuiMoves(12012987557310841968),
        Act::HandTakesBack(0),
        Act::GuiMoves(10376304706033939147),
        Act::HandMoves(4216605890342327394, 0),
        Act::Unlink,
        Act::HandMoves(123109760518677346, 0),
        Act::HandMoves(7043279473986347250, 1760014887588370970),
    ]);
}

#[test]
fn pieces_that_were_all_brought_stand_whatever_the_hand_did_besides() {
    // The motor meets a hand that takes back the same move, and carries the wrong piece.
    ends_up(&[
        Act::HandMoves(5467928688884554050, 0),
        Act::GuiMoves(11016964616588869735),
        Act::HandMoves(5146760619145767449, 0),
        Act::HandMoves(18393868817133795796, 0),
        Act::HandMoves(10681041134816988017, 0),
        Act::HandMoves(159892204176556381, 0),
        Act::Refuse(1),
        Act::GuiMoves(98764740267073924),
        Act::HandTakesBack(5446615163350156721),
    ]);
}

#[test]
fn a_piece_missed_when_the_link_came_back_is_missed_when_it_is_lost_again() {
    ends_up(&[
        Act::GuiMoves(4520560021949785519),
        Act::GuiMoves(629573065409239932),
        Act::HandMoves(0, 0),
        Act::GuiTakesBack(1),
        Act::HandMoves(13574463326491922838, 0),
        Act::GuiMoves(2900953198222509133),
        Act::Wait(30),
        Act::Unlink,
        Act::HandMoves(5771154104794913797, 0),
        Act::HandMoves(1614810796576121520, 0),
        Act::Link,
        Act::Stick(0),
        Act::Unlink,
    ]);
}

#[test]
fn a_capture_taken_back_while_the_link_was_down_is_seen() {
    for dark in [None, Some(Square::A1)] {
        let before = "h2h4 e7e5 g2g4";
        let mut world = World::at(&format!("{before} d8h4"));
        if let Some(square) = dark {
            world.neo.stick(square);
            world.pass(SEEN);
        }
        world.unlink();
        world.hand(HandAction::TakeBack);
        world.pass(Duration::from_secs(5));
        world.link();
        world.comes(|w| w.snapshot().game.len() == 3, "the take-back");
        world.stands(before);
    }
}

#[test]
fn a_square_that_was_dark_before_the_link_was_lost_tells_of_no_capture() {
    let before = "e2e3 b7b5";
    let mut world = World::at(before);
    world.neo.stick(Square::F1);
    world.pass(SEEN);
    world.away(&[]);
    for _ in 0..2 {
        world.pass(LONG);
        world.obey();
    }
    world.stands(before);
}

#[test]
fn a_piece_that_moved_on_before_any_picture_is_asked_for_until_it_stands() {
    let mut world = World::begun();
    world.hand(HandAction::Move("g1f3".parse().unwrap()));
    world.comes(|w| w.snapshot().game.len() == 1, "the move");
    world.away(&["a7a6", "f3g5"]);
    world.comes(|w| !w.told().is_empty(), "the list");
    world.lifts(Square::A6);
    world.lifts(Square::G5);
    world.puts(Square::A7, Color::Black.pawn());
    assert_eq!(world.told_words(), "put the white knight on f3");
    world.puts(Square::F3, Color::White.knight());
    world.pass(LONG);
    world.stands("g1f3");
}

#[test]
fn a_piece_that_took_another_before_any_picture_is_asked_for() {
    let mut world = World::at("c2c4 c7c6 g1h3");
    world.hand(HandAction::Move("d8a5".parse().unwrap()));
    world.comes(|w| w.snapshot().game.len() == 4, "the move");
    world.away(&["b2b3", "a5a2"]);
    world.comes(|w| !w.told().is_empty(), "the list");
    let words = world.told_words();
    assert!(words.contains("a5"), "{words}");
}

#[test]
fn the_motor_does_not_look_for_a_piece_that_the_hand_took_from_beside_the_board() {
    let before = "e2e4 d7d5 a2a3";
    let mut world = World::at(before);
    world.follows("e2e4 d7d5 a2a3 d5e4");
    world.pass(LONG);
    world.hand(HandAction::TakeBack);
    world.comes(|w| w.snapshot().game.len() == 3, "the take-back");
    world.follows(before);
    world.pass(LONG);
    world.plays("d5e4");
    world.take_answer();
    world.follows(before);
    world.pass(LONG);
    world.obey();
    world.pass(LONG);
    world.stands(before);
}

/// The program takes back the player's capture, and asks for the captured pawn.
fn asked_for_a_pawn() -> World {
    let mut world = World::at("e2e4 d7d5");
    world.plays("e4d5");
    world.take_answer();
    world.follows("e2e4 d7d5");
    let asked = |w: &World| w.told_words() == "put the black pawn on d5";
    world.comes(asked, "the question");
    world
}

#[test]
fn a_piece_that_was_brought_as_the_link_was_lost_is_not_asked_for() {
    let mut world = asked_for_a_pawn();
    world.puts(Square::D5, Color::Black.pawn());
    world.away(&[]);
    world.pass(LONG);
    world.stands("e2e4 d7d5");
}

#[test]
fn a_piece_that_was_brought_unasked_is_not_asked_for() {
    let before = "e2e4 d7d5";
    let mut world = World::at(before);
    world.plays("e4d5");
    world.take_answer();
    world.follows(before);
    world.comes(|w| w.pieces().piece_at(Square::D5).is_none(), "the path");
    world.pass(Duration::from_millis(300));
    world.puts(Square::D5, Color::Black.pawn());
    world.pass(LONG);
    world.stands(before);
    assert!(
        !world.events.iter().any(|told| told.contains("on d5")),
        "{}",
        world.story()
    );
}

#[test]
fn a_capture_taken_back_right_after_an_asked_piece_was_brought_is_seen() {
    let before = "e2e4 d7d5 e4d5 d8d5 b1c3 d5a2";
    for gap in [200, 400, 700, 1_000, 2_000, 4_000] {
        for victim_first in [false, true] {
            let mut world = World::at(before);
            world.plays("a1a2");
            world.take_answer();
            world.follows(before);
            let asked = |w: &World| w.told_words() == "put the black queen on a2";
            world.comes(asked, "the question");
            world.pass(Duration::from_secs(3));
            world.hand(Hand::Put(Square::A2, Color::Black.queen()));
            world.pass(Duration::from_millis(gap));
            let capture = if victim_first {
                CaptureOrder::VictimFirst
            } else {
                CaptureOrder::MoverFirst
            };
            let style = Style {
                capture,
                ..Style::default()
            };
            world.knows();
            world.hand(Hand::TakeBack(style));
            world.comes(|w| w.snapshot().game.len() == 5, "the take-back");
            world.pass(LONG);
            world.obey();
            world.pass(LONG);
            // The program has not taken it back: the board shows it again.
            world.stands(before);
        }
    }
}

#[test]
fn what_was_asked_for_is_not_to_be_taken_off_again() {
    let mut world = asked_for_a_pawn();
    world.puts(Square::D5, Color::Black.pawn());
    world.carries(Square::A2, Square::A5);
    world.carries(Square::G7, Square::G4);
    world.comes(|w| w.told().len() == 2, "the list");
    for (from, to) in [(Square::A5, Square::A2), (Square::G4, Square::G7)] {
        world.carries(from, to);
    }
    world.pass(LONG);
    world.stands("e2e4 d7d5");
}

#[test]
fn what_was_captured_across_a_restart_is_found_or_asked_for() {
    ends_up(&[
        Act::GuiMoves(16108308421441361797),
        Act::GuiMoves(7187404029924403079),
        Act::GuiMoves(15960079679956595949),
        Act::HandMoves(15338258810549078188, 0),
        Act::Unlink,
        Act::HandMoves(951101679698285976, 0),
        Act::GoesOn,
    ]);
}

#[test]
fn a_capture_that_was_sensed_before_two_restarts_is_found() {
    let before = "e2e4 d7d5 a2a3 f7f5";
    let mut world = World::at(before);
    world.hand(HandAction::Move("e4d5".parse().unwrap()));
    let taken = |w: &World| w.pieces().piece_at(Square::D5) == Some(Color::White.pawn());
    world.comes(taken, "the capture");
    world.goes_on();
    world.pass(Duration::from_millis(300));
    world.goes_on();
    world.pass(LONG);
    world.stands(&format!("{before} e4d5"));
}

#[test]
fn pieces_set_up_for_a_new_game_without_a_link_are_not_taken_for_those_that_stood_there() {
    // White's queen stands where a black pawn belongs.
    let mut world = World::at("e2e4 e7e5 d1g4 d7d6 g4g7");
    world.unlink();
    world.hand(HandAction::NewGame);
    world.pass(LONG);
    world.command(Command::NewGame { client: CLIENT });
    world.follows("e2e4");
    world.goes_on();
    world.comes(|w| w.snapshot().game.len() == 1, "the program's move");
    world.pass(LONG);
    world.stands("e2e4");
    let asked = world.events.iter().any(|told| told.contains("queen"));
    assert!(!asked, "{}", world.story());
}
