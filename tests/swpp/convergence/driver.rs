//! The core as the app, and a home-made board.

use std::time::{Duration, Instant};

use boardbridge::{
    board::core::Core,
    chess::game::{Game, uci},
    driver::swpp::{Framing, MOVE_WAIT, Swpp},
    text::lines::LINE_WAIT,
    vocabulary::{
        BoardName, Channel, ClientId, Command, GameEnd, Occasion, Opponent, Reason, Reply,
        Reported, Request, Snapshot,
    },
};
use fastrand::Rng;
use proptest::prelude::*;
use rig::{
    clock::{Clocked, log},
    game::ours,
    program::Program,
};
use shakmaty::{Chess, Color, Move, Position, Role};
use simulators::{
    HandAction, Report, SimulatedBoard,
    swpp::{
        Style, SwppBoard,
        board::{Answer, Settings},
    },
};
use uuid::Uuid;

use super::line::{Manner, Pipe};

const CLIENT: ClientId = ClientId(1);
/// Longer than any series of waits.
const LONG: Duration = Duration::from_secs(120);
const WRITE: Channel = Channel::Gatt(Uuid::from_u128(0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e));
const NOTIFY: Channel = Channel::Gatt(Uuid::from_u128(0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e));

/// What there is on the desk.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    sloppy: bool,
    /// The handshake is answered so late, milliseconds.
    late: Option<u64>,
    /// A shown move is executed so late, milliseconds; otherwise only by an act.
    executes: Option<u64>,
    delay: u64,
    /// Over Bluetooth LE.
    gatt: bool,
    /// The board restarts when its link is opened again, is deaf for so many milliseconds, and has forgotten its game.
    restarts: Option<u64>,
    /// What the configuration says of that, rightly or wrongly.
    forgets: Option<bool>,
    /// The program tells positions, not games.
    by_fen: bool,
    seed: u64,
}

pub fn setup() -> impl Strategy<Value = Setup> {
    (
        any::<bool>(),
        prop_oneof![Just(None), (1..700u64).prop_map(Some)],
        prop_oneof![Just(None), (0..5000u64).prop_map(Some)],
        prop_oneof![Just(0), 1..200u64],
        prop_oneof![2 => Just(false), 1 => Just(true)],
        prop_oneof![2 => Just(None), 1 => prop_oneof![Just(0), 1..2500u64].prop_map(Some)],
        prop_oneof![2 => Just(None), 1 => any::<bool>().prop_map(Some)],
        prop_oneof![3 => Just(false), 1 => Just(true)],
        any::<u64>(),
    )
        .prop_map(
            |(sloppy, late, executes, delay, gatt, restarts, forgets, by_fen, seed)| Setup {
                sloppy,
                late,
                executes,
                delay,
                gatt,
                restarts,
                forgets,
                by_fen,
                seed,
            },
        )
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Act {
    /// The program plays on: the legal move of this number.
    GuiMoves(usize),
    /// The position jumps ahead by so many plies.
    GuiJumps(usize, usize),
    /// The program takes back so many plies.
    GuiTakesBack(usize),
    /// The program begins a new game; the hand plays both sides, or one.
    GuiNewGame(bool),
    /// The program begins a game that is nearly over.
    GuiNearMate,
    /// The program's game is over by this end, and it begins another.
    GuiEnds(GameEnd),
    /// The program leaves, and comes back when it does something.
    GuiLeaves,
    /// The program awaits the hand, or not.
    Await(bool),
    /// The hand plays the legal move of this number.
    HandMoves(usize),
    /// The hand makes the move shown.
    Executes,
    /// The board tells another move than the hand made: any of 64 times 64, or the legal one of this number.
    Misreads(usize, bool),
    /// The board's last move is told the other way round.
    Undoes,
    HandTakesBack,
    HandNewGame,
    /// The player sets up the program's position, and says so or not.
    SetsUp(bool),
    /// The player says that the board stands as it should.
    Ready,
    /// The cable comes off; that is noticed so many milliseconds later.
    Unplug(u64),
    Plug,
    /// The board is switched off and on, so many milliseconds later.
    PowerCycle(bool, u64),
    /// The board sends junk, with its end or without.
    Junk(usize, bool),
    Wait(u64),
}

pub fn act() -> impl Strategy<Value = Act> {
    let end = prop_oneof![
        Just(GameEnd::ABORTED),
        Just(GameEnd::AGREED),
        Just(GameEnd::resigned(Color::White)),
        Just(GameEnd::resigned(Color::Black)),
        Just(GameEnd::won(Reason::Time, Color::White)),
        Just(GameEnd::won(Reason::Abandoned, Color::Black)),
        Just(GameEnd::drawn(Reason::Time)),
        Just(GameEnd::without_result(Reason::Cheat)),
    ];
    prop_oneof![
        4 => any::<usize>().prop_map(Act::GuiMoves),
        1 => (1..12usize, any::<usize>()).prop_map(|(plies, n)| Act::GuiJumps(plies, n)),
        1 => (1..4usize).prop_map(Act::GuiTakesBack),
        1 => any::<bool>().prop_map(Act::GuiNewGame),
        1 => Just(Act::GuiNearMate),
        1 => end.prop_map(Act::GuiEnds),
        1 => Just(Act::GuiLeaves),
        3 => prop_oneof![3 => Just(true), 1 => Just(false)].prop_map(Act::Await),
        6 => any::<usize>().prop_map(Act::HandMoves),
        3 => Just(Act::Executes),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(n, legal)| Act::Misreads(n, legal)),
        1 => Just(Act::Undoes),
        1 => Just(Act::HandTakesBack),
        1 => Just(Act::HandNewGame),
        2 => any::<bool>().prop_map(Act::SetsUp),
        1 => Just(Act::Ready),
        2 => (0..3000u64).prop_map(Act::Unplug),
        3 => Just(Act::Plug),
        1 => (any::<bool>(), 0..2000u64).prop_map(|(forgets, ms)| Act::PowerCycle(forgets, ms)),
        1 => (1..200usize, any::<bool>()).prop_map(|(length, ends)| Act::Junk(length, ends)),
        8 => (1..4000u64).prop_map(Act::Wait),
        2 => (4000..30_000u64).prop_map(Act::Wait),
    ]
}

