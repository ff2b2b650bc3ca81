//! Whatever happens to a board and its game, it ends up in the program's game: the core against a
//! simulated board, both without I/O, on one virtual clock.

use std::time::{Duration, Instant};

use boardbridge::{
    board::core::Core,
    chess::game::{Game, uci},
    vocabulary::{Advice, Channel, Command, Snapshot},
};
use proptest::prelude::*;
use rig::{
    cable::{Cable, Passed, novag},
    clock::{Clocked, log},
    game::ours,
    histories::{Pick, histories, kept_in},
    program::Program,
};
use shakmaty::{Move, Position, uci::UciMove};
use simulators::{HandAction, Report};

/// Longer than any wait of any board, several times over.
const LONG: Duration = Duration::from_secs(900);

/// How long a restarted daemon takes.
const RESTART: Duration = Duration::from_millis(300);

/// One act of a history; [`Act::of`] has its words.
#[derive(Clone, Debug)]
enum Act {
    /// The program continues.
    GuiMoves(Pick),
    /// The program takes back this many plies.
    GuiTakesBack(usize),
    /// The program begins a new game.
    GuiNewGame,
    /// A program states a game of its own, without a new-game command: of this kind and number.
    GuiStates(Sort, usize),
    /// It states this game.
    GuiStatesThis(Box<Game>),
    /// The daemon is restarted, and the program states its game at once, or later.
    Restart(bool),
    /// The daemon is killed and goes on with what it kept; the program states its game at once, or later.
    GoesOn(bool),
    /// The board's output is delayed by this many milliseconds.
    Late(u64),
    /// The program awaits the player's move, or not.
    Await(bool),
    /// The player plays.
    HandMoves(Pick),
    /// The player takes back.
    HandTakesBack,
    /// The player makes another move than the one shown.
    HandMovesWrong(Pick),
    /// The player puts the pieces on their starting squares.
    HandNewGame,
    /// The cable is unplugged, or plugged in again.
    Unplug,
    Plug,
    /// The board is switched off and on.
    PowerCycle(bool),
    /// The board loses its settings, and keeps its game.
    ForgetSettings,
    /// The player presses `Board ready`.
    Ready,
    /// The board sends garbage.
    Garbage(usize),
    /// Time passes, in milliseconds.
    Wait(u64),
}

/// How a program's game relates to the previous one.
#[derive(Clone, Copy, Debug)]
enum Sort {
    /// Nothing: the start.
    Start,
    /// Nothing: moves of its own.
    Other,
    /// Knights went out and came back until the pieces stood at the start.
    Tour,
    /// It began as the game on the board.
    Boards,
    /// The position on the board, and nothing before it.
    Position,
}

fn sort() -> impl Strategy<Value = Sort> {
    prop_oneof![
        2 => Just(Sort::Start),
        2 => Just(Sort::Other),
        1 => Just(Sort::Tour),
        2 => Just(Sort::Boards),
        1 => Just(Sort::Position),
    ]
}

fn pick() -> impl Strategy<Value = Pick> {
    any::<usize>().prop_map(Pick::Nth)
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => pick().prop_map(Act::GuiMoves),
        1 => (1..4usize).prop_map(Act::GuiTakesBack),
        1 => Just(Act::GuiNewGame),
        1 => (sort(), any::<usize>()).prop_map(|(sort, n)| Act::GuiStates(sort, n)),
        1 => any::<bool>().prop_map(Act::Restart),
        2 => any::<bool>().prop_map(Act::GoesOn),
        // A board that is silent for longer counts as one that does not tell.
        1 => (1..4000u64).prop_map(Act::Late),
        2 => any::<bool>().prop_map(Act::Await),
        4 => pick().prop_map(Act::HandMoves),
        2 => Just(Act::HandTakesBack),
        1 => pick().prop_map(Act::HandMovesWrong),
        1 => Just(Act::HandNewGame),
        1 => Just(Act::Unplug),
        2 => Just(Act::Plug),
        1 => any::<bool>().prop_map(Act::PowerCycle),
        1 => Just(Act::ForgetSettings),
        1 => Just(Act::Ready),
        1 => (1..200usize).prop_map(Act::Garbage),
        6 => (1..4000u64).prop_map(Act::Wait),
        2 => (4000..30_000u64).prop_map(Act::Wait),
    ]
}

