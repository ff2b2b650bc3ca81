//! Whatever happens to a board and its game, it ends up in the game the program follows: the machine against a
//! simulated board, both without I/O, on one virtual clock.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::time::{Duration, Instant};

use boardbridge::{
    board::{
        command::{ClientId, Command},
        machine::Machine,
        name::BoardName,
        occasion::Occasion,
        snapshot::Snapshot,
    },
    driver::{Channel, Driver, citrine, ucb},
    game::Game,
    simulate::{HandAction, Report, SimulatedBoard, citrine::Citrine, ucb::Ucb},
};
use proptest::{prelude::*, test_runner::RngSeed};
use shakmaty::Position;

const CLIENT: ClientId = ClientId(1);
/// Longer than any wait of any board, several times over.
const LONG: Duration = Duration::from_secs(900);

/// One thing that happens.
#[derive(Clone, Debug)]
enum Act {
    /// The program plays on: the legal move of this number.
    GuiMoves(usize),
    /// The program takes back so many plies.
    GuiTakesBack(usize),
    /// The program begins a new game.
    GuiNewGame,
    /// The program awaits the hand, or not.
    Await(bool),
    /// The hand plays the legal move of this number.
    HandMoves(usize),
    /// The hand takes back.
    HandTakesBack,
    /// The hand makes another move than the one shown.
    HandMovesWrong(usize),
    /// The hand puts the pieces on their starting squares.
    HandNewGame,
    /// The cable comes off, or is put back.
    Unplug,
    Plug,
    /// The board is switched off and on.
    PowerCycle(bool),
    /// The player presses `Board ready`.
    Ready,
    /// The board sends garbage.
    Garbage(usize),
    /// Time passes, in milliseconds.
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<usize>().prop_map(Act::GuiMoves),
        1 => (1..4usize).prop_map(Act::GuiTakesBack),
        1 => Just(Act::GuiNewGame),
        2 => any::<bool>().prop_map(Act::Await),
        4 => any::<usize>().prop_map(Act::HandMoves),
        2 => Just(Act::HandTakesBack),
        1 => any::<usize>().prop_map(Act::HandMovesWrong),
        1 => Just(Act::HandNewGame),
        1 => Just(Act::Unplug),
        2 => Just(Act::Plug),
        1 => any::<bool>().prop_map(Act::PowerCycle),
        1 => Just(Act::Ready),
        1 => (1..200usize).prop_map(Act::Garbage),
        6 => (1..4000u64).prop_map(Act::Wait),
        2 => (4000..30_000u64).prop_map(Act::Wait),
    ]
}

struct World {
    machine: Machine,
    board: Box<dyn SimulatedBoard>,
    now: Instant,
    plugged: bool,
    target: Game,
    number: u64,
    faults: Vec<String>,
}

impl World {
    fn new(is_citrine: bool) -> Self {
        let delay = Some(Duration::from_millis(700));
        let (driver, board): (Box<dyn Driver>, Box<dyn SimulatedBoard>) = if is_citrine {
            (
                Box::new(citrine::Citrine::new(citrine::Timing::default(), None)),
                Box::new(Citrine::new(1.0, delay, 1)),
            )
        } else {
            let format = ucb::codec::PositionFormat::V2;
            (
                Box::new(ucb::Ucb::new(ucb::Timing::default(), format)),
                Box::new(Ucb::new(1.0, 2, delay, 1)),
            )
        };
        let now = Instant::now();
        let mut machine = Machine::new(BoardName::default(), driver, Duration::from_secs(3));
        machine.link_up(now);
        let mut world = Self {
            machine,
            board,
            now,
            plugged: true,
            target: Game::standard(),
            number: 0,
            faults: Vec::new(),
        };
        world.state();
        world
    }

    fn state(&mut self) {
        self.number += 1;
        let command = Command::Target {
            client: CLIENT,
            label: "the test".into(),
            number: self.number,
            game: Box::new(self.target.clone()),
            occasion: Occasion::default(),
        };
        self.machine.command(self.now, command);
    }

