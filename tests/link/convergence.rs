//! Whatever happens to two linked boards, they end up in one game: two cores with simulated boards and the link
//! between them, all without I/O, on one virtual clock. The second board may be that of another `BoardBridge`, behind
//! the SWPP.

use std::time::{Duration, Instant};

use boardbridge::{
    board::core::Core,
    chess::game::{Game, uci},
    driver::swpp::Swpp,
    front_end::{
        link::{
            Player, Side,
            notice::Notice,
            session::{LinkedGame, SavedLink},
        },
        whitepawn::session::{Action, AppConversation as Emulator, Identity},
    },
    text::swpp::write,
    vocabulary::{
        BoardName, Channel, ClientId, ClientName, Command, GameEnd, Occasion, Reason, Snapshot,
    },
};
use proptest::prelude::*;
use rig::{
    cable::{CORRECTION_WAIT, Cable, novag},
    clock::{self, Clocked},
    game::ours,
    histories::histories,
};
use serde::{Serialize, de::DeserializeOwned};
use shakmaty::{Color, Move, Position};
use simulators::{HandAction, SimulatedBoard};

/// Longer than any wait of any board, several times over.
const LONG: Duration = Duration::from_secs(900);

/// Within this time a UCB whose cable was plugged in has been told its position.
const TOLD: Duration = Duration::from_secs(3);

/// How long a restarted daemon takes.
const RESTART: Duration = Duration::from_millis(300);

/// One event at one of the boards.
#[derive(Clone, Debug)]
enum Act {
    /// The player plays the legal move of this number, in turn or not.
    Moves(usize),
    /// The player takes back.
    TakesBack,
    /// The player makes another move than the one shown.
    MovesWrong(usize),
    /// The player puts the pieces on their starting squares.
    NewGame,
    /// The cable is unplugged, or plugged in again.
    Unplug,
    Plug,
    /// The board is switched off and on.
    PowerCycle(bool),
    /// The board sends garbage.
    Garbage(usize),
    /// The connection between two `BoardBridge`s is lost, or made again.
    Cut,
    Connect,
    /// It is dead: data sent is lost, and neither end has noticed yet.
    Dies,
    /// The link's process is killed, before the next command of this number reaches a board, and starts again.
    Kill(usize),
    /// So is the process at the other end.
    KillFar,
    /// The whole daemon, with its boards, is killed in the same way.
    Crash(usize),
    /// Time passes, in milliseconds.
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => any::<usize>().prop_map(Act::Moves),
        2 => Just(Act::TakesBack),
        1 => any::<usize>().prop_map(Act::MovesWrong),
        1 => Just(Act::NewGame),
        1 => Just(Act::Unplug),
        2 => Just(Act::Plug),
        1 => any::<bool>().prop_map(Act::PowerCycle),
        1 => (1..200usize).prop_map(Act::Garbage),
        6 => (1..4000u64).prop_map(Act::Wait),
        4 => (4000..90_000u64).prop_map(Act::Wait),
    ]
}

/// The same, with a link that is killed now and then.
fn act_or_kill() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => act(),
        1 => (0..6usize).prop_map(Act::Kill),
    ]
}

/// The same, with a daemon that is killed now and then.
fn act_or_crash() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => act(),
        1 => (0..6usize).prop_map(Act::Crash),
    ]
}

/// The same, far from the link.
fn far_act_or_crash() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => far_act(),
        1 => (0..6usize).prop_map(Act::Crash),
    ]
}

/// What a person does to a board far from the link, which receives no new games.
fn far_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => act(),
        2 => Just(Act::Cut),
        4 => Just(Act::Connect),
        1 => Just(Act::Dies),
        1 => (0..6usize).prop_map(Act::Kill),
        1 => Just(Act::KillFar),
    ]
    .prop_map(|act| match act {
        Act::NewGame => Act::Wait(50_000),
        Act::PowerCycle(_) => Act::PowerCycle(false),
        act => act,
    })
}

/// Moves and their time: play without any mishap.
fn move_or_wait() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => any::<usize>().prop_map(Act::Moves),
        1 => Just(Act::TakesBack),
        4 => (1..90_000u64).prop_map(Act::Wait),
    ]
}

fn side() -> impl Strategy<Value = Side> {
    any::<bool>().prop_map(|first| if first { Side::First } else { Side::Second })
}

fn at(side: Side) -> usize {
    usize::from(side == Side::Second)
}