impl Act {
    /// The act in these words, as [`World::history`] writes them.
    fn of(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| text.parse().unwrap();
        let pick = |text: &str| text.parse().unwrap();
        match words[..] {
            ["program", "takes-back", plies] => Self::GuiTakesBack(number(plies) as usize),
            ["program", "new-game"] => Self::GuiNewGame,
            ["program", "states", ref game @ ..] => {
                Self::GuiStatesThis(Box::new(Game::from_words(game).unwrap()))
            }
            ["program", "awaits"] => Self::Await(true),
            ["program", "awaits-not"] => Self::Await(false),
            ["program", m] => Self::GuiMoves(pick(m)),
            ["daemon", "restarted", ref stated @ ..] => Self::Restart(!stated.is_empty()),
            ["daemon", "killed", ref stated @ ..] => Self::GoesOn(!stated.is_empty()),
            ["hand", "takes-back"] => Self::HandTakesBack,
            ["hand", "new-game"] => Self::HandNewGame,
            ["hand", "ready"] => Self::Ready,
            ["hand", "wrong", m] => Self::HandMovesWrong(pick(m)),
            ["hand", m] => Self::HandMoves(pick(m)),
            ["cable", "out"] => Self::Unplug,
            ["cable", "in"] => Self::Plug,
            ["board", "late", ms] => Self::Late(number(ms)),
            ["board", "off-and-on", ref forgetful @ ..] => Self::PowerCycle(!forgetful.is_empty()),
            ["board", "forgets-settings"] => Self::ForgetSettings,
            ["board", "garbage", length] => Self::Garbage(number(length) as usize),
            ["wait", ms] => Self::Wait(number(ms)),
            _ => panic!("no act: {line}"),
        }
    }
}

struct World {
    /// What has been done, in words: a history that fails is kept as a file of these lines.
    history: Vec<String>,
    is_citrine: bool,
    cable: Cable,
    program: Program,
    began: Instant,
    now: Instant,
    target: Game,
    /// A Citrine has lost its settings once: the moves it then makes by itself are reported as the player's.
    plays_itself: bool,
    /// The daemon was restarted without what it had kept, and the board's game has not been known since.
    is_restarted: bool,
    /// The player's moves.
    made: Vec<UciMove>,
    /// The game the daemon knows of.
    stated: Option<Game>,
    /// The board's game when it last reported it over this link. Moves that a board without its settings does not
    /// transmit are reported by the same bytes as if they had not been made.
    told: Option<Game>,
    /// The board's game when a program adopted it, instead of continuing it, what the board had reported of it, and how
    /// many moves the player has made since.
    met: ([Game; 2], usize),
    /// Moves that the player was told to make.
    makes: Vec<String>,
    faults: Vec<String>,
}

impl Clocked for World {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        let (now, at, plugged) = (self.now, self.now - self.began, self.cable.plugged);
        while self.cable.carry(now, |board, passed| {
            log("CONVERGENCE_LOG", at, || passed.to_string());
            match passed {
                Passed::Said(bytes) if plugged => {
                    let tells = ["Game ", "M ", "T ", "New Game"];
                    if tells.iter().any(|word| bytes.starts_with(word.as_bytes())) {
                        self.told = Some(ours(board.game()));
                    }
                }
                Passed::Seen(Report::Made(m)) => {
                    self.made.push(uci(m));
                    self.met.1 += 1;
                }
                Passed::Seen(Report::Wrong(m)) => {
                    self.made.push(m);
                    self.met.1 += 1;
                }
                Passed::Seen(report @ (Report::Lost(_) | Report::Fault(_))) => {
                    self.faults.push(report.to_string());
                }
                _ => {}
            }
        }) {}
        self.is_restarted &= !self.snapshot().sure;
        self.tells_of_no_other_game();
    }

    fn deadline(&self) -> Option<Instant> {
        self.cable.deadline()
    }

    fn timeout(&mut self, now: Instant) {
        self.cable.timeout(now);
    }
}

