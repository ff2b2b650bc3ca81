//! The core as the board of a simulated app, with a simulated board behind.
//!
//! What is promised of a move of the hand's that belongs to the app's game: it reaches the app exactly once. If it was on its
//! way in a link that is cut, it does so where that link tells that it was not read, and was the last thing said in it;
//! otherwise at most once, and the app's game is behind until its next one. A new game, or the end of one, withdraws it.

use std::time::{Duration, Instant};

use boardbridge::{
    board::core::Core,
    chess::game::{Game, uci},
    driver::swpp::{Framing, MOVE_WAIT, Swpp},
    vocabulary::{Advice, BoardName, Channel},
};
use fastrand::Rng;
use proptest::prelude::*;
use rig::{
    cable::{CORRECTION_WAIT, novag, novag_board},
    clock::{Clocked, log},
    game::ours,
};
use shakmaty::{Move, Position};
use simulators::{
    HandAction, SimulatedBoard,
    swpp::{NewGame, Order, Seen, WhitePawnApp, app::Settings},
};

use super::{
    desk::Desk,
    line::{Manner, Pipe},
};

/// Longer than any series of waits of any board.
const LONG: Duration = Duration::from_secs(400);

/// A Citrine that has just been put to the start tells of no move before it has its settings, and its list, which is
/// asked for then, does not tell whether the hand moved before the app began its game, or after: for so long at most.
const SETTINGS: Duration = Duration::from_secs(2);

/// What is on the desk.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    citrine: bool,
    /// A second BoardBridge stands between, as the app of the one with the board.
    chain: bool,
    delay: u64,
    seed: u64,
}

pub fn setup(chain: bool) -> impl Strategy<Value = Setup> {
    (any::<bool>(), prop_oneof![Just(0), 1..100u64], any::<u64>()).prop_map(
        move |(citrine, delay, seed)| Setup {
            citrine,
            chain,
            delay,
            seed,
        },
    )
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Act {
    AppMoves,
    /// A move that is not played: the legal one of this number, or an illegal one.
    AppErrs(usize, bool),
    /// The last move once more.
    AppRepeats,
    NewGame(u8, bool),
    End(u8),
    AppJunk(usize),
    HandMoves(usize),
    /// Whoever is to move in the app's game moves, and the hand makes what is shown; begins a game if there is none.
    Plays(usize),
    HandTakesBack,
    HandMovesWrong(usize),
    HandNewGame,
    BoardJunk(usize),
    /// The app's link is cut; noticed so much later, and telling or not what was not read.
    Cut(u64, bool),
    Connect,
    /// The board's cable, or the one between the two.
    Unplug,
    Plug,
    Wait(u64),
}

pub fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::AppMoves),
        12 => any::<usize>().prop_map(Act::Plays),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(n, legal)| Act::AppErrs(n, legal)),
        1 => Just(Act::AppRepeats),
        1 => (0..4u8, any::<bool>()).prop_map(|(kind, first)| Act::NewGame(kind, first)),
        1 => (0..5u8).prop_map(Act::End),
        1 => (1..60usize).prop_map(Act::AppJunk),
        4 => any::<usize>().prop_map(Act::HandMoves),
        1 => Just(Act::HandTakesBack),
        1 => any::<usize>().prop_map(Act::HandMovesWrong),
        1 => Just(Act::HandNewGame),
        1 => (1..60usize).prop_map(Act::BoardJunk),
        2 => (0..3000u64, any::<bool>()).prop_map(|(ms, tells)| Act::Cut(ms, tells)),
        4 => Just(Act::Connect),
        1 => Just(Act::Unplug),
        2 => Just(Act::Plug),
        8 => (1..2000u64).prop_map(Act::Wait),
        3 => (2000..20_000u64).prop_map(Act::Wait),
    ]
}

/// The core between, whose board is the second desk.
struct Middle {
    desk: Desk,
    to: Pipe<()>,
    plugged: bool,
}

pub struct World {
    start: Instant,
    now: Instant,
    app: WhitePawnApp,
    from_app: Pipe<String>,
    connected: bool,
    /// The one that the app talks to is the middle, if there is one.
    middle: Option<Middle>,
    desk: Desk,
    board: Box<dyn SimulatedBoard>,
    plugged: bool,
    random: Rng,
    /// The app and the conversation have one game.
    agreed: bool,
    /// A new game, or its end, is on its way from the app; a move crossed it.
    announcing: usize,
    crossed: bool,
    /// The board is a Citrine.
    citrine: bool,
    /// When a new game of the app's was heard of last.
    began: Option<Instant>,
    /// Moves of the hand's that the app is to be told.
    expected: Vec<Move>,
    /// Every move of the hand's, as it would be written, that was not told yet.
    made: Vec<String>,
    told: usize,
}

