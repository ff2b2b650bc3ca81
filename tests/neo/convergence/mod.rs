//! Whatever happens to a Neo and its game, it ends up in the program's game: the core against a simulated
//! Neo, both without I/O, on one virtual clock.

mod absence;
mod game;
mod guided;
mod hand;
mod histories;
mod kings;
mod link;
mod pieces;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    board::core::Core,
    chess::{
        game::{Game, uci},
        guidance::{Action, in_words, name},
    },
    driver::neo::{Neo as Driver, Promotion, Settings as DriverSettings},
    vocabulary::{
        Advice, BoardName, By, Channel, ClientId, Command, Event, GameEnd, Judge, LinkState,
        Misplaced, Outgoing, Reply, Request, Secret, Snapshot,
    },
};
use proptest::prelude::*;
use rig::noise::{
    CaptureOrder, CastlingOrder, EnPassantOrder, Habits, Promoting, Style, Touch, gesture,
};
use rig::{
    clock::{Clocked, log},
    game::{ours, simulated},
    histories::{Pick, histories, kept_in},
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
    /// What has been done at random, in words: a history that fails is kept as a file of these lines.
    history: Vec<String>,
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
            history: Vec::new(),
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
            Request::Write(bytes) | Request::Command(bytes) | Request::Secret(Secret(bytes)) => {
                String::from_utf8(bytes.to_vec()).unwrap()
            }
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
            Request::Write(_) | Request::Command(_) | Request::Secret(_) if self.refuses > 0 => {
                self.refuses -= 1;
                (None, refused)
            }
            Request::Write(bytes) | Request::Command(bytes) | Request::Secret(Secret(bytes)) => {
                match self.neo.write(self.now, characteristic, bytes) {
                    Ok(()) => (None, Reply::Done),
                    Err(_) => (None, refused),
                }
            }
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
            Advice::NewGame { .. } => {
                self.hand(Hand::SetUp(Box::new(simulators::game::Game::standard())))
            }
            Advice::SetUp { fen, .. } | Advice::SetUpByHand(fen) => {
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
