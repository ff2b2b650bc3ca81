//! A core, and a simulated board at the other end of its cable.

use std::{
    collections::VecDeque,
    fmt,
    time::{Duration, Instant},
};

use boardbridge::{
    board::core::Core,
    driver::{Driver, citrine, ucb},
    vocabulary::{BoardName, Channel, Command, Event, Snapshot},
};
use simulators::{HandAction, Report, SimulatedBoard, citrine::Citrine, ucb::Ucb};

/// How long a core waits for a correction.
pub const CORRECTION_WAIT: Duration = Duration::from_secs(3);

/// What passes on a cable, or at its ends.
#[derive(Debug)]
pub enum Passed<'a> {
    /// Bytes to the board. They are lost if the cable is unplugged.
    Written(&'a [u8]),
    /// Bytes from the board. They are lost if the cable is unplugged.
    Said(&'a [u8]),
    /// An observable event on the board.
    Seen(Report),
    /// An event of the core.
    Happened(Event),
}

impl fmt::Display for Passed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(bytes) => write!(f, "> {}", bytes.escape_ascii()),
            Self::Said(bytes) => write!(f, "< {}", bytes.escape_ascii()),
            Self::Seen(report) => write!(f, ". {report}"),
            Self::Happened(event) => write!(f, "* {event}"),
        }
    }
}

/// A core, a simulated board, and the cable between.
pub struct Cable {
    /// The core.
    pub core: Core,
    /// The board.
    pub board: Box<dyn SimulatedBoard>,
    /// If unplugged, data sent is lost. Neither end is told by this alone.
    pub plugged: bool,
    /// The board's output is delayed until then.
    pub late: Option<Instant>,
    under_way: VecDeque<Vec<u8>>,
}

/// A core for a Citrine, or for a UCB.
pub fn novag(is_citrine: bool) -> Core {
    let driver: Box<dyn Driver> = if is_citrine {
        Box::new(citrine::Citrine::new(citrine::Settings::default()))
    } else {
        Box::new(ucb::Ucb::new(ucb::Settings::default()))
    };
    Core::new(BoardName::default(), driver, CORRECTION_WAIT)
}

/// A Citrine, or a UCB, with a player who makes a shown move after this delay.
pub fn novag_board(is_citrine: bool, hand: Duration) -> Box<dyn SimulatedBoard> {
    if is_citrine {
        Box::new(Citrine::new(1.0, Some(hand), 1))
    } else {
        Box::new(Ucb::new(1.0, 2, Some(hand), 1))
    }
}

impl Cable {
    /// A [`novag`] and its [`novag_board`], unplugged. The core's link is down.
    pub fn novag(is_citrine: bool, hand: Duration) -> Self {
        Self::new(novag(is_citrine), novag_board(is_citrine, hand))
    }

    /// A core whose link is down, and its board, unplugged.
    pub fn new(core: Core, board: Box<dyn SimulatedBoard>) -> Self {
        Self {
            core,
            board,
            plugged: false,
            late: None,
            under_way: VecDeque::new(),
        }
    }

    /// Plugs it in, unless it is plugged in.
    pub fn plug(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.plugged, true) {
            self.core.link_up(now);
        }
    }

    /// Unplugs it, if it is plugged in. Data being sent is lost.
    pub fn unplug(&mut self, now: Instant, why: &str) {
        if std::mem::take(&mut self.plugged) {
            self.under_way.clear();
            self.core.link_down(now, why.to_owned());
        }
    }

    /// Carries bytes both ways, once; returns whether there were any.
    pub fn carry(
        &mut self,
        now: Instant,
        mut passed: impl FnMut(&dyn SimulatedBoard, Passed<'_>),
    ) -> bool {
        let mut moved = false;
        while let Some(outgoing) = self.core.poll_transmit(now) {
            moved = true;
            passed(&*self.board, Passed::Written(outgoing.bytes()));
            if self.plugged {
                self.board.received(now, outgoing.bytes());
            }
        }
        while let Some(bytes) = self.board.poll_transmit() {
            moved = true;
            passed(&*self.board, Passed::Said(&bytes));
            if self.plugged {
                self.under_way.push_back(bytes);
            }
        }
        self.late.take_if(|at| *at <= now);
        while self.late.is_none()
            && let Some(bytes) = self.under_way.pop_front()
        {
            moved = true;
            self.core.received(now, Channel::Serial, &bytes);
        }
        while let Some(report) = self.board.poll_report() {
            passed(&*self.board, Passed::Seen(report));
        }
        while let Some(event) = self.core.poll_event() {
            passed(&*self.board, Passed::Happened(event));
        }
        moved
    }

    /// When something is due next.
    pub fn deadline(&self) -> Option<Instant> {
        let next = [self.core.deadline(), self.board.deadline(), self.late];
        next.into_iter().flatten().min()
    }

    /// The time is `now`.
    pub fn timeout(&mut self, now: Instant) {
        self.core.timeout(now);
        self.board.timeout(now);
    }

    /// Sends the core a command.
    pub fn command(&mut self, now: Instant, command: Command) {
        self.core.command(now, command);
    }

    /// The player does something.
    pub fn hand(&mut self, now: Instant, action: HandAction) {
        self.board.hand(now, action);
    }

    /// The state of the core.
    pub fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }
}