fn written(m: Move) -> String {
    let text = match m.castling_side() {
        Some(side) if side.is_king_side() => "0-0".to_owned(),
        Some(_) => "0-0-0".to_owned(),
        None => uci(m).to_string(),
    };
    format!("MB{text:>5}")
}

impl Clocked for World {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        loop {
            let mut moved = false;
            while let Some(outgoing) = self.desk.core.poll_transmit(self.now) {
                moved = true;
                if self.plugged {
                    self.board.received(self.now, outgoing.bytes());
                }
            }
            while let Some(bytes) = self.board.poll_transmit() {
                moved = true;
                if self.plugged {
                    let core = &mut self.desk.core;
                    core.received(self.now, Channel::Serial, &bytes);
                }
            }
            while self.board.poll_report().is_some() {}
            if let Some(middle) = &mut self.middle {
                while let Some(outgoing) = middle.desk.core.poll_transmit(self.now) {
                    moved = true;
                    if middle.plugged {
                        middle
                            .to
                            .send(self.now, outgoing.bytes(), (), &mut self.random);
                    }
                }
                middle.desk.pump(self.now);
            }
            self.desk.pump(self.now);
            while let Some(bytes) = self.app.poll_transmit() {
                moved = true;
                let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                self.log(&format!("app says {}", bytes.escape_ascii()));
                self.from_app.send(self.now, &bytes, text, &mut self.random);
            }
            if !moved {
                return;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let middle = self.middle.as_ref();
        let middle = middle.map(|m| [m.desk.due(), m.desk.out.deadline(), m.to.deadline()]);
        [
            self.app.deadline(),
            self.from_app.deadline(),
            self.desk.due(),
            self.desk.out.deadline(),
            self.board.deadline(),
        ]
        .into_iter()
        .chain(middle.into_iter().flatten())
        .flatten()
        .min()
    }

    fn timeout(&mut self, now: Instant) {
        self.carry();
        if self.app.deadline().is_some_and(|at| at <= now) {
            self.app.timeout(now);
        }
        self.board.timeout(now);
        self.desk.tick(now);
        if let Some(middle) = &mut self.middle {
            middle.desk.tick(now);
            if let Some(piece) = middle.to.poll(now) {
                self.desk.received(now, &piece.bytes);
            }
            if let Some(piece) = self.desk.out.poll(now) {
                self.desk.delivered();
                middle
                    .desk
                    .core
                    .received(now, Channel::Serial, &piece.bytes);
            }
        }
        self.account();
        self.carry();
        if let Some(piece) = self.from_app.poll(now) {
            self.log(&format!("hears {}", piece.bytes.escape_ascii()));
            self.front().received(now, &piece.bytes);
            if let Some(text) = piece.ends {
                self.heard(&text);
            }
        }
        if let Some(piece) = self.front().out.poll(now) {
            self.front().delivered();
            self.app_hears(&piece.bytes);
        }
        self.carry();
    }
}

impl World {
    pub fn new(setup: Setup) -> Self {
        let citrine = setup.citrine;
        let now = Instant::now();
        let manner = Manner {
            delay: setup.delay,
            pieces: true,
        };
        let mut core = novag(citrine);
        core.link_up(now);
        let middle = setup.chain.then(|| {
            let driver = Box::new(Swpp::new(Framing::Stream, MOVE_WAIT));
            let mut core = Core::new(BoardName::default(), driver, CORRECTION_WAIT);
            core.link_up(now);
            Middle {
                desk: Desk::new(core, manner, setup.seed ^ 1),
                to: Pipe::new(manner),
                plugged: true,
            }
        });
        let mut desk = Desk::new(core, manner, setup.seed ^ 2);
        if middle.is_some() {
            desk.connected();
        }
        let mut world = Self {
            start: now,
            now,
            app: WhitePawnApp::new(Settings::default(), None),
            from_app: Pipe::new(manner),
            connected: false,
            middle,
            desk,
            board: novag_board(citrine, Duration::from_millis(700)),
            plugged: true,
            random: Rng::with_seed(setup.seed),
            agreed: false,
            announcing: 0,
            crossed: false,
            citrine,
            began: None,
            expected: Vec::new(),
            made: Vec::new(),
            told: 0,
        };
        world.connect();
        world.pass(Duration::from_secs(2));
        world
    }