/// What the core sends.
#[derive(Debug)]
struct Sent {
    text: String,
    /// A characteristic answers that it has it.
    acknowledged: bool,
}

/// What a home-made board says, as the test knows it.
#[derive(Debug)]
enum Said {
    Answer,
    /// A move, made where the pieces stood so.
    Move(Box<Chess>, Move),
    /// A move that was not made.
    Misread(Reported),
    Junk,
}

/// What has gone over the wire to the board.
#[derive(Debug, Default)]
struct Wire {
    greeted: bool,
    /// H1 has come over this link.
    answered: bool,
    /// NG has gone at some time, for this hand.
    told: Option<Option<Color>>,
    /// The link has taken one: a game is known here, whatever has arrived.
    begun: bool,
    /// A game was begun and its end not told.
    running: bool,
    /// A message that waited for its turn on a characteristic may be gone with the link.
    cut: bool,
    /// GE0 has gone, and NG has to follow.
    left: bool,
    /// The last NG and the last MA, which may go once more on a link that was opened again.
    last: [Option<String>; 2],
    reminds: [bool; 2],
    /// The NG on its way is told again.
    again: bool,
    shown: Option<Instant>,
    /// On a characteristic, this was refused, and may be written again.
    refused: Option<String>,
}

pub struct World {
    core: Core,
    board: SwppBoard,
    setup: Setup,
    random: Rng,
    start: Instant,
    now: Instant,
    /// The cable is in.
    plugged: bool,
    /// When a cable that came off is noticed.
    notice: Option<Instant>,
    /// When a link that was given up is opened again.
    reopens: Option<Instant>,
    on: bool,
    /// It restarts with its port, and hears nothing until then.
    deaf: Option<Instant>,
    to_board: Pipe<Sent>,
    from_board: Pipe<Said>,
    /// What a characteristic answers.
    outcomes: Vec<(Instant, Channel, Reply)>,
    /// The message that arrives is not heard in whole.
    spoiled: bool,
    /// Junk without its end, that what comes next is taken for a part of.
    litter: Option<Instant>,
    /// The message that is arriving at the core began as part of junk.
    littered: bool,
    /// A move that was on its way when the hand went back before it.
    undone: bool,
    /// A move of the hand's, or its word that a position was set up, is on its way at the same time as a new game.
    crossed: bool,
    /// The player has set a position up without a word: the board came there by other moves than those it was told.
    unsaid: bool,
    target: Game,
    occasion: Occasion,
    program: Program,
    wire: Wire,
    /// The side that the hand plays, by the program's last word.
    hand: Option<Color>,
    /// The board has heard and told everything, and its hand has kept to the program's game.
    followed: bool,
    /// The board was told of a game, and has not forgotten it.
    announced: bool,
    /// Moves that the board has told and no client was given as an answer.
    told: Vec<Move>,
    /// Ends of games that a program or the rules have made.
    ends: Vec<char>,
}

impl Clocked for World {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    /// What is said goes on its way at once.
    fn carry(&mut self) {}