impl World {
    fn new(is_citrine: bool) -> Self {
        let mut world = Self::alone(is_citrine);
        world.plug();
        world.state();
        world
    }

    /// A board that no daemon has seen.
    fn alone(is_citrine: bool) -> Self {
        let now = Instant::now();
        Self {
            history: Vec::new(),
            is_citrine,
            cable: Cable::novag(is_citrine, Duration::from_millis(700)),
            program: Program {
                label: "127.0.0.1:5000",
                ..Program::default()
            },
            began: now,
            now,
            target: Game::standard(),
            plays_itself: false,
            is_restarted: false,
            made: Vec::new(),
            stated: None,
            told: None,
            met: ([Game::standard(), Game::standard()], 0),
            makes: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The player has played these moves while no daemon was running.
    fn holding(is_citrine: bool, moves: &str) -> Self {
        let mut world = Self::alone(is_citrine);
        for m in moves.split_whitespace() {
            world.hand(HandAction::Move(m.parse().unwrap()));
        }
        while world.cable.board.poll_transmit().is_some() {}
        world
    }

    /// The daemon is restarted.
    fn restart(&mut self) {
        let plugged = self.cable.plugged;
        self.cable.unplug(self.now, "the daemon ends");
        self.pass(RESTART);
        self.cable.core = novag(self.is_citrine);
        self.is_restarted = true;
        self.stated = None;
        self.told = None;
        // It cannot be known who made the moves on the board then.
        let stands = ours(self.cable.board.game());
        self.made.extend(stands.uci_moves());
        if plugged {
            self.cable.plug(self.now);
        }
    }

    /// The daemon is killed, and another one goes on with what this one kept. The program comes from another port.
    fn goes_on(&mut self) {
        let plugged = self.cable.plugged;
        let kept = serde_json::to_string(&self.cable.core.memory()).unwrap();
        let before = self.snapshot();
        self.cable.unplug(self.now, "the daemon is killed");
        let old = std::mem::replace(&mut self.cable.core, novag(self.is_citrine));
        let memory = serde_json::from_str(&kept).unwrap();
        self.cable.core.recall(self.now, memory);
        let after = self.snapshot();
        assert_eq!(after.game, before.game);
        assert_eq!(after.target, before.target);
        assert_eq!(after.ending, before.ending);
        assert_eq!(after.by, before.by);
        let same = |core: &Core| serde_json::to_value(core.memory()).unwrap();
        if plugged {
            // It knows what the old one would, with the cable out. A step that had not left is lost without harm.
            let (old, new) = (same(&old), same(&self.cable.core));
            let same = |key: &str| old["rest"][key] == new["rest"][key];
            if same("sent") && same("held") {
                assert_eq!(old, new);
            }
        }
        self.pass(RESTART);
        self.program.client.0 += 1;
        self.program.label = ["127.0.0.1:5000", "127.0.0.1:5001"]
            [usize::try_from(self.program.client.0 % 2).unwrap()];
        self.told = None;
        if plugged {
            self.cable.plug(self.now);
        }
    }

    /// The program states its game.
    fn state(&mut self) {
        let before = self.stated.take();
        let on_board = ours(self.cable.board.game());
        let told = self.told.clone().unwrap_or_else(|| on_board.clone());
        let command = self.program.states(&self.target);
        self.cable.command(self.now, command);
        // As the daemon understands a position alone: where it came from, if that is known.
        self.stated = self.snapshot().target.map(|target| (*target).clone());
        let goes_on = before.zip(self.stated.as_ref());
        if !goes_on.is_some_and(|(before, stated)| stated.continues(&before)) {
            self.met = ([on_board, told], 0);
        }
    }

    fn states_game(&mut self, game: Game) {
        self.target = game;
        self.state();
    }

    fn awaits(&mut self, on: bool) {
        let command = self.program.awaits(on);
        self.cable.command(self.now, command);
    }

    fn states(&mut self, sort: Sort, n: usize) {
        let on_board = ours(self.cable.board.game());
        let mut game = Game::standard();
        match sort {
            Sort::Start => {}
            Sort::Other => {
                for ply in 0..n % 24 {
                    let moves = game.position().legal_moves();
                    if let Some(&m) = moves.get(n / 24 % (ply + 7) % moves.len().max(1)) {
                        game.push(m);
                    }
                }
            }
            Sort::Tour => {
                for _ in 0..1 + n % 15 {
                    game.play_uci(["g1f3", "g8f6", "f3g1", "f6g8"]).unwrap();
                }
            }
            Sort::Boards => game = on_board.truncated(n % (on_board.len() + 1)),
            Sort::Position => game = Game::from_fen(&on_board.fen().to_string()).unwrap(),
        }
        self.did(format!("program states {game}"));
        self.states_game(game);
    }

    /// With `CONVERGENCE_LOG` set, events are logged to standard error.
    fn log(&self, what: impl FnOnce() -> String) {
        log("CONVERGENCE_LOG", self.now - self.began, what);
    }

    fn snapshot(&self) -> Snapshot {
        self.cable.snapshot()
    }

    /// The instructions to the player belong to the program's own game.
    fn tells_of_no_other_game(&mut self) {
        let snapshot = self.snapshot();
        if let Advice::Make(m) | Advice::Shown { m, .. } = snapshot.advice {
            let m = uci(m).to_string();
            if self.makes.last() != Some(&m) {
                self.makes.push(m);
            }
        }
        let Some(target) = &snapshot.target else {
            return;
        };
        let ours = match &snapshot.advice {
            // A board that cannot be asked is given the position with the hand's known answer, after a restart.
            Advice::SetUp { fen, .. } | Advice::SetUpByHand(fen) => {
                let answered = Some(&*snapshot.game).filter(|game| game.continues(target));
                let game = answered.unwrap_or(target);
                (0..=game.len())
                    .any(|plies| *game.position_at(plies).board() == fen.as_setup().board)
            }
            Advice::Make(m) | Advice::Shown { m, .. } => target.moves().contains(m),
            _ => true,
        };
        assert!(ours, "{:?} for {target}", snapshot.advice);
    }

    /// The player's answer, as a program would take it.
    fn take_answer(&mut self) {
        let Some(m) = self.program.answer(&self.snapshot()) else {
            return;
        };
        assert!(
            self.target.position().is_legal(m),
            "an illegal answer: {m:?}"
        );
        self.target.push(m);
        let (held, since) = &self.met;
        assert!(
            *since > 0 || self.plays_itself || self.made.contains(&uci(m)),
            "{m:?} answers {}, and no hand has made it",
            self.target,
        );
        // A UCB forgets where the pieces stand when it is switched off.
        assert!(
            *since > 0
                || self.plays_itself
                || !self.is_citrine
                || held
                    .iter()
                    .any(|held| held.position().board() == self.target.position().board()),
            "{m:?} answers {}, but the board held {}",
            self.target,
            held[0]
        );
        let command = self.program.answered(uci(m));
        self.cable.command(self.now, command);
    }

    fn did(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.log(|| format!("# {what}"));
        self.history.push(what);
    }

    fn does(&mut self, act: &Act) {
        self.plays_itself |= matches!(act, Act::ForgetSettings);
        let stated = |stated: bool| if stated { " stated" } else { "" };
        match *act {
            Act::GuiMoves(pick) => {
                self.take_answer();
                if let Some(m) = pick.of(&self.target) {
                    self.did(format!("program {}", uci(m)));
                    self.target.push(m);
                    self.state();
                }
            }
            Act::GuiTakesBack(plies) => {
                self.did(format!("program takes-back {plies}"));
                self.take_answer();
                self.target = self
                    .target
                    .truncated(self.target.len().saturating_sub(plies));
                self.state();
            }
            Act::GuiNewGame => {
                self.did("program new-game");
                let client = self.program.client;
                self.cable
                    .core
                    .command(self.now, Command::NewGame { client });
                self.states_game(Game::standard());
            }
            Act::GuiStates(sort, n) => self.states(sort, n),
            Act::GuiStatesThis(ref game) => self.states_game((**game).clone()),
            Act::Restart(states) => {
                self.did(format!("daemon restarted{}", stated(states)));
                self.restart();
                if states {
                    self.states_game(self.target.clone());
                }
            }
            Act::GoesOn(states) => {
                self.did(format!("daemon killed{}", stated(states)));
                self.goes_on();
                if states {
                    self.states_game(self.target.clone());
                }
            }
            Act::Late(ms) => {
                self.did(format!("board late {ms}"));
                self.cable.late = Some(self.now + Duration::from_millis(ms));
            }
            Act::Await(on) => {
                self.did(if on {
                    "program awaits"
                } else {
                    "program awaits-not"
                });
                self.awaits(on);
            }
            Act::HandMoves(pick) => {
                if let Some(m) = pick.of(&ours(self.cable.board.game()))
                    && !self.may_be_first(m)
                {
                    self.did(format!("hand {}", uci(m)));
                    self.hand(HandAction::Move(uci(m)));
                }
            }
            Act::HandMovesWrong(pick) => {
                if self.cable.board.shown().is_some()
                    && let Some(m) = pick.of(&ours(self.cable.board.game()))
                    && !self.may_be_first(m)
                {
                    self.did(format!("hand wrong {}", uci(m)));
                    self.hand(HandAction::Wrong(uci(m)));
                }
            }
            Act::HandTakesBack => {
                self.did("hand takes-back");
                let known = self.snapshot();
                let told = known.sure && *known.game == ours(self.cable.board.game());
                self.hand(HandAction::TakeBack);
                // What stood on a board before the hand took it back, and it had not reported: that cannot be known.
                self.met.1 += usize::from(!told);
            }
            Act::HandNewGame => {
                self.did("hand new-game");
                self.hand(HandAction::NewGame);
            }
            Act::Unplug => {
                self.did("cable out");
                self.cable.unplug(self.now, "unplugged");
            }
            Act::Plug => {
                self.did("cable in");
                self.plug();
            }
            Act::PowerCycle(forgetful) => {
                let forgets = if forgetful { " forgetful" } else { "" };
                self.did(format!("board off-and-on{forgets}"));
                self.hand(HandAction::Off);
                self.pass(Duration::from_millis(300));
                self.hand(HandAction::On { forgetful });
            }
            Act::ForgetSettings => {
                self.did("board forgets-settings");
                self.hand(HandAction::ForgetSettings);
            }
            // A player who says that all is well where it is not is led nowhere.
            Act::Ready if self.cable.board.shown().is_some() => {}
            // So is one who is told of a mistake, and has not put that right.
            Act::Ready if self.is_mistaken() => {}
            Act::Ready => {
                self.did("hand ready");
                let client = self.program.client;
                self.cable.command(self.now, Command::Ready { client });
            }
            Act::Garbage(length) => {
                self.did(format!("board garbage {length}"));
                // The end of a line, so that it does not swallow the next one.
                self.hand(HandAction::Garbage(length));
                self.carry();
                if self.cable.plugged {
                    self.cable.core.received(self.now, Channel::Serial, b"\r\n");
                }
            }
            Act::Wait(ms) => {
                self.did(format!("wait {ms}"));
                self.pass(Duration::from_millis(ms));
            }
        }
        self.carry();
    }

    /// A move in the middle of a game that could be a first one: a UCB tells of no game, and the daemon has kept none.
    fn may_be_first(&self, m: Move) -> bool {
        let known = self.snapshot();
        let begins = |target: &Game| target.is_empty() && target.is_standard();
        let awaits_first = |target: &Game| self.is_restarted && begins(target);
        let may_begin = known.target.is_none_or(|target| awaits_first(&target));
        let unknown = !self.is_citrine && !known.sure && may_begin;
        let on_board = ours(self.cable.board.game());
        let is_first =
            on_board.is_empty() && on_board.is_standard() && self.cable.board.shown().is_none();
        unknown && !is_first && Game::standard().position().is_legal(m)
    }

    /// The player is told about a mistake, and the pieces are misplaced.
    fn is_mistaken(&self) -> bool {
        let snapshot = self.snapshot();
        let wanted = snapshot.game.position().board();
        matches!(snapshot.advice, Advice::Mistake { .. })
            && self.cable.board.game().position().board() != wanted
    }

    fn plug(&mut self) {
        if !self.cable.plugged {
            self.told = None;
            self.cable.plug(self.now);
        }
    }

    fn hand(&mut self, action: HandAction) {
        // Messages that cross on the wire are not a fault, and cannot be told apart.
        self.cable.late = None;
        self.carry();
        self.cable.board.hand(self.now, action);
        self.carry();
    }

    /// A legal move that the simulated board accepts: after a set-up it knows of no en-passant capture.
    fn playable(&self) -> Option<Move> {
        let moves = self.target.position().legal_moves();
        let takes = |m: &&Move| self.cable.board.game().position().is_legal(**m);
        moves.iter().find(takes).copied()
    }

    /// The end of a history: the cable is plugged in, the program awaits the player, and time passes.
    fn settles(&mut self) {
        let history = self.history.join("\n");
        self.plug();
        self.take_answer();
        self.state();
        self.awaits(true);
        self.pass(LONG);
        if self.cable.board.shown().is_some() {
            // The lamps did not show it (the board was off for the second send), the words did.
            self.hand(HandAction::Execute);
            self.pass(LONG);
        }
        let snapshot = self.snapshot();
        let on_board = self.cable.board.game().position().board();
        let known = snapshot.game.position().board();
        let advice = snapshot.advice.clone();
        assert_eq!(
            on_board, known,
            "the machine believes otherwise: {advice:?}\n{history}"
        );
        assert!(
            snapshot.game.continues(snapshot.target.as_ref().unwrap()),
            "held {}, target {}, {advice:?}\n{history}",
            snapshot.game,
            snapshot.target.as_ref().unwrap(),
        );
        // It has the answer that the program is given.
        let answer = self.program.answer(&snapshot);
        let mut target = self.target.clone();
        answer.map(|m| target.push(m));
        assert_eq!(
            snapshot.target.as_ref().unwrap().position(),
            target.position()
        );
        assert_eq!(self.cable.board.shown(), None, "{history}");
        // And the game goes on: the hand's next move is the answer, if it has not moved yet.
        if answer.is_none()
            && snapshot.game.len() == snapshot.target.unwrap().len()
            && let Some(m) = self.playable()
        {
            self.hand(HandAction::Move(uci(m)));
            let snapshot = self.snapshot();
            let place = snapshot
                .place(self.program.client, self.program.number)
                .unwrap();
            assert_eq!(place.answer.first(), Some(&m), "{history}");
            // And proves that everything stands.
            assert!(
                snapshot.guidance.is_empty(),
                "{:?} {history}",
                snapshot.guidance
            );
        }
    }
}

proptest! {
    #![proptest_config(histories(500))]

    #[test]
    fn a_citrine_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..40)) {
        let mut world = World::new(true);
        for act in &acts {
            world.does(act);
        }
        world.settles();
    }