    fn log(&self, what: &str) {
        let doubt = if self.agreed { "" } else { "? " };
        log("SWPP_LOG", self.now - self.start, || {
            format!("{doubt}{what}")
        });
    }

    /// The desk that the app talks to.
    fn front(&mut self) -> &mut Desk {
        match &mut self.middle {
            Some(middle) => &mut middle.desk,
            None => &mut self.desk,
        }
    }

    fn moves_come(&mut self) -> bool {
        self.front().tells_moves()
    }

    /// A message of the app's has arrived.
    fn heard(&mut self, text: &str) {
        if !text.starts_with("NG") && !text.starts_with("GE") {
            return;
        }
        self.began = Some(self.now);
        self.announcing -= 1;
        self.crossed |= self.moves_come();
        if self.announcing == 0 {
            self.agreed = text.starts_with("NG") && !self.crossed;
            self.crossed = false;
        }
    }

    /// What the conversation has given to the link, and what was lost there.
    fn account(&mut self) {
        let given = std::mem::take(&mut self.front().given);
        for text in given {
            self.log(&format!("given {text}"));
            let at = self.made.iter().position(|made| *made == text);
            if self.agreed && self.middle.is_none() {
                assert!(at.is_some(), "{text} was not made by the hand");
            }
            if let Some(at) = at {
                self.made.remove(at);
            }
        }
        if !std::mem::take(&mut self.front().lost).is_empty() {
            self.disagree();
        }
    }

    fn app_hears(&mut self, bytes: &[u8]) {
        self.log(&format!("app hears {}", bytes.escape_ascii()));
        self.app.received(self.now, bytes);
        while let Some(seen) = self.app.poll_seen() {
            match seen {
                Seen::Made(m) => {
                    self.told += 1;
                    self.crossed |= self.announcing > 0;
                    if let Some(at) = self.expected.iter().position(|wanted| *wanted == m) {
                        assert_eq!(at, 0, "{m:?} came before {:?}", self.expected);
                        self.expected.remove(0);
                    }
                }
                Seen::Fault(what)
                    if ["no game is", "not the board", "illegal"]
                        .iter()
                        .any(|known| what.starts_with(known)) =>
                {
                    assert!(!self.agreed || self.announcing > 0, "{what}");
                    self.crossed |= self.announcing > 0;
                }
                Seen::Fault(what) | Seen::Failed(what) => panic!("{what}"),
                Seen::Jammed | Seen::GaveUp | Seen::Astray => panic!("{seen}"),
                _ => {}
            }
        }
    }

    fn order(&mut self, order: Order) {
        self.app.order(self.now, order);
        while self.app.poll_seen().is_some() {}
        self.carry();
    }

    fn connect(&mut self) {
        if !std::mem::replace(&mut self.connected, true) {
            self.front().connected();
            self.app.connected(self.now);
        }
    }

    fn cut(&mut self, ms: u64, tells: bool) {
        if !std::mem::take(&mut self.connected) {
            return;
        }
        self.carry();
        let now = self.now;
        self.app.disconnected(now);
        self.announcing = 0;
        self.crossed = false;
        for text in self.from_app.cut() {
            if text.starts_with("NG") || text.starts_with("MA") || text.starts_with("GE") {
                self.disagree();
            }
        }
        self.front().cut(now, ms, tells);
        self.account();
    }

    /// The app and the conversation have two games from now on; a new one that is on its way does not mend that.
    fn disagree(&mut self) {
        self.agreed = false;
        self.crossed |= self.announcing > 0;
        self.expected.clear();
    }

    fn plug(&mut self) {
        if let Some(middle) = &mut self.middle {
            if !std::mem::replace(&mut middle.plugged, true) {
                self.desk.connected();
                middle.desk.core.link_up(self.now);
            }
        } else if !std::mem::replace(&mut self.plugged, true) {
            self.desk.core.link_up(self.now);
        }
    }

