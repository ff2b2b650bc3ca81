//! A program, and a hand at a simulated board that senses its pieces, from the bytes to the program and back, on a virtual clock.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    board::{core::Core, settings::BoardConfig},
    chess::game::{Game, uci},
    vocabulary::{BoardName, Channel, Event, Outgoing, Reply, Request, Secret, Snapshot},
};
use rig::{cable::CORRECTION_WAIT, clock::Clocked, pace::gives_way, program::Program};
use shakmaty::{Move, uci::UciMove};
use simulators::{
    Report, SimulatedBoard as _,
    chessnut::{self, usb::UsbChessnut},
    dgt, pegasus,
    peripheral::Peripheral as _,
    pieces::{Order, Pieces},
};

/// Longer than any wait of the core and the hand.
pub const LONG: Duration = Duration::from_secs(60);

/// The quickest reply of a person who plays blitz.
const REACTION: Duration = Duration::from_millis(300);

/// A simulated board at the end of its link.
pub trait Wood {
    /// Its kind in the configuration.
    const KIND: &'static str;
    fn linked(&mut self, now: Instant, up: bool);
    /// Takes a request; the answer, if its link gives one.
    fn takes(&mut self, now: Instant, outgoing: &Outgoing) -> Option<Reply>;
    fn says(&mut self) -> Option<(Channel, Vec<u8>)>;
    fn shows(&mut self) -> Option<Report>;
    fn does(&mut self, now: Instant, order: Order);
    /// The hand hears of this move elsewhere.
    fn hears(&mut self, now: Instant, m: Move);
    fn pieces(&self) -> &Pieces;
    fn next(&self) -> Option<Instant>;
    fn passes(&mut self, now: Instant);
}

impl Wood for dgt::Dgt {
    const KIND: &'static str = "dgt";
    fn linked(&mut self, now: Instant, up: bool) {
        if up {
            self.plugged(now);
        }
    }
    fn takes(&mut self, now: Instant, outgoing: &Outgoing) -> Option<Reply> {
        self.received(now, outgoing.bytes());
        None
    }
    fn says(&mut self) -> Option<(Channel, Vec<u8>)> {
        Some((Channel::Serial, self.poll_transmit()?))
    }
    fn shows(&mut self) -> Option<Report> {
        self.poll_report()
    }
    fn does(&mut self, now: Instant, order: Order) {
        match order {
            Order::Do(action) => self.hand(now, action),
            order => self.order(now, order),
        }
    }
    fn hears(&mut self, now: Instant, m: Move) {
        self.tell(now, m);
    }
    fn pieces(&self) -> &Pieces {
        self.pieces()
    }
    fn next(&self) -> Option<Instant> {
        self.deadline()
    }
    fn passes(&mut self, now: Instant) {
        self.timeout(now);
    }
}

/// A board on the radio.
macro_rules! on_radio {
    ($board:ty, $kind:literal) => {
        impl Wood for $board {
            const KIND: &'static str = $kind;
            fn linked(&mut self, now: Instant, up: bool) {
                if up {
                    self.connected(now);
                } else {
                    self.disconnected(now);
                }
            }
            fn takes(&mut self, now: Instant, outgoing: &Outgoing) -> Option<Reply> {
                let Channel::Gatt(characteristic) = outgoing.channel else {
                    panic!("a serial line on the air");
                };
                match &outgoing.request {
                    Request::Subscribe => self.subscribed(now, characteristic, true),
                    Request::Command(bytes)
                    | Request::Write(bytes)
                    | Request::Secret(Secret(bytes)) => {
                        if self.write(now, characteristic, bytes).is_err() {
                            return Some(Reply::Refused("the board refuses".to_owned()));
                        }
                    }
                    Request::Read => panic!("{outgoing:?}"),
                }
                Some(Reply::Done)
            }
            fn says(&mut self) -> Option<(Channel, Vec<u8>)> {
                let (characteristic, value) = self.poll_notify()?;
                Some((Channel::Gatt(characteristic), value))
            }
            fn shows(&mut self) -> Option<Report> {
                self.poll_report()
            }
            fn does(&mut self, now: Instant, order: Order) {
                self.hand(now, order);
            }
            /// Its lamps show it.
            fn hears(&mut self, _now: Instant, _m: Move) {}
            fn pieces(&self) -> &Pieces {
                self.pieces()
            }
            fn next(&self) -> Option<Instant> {
                self.deadline()
            }
            fn passes(&mut self, now: Instant) {
                self.timeout(now);
            }
        }
    };
}

on_radio!(chessnut::Chessnut, "chessnut");
on_radio!(pegasus::Pegasus, "dgt-pegasus");