/// The connection to the board of another `BoardBridge`: the core here, and the conversation there.
struct Far {
    core: Core,
    emulator: Emulator,
    connected: bool,
    /// Data sent is lost.
    loses: bool,
}

impl Far {
    fn new(now: Instant) -> Self {
        let mut core = far_core();
        core.link_up(now);
        Self {
            core,
            emulator: Emulator::new(ClientId(1), "the app".into(), identity()),
            connected: true,
            loses: false,
        }
    }

    /// Carries messages both ways, with their effects on the board there.
    fn carry(&mut self, now: Instant, there: &mut Core) -> bool {
        let mut moved = false;
        while let Some(bytes) = self.core.poll_transmit(now) {
            moved = true;
            if self.connected && !self.loses {
                self.emulator.line("here", bytes.bytes().trim_ascii_end());
            }
        }
        while self.connected
            && let Some(message) = self.emulator.next_message()
        {
            moved = true;
            self.emulator.sent(now);
            if !self.loses {
                let channel = Channel::Serial;
                let text = write(&message);
                self.core.received(now, channel, text.as_bytes());
            }
        }
        while let Some(action) = self.emulator.poll_action() {
            moved = true;
            if let Action::Ask(command) = action {
                there.command(now, command);
            }
        }
        if let Some(snapshot) = there.poll_snapshot() {
            moved = true;
            self.emulator.snapshot(&snapshot);
        }
        while self.core.poll_event().is_some() {}
        moved
    }

    fn cut(&mut self, now: Instant) {
        if std::mem::take(&mut self.connected) {
            self.core.link_down(now, "cut".to_owned());
            // It is unknown what arrived.
            self.emulator.disconnected(now, "cut", Duration::MAX);
        }
    }

    fn connect(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.connected, true) {
            self.loses = false;
            self.core.link_up(now);
        }
    }

    /// The process at the other end is killed and starts again. What it has sent arrives, if the connection is good.
    fn kill(&mut self, now: Instant, there: &Core) {
        let unread = self.loses && self.emulator.unproven().is_some();
        let memory = remembered(&self.emulator.memory(unread));
        self.emulator = Emulator::restored(memory, "the app".into(), identity(), &there.snapshot());
        if std::mem::take(&mut self.connected) {
            self.core.link_down(now, "killed".to_owned());
        }
    }
}

fn far_core() -> Core {
    let driver = Box::new(Swpp::toward_boardbridge());
    Core::new(BoardName::default().far(), driver, CORRECTION_WAIT)
}

fn identity() -> Identity {
    Identity {
        version: "1".to_owned(),
        serial: String::new(),
    }
}

/// What is left of a memory that was written and read.
fn remembered<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(memory: &T) -> T {
    let read = serde_json::from_str(&serde_json::to_string(memory).unwrap()).unwrap();
    assert_eq!(*memory, read);
    read
}

/// What a killed daemon leaves behind.
struct Dead {
    /// It starts again then.
    until: Instant,
    session: SavedLink,
    cores: [String; 2],
    /// Which boards it will find.
    plugged: [bool; 2],
}

struct World {
    cables: [Cable; 2],
    far: Option<Far>,
    session: LinkedGame,
    began: Instant,
    now: Instant,
    said: Vec<(Side, Notice)>,
    /// The link, or all of the daemon, is killed before this command.
    dies_at: Option<(usize, bool)>,
    /// The daemon was killed, and is not running yet.
    dead: Option<Dead>,
    citrines: [bool; 2],
    /// When each cable was last plugged in.
    plugged_at: [Instant; 2],
    /// The state after a random history, for messages.
    acts: String,
}

/// With `LINK_LOG` set, events are logged to standard error.
fn log(at: Duration, what: impl FnOnce() -> String) {
    clock::log("LINK_LOG", at, what);
}