    fn unplug(&mut self) {
        let why = "unplugged".to_owned();
        if let Some(middle) = &mut self.middle {
            if std::mem::take(&mut middle.plugged) {
                middle.to.cut();
                let ms = self.random.u64(..2000);
                self.desk.cut(self.now, ms, false);
                middle.desk.core.link_down(self.now, why);
                // A move of either side may be lost with it, and nobody can tell.
                self.disagree();
            }
        } else if std::mem::take(&mut self.plugged) {
            self.desk.core.link_down(self.now, why);
        }
    }

    fn pick(game: &Game, n: usize) -> Option<Move> {
        let moves = game.position().legal_moves();
        (!moves.is_empty()).then(|| moves[n % moves.len()])
    }

    /// Whether everybody has the app's game, and the hand is awaited in it and told so: not while its board is on the
    /// way to a position that the app has left.
    fn is_awaited(&mut self) -> bool {
        let app = self.app.game().position().clone();
        let ours = self.app.playing().is_some_and(|p| p.board_has(app.turn()));
        let stands = |desk: &Desk| {
            let snapshot = desk.core.snapshot();
            let target = snapshot.target.as_ref();
            desk.is_quiet()
                && snapshot.link.is_open()
                && snapshot.sure
                && snapshot.awaiting
                && snapshot.advice != Advice::Nothing
                && snapshot.game.position() == &app
                && target.is_some_and(|target| target.position() == &app)
        };
        let begins = |at: Instant| self.citrine && self.now - at < SETTINGS;
        let middle = self.middle.as_ref();
        let between = middle.is_none_or(|m| {
            stands(&m.desk) && m.to.deadline().is_none() && self.desk.out.deadline().is_none()
        });
        self.agreed
            && self.announcing == 0
            && !self.began.is_some_and(begins)
            && self.from_app.deadline().is_none()
            && !self.moves_come()
            && ours
            && between
            && stands(&self.desk)
            && self.board.shown().is_none()
            && self.board.game().position() == &app
    }

    fn hand(&mut self, action: HandAction) {
        self.carry();
        self.board.hand(self.now, action);
        self.carry();
    }

    fn hand_moves(&mut self, m: Move) {
        let awaited = self.is_awaited();
        let offline = self.app.playing().is_some_and(|playing| playing.kind == 0);
        let moves = |text: &String| text.starts_with("MA");
        if offline && self.from_app.under_way().any(moves) {
            // Both move.
            self.disagree();
        }
        self.log(&format!("hand {} {awaited}", uci(m)));
        self.made.push(written(m));
        self.hand(HandAction::Move(uci(m)));
        if awaited {
            self.expected.push(m);
            // The conversation has it before anything else happens.
            let front = Duration::from_millis(if self.middle.is_some() { 1000 } else { 20 });
            self.pass(front);
        }
    }

    /// Whether the board has told what the hand has made.
    fn is_heard(&self) -> bool {
        let known = self.desk.core.snapshot().game;
        known.position() == self.board.game().position()
    }

    /// The hand goes back, perhaps before a move that its board has not told: a Citrine that has just begun a game is
    /// told its settings first, and its game is asked for then.
    fn goes_back(&mut self, action: HandAction) {
        self.carry();
        if !self.is_heard() {
            self.expected.pop();
        }
        self.hand(action);
    }

    /// The app tells of a beginning or an end.
    fn announces(&mut self, order: Order) {
        if !self.app.is_ready() || !self.connected {
            return;
        }
        self.announcing += 1;
        self.crossed |= self.moves_come();
        self.expected.clear();
        self.order(order);
    }

