//! A board of pieces needs only its bytes: a whole game is played on a simulated one, through the core.

use std::time::{Duration, Instant};

use rig::clock::Clocked;
use shakmaty::{Move, uci::UciMove};
use simulators::{HandAction, Report, SimulatedBoard as _, pieces, pieces::Order};

use super::simulator::Wood;
use crate::{
    board::{core::Core, settings::BoardConfig},
    chess::game::{Game, uci},
    vocabulary::{
        Advice, BoardName, Channel, ClientId, Command, Event, Occasion, Outgoing, Snapshot,
    },
};

/// Longer than any wait of the core and the hand.
const LONG: Duration = Duration::from_mins(1);
const PROGRAM: ClientId = ClientId(1);

/// A program, the core, and the board with its person, on a virtual clock.
struct Table {
    now: Instant,
    core: Core,
    wood: Wood,
    /// The game that the program has.
    game: Game,
    /// The number of the game that it stated last.
    number: u64,
    /// What should not happen in a game that is played as it should be.
    faults: Vec<String>,
}

impl Clocked for Table {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        loop {
            if let Some(outgoing) = self.core.poll_transmit(self.now) {
                let Outgoing { channel, .. } = &outgoing;
                assert_eq!(*channel, Channel::Serial);
                self.wood.received(self.now, outgoing.bytes());
            } else if let Some(bytes) = self.wood.poll_transmit() {
                self.core.received(self.now, Channel::Serial, &bytes);
            } else if let Some(report) = self.wood.poll_report() {
                if let Report::Fault(what) | Report::Refused(what) = report {
                    self.faults.push(what);
                }
            } else if let Some(event) = self.core.poll_event() {
                if let Event::Mistake { text } | Event::Unreadable { text } = event {
                    self.faults.push(text);
                }
            } else {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let next = [self.core.deadline(), self.wood.deadline()];
        next.into_iter().flatten().min()
    }

    fn timeout(&mut self, now: Instant) {
        self.core.timeout(now);
        self.wood.timeout(now);
    }
}

impl Table {
    fn new(person: pieces::Settings) -> Self {
        let now = Instant::now();
        let board = BoardConfig::from_toml("kind = \"toy-pieces\"\n").unwrap();
        let wait = Duration::from_secs(3);
        let mut table = Self {
            now,
            core: Core::new(BoardName::default(), board.driver(), wait),
            wood: Wood::new(person),
            game: Game::standard(),
            number: 0,
            faults: Vec::new(),
        };
        table.wood.plugged(now);
        table.core.link_up(now);
        table
    }

    fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    /// Advances the time until this holds.
    fn comes(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        assert!(self.until(LONG, so), "{what} does not come");
    }

    /// The program states its game, and awaits the hand's move or not.
    fn states(&mut self, awaits: bool) {
        self.number += 1;
        let target = Command::Target {
            client: PROGRAM,
            label: "the test".into(),
            number: self.number,
            game: Box::new(self.game.clone()),
            occasion: Occasion::default(),
        };
        self.core.command(self.now, target);
        let awaits = Command::Await {
            client: PROGRAM,
            on: awaits,
        };
        self.core.command(self.now, awaits);
    }

    fn does(&mut self, order: impl Into<Order>) {
        self.wood.order(self.now, order.into());
    }

    /// The player's move, as the program is told it.
    fn answer(&self) -> Option<Move> {
        let snapshot = self.snapshot();
        let place = snapshot.place(PROGRAM, self.number)?;
        place.answer.first().copied()
    }

    /// Plays these moves: those of White are the hand's.
    fn plays(&mut self, moves: &str) {
        for word in moves.split_whitespace() {
            let m: UciMove = word.parse().unwrap();
            let legal = m.to_move(self.game.position()).unwrap();
            if self.game.turn().is_white() {
                self.states(true);
                self.does(HandAction::Move(m));
                self.comes(word, |table| table.answer().is_some());
                assert_eq!(self.answer(), Some(legal));
                let answered = Command::Answered {
                    client: PROGRAM,
                    number: self.number,
                    answer: uci(legal),
                };
                self.core.command(self.now, answered);
                assert!(self.game.push(legal));
            } else {
                assert!(self.game.push(legal));
                self.states(false);
            }
            self.comes(word, |table| {
                *table.snapshot().game == table.game
                    && table.wood.game().len() == table.game.len()
                    && table.snapshot().advice == Advice::Nothing
            });
        }
        assert_eq!(self.faults, [""; 0]);
    }

    /// The hand takes its last move back, and the program goes along.
    fn takes_back(&mut self) {
        let plies = self.game.len() - 1;
        self.does(HandAction::TakeBack);
        self.comes("the take-back", |table| {
            table.snapshot().game.len() == plies
        });
        self.game.pop();
    }
}

/// A person who makes the program's moves.
fn person() -> pieces::Settings {
    pieces::Settings {
        hand_delay: Some(Duration::from_millis(700)),
        ..pieces::Settings::default()
    }
}

#[test]
fn a_whole_game_is_played_on_a_board_that_only_has_its_bytes() {
    let mut table = Table::new(person());
    // En passant, and a pawn that becomes a knight.
    table.plays("e2e4 a7a6 e4e5 d7d5 e5d6 g8f6 g1f3 f6e4 d6c7 e4c5 c7d8n a6a5");
    // The hand takes both last moves back, and plays another.
    table.states(true);
    table.takes_back();
    table.states(false);
    table.takes_back();
    table.plays("c7b8q a8b8 f1e2 a6a5");
    // A piece goes where it may not, and back.
    table.states(true);
    table.does(HandAction::Wrong("a1a4".parse().unwrap()));
    table.comes("what is wrong", |table| {
        !table.snapshot().guidance.is_empty()
    });
    table.does(Order::Restore);
    table.comes("the pieces", |table| table.snapshot().guidance.is_empty());
    table.faults.clear();
    table.plays("e1g1 a5a4");
}

#[test]
fn a_board_that_lies_the_other_way_round_is_lit_as_it_lies() {
    let mut table = Table::new(pieces::Settings {
        turned: true,
        ..person()
    });
    table.plays("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1");
}