impl Clocked for World {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    /// Carries bytes, snapshots and commands.
    fn carry(&mut self) {
        let (now, since) = (self.now, self.now - self.began);
        loop {
            let mut moved = false;
            for side in Side::BOTH {
                let cable = &mut self.cables[at(side)];
                let plugged = cable.plugged;
                moved |= cable.carry(now, |_, passed| {
                    log(since, || format!("{plugged} {passed}"))
                });
                let core = match &mut self.far {
                    Some(far) if side == Side::Second => {
                        moved |= far.carry(now, &mut cable.core);
                        &mut far.core
                    }
                    _ => &mut cable.core,
                };
                if self.dead.is_some() {
                    continue;
                }
                if let Some(snapshot) = core.poll_snapshot() {
                    moved = true;
                    self.session.snapshot(now, side, &snapshot);
                }
                while let Some(command) = self.session.seats()[side.index()].poll_command() {
                    moved = true;
                    match &mut self.dies_at {
                        Some((0, all)) => {
                            let all = *all;
                            self.dies_at = None;
                            if all {
                                self.crashes();
                            } else {
                                self.is_killed();
                            }
                            break;
                        }
                        Some((left, _)) => *left -= 1,
                        None => {}
                    }
                    log(since, || format!("{side:?} * {command}"));
                    let core = match &mut self.far {
                        Some(far) if side == Side::Second => &mut far.core,
                        _ => &mut self.cables[at(side)].core,
                    };
                    core.command(now, command);
                }
            }
            while let Some(notice) = self.session.poll_notice() {
                self.said.push(notice);
            }
            if !moved {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let cables = self.cables.iter().map(Cable::deadline);
        let far = self.far.as_ref().and_then(|far| far.core.deadline());
        let dead = self.dead.as_ref();
        let session = match dead {
            Some(dead) => Some(dead.until),
            None => self.session.deadline(),
        };
        let next = cables.chain([session, far]);
        next.flatten().min()
    }

    fn timeout(&mut self, now: Instant) {
        for cable in &mut self.cables {
            cable.timeout(now);
        }
        if let Some(far) = &mut self.far {
            far.core.timeout(now);
        }
        if let Some(dead) = self.dead.take_if(|dead| dead.until <= now) {
            self.starts_again(dead);
        } else if self.dead.is_none() {
            self.session.timeout(now);
        }
    }

    fn story(&self) -> String {
        self.acts.clone()
    }
}

fn players() -> [Player; 2] {
    let player = |number: u64, name: &str| Player {
        client: ClientId(number),
        label: ClientName::Link(format!("the other than {name}").into()),
        name: name.into(),
    };
    [player(1, "first"), player(2, "second")]
}

impl World {
    fn new(citrines: [bool; 2], white: Side, is_far: bool) -> Self {
        let now = Instant::now();
        let cables = citrines.map(|is_citrine| {
            let mut cable = Cable::novag(is_citrine, Duration::from_millis(700));
            cable.plug(now);
            cable
        });
        let far = is_far.then(|| Far::new(now));
        let second = far.as_ref().map_or(&cables[1].core, |far| &far.core);
        let boards = [&cables[0].core, second].map(Core::snapshot);
        let mut world = Self {
            session: LinkedGame::new(now, players(), white, boards.each_ref()),
            cables,
            far,
            began: now,
            now,
            said: Vec::new(),
            dies_at: None,
            dead: None,
            citrines,
            plugged_at: [now; 2],
            acts: String::new(),
        };
        world.carry();
        world
    }

    /// The link is killed, and starts again with what it has kept.
    fn is_killed(&mut self) {
        let memory = remembered(&self.session.memory());
        self.resumes(memory);
    }

    fn resumes(&mut self, memory: SavedLink) {
        let boards = [&self.cables[0].core, self.seen_second()].map(Core::snapshot);
        self.session = LinkedGame::restored(self.now, memory, players(), boards.each_ref());
    }

    /// The daemon is killed, with its boards.
    fn crashes(&mut self) {
        log(self.now - self.began, || "the daemon is killed".to_owned());
        self.dies_at = None;
        let kept = |core: &Core| serde_json::to_string(&core.memory()).unwrap();
        let cores = [kept(&self.cables[0].core), kept(self.seen_second())];
        let mut dead = Dead {
            until: self.now + RESTART,
            session: remembered(&self.session.memory()),
            cores,
            plugged: self.cables.each_ref().map(|cable| cable.plugged),
        };
        self.cables[0].unplug(self.now, "killed");
        match &mut self.far {
            Some(far) => {
                dead.plugged[1] = far.connected;
                far.cut(self.now);
            }
            None => self.cables[1].unplug(self.now, "killed"),
        }
        self.dead = Some(dead);
    }

    /// It starts again, with what it has kept.
    fn starts_again(&mut self, dead: Dead) {
        let now = self.now;
        log(now - self.began, || "the daemon starts".to_owned());
        let goes_on = |mut core: Core, kept: &str| {
            core.recall(now, serde_json::from_str(kept).unwrap());
            core
        };
        for side in Side::BOTH {
            let kept = &dead.cores[at(side)];
            let plugged = dead.plugged[at(side)];
            match &mut self.far {
                Some(far) if side == Side::Second => {
                    far.core = goes_on(far_core(), kept);
                    if plugged {
                        far.connect(now);
                    }
                }
                _ => {
                    let cable = &mut self.cables[at(side)];
                    cable.core = goes_on(novag(self.citrines[at(side)]), kept);
                    if plugged {
                        cable.plug(now);
                    }
                }
            }
        }
        self.resumes(dead.session);
    }

    /// The core of the second board from the link's point of view.
    fn seen_second(&self) -> &Core {
        match &self.far {
            Some(far) => &far.core,
            None => &self.cables[1].core,
        }
    }

    fn snapshot(&self, side: Side) -> Snapshot {
        self.cables[at(side)].core.snapshot()
    }

    fn board(&self, side: Side) -> &dyn SimulatedBoard {
        &*self.cables[at(side)].board
    }

    fn hand(&mut self, side: Side, action: HandAction) {
        // Messages that cross on the wire are not a fault, and cannot be told apart.
        self.carry();
        self.cables[at(side)].board.hand(self.now, action);
        self.carry();
    }

    fn does(&mut self, side: Side, act: &Act) {
        while self.dead.is_some() {
            self.pass(RESTART);
        }
        let legal = |game: &Game, n: usize| {
            let moves = game.position().legal_moves();
            (!moves.is_empty()).then(|| moves[n % moves.len()])
        };
        match *act {
            Act::Moves(n) => {
                if let Some(m) = legal(&ours(self.board(side).game()), n)
                    && !self.may_be_first(side, m)
                {
                    self.hand(side, HandAction::Move(uci(m)));
                }
            }
            Act::MovesWrong(n) => {
                if self.board(side).shown().is_some()
                    && let Some(m) = legal(&ours(self.board(side).game()), n)
                    && !self.may_be_first(side, m)
                {
                    self.hand(side, HandAction::Wrong(uci(m)));
                }
            }
            Act::TakesBack => self.hand(side, HandAction::TakeBack),
            Act::NewGame => self.hand(side, HandAction::NewGame),
            Act::Unplug => {
                self.cables[at(side)].unplug(self.now, "unplugged");
            }
            Act::Plug => self.plug(side),
            Act::PowerCycle(forgetful) => {
                self.hand(side, HandAction::Off);
                self.pass(Duration::from_millis(300));
                self.hand(side, HandAction::On { forgetful });
            }
            Act::Garbage(length) => {
                self.hand(side, HandAction::Garbage(length));
                // The end of a line, so that it does not swallow the next one.
                if self.cables[at(side)].plugged {
                    let core = &mut self.cables[at(side)].core;
                    core.received(self.now, Channel::Serial, b"\r\n");
                }
            }
            Act::Kill(0) => self.is_killed(),
            Act::Crash(0) => self.crashes(),
            Act::Kill(commands) => self.dies_at = Some((commands, false)),
            Act::Crash(commands) => self.dies_at = Some((commands, true)),
            Act::KillFar => {
                if let Some(far) = &mut self.far {
                    far.kill(self.now, &self.cables[1].core);
                }
            }
            Act::Cut => self.cut(),
            Act::Connect => self.connect(),
            Act::Dies => {
                if let Some(far) = self.far.as_mut().filter(|far| far.connected) {
                    far.loses = true;
                }
            }
            Act::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.carry();
    }

    /// A move in the middle of a game that could be the first one of the link's: a UCB does not tell what was played while its cable
    /// was out, and nobody plugs that in and moves before the board is told its position.
    fn may_be_first(&self, side: Side, m: Move) -> bool {
        let known = self.snapshot(side);
        let on_board = ours(self.board(side).game());
        let is_first =
            on_board.is_empty() && on_board.is_standard() && self.board(side).shown().is_none();
        let awaits_first = known.target.is_none_or(|target| target.is_empty());
        let is_told = self.plugged_at[at(side)] + TOLD <= self.now;
        let unknown = !self.citrines[at(side)] && !known.sure && awaits_first && !is_told;
        unknown && !is_first && Game::standard().position().is_legal(m)
    }

    fn cut(&mut self) {
        if let Some(far) = &mut self.far {
            far.cut(self.now);
        }
    }

    fn connect(&mut self) {
        if let Some(far) = &mut self.far {
            if far.loses {
                far.cut(self.now);
            }
            far.connect(self.now);
        }
    }

    fn plug(&mut self, side: Side) {
        if !self.cables[at(side)].plugged {
            self.plugged_at[at(side)] = self.now;
        }
        self.cables[at(side)].plug(self.now);
    }

    fn rest(&mut self) {
        self.pass(LONG);
        for side in Side::BOTH {
            if self.board(side).shown().is_some() {
                // The lamps did not show it (the board was off for the second send), the words did.
                self.hand(side, HandAction::Execute);
                self.pass(LONG);
            }
        }
    }

    /// Both boards hold the link's game.
    fn agrees(&self) {
        let acts = &self.acts;
        let game = self.session.game();
        for side in Side::BOTH {
            let snapshot = self.snapshot(side);
            let advice = &snapshot.advice;
            assert_eq!(
                self.board(side).game().position().board(),
                game.position().board(),
                "{side:?} does not stand in the game {game}: {advice:?}\n{acts}"
            );
            assert_eq!(
                snapshot.game.position(),
                game.position(),
                "{side:?} is believed elsewhere: {advice:?}\n{acts}"
            );
            assert_eq!(self.board(side).shown(), None, "{side:?}\n{acts}");
        }
    }

    fn to_move(&self) -> Side {
        let awaited = |side: &Side| self.snapshot(*side).awaiting;
        let sides: Vec<Side> = Side::BOTH.into_iter().filter(awaited).collect();
        assert_eq!(sides.len(), 1, "one hand is awaited\n{}", self.acts);
        sides[0]
    }

    /// The end of a history: the cables are plugged in, and time passes. Then the game continues.
    fn settles(&mut self) {
        self.dies_at = None;
        while self.dead.is_some() {
            self.pass(RESTART);
        }
        for side in Side::BOTH {
            self.plug(side);
        }
        self.connect();
        self.rest();
        if self.session.over().is_some() {
            self.hand(Side::First, HandAction::NewGame);
            self.rest();
            assert!(self.session.over().is_none(), "{}", self.acts);
            assert!(self.session.game().is_empty(), "{}", self.acts);
        }
        // A hand behind the SWPP that moved out of turn is led back by the next move. Where that is the only one
        // there is, it stands there already, and what the hand played after it is its answer.
        let mut early_moves = 0..100;
        while self.far.is_some()
            && early_moves.next().is_some()
            && self.session.over().is_none()
            && self.to_move() == Side::First
            && let Some(&early) =
                (self.snapshot(Side::Second).game.moves()).get(self.session.game().len())
        {
            let moves = self.session.game().position().legal_moves();
            let m = moves.into_iter().find(|m| *m != early).unwrap_or(early);
            self.hand(Side::First, HandAction::Move(uci(m)));
            self.rest();
        }
        if self.session.over().is_some() {
            return;
        }
        self.agrees();
        let mover = self.to_move();
        let plies = self.session.game().len();
        let m = self.session.game().position().legal_moves()[0];
        self.hand(mover, HandAction::Move(uci(m)));
        self.rest();
        assert_eq!(self.session.game().len(), plies + 1, "{}", self.acts);
        self.agrees();
    }

    fn plays(&mut self, side: Side, m: &str) {
        self.hand(side, HandAction::Move(m.parse().unwrap()));
        self.pass(Duration::from_secs(90));
    }

    fn has(&self, moves: &str) {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        assert_eq!(self.session.game(), &game);
        self.agrees();
    }

    fn heard(&self, side: Side, wanted: impl Fn(&Notice) -> bool) -> bool {
        self.said
            .iter()
            .any(|(to, notice)| *to == side && wanted(notice))
    }
}

fn run(citrines: [bool; 2], white: Side, is_far: bool, acts: &[(Side, Act)]) {
    let mut world = World::new(citrines, white, is_far);
    world.acts = format!("{acts:?}");
    for (side, act) in acts {
        log(world.now - world.began, || format!("{side:?} {act:?}"));
        world.does(*side, act);
    }
    world.settles();
}

proptest! {
    #![proptest_config(histories(200))]

    #[test]
    fn two_citrines_end_up_in_one_game(
        white in side(),
        acts in proptest::collection::vec((side(), act_or_kill()), 1..60),
    ) {
        run([true, true], white, false, &acts);
    }

    #[test]
    fn a_citrine_and_a_ucb_end_up_in_one_game(
        white in side(),
        acts in proptest::collection::vec((side(), act_or_kill()), 1..60),
    ) {
        run([true, false], white, false, &acts);
    }

    #[test]
    fn a_citrine_and_a_ucb_end_up_in_one_game_that_is_only_played(
        white in side(),
        acts in proptest::collection::vec((side(), move_or_wait()), 1..60),
    ) {
        run([true, false], white, false, &acts);
    }

    #[test]
    fn two_boards_end_up_in_one_game_whenever_the_daemon_is_killed(
        citrines: [bool; 2],
        white in side(),
        acts in proptest::collection::vec((side(), act_or_crash()), 1..60),
    ) {
        run(citrines, white, false, &acts);
    }

    #[test]
    fn boards_of_two_boardbridges_end_up_in_one_game_whenever_one_is_killed(
        citrines: [bool; 2],
        white in side(),
        acts in proptest::collection::vec((side(), far_act_or_crash()), 1..60),
    ) {
        run(citrines, white, true, &acts);
    }

    #[test]
    fn boards_of_two_boardbridges_end_up_in_one_game(
        citrines: [bool; 2],
        white in side(),
        acts in proptest::collection::vec((side(), far_act()), 1..60),
    ) {
        run(citrines, white, true, &acts);
    }
}

/// A link's promises, one by one.
mod told {
    use super::*;

    fn citrines() -> World {
        let mut world = World::new([true, true], Side::First, false);
        world.pass(Duration::from_secs(30));
        world
    }

    #[test]
    fn a_position_put_up_while_the_board_is_asked_is_the_game_of_both() {
        let mut world = World::new([true, true], Side::First, false);
        world.pass(Duration::from_millis(1100));
        world.hand(Side::Second, HandAction::NewGame);
        for m in ["b1a3", "b8c6", "a1b1", "f7f6"] {
            world.hand(Side::Second, HandAction::Move(m.parse().unwrap()));
        }
        world.pass(Duration::from_millis(1250));
        world.hand(Side::Second, HandAction::TakeBack);
        world.hand(Side::Second, HandAction::Move("f7f5".parse().unwrap()));
        world.settles();
    }

    #[test]
    fn a_move_is_shown_on_the_other_board_and_answered_there() {
        for (citrines, is_far) in [
            ([true, true], false),
            ([true, false], false),
            ([false, true], true),
        ] {
            let mut world = World::new(citrines, Side::First, is_far);
            world.pass(Duration::from_secs(30));
            world.plays(Side::First, "e2e4");
            world.plays(Side::Second, "e7e5");
            world.plays(Side::First, "g1f3");
            world.has("e2e4 e7e5 g1f3");
        }
    }

    #[test]
    fn the_second_board_may_play_white() {
        let mut world = World::new([true, false], Side::Second, false);
        world.pass(Duration::from_secs(30));
        world.plays(Side::Second, "e2e4");
        world.plays(Side::First, "e7e5");
        world.has("e2e4 e7e5");
    }

    #[test]
    fn a_move_out_of_turn_is_pointed_out_and_led_back() {
        let mut world = citrines();
        world.plays(Side::First, "e2e4");
        world.plays(Side::First, "e7e5");
        world.has("e2e4");
        assert!(world.heard(Side::First, |n| matches!(n, Notice::OutOfTurn { .. })));
        world.plays(Side::Second, "c7c5");
        world.has("e2e4 c7c5");
    }

    #[test]
    fn a_move_out_of_turn_at_once_after_an_answer_is_led_back() {
        for citrines in [[true, true], [false, true], [true, false]] {
            let mut world = World::new(citrines, Side::First, false);
            world.pass(Duration::from_secs(30));
            world.plays(Side::First, "e2e4");
            for m in ["e7e5", "g1f3"] {
                world.hand(Side::Second, HandAction::Move(m.parse().unwrap()));
            }
            world.pass(LONG);
            world.has("e2e4 e7e5");
        }
    }

    #[test]
    fn a_move_out_of_turn_before_a_set_up_is_proved_is_led_back() {
        let mut world = World::new([true, true], Side::Second, false);
        let plays = |world: &mut World, side, m: &str| {
            world.hand(side, HandAction::Move(m.parse().unwrap()));
        };
        world.pass(Duration::from_millis(1100));
        plays(&mut world, Side::Second, "a2a3");
        world.hand(Side::Second, HandAction::NewGame);
        world.pass(Duration::from_millis(1200));
        plays(&mut world, Side::First, "b8a6");
        world.does(Side::First, &Act::TakesBack);
        plays(&mut world, Side::First, "b8c6");
        plays(&mut world, Side::First, "b2b3");
        world.pass(Duration::from_millis(1500));
        // Its board is being given the position after a2a3.
        plays(&mut world, Side::Second, "b8c6");
        world.pass(LONG);
        world.has("a2a3");
    }

    #[test]
    fn a_pawn_is_taken_en_passant_on_a_board_that_was_switched_off_meanwhile() {
        let mut world = World::new([true, false], Side::First, false);
        world.pass(Duration::from_secs(90));
        world.plays(Side::First, "e2e4");
        world.plays(Side::Second, "a7a6");
        world.plays(Side::First, "e4e5");
        world.plays(Side::Second, "d7d5");
        world.does(Side::Second, &Act::PowerCycle(false));
        world.pass(Duration::from_secs(180));
        world.plays(Side::First, "e5d6");
        world.has("e2e4 a7a6 e4e5 d7d5 e5d6");
    }

    #[test]
    fn a_move_waits_for_a_board_that_is_away_and_is_shown_when_it_is_back() {
        for is_far in [false, true] {
            let mut world = World::new([true, true], Side::First, is_far);
            world.pass(Duration::from_secs(30));
            let leaves = if is_far { Act::Cut } else { Act::Unplug };
            world.does(Side::Second, &leaves);
            assert!(world.heard(Side::First, |n| matches!(n, Notice::Away(_))));
            world.plays(Side::First, "e2e4");
            assert!(world.board(Side::Second).game().is_empty());
            let comes = if is_far { Act::Connect } else { Act::Plug };
            world.does(Side::Second, &comes);
            world.pass(Duration::from_secs(90));
            assert!(world.heard(Side::First, |n| matches!(n, Notice::Back(_))));
            world.has("e2e4");
        }
    }

    #[test]
    fn a_move_made_while_its_board_is_away_counts_when_it_is_back() {
        let mut world = citrines();
        world.does(Side::First, &Act::Unplug);
        world.plays(Side::First, "e2e4");
        assert!(world.session.game().is_empty());
        world.does(Side::First, &Act::Plug);
        world.pass(Duration::from_secs(90));
        world.has("e2e4");
    }

    #[test]
    fn a_message_lost_with_a_dead_connection_is_told_again() {
        for way in [false, true] {
            let mut world = World::new([true, true], Side::First, true);
            world.pass(Duration::from_secs(30));
            if way {
                world.plays(Side::First, "e2e4");
            }
            world.does(Side::First, &Act::Dies);
            let (side, m) = if way {
                (Side::Second, "e7e5")
            } else {
                (Side::First, "e2e4")
            };
            world.plays(side, m);
            world.cut();
            world.pass(Duration::from_secs(5));
            world.connect();
            world.pass(Duration::from_secs(90));
            world.has(if way { "e2e4 e7e5" } else { "e2e4" });
        }
    }

    #[test]
    fn the_announcement_of_the_game_lost_with_a_dead_connection_is_told_again() {
        let mut world = World::new([true, true], Side::Second, true);
        world.does(Side::First, &Act::Dies);
        world.pass(Duration::from_secs(30));
        world.connect();
        world.pass(Duration::from_secs(30));
        world.plays(Side::Second, "e2e4");
        world.has("e2e4");
    }

    #[test]
    fn a_take_back_is_followed_on_the_other_board() {
        for second in [true, false] {
            let mut world = World::new([true, second], Side::First, false);
            world.pass(Duration::from_secs(90));
            world.plays(Side::First, "e2e4");
            world.plays(Side::Second, "e7e5");
            world.does(Side::First, &Act::TakesBack);
            world.does(Side::First, &Act::TakesBack);
            world.pass(Duration::from_secs(90));
            world.has("");
            assert!(world.heard(Side::Second, |n| matches!(
                n,
                Notice::TookBack { plies: 2, .. }
            )));
            world.plays(Side::First, "d2d4");
            world.has("d2d4");
        }
    }

    #[test]
    fn a_move_that_is_taken_back_and_played_otherwise_at_once_is_the_other_one() {
        let mut world = citrines();
        world.plays(Side::First, "e2e4");
        world.does(Side::First, &Act::TakesBack);
        world.hand(Side::First, HandAction::Move("d2d4".parse().unwrap()));
        world.pass(Duration::from_secs(90));
        world.has("d2d4");
    }

    #[test]
    fn a_take_back_that_is_put_back_soon_is_none() {
        let mut world = citrines();
        world.plays(Side::First, "e2e4");
        world.does(Side::First, &Act::TakesBack);
        world.pass(Duration::from_secs(1));
        world.plays(Side::First, "e2e4");
        world.has("e2e4");
        assert!(!world.heard(Side::Second, |n| matches!(n, Notice::TookBack { .. })));
    }

    #[test]
    fn a_take_back_that_the_other_cannot_be_told_of_is_led_back() {
        let mut world = World::new([true, true], Side::First, true);
        world.pass(Duration::from_secs(30));
        world.plays(Side::First, "e2e4");
        world.does(Side::First, &Act::TakesBack);
        world.pass(Duration::from_secs(90));
        world.has("e2e4");
        assert!(world.heard(Side::First, |n| matches!(n, Notice::NoTakeBack(_))));
    }

    #[test]
    fn in_mid_game_a_new_game_takes_both_hands() {
        let mut world = citrines();
        world.plays(Side::First, "e2e4");
        world.plays(Side::Second, "e7e5");
        world.does(Side::First, &Act::NewGame);
        world.pass(Duration::from_secs(20));
        assert_eq!(world.session.game().len(), 2);
        assert!(world.heard(Side::Second, |n| matches!(n, Notice::NewGameWanted { .. })));
        world.does(Side::Second, &Act::NewGame);
        world.pass(Duration::from_secs(30));
        world.has("");
        world.plays(Side::First, "d2d4");
        world.has("d2d4");
    }

    #[test]
    fn a_new_game_that_only_one_hand_wants_is_none() {
        for side in Side::BOTH {
            let mut world = citrines();
            world.plays(Side::First, "e2e4");
            world.plays(Side::Second, "e7e5");
            world.does(side, &Act::NewGame);
            world.pass(Duration::from_secs(180));
            world.has("e2e4 e7e5");
            // Nor is one a minute ago.
            world.does(side.other(), &Act::NewGame);
            world.pass(Duration::from_secs(180));
            world.has("e2e4 e7e5");
        }
    }

    #[test]
    fn after_a_mate_either_hand_begins_the_next_game() {
        for (side, is_far) in [
            (Side::First, false),
            (Side::Second, false),
            (Side::First, true),
        ] {
            let mut world = World::new([true, true], Side::First, is_far);
            world.pass(Duration::from_secs(30));
            world.plays(Side::First, "f2f3");
            world.plays(Side::Second, "e7e5");
            world.plays(Side::First, "g2g4");
            world.plays(Side::Second, "d8h4");
            assert_eq!(
                world.session.over(),
                Some(GameEnd::won(Reason::Checkmate, Color::Black))
            );
            world.has("f2f3 e7e5 g2g4 d8h4");
            world.does(side, &Act::NewGame);
            world.pass(Duration::from_secs(90));
            world.has("");
            world.plays(Side::First, "e2e4");
            world.has("e2e4");
        }
    }

    #[test]
    fn a_program_waits_for_a_linked_board_and_the_link_for_one_that_a_program_has() {
        let mut world = citrines();
        let target = |moves: &str| {
            let mut game = Game::standard();
            game.play_uci(moves.split_whitespace()).unwrap();
            Command::Target {
                client: ClientId(9),
                label: "a program".into(),
                number: 1,
                game: Box::new(game),
                occasion: Occasion::default(),
            }
        };
        let ask = |world: &mut World, command: Command| {
            let now = world.now;
            world.cables[1].core.command(now, command);
            world.carry();
        };
        ask(&mut world, target("d2d4"));
        world.plays(Side::First, "e2e4");
        world.has("e2e4");
        // The link lets go of a board whose opponent is long gone, and gets it back.
        ask(
            &mut world,
            Command::Await {
                client: ClientId(9),
                on: true,
            },
        );
        world.does(Side::First, &Act::Unplug);
        world.pass(Duration::from_secs(120));
        assert_eq!(world.snapshot(Side::Second).holders, ["a program".into()]);
        assert!(world.heard(Side::Second, |n| matches!(n, Notice::Occupied { .. })));
        world.does(Side::First, &Act::Plug);
        world.pass(Duration::from_secs(60));
        ask(
            &mut world,
            Command::Release {
                client: ClientId(9),
            },
        );
        world.pass(Duration::from_secs(90));
        world.has("e2e4");
        world.plays(Side::Second, "e7e5");
        world.has("e2e4 e7e5");
    }
}