    pub fn does(&mut self, act: &Act) {
        self.log(&format!("{act:?}"));
        match *act {
            Act::AppMoves => self.app_moves(),
            Act::AppErrs(n, legal) => {
                let wanted = if legal {
                    Self::pick(&ours(self.app.game()), n).map(uci)
                } else {
                    format!("a{}h{}", n % 8 + 1, n / 8 % 8 + 1).parse().ok()
                };
                if let Some(wanted) = wanted {
                    let game = self.app.game().position();
                    // One that is legal is played by whoever hears it.
                    if wanted.to_move(game).is_ok()
                        || self.moves_come()
                        || !self.expected.is_empty()
                    {
                        self.disagree();
                    }
                    self.order(Order::Wrong(wanted));
                }
            }
            Act::AppRepeats => {
                let last = self.app.game().last();
                let ours = self.app.playing().is_some();
                if let Some(m) = last.filter(|_| ours) {
                    let text = written(m).replace("MB", "MA");
                    // Castling may be the other side's next move as well.
                    if !m.is_castle() && self.app.is_ready() {
                        self.order(Order::Raw(text));
                    }
                }
            }
            Act::NewGame(kind, board_first) => {
                self.announces(Order::NewGame(NewGame { kind, board_first }));
            }
            Act::End(code) => self.announces(Order::End(char::from(b'0' + code))),
            Act::AppJunk(length) => {
                if self.connected {
                    self.order(Order::Garbage(length));
                    self.order(Order::Raw("junk".to_owned()));
                }
            }
            Act::HandMoves(n) => {
                if let Some(m) = Self::pick(&ours(self.board.game()), n)
                    && self.board.shown().is_none()
                {
                    self.hand_moves(m);
                }
            }
            Act::Plays(n) => self.plays(n),
            Act::HandMovesWrong(n) => {
                if self.board.shown().is_some()
                    && let Some(m) = Self::pick(&ours(self.board.game()), n)
                {
                    self.made.push(written(m));
                    self.hand(HandAction::Wrong(uci(m)));
                }
            }
            Act::HandTakesBack => self.goes_back(HandAction::TakeBack),
            Act::HandNewGame => self.goes_back(HandAction::NewGame),
            Act::BoardJunk(length) => {
                self.hand(HandAction::Garbage(length));
                if self.plugged {
                    let core = &mut self.desk.core;
                    core.received(self.now, Channel::Serial, b"\r\n");
                }
            }
            Act::Cut(ms, tells) => self.cut(ms, tells),
            Act::Connect => self.connect(),
            Act::Unplug => self.unplug(),
            Act::Plug => self.plug(),
            Act::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.carry();
    }

    fn plays(&mut self, n: usize) {
        if self.connected && !self.app.is_ready() {
            self.pass(Duration::from_secs(1));
        }
        if !self.agreed && self.announcing == 0 {
            let (kind, board_first) = ((n % 4) as u8, n.is_multiple_of(3));
            self.announces(Order::NewGame(NewGame { kind, board_first }));
        }
        self.pass(Duration::from_secs(20));
        let game = self.app.game();
        if self.app.playing().is_some_and(|p| p.board_has(game.turn())) {
            if let Some(m) = Self::pick(&ours(self.board.game()), n)
                && self.is_awaited()
            {
                self.hand_moves(m);
            }
        } else {
            self.app_moves();
        }
    }

    fn app_moves(&mut self) {
        let offline = self.app.playing().is_some_and(|playing| playing.kind == 0);
        let comes = |desk: &Desk| desk.tells_moves() || !desk.is_quiet();
        let between = self.middle.as_ref().is_some_and(|m| comes(&m.desk));
        if offline && (!self.expected.is_empty() || comes(&self.desk) || between) {
            // Both have moved.
            self.disagree();
        }
        self.order(Order::Random);
    }

    /// The end of it all: a normal game goes through.
    pub fn settles(&mut self) {
        self.plug();
        self.connect();
        self.pass(LONG);
        assert!(self.app.is_ready());
        if self.agreed {
            let missing = &self.expected;
            assert!(missing.is_empty(), "the app was never told {missing:?}");
        }
        let kind = self.random.u8(0..4);
        let board_first = self.random.bool();
        self.announces(Order::NewGame(NewGame { kind, board_first }));
        self.pass(LONG);
        assert!(self.agreed);
        for ply in 0..20 {
            let game = ours(self.app.game());
            let hands = game.turn().is_white() == board_first;
            let told = self.told;
            if hands {
                let Some(m) = Self::pick(&game, ply * 7 + 1) else {
                    return;
                };
                assert!(self.is_awaited(), "the hand is not awaited after {game}");
                self.hand_moves(m);
                self.pass(Duration::from_secs(5));
                assert_eq!(self.app.game().last(), Some(m));
                assert_eq!(self.told, told + 1, "{m:?} was told again");
            } else {
                self.order(Order::Random);
                self.pass(LONG);
                if self.board.shown().is_some() {
                    // The lamps did not show it, the words did.
                    self.hand(HandAction::Execute);
                    self.pass(LONG);
                }
                assert_eq!(self.told, told, "a move of the app's came back");
            }
            assert_eq!(self.app.game().len(), ply + 1);
            let same = self.board.game().position() == self.app.game().position();
            assert!(same, "{} is not {}", self.board.game(), self.app.game());
        }
    }
}