    #[test]
    fn a_ucb_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..40)) {
        let mut world = World::new(false);
        for act in &acts {
            world.does(act);
        }
        world.settles();
    }

    #[test]
    fn no_command_is_lost_in_pacing_while_the_hand_keeps_to_the_game(
        is_citrine: bool,
        acts in proptest::collection::vec(
            prop_oneof![
                4 => pick().prop_map(Act::GuiMoves),
                1 => (1..4usize).prop_map(Act::GuiTakesBack),
                1 => Just(Act::GuiNewGame),
                4 => pick().prop_map(Act::HandMoves),
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
        world.settles();
        let lost: Vec<_> = world.faults.iter().filter(|fault| fault.starts_with("lost")).collect();
        prop_assert!(lost.is_empty(), "{lost:?}");
    }
}

/// Games with a special kind of last move.
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
    /// The program follows this game and awaits the player, who does as shown.
    fn follows(&mut self, game: &Game) {
        self.states_game(game.clone());
        self.awaits(true);
        self.pass(LONG);
        if self.cable.board.shown().is_some() {
            self.hand(HandAction::Execute);
            self.pass(LONG);
        }
    }

    fn stands(&self, game: &Game, what: &str) {
        assert_eq!(*self.snapshot().game, *game, "{what}");
        let pieces = self.cable.board.game().position().board();
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

/// An abandoned game of twenty plies.
const OLD: &str = "h2h4 a7a6 h4h5 a6a5 h5h6 a5a4 h6g7 a4a3 g7h8q a3b2 h8g8 b2a1q g8h7 a1b1 h7g6 b1a2 g6g3 a2a1 g3g6 a1a2";

#[test]
fn an_old_games_move_is_no_answer_however_late_the_board_tells_of_it() {
    let old: Vec<&str> = OLD.split(' ').collect();
    for plies in [1_usize, 2, 3, 20] {
        for (is_on, is_known, target) in [
            (true, false, 0),
            (false, false, 0),
            (true, true, 0),
            (true, false, plies.saturating_sub(2)),
        ] {
            let what = format!("{plies} plies, on {is_on}, known {is_known}, target {target}");
            let mut world = World::holding(true, &old[..plies].join(" "));
            if !is_on {
                world.hand(HandAction::Off);
            }
            world.plug();
            if is_known {
                world.pass(Duration::from_secs(10));
            }
            world.states_game(game(&old[..target].join(" ")));
            world.awaits(true);
            world.pass(Duration::from_secs(5));
            world.hand(HandAction::On { forgetful: false });
            for _ in 0..200 {
                world.pass(Duration::from_millis(500));
                assert_eq!(world.program.answer(&world.snapshot()), None, "{what}");
            }
            let wanted = world.target.clone();
            world.stands(&wanted, &what);
        }
    }
}

#[test]
fn the_one_move_that_the_hand_made_while_the_daemon_was_away_is_the_answer() {
    for (moves, counts) in [("", false), ("e2e4", true), ("e2e4 e7e5 g1f3", true)] {
        let mut world = World::new(true);
        world.follows(&game(moves));
        let m = world.target.position().legal_moves()[0];
        world.cable.plugged = false;
        world.hand(HandAction::Move(uci(m)));
        world.cable.plugged = true;
        world.restart();
        world.states_game(world.target.clone());
        world.awaits(true);
        world.pass(Duration::from_secs(5));
        // Before the first move of a game it cannot be told from an old one's.
        assert_eq!(
            world.program.answer(&world.snapshot()),
            Some(m).filter(|_| counts),
            "{moves}"
        );
    }
}

/// Knights that went out and came back fifteen times: the pieces are back at the start.
fn tour() -> Game {
    let mut game = Game::standard();
    for _ in 0..15 {
        game.play_uci(["g1f3", "g8f6", "f3g1", "f6g8"]).unwrap();
    }
    game
}

#[test]
fn a_set_up_that_the_program_has_left_holds_up_nothing_and_is_told_to_nobody() {
    for is_citrine in [true, false] {
        for ms in [1, 50, 400, 2000] {
            let what = format!("citrine {is_citrine}, after {ms} ms");
            let mut world = World::new(is_citrine);
            world.follows(&game("d2d4"));
            world.states_game(tour());
            world.pass(Duration::from_millis(ms));
            let client = world.program.client;
            world
                .cable
                .core
                .command(world.now, Command::NewGame { client });
            world.states_game(Game::standard());
            world.awaits(true);
            // The lines that are on the way, and the answers to them.
            world.pass(Duration::from_millis(4500));
            world.hand(HandAction::Move("c2c4".parse().unwrap()));
            world.pass(Duration::from_secs(1));
            let answer = world
                .program
                .answer(&world.snapshot())
                .map(|m| uci(m).to_string());
            assert_eq!(answer.as_deref(), Some("c2c4"), "{what}");
        }
    }
}

#[test]
fn a_board_that_forgets_its_game_is_given_the_position_and_shown_no_move_of_it() {
    for is_citrine in [true, false] {
        for moves in [
            "e2e4",
            "e2e4 e7e5",
            "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7",
        ] {
            // A UCB does not tell afterwards.
            for unplugged in [false, true].into_iter().filter(|u| is_citrine || !u) {
                let what = format!("citrine {is_citrine}, {moves}, unplugged {unplugged}");
                let mut world = World::new(is_citrine);
                let target = game(moves);
                world.follows(&target);
                if unplugged {
                    world.does(&Act::Unplug);
                }
                // Switched on again, or put to the start by the hand.
                if is_citrine {
                    world.does(&Act::PowerCycle(true));
                } else {
                    world.does(&Act::HandNewGame);
                }
                world.plug();
                // Until the board has told its game, the last move shown stays told.
                world.pass(Duration::from_secs(2));
                world.makes.clear();
                world.pass(LONG);
                assert!(world.makes.is_empty(), "{what}");
                world.stands(&target, &what);
                // What the board held is not told as a list of pieces to be carried: it is unknown where they stand.
                assert!(
                    !is_citrine || world.snapshot().guidance.is_empty(),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn a_board_that_forgot_its_game_while_the_program_thought_is_given_the_position_too() {
    for (is_citrine, act) in [
        (true, Act::PowerCycle(true)),
        (true, Act::HandNewGame),
        (false, Act::HandNewGame),
    ] {
        let what = format!("citrine {is_citrine}, {act:?}");
        let mut world = World::new(is_citrine);
        world.follows(&game("e2e4"));
        world.awaits(false);
        world.does(&act);
        world.pass(Duration::from_secs(20));
        world.target = game("e2e4 e7e5 g1f3");
        world.state();
        world.awaits(true);
        world.makes.clear();
        world.pass(LONG);
        assert!(world.makes.is_empty(), "{what}");
        let wanted = world.target.clone();
        world.stands(&wanted, &what);
        // Another game that begins the same way is played from the start.
        let mut world = World::new(is_citrine);
        world.follows(&game("e2e4 e7e5 g1f3 b8c6"));
        world.awaits(false);
        world.does(&Act::HandNewGame);
        world.states_game(game("e2e4"));
        world.makes.clear();
        world.pass(LONG);
        assert_eq!(world.makes, ["e2e4"], "{what}");
    }
}

#[test]
fn a_shown_move_that_reached_the_board_as_the_link_was_lost_is_no_answer_once_it_is_taken_back() {
    let mut world = World::new(true);
    world.follows(&game("e2e4 e7e5"));
    world.target = game("e2e4 e7e5 g1f3");
    world.state();
    world.carry();
    world.does(&Act::Unplug);
    world.target = game("e2e4 e7e5");
    world.state();
    world.awaits(true);
    world.plug();
    for _ in 0..100 {
        world.pass(Duration::from_millis(500));
        assert_eq!(world.program.answer(&world.snapshot()), None);
    }
    world.stands(&game("e2e4 e7e5"), "");
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
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

#[test]
fn histories_that_went_wrong_once_go_right() {
    for (kind, is_citrine) in [("citrine", true), ("ucb", false)] {
        for (name, acts) in kept_in(kind) {
            println!("{name}");
            let mut world = World::new(is_citrine);
            acts.iter().for_each(|act| world.does(&Act::of(act)));
            world.settles();
        }
    }
}