    fn deadline(&self) -> Option<Instant> {
        [
            self.core.deadline(),
            SimulatedBoard::deadline(&self.board),
            self.to_board.deadline(),
            self.from_board.deadline(),
            self.outcomes.iter().map(|(at, ..)| *at).min(),
            self.notice,
            self.reopens,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn timeout(&mut self, _now: Instant) {
        if self.notice.take_if(|at| *at <= self.now).is_some() {
            self.link_down();
        }
        if self.reopens.take_if(|at| *at <= self.now).is_some() {
            self.plug();
        }
        if self.core.deadline().is_some_and(|at| at <= self.now) {
            self.core.timeout(self.now);
        }
        self.pump();
        if SimulatedBoard::deadline(&self.board).is_some_and(|at| at <= self.now) {
            SimulatedBoard::timeout(&mut self.board, self.now);
            self.board_speaks(|_| Said::Answer);
            self.look(false);
        }
        for (at, channel, outcome) in std::mem::take(&mut self.outcomes) {
            if at <= self.now {
                self.core.answered(self.now, channel, outcome);
            } else {
                self.outcomes.push((at, channel, outcome));
            }
        }
        self.pump();
        if let Some(piece) = self.to_board.poll(self.now) {
            self.board_hears(&piece.bytes, piece.ends);
        }
        let began = self.from_board.is_in_the_middle();
        if let Some(piece) = self.from_board.poll(self.now) {
            self.machine_hears(&piece.bytes, piece.ends, began);
        }
    }
}

impl World {
    pub fn new(setup: Setup) -> Self {
        let way = if setup.gatt {
            Framing::Gatt {
                write: WRITE,
                notify: NOTIFY,
            }
        } else {
            Framing::Stream
        };
        let now = Instant::now();
        let mut core = Core::new(
            BoardName::default(),
            Box::new(Swpp::new(way, MOVE_WAIT).forgetting(setup.forgets)),
            Duration::from_secs(3),
        );
        core.link_up(now);
        let manner = Manner {
            delay: setup.delay,
            pieces: !setup.gatt,
        };
        let answer = setup
            .late
            .map_or(Answer::Prompt, |ms| Answer::Late(Duration::from_millis(ms)));
        let mut world = Self {
            core,
            board: SwppBoard::new(Settings {
                style: if setup.sloppy {
                    Style::Sloppy
                } else {
                    Style::Exact
                },
                answer,
                restarts: setup.restarts.map(Duration::from_millis),
                hand_delay: setup.executes.map(Duration::from_millis),
                ..Settings::default()
            }),
            setup,
            random: Rng::with_seed(setup.seed),
            start: now,
            now,
            plugged: true,
            notice: None,
            reopens: None,
            on: true,
            deaf: None,
            to_board: Pipe::new(manner),
            from_board: Pipe::new(manner),
            outcomes: Vec::new(),
            spoiled: false,
            litter: None,
            littered: false,
            undone: false,
            crossed: false,
            unsaid: false,
            target: Game::standard(),
            occasion: Occasion::default(),
            program: Program::default(),
            wire: Wire::default(),
            hand: None,
            followed: false,
            announced: false,
            told: Vec::new(),
            ends: Vec::new(),
        };
        world.pump();
        world
    }

    /// A board on a wire that restarts so, and what is said of it.
    pub fn restarting(restarts: Option<u64>, forgets: Option<bool>) -> Self {
        Self::new(Setup {
            sloppy: false,
            late: None,
            executes: None,
            delay: 0,
            gatt: false,
            restarts,
            forgets,
            by_fen: false,
            seed: 1,
        })
    }

    /// The cable is pulled while the program's move waits on the board, and put back.
    pub fn shows_again(&mut self) {
        self.does(&Act::GuiMoves(1));
        self.pass(Duration::from_secs(2));
        let shown = self.board.shown();
        assert!(shown.is_some());
        self.does(&Act::Unplug(0));
        self.pass(Duration::from_secs(1));
        self.does(&Act::Plug);
        self.pass(Duration::from_secs(10));
        assert_eq!(self.board.shown(), shown, "{:?}", self.setup);
        // A board that was starting, or that is known to, knows of its game too.
        let told = self.setup.restarts != Some(0) || self.setup.forgets == Some(true);
        assert_eq!(self.board.playing().is_some(), told, "{:?}", self.setup);
    }

    /// The player sets another position up, says so, and the cable is pulled and put back.
    pub fn forgets_what_was_replaced(&mut self) {
        for act in [
            Act::GuiMoves(0),
            Act::Wait(4000),
            Act::GuiMoves(1),
            Act::Wait(3000),
            Act::GuiTakesBack(1),
            Act::GuiMoves(5),
            Act::SetsUp(true),
            Act::Unplug(0),
        ] {
            self.does(&act);
        }
        self.settles(Settling::SetUp);
    }

    /// With `SWPP_LOG` set, what happens is told on the standard error.
    fn log(&self, what: &str) {
        let doubt = if self.followed { "" } else { "? " };
        log("SWPP_LOG", self.now - self.start, || {
            format!("{doubt}{what}")
        });
    }

    fn command(&mut self, command: Command) {
        self.log(&format!("* {command}"));
        self.core.command(self.now, command);
        self.pump();
    }

    fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    fn state(&mut self) {
        let game = if self.setup.by_fen {
            Game::from_fen(&self.target.fen().to_string()).unwrap()
        } else {
            self.target.clone()
        };
        let command = self.program.states_on(&game, self.occasion);
        self.command(command);
    }

    /// The program's game is another now. A move that the hand has made meanwhile crosses that.
    fn restate(&mut self) {
        if self.moves_come() {
            self.followed = false;
        }
        self.state();
    }

    fn moves_come(&self) -> bool {
        let moves = |said: &Said| matches!(said, Said::Move(..) | Said::Misread(_));
        self.from_board.under_way().any(moves)
    }

    fn moves_go(&self) -> bool {
        let changes = |sent: &Sent| sent.text.starts_with("MA") || sent.text.starts_with("NG");
        // What the radio has not told yet of a message that has gone is not known here either.
        let untold = self.wire.refused.is_some() || !self.outcomes.is_empty();
        untold || self.wire.left || self.to_board.under_way().any(changes)
    }

    /// Lets everything said now go on its way.
    fn pump(&mut self) {
        loop {
            self.note_end();
            if let Some(outgoing) = self.core.poll_transmit(self.now) {
                match &outgoing.request {
                    Request::Write(bytes) | Request::Command(bytes) => {
                        self.written(outgoing.channel, &bytes.clone());
                    }
                    Request::Subscribe => {
                        assert_eq!(outgoing.channel, NOTIFY);
                        self.outcomes.push((self.now, NOTIFY, Reply::Done));
                    }
                    Request::Secret(_) | Request::Read => panic!("{outgoing:?}"),
                }
                continue;
            }
            if let Some(why) = self.core.poll_hang_up() {
                // Three writes in a row: the link is opened again.
                assert!(self.setup.gatt, "hung up: {why}");
                self.unplug(0);
                self.notice = None;
                self.link_down();
                self.reopens = Some(self.now + Duration::from_secs(1));
                continue;
            }
            while self.core.poll_event().is_some() {}
            return;
        }
    }

    /// What the board says now goes on its way.
    fn board_speaks(&mut self, what: impl Fn(&[u8]) -> Said) {
        while let Some(bytes) = self.board.poll_transmit() {
            let said = what(&bytes);
            if self.plugged {
                self.from_board
                    .send(self.now, &bytes, said, &mut self.random);
            } else {
                self.unheard(&said);
            }
        }
    }

    fn unheard(&mut self, said: &Said) {
        if matches!(said, Said::Move(..)) {
            self.followed = false;
        }
    }

    /// A game that is over by the rules may be told to be.
    fn note_end(&mut self) {
        let game = self.snapshot().game;
        let end = match game.position().outcome() {
            shakmaty::Outcome::Known(outcome) if outcome.winner().is_some() => '1',
            shakmaty::Outcome::Known(_) => '2',
            shakmaty::Outcome::Unknown => return,
        };
        self.ends.push(end);
    }

    /// The core writes to the board.
    fn written(&mut self, channel: Channel, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        let text = text.strip_suffix('\n').unwrap().to_owned();
        self.log(&format!("> {text}"));
        let refused = self.wire.refused.take();
        if refused.as_ref() != Some(&text) {
            self.check(&text);
            // What was refused before, and yet arrived, is known to the board only.
            self.followed &= refused.is_none();
        }
        self.crossed |= text.starts_with("NG") && self.moves_come();
        let expected = if self.setup.gatt {
            WRITE
        } else {
            Channel::Serial
        };
        assert_eq!(channel, expected);
        if !self.setup.gatt {
            self.took(&text);
        }
        // The radio loses one in eight, or the answer to it.
        let fails = self.setup.gatt && self.plugged && self.random.u8(..8) == 0;
        if fails {
            self.wire.refused = Some(text.clone());
            let outcome = Reply::Refused("not now".to_owned());
            self.outcomes.push((self.now, WRITE, outcome));
            if self.random.bool() {
                return;
            }
        }
        if self.plugged {
            let sent = Sent {
                text,
                acknowledged: self.setup.gatt && !fails,
            };
            self.to_board.send(self.now, bytes, sent, &mut self.random);
        } else {
            self.lost(&text);
        }
    }

    /// The link has taken a message.
    fn took(&mut self, text: &str) {
        match &text[..2] {
            "NG" => {
                self.wire.begun = true;
                self.wire.running = true;
            }
            "MA" => self.wire.shown = Some(self.now),
            _ => {}
        }
    }

    /// Whether the core may say this now.
    fn check(&mut self, text: &str) {
        // A board's first game is not known to it, nor its moves taken, before the radio has acknowledged that.
        self.followed &= !(text.starts_with("NG") && self.setup.gatt && self.moves_come());
        // A move of the hand's that crosses this was made in another position.
        self.followed &= !(text.starts_with("MA") && self.moves_come());
        let wire = &mut self.wire;
        let kind = &text[..2];
        if kind == "H0" {
            assert_eq!(text, "H0010023");
            // What the radio refused is written again, whatever has come meanwhile.
            let again = wire.answered && !self.setup.gatt;
            assert!(!again, "asked again, though the board has answered");
            wire.greeted = true;
            return;
        }
        assert!(wire.greeted, "{text} before H0");
        assert!(wire.answered, "{text} before H1");
        if std::mem::take(&mut wire.left) {
            assert_eq!(kind, "NG", "a game was left for no other");
        }
        if let Some(place) = ["NG", "MA"].iter().position(|known| *known == kind) {
            let again = std::mem::take(&mut wire.reminds[place])
                && wire.last[place].as_deref() == Some(text);
            // Told again on another link. A new game that is not new leaves the board behind the program's.
            if again && (kind == "MA" || wire.running) {
                self.wire.again |= kind == "NG";
                self.followed &= kind == "MA" && !self.unsaid;
                return;
            }
            if kind == "NG" {
                self.wire.again = false;
            }
            self.wire.last[place] = Some(text.to_owned());
        }
        let wire = &mut self.wire;
        match kind {
            "NG" => {
                let cut = std::mem::take(&mut wire.cut);
                assert!(!wire.running || cut, "the game before was not ended");
                let hand = match (&text[2..3], &text[3..]) {
                    ("0", "Y" | "N") => None,
                    (_, "Y") => Some(Color::White),
                    (_, "N") => Some(Color::Black),
                    _ => panic!("{text}"),
                };
                wire.told = Some(hand);
                self.hand = None;
                wire.shown = None;
                self.ends.clear();
            }
            "GE" => {
                assert!(
                    std::mem::take(&mut wire.running),
                    "{text}, and no game is in progress"
                );
                let code = text.chars().nth(2).unwrap();
                let known = self.ends.contains(&code);
                assert!(known || code == '0', "{text}, but {:?}", self.ends);
                wire.left = !known;
            }
            "MA" => {
                if let Some(before) = wire.shown {
                    let apart = self.now - before;
                    assert!(apart >= MOVE_WAIT, "{text} comes {apart:?} after another");
                }
            }
            _ => panic!("{text}"),
        }
    }

    /// A message does not reach the board.
    fn lost(&mut self, text: &str) {
        if text.starts_with("MA") || text.starts_with("NG") {
            self.followed = false;
        }
        self.crossed &= self.games_go();
    }

    /// Whether a new game is on its way to the board.
    fn games_go(&self) -> bool {
        let begins = |text: &str| text.starts_with("NG");
        let refused = self.wire.refused.as_ref().is_some_and(|text| begins(text));
        let waits = refused || self.wire.left;
        waits || self.to_board.under_way().any(|sent| begins(&sent.text))
    }

    /// Bytes arrive at the board.
    fn board_hears(&mut self, bytes: &[u8], ends: Option<Sent>) {
        self.log(&format!("board hears {}", bytes.escape_ascii()));
        self.spoiled |= !self.on || self.deaf.is_some_and(|until| self.now < until);
        self.board.received(self.now, bytes);
        self.board_speaks(|_| Said::Answer);
        let spoiled = self.spoiled;
        if let Some(Sent { text, acknowledged }) = ends {
            if std::mem::take(&mut self.spoiled) {
                self.lost(&text);
            } else if text.starts_with("NG") {
                self.announced = true;
                self.unsaid = false;
                // A move of the old game that crosses this is taken for one of the new.
                let known = acknowledged || !self.setup.gatt;
                self.followed = known && !self.moves_come() && !self.crossed && !self.wire.again;
                self.undone |= self.moves_come();
                self.crossed &= self.games_go();
            }
            if acknowledged {
                self.took(&text);
                self.outcomes.push((self.now, WRITE, Reply::Done));
            }
        }
        self.look(spoiled);
    }

    /// What is to be seen on the board.
    fn look(&mut self, spoiled: bool) {
        while let Some(report) = self.board.poll_report() {
            match report {
                Report::Fault(_) if spoiled => {}
                Report::Fault(what) if what.starts_with("illegal") => {
                    assert!(!self.followed, "{what}");
                }
                Report::Fault(what) if what.contains("no game was announced") => {
                    assert!(!self.announced, "{what}");
                }
                Report::Fault(what) => panic!("{what}"),
                // The hand is too slow, and the board too small.
                Report::Lost(_) => self.followed = false,
                Report::Ended(_) => self.announced = false,
                _ => {}
            }
        }
    }

    /// Bytes arrive at the core.
    fn machine_hears(&mut self, bytes: &[u8], ends: Option<Said>, began: bool) {
        let channel = if self.setup.gatt {
            NOTIFY
        } else {
            Channel::Serial
        };
        if !began {
            self.littered = self.litter.is_some_and(|until| self.now < until);
        }
        let before = self.snapshot();
        self.log(&format!("< {}", bytes.escape_ascii()));
        if matches!(ends, Some(Said::Answer)) && !self.littered {
            self.wire.answered = true;
        }
        self.core.received(self.now, channel, bytes);
        let after = self.snapshot();
        let littered = self.littered;
        match ends {
            None => alike(&before.game, &after.game),
            Some(Said::Answer) => {}
            Some(Said::Junk) => {
                alike(&before.game, &after.game);
                let ended = bytes.last().is_some_and(|b| *b == b'\n' || *b == b'\r');
                self.litter = (!ended).then(|| self.now + LINE_WAIT);
                return self.pump();
            }
            Some(said) if littered => {
                alike(&before.game, &after.game);
                self.unheard(&said);
            }
            Some(Said::Move(at, m)) => {
                self.judge(&before, &after, Reported::of(m), Some((&at, m)));
            }
            Some(Said::Misread(reported)) => self.judge(&before, &after, reported, None),
        }
        if littered {
            // The end of what came has ended the junk as well.
            let ended = bytes.last() == Some(&b'\n');
            self.litter = (!ended).then(|| self.now + LINE_WAIT);
        }
        self.pump();
    }

    /// A move was told to the core: what that made of it.
    fn judge(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
        reported: Reported,
        made: Option<(&Chess, Move)>,
    ) {
        self.wire.shown = None;
        let held = &before.game;
        let on = |game: &Game| {
            let m = reported.resolve(game.position(), Role::Queen)?;
            let mut game = game.clone();
            game.push(m);
            Some((game, m))
        };
        let wanted = before.target.as_ref().filter(|target| *target != held);
        if let Some((next, m)) = wanted.and_then(|target| on(target))
            && next == *after.game
        {
            // Set up by hand, and played on: perhaps by the very move that was taken back.
            self.told.push(m);
            let target = wanted.unwrap().position();
            self.followed = made.is_some_and(|(at, _)| at == target) && !self.moves_go();
        } else if after.game == *held {
            // What the board was told, and what the program has said since.
            let hands = [self.wire.told.flatten(), self.hand];
            let others = |hand: Color| hand != held.turn();
            let others = hands.into_iter().flatten().any(others) && !before.awaiting;
            let taken = self.wire.begun && !others;
            if let Some((at, m)) = made {
                let right = self.followed && at == held.position();
                assert!(!right || !taken, "{m:?} was not taken: {held}");
                self.followed = false;
            }
        } else if let Some((next, m)) = on(held)
            && next == *after.game
        {
            self.told.push(m);
            self.followed &= made.is_some_and(|(at, _)| at == held.position());
        } else if let Some((begun, m)) = on(&Game::standard())
            && begun == *after.game
            && before.target.is_none()
        {
            // No program has the board: a move that does not fit its game begins another one.
            self.told.push(m);
            self.followed = false;
        } else {
            // The last move, the other way round: it is taken back. Or one that brings the pieces to where they stood
            // before.
            let plies = after.game.len();
            alike(&after.game, &held.truncated(plies));
            let back = &held.moves()[plies..];
            let undoes = back.len() == 1 && reported.undoes(Reported::of(back[0]));
            let goes_back =
                back.len() > 1 && back.iter().any(|m| reported.undoes(Reported::of(*m)));
            assert!(
                undoes || goes_back,
                "{reported:?} in {held}: {}",
                after.game
            );
            self.told.retain(|m| !back.contains(m));
            self.followed = false;
        }
        if self.undone {
            self.followed = false;
            self.undone = self.moves_come();
        }
    }

    fn link_down(&mut self) {
        self.core
            .link_down(self.now, "the cable came off".to_owned());
        self.wire.greeted = false;
        self.wire.answered = false;
        self.wire.cut |= self.setup.gatt;
        self.wire.refused = None;
        self.wire.left = false;
        self.wire.reminds = [true, true];
        self.outcomes.clear();
        self.litter = None;
        self.littered = false;
        self.pump();
    }

    /// The hand's answer, as a program would take it. Whether there was one.
    fn take_answer(&mut self) -> bool {
        let Some(m) = self.program.answer(&self.snapshot()) else {
            return false;
        };
        assert!(
            self.target.position().is_legal(m),
            "an illegal answer: {m:?}"
        );
        let at = self.told.iter().position(|told| *told == m);
        assert!(
            at.is_some(),
            "{m:?} is an answer again, or to no client: {:?}",
            self.told
        );
        self.told.remove(at.unwrap());
        self.target.push(m);
        let command = self.program.answered(uci(m));
        self.command(command);
        let snapshot = self.snapshot();
        let place = snapshot.place(CLIENT, self.program.number).unwrap();
        assert!(place.answer.is_empty(), "{m:?} is an answer twice");
        true
    }

    fn new_game(&mut self) {
        self.command(Command::NewGame { client: CLIENT });
        self.target = Game::standard();
    }

    fn pick(game: &Game, n: usize) -> Option<Move> {
        let moves = game.position().legal_moves();
        let mates = |m: &Move| {
            let next = game.position().clone().play(*m);
            next.is_ok_and(|next| next.is_checkmate())
        };
        match moves.iter().copied().find(mates) {
            Some(mate) if n.is_multiple_of(3) => Some(mate),
            _ => (!moves.is_empty()).then(|| moves[n % moves.len()]),
        }
    }

    pub fn does(&mut self, act: &Act) {
        self.log(&format!("{act:?}"));
        match *act {
            Act::GuiMoves(n) => {
                self.take_answer();
                if let Some(m) = Self::pick(&self.target, n) {
                    self.target.push(m);
                }
                // Also where the answer was mate: the game has gone on.
                self.restate();
            }
            Act::GuiJumps(plies, n) => {
                self.take_answer();
                for ply in 0..plies {
                    if let Some(m) = Self::pick(&self.target, n.wrapping_mul(31) >> ply) {
                        self.target.push(m);
                    }
                }
                self.restate();
            }
            Act::GuiTakesBack(plies) => {
                self.take_answer();
                let left = self.target.len().saturating_sub(plies);
                self.target = self.target.truncated(left);
                self.restate();
            }
            Act::GuiNewGame(both) => {
                self.new_game();
                let opponent = if both {
                    Opponent::Nobody
                } else {
                    Opponent::Engine
                };
                self.occasion = Occasion {
                    takes_back: false,
                    opponent,
                    hand_next: true,
                };
                self.restate();
            }
            Act::GuiNearMate => {
                self.new_game();
                self.target.play_uci(["f2f3", "e7e5", "g2g4"]).unwrap();
                self.restate();
            }
            Act::GuiEnds(end) => {
                let hand = self.wire.told.flatten();
                self.ends.push(match end.loser() {
                    Some(who) if hand.is_none_or(|hand| hand == who) => '3',
                    Some(_) => '4',
                    None if end.outcome.is_known() => '2',
                    None => '0',
                });
                self.command(Command::Ended {
                    client: CLIENT,
                    end,
                });
                self.new_game();
                self.restate();
            }
            Act::GuiLeaves => self.command(Command::Release { client: CLIENT }),
            Act::Await(true) => self.awaits(),
            Act::Await(false) => self.command(self.program.awaits(false)),
            Act::HandMoves(n) => {
                if let Some(m) = Self::pick(&ours(self.board.game()), n) {
                    self.hand_moves(m);
                }
            }
            Act::Executes => self.hand(HandAction::Execute),
            Act::Misreads(n, legal) => {
                let squares = (n % 64, n / 64 % 64);
                let any = (squares.0 != squares.1).then(|| {
                    let square = |at| shakmaty::Square::new(at as u32);
                    shakmaty::uci::UciMove::Normal {
                        from: square(squares.0),
                        to: square(squares.1),
                        promotion: None,
                    }
                });
                let legal = Self::pick(&ours(self.board.game()), n)
                    .filter(|_| legal)
                    .map(uci);
                if let Some(wanted) = legal.or(any) {
                    self.misreads(wanted);
                }
            }
            Act::Undoes => {
                if let Some(last) = self.board.game().last()
                    && let Some(from) = last.from()
                    && !last.is_castle()
                {
                    self.misreads(shakmaty::uci::UciMove::Normal {
                        from: last.to(),
                        to: from,
                        promotion: None,
                    });
                }
            }
            Act::HandTakesBack => {
                if self.on {
                    self.followed &= self.board.game().is_empty();
                    self.undone |= self.moves_come();
                    self.hand(HandAction::TakeBack);
                }
            }
            Act::HandNewGame => {
                if self.on {
                    self.followed = false;
                    self.undone |= self.moves_come();
                    self.hand(HandAction::NewGame);
                }
            }
            Act::SetsUp(says) => self.sets_up(says),
            // A player who says that all is well where it is not is led nowhere.
            Act::Ready if self.board.shown().is_some() => {}
            Act::Ready => self.ready(),
            Act::Unplug(ms) => self.unplug(ms),
            Act::Plug => self.plug(),
            Act::PowerCycle(forgetful, ms) => {
                self.hand(HandAction::Off);
                self.on = false;
                self.spoiled |= self.to_board.is_in_the_middle();
                self.pass(Duration::from_millis(ms));
                self.on = true;
                if forgetful {
                    self.followed = false;
                    self.undone |= self.moves_come();
                    self.announced = false;
                }
                self.hand(HandAction::On { forgetful });
            }
            Act::Junk(length, ends) => {
                if self.on {
                    self.board.hand(self.now, HandAction::Garbage(length));
                    self.board_speaks(|_| Said::Junk);
                    if self.plugged {
                        // A message is read behind unprintable noise.
                        let last: &[u8] = if ends { b"\r\n" } else { b"x" };
                        self.from_board
                            .send(self.now, last, Said::Junk, &mut self.random);
                    }
                }
            }
            Act::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.pump();
    }

    /// The hand does something that the board does not tell.
    fn hand(&mut self, action: HandAction) {
        self.board.hand(self.now, action);
        assert_eq!(self.board.poll_transmit(), None);
        self.look(false);
    }

    fn hand_moves(&mut self, m: Move) {
        if !self.on || self.board.shown().is_some() {
            return;
        }
        if self.moves_go() {
            self.followed = false;
            self.crossed |= self.games_go();
        }
        let at = self.board.game().position().clone();
        self.board.hand(self.now, HandAction::Move(uci(m)));
        self.look(false);
        self.board_speaks(|_| Said::Move(Box::new(at.clone()), m));
    }

    fn misreads(&mut self, wanted: shakmaty::uci::UciMove) {
        if !self.on {
            return;
        }
        let legal = wanted.to_move(self.board.game().position()).ok();
        let reported = match (legal, &wanted) {
            (Some(m), _) => Reported::of(m),
            (None, shakmaty::uci::UciMove::Normal { from, to, .. }) => {
                Reported::squares(*from, *to, None)
            }
            _ => return,
        };
        self.crossed |= self.games_go();
        self.board.hand(self.now, HandAction::Wrong(wanted));
        self.look(false);
        self.board_speaks(|_| Said::Misread(reported));
    }

    /// The player puts the pieces as in the program's game: this board has a way to do so without a word.
    fn sets_up(&mut self, says: bool) {
        if !self.on {
            return;
        }
        let crosses = self.moves_go() || self.moves_come();
        self.board.hand(self.now, HandAction::NewGame);
        for m in self.target.uci_moves() {
            self.board.hand(self.now, HandAction::Move(m));
        }
        while self.board.poll_transmit().is_some() {}
        self.look(false);
        self.unsaid |= !says;
        alike(&ours(self.board.game()), &self.target);
        if says {
            self.wire.shown = None;
            self.hand = self.occasion.beginning(self.target.turn()).hand;
            self.command(Command::Ready { client: CLIENT });
        }
        let held = self.snapshot().game;
        self.crossed |= says && self.games_go();
        self.followed = !crosses && held.position() == self.target.position();
    }

    fn ready(&mut self) {
        let crosses = self.moves_go() || self.moves_come();
        let before = self.snapshot().game;
        self.wire.shown = None;
        self.hand = self.occasion.beginning(self.target.turn()).hand;
        self.command(Command::Ready { client: CLIENT });
        let held = self.snapshot().game;
        if before != held {
            let same = held.position() == self.board.game().position();
            self.crossed |= self.games_go();
            self.followed = same && !crosses;
        }
    }

    fn unplug(&mut self, ms: u64) {
        self.reopens = None;
        if !std::mem::take(&mut self.plugged) {
            return;
        }
        self.notice = Some(self.now + Duration::from_millis(ms));
        for sent in self.to_board.cut() {
            self.lost(&sent.text);
        }
        for said in self.from_board.cut() {
            self.unheard(&said);
        }
        self.spoiled = false;
        self.followed &= self.wire.refused.is_none();
        self.crossed = false;
    }

    fn plug(&mut self) {
        if std::mem::replace(&mut self.plugged, true) {
            return;
        }
        if self.notice.take().is_some() {
            self.link_down();
        }
        self.board.plugged(self.now);
        if let Some(ms) = self.setup.restarts {
            if self.on {
                self.deaf = Some(self.now + Duration::from_millis(ms));
            }
            self.followed = false;
            self.announced = false;
        }
        self.look(false);
        self.core.link_up(self.now);
        self.pump();
    }

    /// Time passes, and the hand makes what is shown.
    fn rests(&mut self) {
        self.pass(LONG);
        while self.board.shown().is_some() {
            self.hand(HandAction::Execute);
        }
        self.pass(LONG);
    }

    /// The end of it all: the cable is in, and the program awaits the hand.
    pub fn settles(&mut self, how: Settling) {
        self.plug();
        // What is still on its way arrives before that.
        self.pass(Duration::from_secs(5));
        self.take_answer();
        if how == Settling::NewGame {
            self.new_game();
        }
        self.restate();
        self.awaits();
        self.rests();
        while self.take_answer() {
            self.restate();
            self.awaits();
            self.rests();
        }
        let on_board = |world: &Self| world.board.game().position() == world.target.position();
        match how {
            // Nothing is lost any more.
            Settling::NewGame => self.followed = true,
            Settling::SetUp => self.sets_up(true),
            Settling::PlayedOn if on_board(self) => {}
            Settling::PlayedOn => {
                self.sets_up(self.snapshot().game.position() == self.target.position())
            }
        }
        self.rests();
        assert!(
            on_board(self),
            "the board has {}, the program {}",
            self.board.game(),
            self.target
        );
        if how != Settling::PlayedOn {
            self.stands();
        }
        // And the game goes on, the hand's move and the program's in turns.
        for round in 0..4 {
            let Some(m) = Self::pick(&self.target, round * 7 + 1) else {
                return;
            };
            self.hand_moves(m);
            self.pass(Duration::from_secs(1));
            let answered = self.take_answer();
            let snapshot = self.snapshot();
            let (held, advice) = (snapshot.game, snapshot.advice);
            assert!(
                answered,
                "{m:?} is no answer: held {held}, wanted {}, {advice}",
                self.target
            );
            assert_eq!(self.target.last(), Some(m));
            self.state();
            self.pass(Duration::from_secs(10));
            assert!(!self.take_answer());
            self.stands();
            let Some(m) = Self::pick(&self.target, round * 11 + 2) else {
                return;
            };
            self.target.push(m);
            self.state();
            self.awaits();
            self.rests();
            assert!(on_board(self), "{m:?} was not shown");
            self.stands();
        }
    }

    /// The core knows the board to be in the program's game.
    fn stands(&self) {
        let snapshot = self.snapshot();
        let same = snapshot.game.position() == self.target.position();
        assert!(
            same,
            "held {}, wanted {}, {}",
            snapshot.game, self.target, snapshot.advice
        );
    }

    fn awaits(&mut self) {
        self.hand = self.occasion.beginning(self.target.turn()).hand;
        self.command(self.program.awaits(true));
    }
}

/// How a board comes to stand in the program's game in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// The program begins a new game.
    NewGame,
    /// The player sets up the position, and says so.
    SetUp,
    /// The player sets up the position, and plays on.
    PlayedOn,
}

fn alike(one: &Game, other: &Game) {
    assert!(one == other, "{one} is not {other}");
}
