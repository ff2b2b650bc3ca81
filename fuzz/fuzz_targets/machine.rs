//! Whatever a board sends, whole or in pieces, early or late, while programs state one game after another, announce new
//! ones or not, come and go, and the daemon is started again in the midst of it: the machine goes on, answers legal moves
//! only, and asks for no position but those of the program's game and of what the hand has played on from it.
#![no_main]

use std::time::{Duration, Instant};

use arbitrary::Arbitrary;
use boardbridge::{
    board::core::Core,
    chess::game::{Game, uci},
    driver::{Driver, citrine, swpp, ucb},
    vocabulary::{Advice, BoardName, Channel, ClientId, Command, Occasion},
};
use shakmaty::Position;

/// One thing that happens.
#[derive(Arbitrary, Debug)]
enum Act {
    /// The board sends something.
    Says(Vec<u8>),
    /// The board sends a line that it may well send.
    SaysLine(u8, u8),
    /// So many times 20 ms pass.
    Wait(u8),
    /// A client states the game of these moves, each by its number among the legal ones.
    States(bool, Vec<u8>),
    /// A client states the game it was told of, and so many plies less.
    TakesBack(bool, u8),
    Awaits(bool, bool),
    Analyses(bool),
    Answered(bool),
    NewGame(bool),
    Ready(bool),
    Away(bool, bool),
    Yields(bool),
    Releases(bool),
    LinkDown,
    LinkUp,
    Restart,
}

const LINES: [&str; 16] = [
    "New Game",
    ".Referee on",
    "Xmit on",
    "Xmit off",
    "ID.UCBII V1.09",
    "Game   1",
    ".      white       black",
    ".   1  e2-e4",
    ".   1  e2-e4       e7-e5",
    ".   2  h2-h4       a7-a6",
    "N",
    "P",
    "T",
    "br bn bb bq bk bb bn br",
    "::    ::    ::    ::   ",
    "H101     1.2",
];

fn machine(kind: u8) -> Core {
    let driver: Box<dyn Driver> = match kind % 3 {
        0 => Box::new(citrine::Citrine::new(citrine::Settings::default())),
        1 => Box::new(ucb::Ucb::new(ucb::Settings::default())),
        _ => Box::new(swpp::Swpp::new(swpp::Framing::Stream, swpp::MOVE_WAIT)),
    };
    Core::new(BoardName::default(), driver, Duration::from_secs(3))
}

/// What one client follows.
#[derive(Default)]
struct Program {
    number: u64,
    game: Game,
    /// It has been told the answer: it has to ask again for another.
    answered: bool,
}

struct World {
    kind: u8,
    core: Core,
    now: Instant,
    programs: [Program; 2],
}

impl World {
    fn does(&mut self, act: Act) {
        let now = self.now;
        let client = |second: bool| ClientId(u64::from(second));
        let command = match act {
            Act::Says(bytes) => return self.core.received(now, Channel::Serial, &bytes),
            Act::SaysLine(line, n) => return self.says(line, n),
            Act::Wait(n) => {
                self.now += Duration::from_millis(u64::from(n) * 20);
                return self.core.timeout(self.now);
            }
            Act::LinkDown => return self.core.link_down(now, "lost".to_owned()),
            Act::LinkUp => return self.core.link_up(now),
            Act::Restart => {
                self.core = machine(self.kind);
                return self.core.link_up(now);
            }
            Act::States(second, moves) => {
                let mut game = Game::standard();
                for n in moves.into_iter().take(120) {
                    let legal = game.position().legal_moves();
                    if !legal.is_empty() {
                        game.push(legal[usize::from(n) % legal.len()]);
                    }
                }
                return self.states(second, game);
            }
            Act::TakesBack(second, plies) => {
                let game = &self.programs[usize::from(second)].game;
                let left = game.len().saturating_sub(plies.into());
                return self.states(second, game.truncated(left));
            }
            Act::Answered(second) => {
                let Program {
                    number,
                    game,
                    answered,
                } = &mut self.programs[usize::from(second)];
                let snapshot = self.core.snapshot();
                let place = snapshot.place(client(second), *number);
                let answer = place.and_then(|place| place.answer.first());
                let Some(&m) = answer.filter(|_| !*answered) else {
                    return;
                };
                *answered = true;
                let answer = uci(m);
                // A position alone is told as the daemon understands it; these are whole games.
                assert!(game.push(m), "{m:?} answers {game}");
                Command::Answered {
                    client: client(second),
                    number: *number,
                    answer,
                }
            }
            Act::Awaits(second, on) => Command::Await {
                client: client(second),
                on,
            },
            Act::Analyses(second) => Command::Analyse {
                client: client(second),
            },
            Act::NewGame(second) => Command::NewGame {
                client: client(second),
            },
            Act::Ready(second) => Command::Ready {
                client: client(second),
            },
            Act::Away(second, on) => Command::Away {
                client: client(second),
                on,
            },
            Act::Yields(second) => Command::Yield {
                client: client(second),
            },
            Act::Releases(second) => Command::Release {
                client: client(second),
            },
        };
        self.core.command(now, command);
    }

    /// A line of a board's, or a move of the game it holds.
    fn says(&mut self, line: u8, n: u8) {
        let snapshot = self.core.snapshot();
        let legal = snapshot.game.position().legal_moves();
        let made = (!legal.is_empty()).then(|| uci(legal[usize::from(n) % legal.len()]));
        let text = match (LINES.get(usize::from(line)), made, self.kind % 3) {
            (Some(line), ..) => (*line).to_owned(),
            (None, Some(made), 0) => {
                let text = made.to_string();
                let sign = if snapshot.game.len() % 2 == 0 {
                    ' '
                } else {
                    ','
                };
                let number = snapshot.game.len() / 2 + 1;
                format!("M{number:4}{sign}  {}-{}", &text[..2], &text[2..4])
            }
            (None, Some(made), 1) => format!("M{made}"),
            (None, Some(made), _) => format!("MB {made}"),
            (None, None, _) => return,
        };
        let line = format!("{text}\r\n");
        self.core
            .received(self.now, Channel::Serial, line.as_bytes());
    }

    fn states(&mut self, second: bool, game: Game) {
        let program = &mut self.programs[usize::from(second)];
        program.number += 1;
        program.answered = false;
        program.game = game.clone();
        let target = Command::Target {
            client: ClientId(u64::from(second)),
            label: "fuzz".into(),
            number: program.number,
            game: Box::new(game),
            occasion: Occasion::default(),
        };
        self.core.command(self.now, target);
    }

    fn is_sound(&mut self) {
        while self.core.poll_transmit(self.now).is_some() {}
        while self.core.poll_event().is_some() {}
        let snapshot = self.core.snapshot();
        if let (Some(target), Advice::SetUp { fen, .. }) = (&snapshot.target, &snapshot.advice) {
            let is_of = |game: &Game| {
                (0..=game.len())
                    .any(|plies| *game.position_at(plies).board() == fen.as_setup().board)
            };
            // A board that asks for its position gets that of the game which the hand has played on.
            let held = &snapshot.game;
            assert!(
                is_of(target) || held.continues(target) && is_of(held),
                "{fen} is asked for, and the game is {target}"
            );
        }
        let _ = self.core.poll_snapshot();
    }
}

libfuzzer_sys::fuzz_target!(|input: (u8, Vec<Act>)| {
    let (kind, acts) = input;
    let mut world = World {
        kind,
        core: machine(kind),
        now: Instant::now(),
        programs: Default::default(),
    };
    world.core.link_up(world.now);
    for act in acts {
        world.does(act);
        world.is_sound();
    }
});