    /// Carries bytes both ways until nothing moves.
    fn carry(&mut self) {
        loop {
            let mut moved = false;
            while let Some(bytes) = self.machine.poll_transmit(self.now) {
                moved = true;
                if self.plugged {
                    self.board.received(self.now, bytes.bytes());
                }
            }
            while let Some(bytes) = self.board.poll_transmit() {
                moved = true;
                if self.plugged {
                    self.machine.received(self.now, Channel::Serial, &bytes);
                }
            }
            while let Some(report) = self.board.poll_report() {
                if matches!(report, Report::Lost(_) | Report::Fault(_)) {
                    self.faults.push(report.to_string());
                }
            }
            while self.machine.poll_event().is_some() {}
            if !moved {
                return;
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..100_000 {
            self.carry();
            let next = [self.machine.deadline(), self.board.deadline()];
            match next.into_iter().flatten().min().filter(|at| *at <= end) {
                Some(at) => {
                    self.now = at.max(self.now);
                    self.machine.timeout(self.now);
                    self.board.timeout(self.now);
                }
                None => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("time does not pass: a deadline comes again and again");
    }

    fn snapshot(&self) -> Snapshot {
        self.machine.snapshot()
    }

    /// The hand's answer, as a program would take it.
    fn take_answer(&mut self) {
        let snapshot = self.snapshot();
        let place = snapshot.place(CLIENT, self.number).unwrap();
        if let Some(&m) = place.answer.first() {
            assert!(
                self.target.position().is_legal(m),
                "an illegal answer: {m:?}"
            );
            self.target.push(m);
            let command = Command::Answered {
                client: CLIENT,
                number: self.number,
                answer: boardbridge::game::uci(m),
            };
            self.machine.command(self.now, command);
        }
    }

    fn does(&mut self, act: &Act) {
        let legal = |game: &Game, n: usize| {
            let moves = game.position().legal_moves();
            (!moves.is_empty()).then(|| moves[n % moves.len()])
        };
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
                self.target = self
                    .target
                    .truncated(self.target.len().saturating_sub(plies));
                self.state();
            }
            Act::GuiNewGame => {
                self.machine
                    .command(self.now, Command::NewGame { client: CLIENT });
                self.target = Game::standard();
                self.state();
            }
            Act::Await(on) => self
                .machine
                .command(self.now, Command::Await { client: CLIENT, on }),
            Act::HandMoves(n) => {
                if let Some(m) = legal(self.board.game(), n) {
                    self.hand(HandAction::Move(boardbridge::game::uci(m)));
                }
            }
            Act::HandMovesWrong(n) => {
                if self.board.shown().is_some()
                    && let Some(m) = legal(self.board.game(), n)
                {
                    self.hand(HandAction::Wrong(boardbridge::game::uci(m)));
                }
            }
            Act::HandTakesBack => self.hand(HandAction::TakeBack),
            Act::HandNewGame => self.hand(HandAction::NewGame),
            Act::Unplug => {
                if self.plugged {
                    self.plugged = false;
                    self.machine.link_down(self.now, "unplugged".to_owned());
                }
            }
            Act::Plug => self.plug(),
            Act::PowerCycle(forgetful) => {
                self.hand(HandAction::Off);
                self.pass(Duration::from_millis(300));
                self.hand(HandAction::On { forgetful });
            }
            // A player who says that all is well where it is not is led nowhere.
            Act::Ready if self.board.shown().is_some() => {}
            Act::Ready => self
                .machine
                .command(self.now, Command::Ready { client: CLIENT }),
            Act::Garbage(length) => {
                // The end of a line, so that it does not swallow the next one.
                self.hand(HandAction::Garbage(length));
                self.carry();
                if self.plugged {
                    self.machine.received(self.now, Channel::Serial, b"\r\n");
                }
            }
            Act::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.carry();
    }

    fn plug(&mut self) {
        if !self.plugged {
            self.plugged = true;
            self.machine.link_up(self.now);
        }
    }

    fn hand(&mut self, action: HandAction) {
        // Messages that cross on the wire are nobody's fault, and nobody's to tell apart.
        self.carry();
        self.board.hand(self.now, action);
        self.carry();
    }

    /// The end of it all: the cable is in, the program awaits the hand, and time passes.
    fn settles(&mut self, acts: &[Act]) {
        self.plug();
        self.take_answer();
        self.state();
        self.machine.command(
            self.now,
            Command::Await {
                client: CLIENT,
                on: true,
            },
        );
        self.pass(LONG);
        if self.board.shown().is_some() {
            // The lamps did not show it (the board was off for the second send), the words did.
            self.hand(HandAction::Execute);
            self.pass(LONG);
        }
        let snapshot = self.snapshot();
        let on_board = self.board.game().position().board();
        let known = snapshot.game.position().board();
        let advice = snapshot.advice;
        assert_eq!(
            on_board, known,
            "the machine believes otherwise: {advice:?}\n{acts:?}"
        );
        assert!(
            snapshot.game.continues(snapshot.target.as_ref().unwrap()),
            "held {}, target {}, {advice:?}\n{acts:?}",
            snapshot.game,
            snapshot.target.as_ref().unwrap(),
        );
        assert_eq!(
            snapshot.target.as_ref().unwrap().position(),
            self.target.position()
        );
        assert_eq!(self.board.shown(), None, "{acts:?}");
        // And the game goes on: the hand's next move is the answer, if it has not moved yet.
        if snapshot.game.len() == snapshot.target.unwrap().len()
            && let Some(&m) = self.target.position().legal_moves().first()
        {
            self.hand(HandAction::Move(boardbridge::game::uci(m)));
            let snapshot = self.snapshot();
            let place = snapshot.place(CLIENT, self.number).unwrap();
            assert_eq!(place.answer.first(), Some(&m), "{acts:?}");
            // And proves that everything stands.
            assert!(
                snapshot.guidance.is_empty(),
                "{:?} {acts:?}",
                snapshot.guidance
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500),
        max_shrink_iters: 2000,
        failure_persistence: None,
        // The same histories each time; PROPTEST_RNG_SEED and PROPTEST_CASES explore others.
        rng_seed: std::env::var("PROPTEST_RNG_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .map_or(RngSeed::Fixed(64), RngSeed::Fixed),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_citrine_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..40)) {
        let mut world = World::new(true);
        for act in &acts {
            world.does(act);
        }
        world.settles(&acts);
    }

    #[test]
    fn a_ucb_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..40)) {
        let mut world = World::new(false);
        for act in &acts {
            world.does(act);
        }
        world.settles(&acts);
    }

    #[test]
    fn no_command_is_lost_in_pacing_while_the_hand_keeps_to_the_game(
        is_citrine: bool,
        acts in proptest::collection::vec(
            prop_oneof![
                4 => any::<usize>().prop_map(Act::GuiMoves),
                1 => (1..4usize).prop_map(Act::GuiTakesBack),
                1 => Just(Act::GuiNewGame),
                4 => any::<usize>().prop_map(Act::HandMoves),
                6 => (1..30_000u64).prop_map(Act::Wait),
            ],
            1..40,
        )
    ) {
        let mut world = World::new(is_citrine);
        world.does(&Act::Await(true));
        for act in &acts {
            world.does(act);
        }
        world.settles(&acts);
        let lost: Vec<_> = world.faults.iter().filter(|fault| fault.starts_with("lost")).collect();
        prop_assert!(lost.is_empty(), "{lost:?}");
    }
}

/// Games whose last move is of a kind of its own.
const SPECIAL: [&str; 7] = [
    "e2e4 d7d5 e4d5",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
    "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1",
    "e2e4 a7a6 e4e5 d7d5 e5d6",
    "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8q",
    "a2a4 b7b5 a4b5 h7h6 b5b6 h6h5 b6c7 b8a6 c7d8n",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8",
];

impl World {
    /// The program follows this game and awaits the hand, which does what it is shown.
    fn follows(&mut self, game: &Game) {
        self.target = game.clone();
        self.state();
        self.machine.command(
            self.now,
            Command::Await {
                client: CLIENT,
                on: true,
            },
        );
        self.pass(LONG);
        if self.board.shown().is_some() {
            self.hand(HandAction::Execute);
            self.pass(LONG);
        }
    }

    fn stands(&self, game: &Game, what: &str) {
        assert_eq!(*self.snapshot().game, *game, "{what}");
        let pieces = self.board.game().position().board();
        assert_eq!(pieces, game.position().board(), "{what}");
    }
}

#[test]
fn the_program_takes_back_any_number_of_plies_over_every_kind_of_move() {
    for is_citrine in [true, false] {
        for moves in SPECIAL {
            let mut game = Game::standard();
            game.play_uci(moves.split(' ')).unwrap();
            for plies in [1, 2, game.len()] {
                let what = format!("citrine {is_citrine}, {plies} plies of {moves}");
                let mut world = World::new(is_citrine);
                world.follows(&game);
                world.stands(&game, &what);
                let before = game.truncated(game.len() - plies);
                world.follows(&before);
                world.stands(&before, &what);
                world.follows(&game);
                world.stands(&game, &what);
            }
        }
    }
}

#[test]
fn what_the_hand_takes_back_is_the_programs_to_follow_or_to_have_made_again() {
    for is_citrine in [true, false] {
        for moves in SPECIAL {
            for program_follows in [true, false] {
                let what = format!("citrine {is_citrine}, {moves}, follows {program_follows}");
                let mut game = Game::standard();
                game.play_uci(moves.split(' ')).unwrap();
                let last = game.uci_moves().last().unwrap();
                let before = game.truncated(game.len() - 1);
                let mut world = World::new(is_citrine);
                world.follows(&before);
                world.hand(HandAction::Move(last));
                world.pass(Duration::from_secs(1));
                world.take_answer();
                assert_eq!(world.target, game, "{what}");
                world.hand(HandAction::TakeBack);
                assert!(world.snapshot().taken_back, "{what}");
                let wanted = if program_follows { before } else { game };
                world.follows(&wanted);
                world.stands(&wanted, &what);
            }
        }
    }
}

#[test]
fn a_chess960_start_is_set_up_and_a_castling_in_it_too() {
    for is_citrine in [true, false] {
        for text in [
            "fen nrk1bbqn/pp1ppprp/8/2p3p1/2P3P1/8/PP1PPPRP/NRK1BBQN w Qq - 0 1 moves a1b3 a8b6 c1b1",
            "fen bb1nqkrn/pppppp1p/8/6p1/6P1/8/PPPPPP1P/BB1NQKRN w KQkq - 0 1 moves e2e3 e7e6 f1g1",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            let castled = Game::from_words(&words).unwrap();
            let mut world = World::new(is_citrine);
            for plies in [0, 2, 3, 1] {
                let game = castled.truncated(plies);
                world.follows(&game);
                world.stands(&game, text);
            }
        }
    }
}