impl Wood for UsbChessnut {
    const KIND: &'static str = "chessnut";
    fn linked(&mut self, now: Instant, up: bool) {
        if up {
            self.plugged(now);
        } else {
            self.unplugged(now);
        }
    }
    fn takes(&mut self, now: Instant, outgoing: &Outgoing) -> Option<Reply> {
        assert_eq!(outgoing.channel, Channel::Hid);
        assert!(matches!(outgoing.request, Request::Command(_)));
        self.received(now, outgoing.bytes());
        Some(Reply::Done)
    }
    fn says(&mut self) -> Option<(Channel, Vec<u8>)> {
        Some((Channel::Hid, self.poll_transmit()?))
    }
    fn shows(&mut self) -> Option<Report> {
        self.poll_report()
    }
    fn does(&mut self, now: Instant, order: Order) {
        self.order(now, order);
    }
    /// Its lamps show it.
    fn hears(&mut self, _now: Instant, _m: Move) {}
    fn pieces(&self) -> &Pieces {
        self.pieces()
    }
    fn next(&self) -> Option<Instant> {
        self.deadline()
    }
    fn passes(&mut self, now: Instant) {
        self.timeout(now);
    }
}

/// Who is not given its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    Daemon,
    Board,
}

/// See the module documentation.
pub struct Table<W> {
    pub now: Instant,
    began: Instant,
    pub core: Core,
    pub wood: W,
    pub program: Program,
    /// The game that the program has.
    pub game: Game,
    keys: String,
    /// The hand hears of the program's moves elsewhere: the board does not show them.
    pub hears: bool,
    /// What should not happen is no fault.
    excuses: bool,
    linked: bool,
    /// One of the two is not given its turn until then, as on a busy machine.
    late: Option<(Late, Instant)>,
    /// What the daemon has sent to a board that is late.
    unread: VecDeque<Outgoing>,
    /// When the daemon opens the link again.
    links_at: Option<Instant>,
    log: Vec<String>,
    /// What should not happen in a game that is played as it should be.
    pub faults: Vec<String>,
}

impl<W: Wood> Clocked for Table<W> {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }
    fn carry(&mut self) {
        loop {
            if self.is_late(Late::Daemon) {
                return;
            }
            if let Some(outgoing) = self.core.poll_transmit(self.now) {
                self.note(format!("> {}", outgoing.bytes().escape_ascii()));
                self.unread.push_back(outgoing);
            } else if self.is_late(Late::Board) {
                return;
            } else if let Some(outgoing) = self.unread.pop_front() {
                let reply = self.wood.takes(self.now, &outgoing);
                if let Some(reply) = reply {
                    self.core.answered(self.now, outgoing.channel, reply);
                }
            } else if let Some((channel, bytes)) = self.wood.says() {
                if self.linked {
                    self.core.received(self.now, channel, &bytes);
                }
            } else if let Some(why) = self.core.poll_hang_up() {
                self.note(format!("hung up: {why}"));
                self.faults.push(why.clone());
                self.unlink_for(why);
                self.links_at = Some(self.now + self.core.pause_between_links());
            } else if self.links_at.take_if(|at| *at <= self.now).is_some() {
                self.link();
            } else if let Some(report) = self.wood.shows() {
                self.note(format!(". {report}"));
                if let Report::Fault(what) | Report::Lost(what) | Report::Refused(what) = report {
                    self.faults.push(what);
                }
            } else if let Some(event) = self.core.poll_event() {
                self.note(format!("* {event}"));
                if let Event::Mistake { text } | Event::Unreadable { text } = event {
                    self.faults.push(text);
                }
            } else {
                return;
            }
        }
    }
    fn deadline(&self) -> Option<Instant> {
        let core = self.core.deadline().filter(|_| !self.is_late(Late::Daemon));
        let wood = self.wood.next().filter(|_| !self.is_late(Late::Board));
        let late = self.late.map(|(_, until)| until);
        let next = [core, wood, self.links_at, late];
        next.into_iter().flatten().min()
    }
    fn timeout(&mut self, now: Instant) {
        self.late.take_if(|(_, until)| *until <= now);
        // Whoever was late finds its own times passed before it reads what came meanwhile.
        if !self.is_late(Late::Daemon) {
            self.core.timeout(now);
        }
        if !self.is_late(Late::Board) {
            self.wood.passes(now);
        }
    }
    fn story(&self) -> String {
        let from = self.log.len().saturating_sub(80);
        self.log[from..].join("\n")
    }
}

fn core(kind: &str, keys: &str) -> Core {
    let board = BoardConfig::from_toml(&format!("kind = \"{kind}\"\n{keys}\n")).unwrap();
    Core::new(BoardName::default(), board.driver(), CORRECTION_WAIT)
}

impl<W: Wood> Table<W> {
    /// The daemon, with these keys, and the board, linked.
    pub fn new(wood: W, keys: &str) -> Self {
        gives_way();
        let now = Instant::now();
        let mut table = Self {
            now,
            began: now,
            core: core(W::KIND, keys),
            wood,
            program: Program::default(),
            game: Game::standard(),
            keys: keys.to_owned(),
            hears: true,
            excuses: false,
            linked: false,
            late: None,
            unread: VecDeque::new(),
            links_at: None,
            log: Vec::new(),
            faults: Vec::new(),
        };
        table.link();
        table
    }

    /// What has happened, from the beginning.
    pub fn whole_story(&self) -> String {
        self.log.join("\n")
    }

    fn note(&mut self, what: String) {
        self.log.push(format!(
            "{:9.3} {what}",
            (self.now - self.began).as_secs_f64()
        ));
    }

    pub fn link(&mut self) {
        self.linked = true;
        self.wood.linked(self.now, true);
        self.core.link_up(self.now);
    }

    pub fn unlink(&mut self) {
        self.unlink_for("the test".to_owned());
    }

    fn unlink_for(&mut self, why: String) {
        self.linked = false;
        self.unread.clear();
        self.wood.linked(self.now, false);
        self.core.link_down(self.now, why);
    }

    /// The daemon is killed, and goes on from what it kept. The program states its game again.
    pub fn restart(&mut self, awaits: bool) {
        let kept = self.core.memory();
        self.wood.linked(self.now, false);
        self.core = core(W::KIND, &self.keys);
        self.core.resume(self.now, kept);
        self.link();
        self.states(awaits);
    }

    pub fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    /// Advances the time until this holds.
    pub fn comes(&mut self, what: &str, so: impl Fn(&Self) -> bool) {
        assert!(
            self.until(LONG, so),
            "{what} does not come:\n{}",
            self.story()
        );
    }

    /// One of the two is not given its turn for this long.
    pub fn is_kept_waiting(&mut self, who: Late, time: Duration) {
        self.late = Some((who, self.now + time));
    }

    fn is_late(&self, who: Late) -> bool {
        self.late.is_some_and(|(late, _)| late == who)
    }

    /// Lets time pass.
    pub fn waits(&mut self, time: Duration) {
        self.until(time, |_| false);
    }

    /// The program states its game, and awaits the hand's move or not.
    pub fn states(&mut self, awaits: bool) {
        let command = self.program.states(&self.game);
        self.core.command(self.now, command);
        let command = self.program.awaits(awaits);
        self.core.command(self.now, command);
    }

    /// The game on the board is known.
    pub fn is_ready(&mut self) {
        self.comes("the board's game", |table| table.snapshot().sure);
    }

    /// The program makes this move, and the hand executes it.
    pub fn program_moves(&mut self, m: Move) {
        assert!(self.game.push(m));
        self.states(false);
        if self.hears {
            self.wood.hears(self.now, m);
        }
        let what = format!("the program's {}", uci(m));
        self.comes(&what, |table| {
            let held = table.snapshot();
            *held.game == table.game
                && table.wood.pieces().game().len() == table.game.len()
                && held.guidance.is_empty()
        });
        self.waits(REACTION);
    }

    /// The hand makes this move, and the program is told it.
    pub fn hand_moves(&mut self, m: Move, order: Order) {
        self.states(true);
        self.wood.does(self.now, order);
        self.told(m);
    }

    /// The program is told this move.
    pub fn told(&mut self, m: Move) {
        let told = |table: &Self| table.program.answer(&table.snapshot()).is_some();
        self.comes(&format!("the hand's {}", uci(m)), told);
        let answer = self.program.answer(&self.snapshot());
        assert_eq!(answer, Some(m), "{}", self.story());
        assert!(self.game.push(m));
        let command = self.program.answered(uci(m));
        self.core.command(self.now, command);
        self.comes("rest", |table| {
            table.wood.pieces().game().len() == table.game.len()
        });
    }

    /// Plays this game though the hand or the link is not as it should be: what is told on the way does not count.
    pub fn plays_through(
        &mut self,
        moves: &str,
        hand_has_white: bool,
        order: impl FnMut(UciMove) -> Order,
    ) {
        self.excuses = true;
        self.plays(moves, hand_has_white, order);
    }

    /// Plays this game; `style` says how the hand makes each of its moves.
    pub fn plays(
        &mut self,
        moves: &str,
        hand_has_white: bool,
        mut order: impl FnMut(UciMove) -> Order,
    ) {
        self.states(hand_has_white == self.game.turn().is_white());
        self.is_ready();
        for word in moves.split_whitespace() {
            let m: UciMove = word.parse().unwrap();
            let legal = m.to_move(self.game.position()).unwrap();
            if self.game.turn().is_white() == hand_has_white {
                self.hand_moves(legal, order(m));
            } else {
                self.program_moves(legal);
            }
        }
        if !self.excuses {
            assert_eq!(self.faults, [""; 0], "{}", self.story());
        }
    }
}
