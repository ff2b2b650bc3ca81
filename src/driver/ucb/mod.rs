//! The Novag Universal Chess Board (9600 baud 8N1, lines ended by CR LF).
//!
//! Source: "Novag UCB Communications", see `PROTOCOL.md`. What shaped this driver:
//!
//! - The board has no input buffer and acknowledges nothing. Lines are kept apart, and no move is sent after a shown one
//!   until that was made, confirmed, or [`Settings::move_wait`] ran out. Positions may be sent at any time.
//! - The board asks: who are you, which mode, where are the pieces. It does so when it is switched on, and may
//!   do so at any time.
//! - It cannot be asked anything: its presence is known when it speaks, which may be with the player's first move. It
//!   cannot be told to take back: it is sent the position instead.

pub mod codec;
mod identity;
mod settings;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::Chess;

use self::codec::Message;
pub use self::settings::{BAUD, Settings};
pub use self::{codec::KIND, identity::IDENTITY};
use super::{Driver, DriverEvent, Profile, Step, pacer::Pacer, stranger};
use crate::{
    text::lines::{LINE_WAIT, Line, Lines, printable},
    vocabulary::{Channel, Outgoing},
};

/// The longest line read, bytes. The longest the document shows has 7 (`Ma7a8/Q`).
pub const MAX_LINE: usize = 64;
/// A one-letter command without its line end is accepted after this time.
pub const LETTER_WAIT: Duration = Duration::from_millis(500);

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    /// A line that nothing waits for.
    Plain,
    /// The last line of a step: the player's time begins.
    StepEnd,
}

/// The current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Being sent to the board; the player will be given this long.
    Sending {
        /// The player's time.
        wait: Duration,
        /// The first line has been sent.
        begun: bool,
    },
    /// Waiting for the player.
    Hand {
        /// When the last line was sent.
        since: Instant,
        /// The latest time to wait.
        until: Instant,
    },
}

/// The driver. See the module documentation.
#[derive(Debug)]
pub struct Ucb {
    settings: Settings,
    up: bool,
    /// The board has said something over this link.
    heard: bool,
    lines: Lines,
    pacer: Pacer<LineKind>,
    events: VecDeque<DriverEvent>,
    doing: Option<Doing>,
    /// The board asked `P` and was not answered yet.
    asked: bool,
    /// When an unfinished line counts as finished (a lone letter) or broken off (anything else).
    line_ends: Option<Instant>,
}

impl Ucb {
    /// A driver with these settings.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            up: false,
            heard: false,
            lines: Lines::new(MAX_LINE),
            pacer: Pacer::default(),
            events: VecDeque::new(),
            doing: None,
            asked: false,
            line_ends: None,
        }
    }

    /// Sends a line unasked: the board must be quiet for a while first.
    fn say(&mut self, now: Instant, line: &str, sent: LineKind) {
        let gap = self.settings.line_gap;
        self.pacer.push(now, format!("{line}\r\n"), sent, gap, gap);
    }

    /// Answers the board, which waits for it.
    fn answer(&mut self, now: Instant, line: &str, sent: LineKind) {
        let gap = self.settings.line_gap;
        self.pacer
            .push(now, format!("{line}\r\n"), sent, gap, Duration::ZERO);
    }

    fn line(&mut self, now: Instant, line: &[u8]) {
        let Some(message) = codec::parse(line) else {
            self.events
                .push_back(DriverEvent::Unreadable(printable(line, MAX_LINE)));
            let other = stranger::talks_as(line, KIND);
            if let Some(kind) = other.filter(|_| !self.heard) {
                self.events.push_back(DriverEvent::Stranger(kind));
            }
            return;
        };
        if !std::mem::replace(&mut self.heard, true) {
            self.events.push_back(DriverEvent::Answers { id: None });
        }
        match message {
            Message::Hello => self.restarted(),
            Message::AsksIdentity => {
                // The blank that begins the power-on sequence may come without a line end, before the letter.
                if line.first() == Some(&b' ') {
                    self.restarted();
                }
                self.answer(now, codec::IDENTITY, LineKind::Plain);
            }
            Message::EchoOff => {}
            Message::AsksVideo => self.answer(now, "Video Mode", LineKind::Plain),
            Message::AsksAutoclockOff => self.answer(now, "Autoclock off", LineKind::Plain),
            Message::AsksXmit => self.answer(now, "Xmit on", LineKind::Plain),
            Message::AsksPosition => {
                // A second question before the answer was sent is the same question.
                if !self.asked {
                    self.asked = true;
                    self.events.push_back(DriverEvent::AsksPosition);
                }
            }
            Message::Moved(reported) => {
                self.drop_unsent();
                self.events.push_back(DriverEvent::Moved(reported));
            }
            Message::NewGame => {
                self.drop_unsent();
                self.events.push_back(DriverEvent::NewGame);
            }
            Message::TakesBack => self.events.push_back(DriverEvent::TookBack(None)),
            // The computer this board was built for would think now. Here it is the player's report: set-up done.
            Message::Go => {
                if matches!(self.doing, Some(Doing::Hand { .. })) {
                    self.events.push_back(DriverEvent::Ready);
                }
            }
        }
    }

    /// Drops a step not yet begun: it was meant for the game before the board's last message.
    fn drop_unsent(&mut self) {
        if matches!(self.doing, Some(Doing::Sending { begun: false, .. })) {
            self.pacer.clear();
            self.doing = None;
        }
    }

    fn restarted(&mut self) {
        self.pacer.clear();
        self.doing = None;
        self.asked = false;
        self.events.push_back(DriverEvent::Restarted);
    }

    fn position_lines(&mut self, now: Instant, position: &Chess, answer: bool) {
        let lines = codec::position(position, self.settings.position_format);
        let count = lines.len();
        for (index, line) in lines.into_iter().enumerate() {
            let sent = if index + 1 == count {
                LineKind::StepEnd
            } else {
                LineKind::Plain
            };
            if answer {
                self.answer(now, &line, sent);
            } else {
                self.say(now, &line, sent);
            }
        }
    }
}

impl Driver for Ucb {
    fn profile(&self) -> Profile {
        Profile::Unlisted
    }

    fn link_up(&mut self, now: Instant) {
        self.link_down();
        self.pacer.link_began(now);
        self.up = true;
        self.events.push_back(DriverEvent::Unheard);
    }

    fn link_down(&mut self) {
        self.pacer.clear();
        self.up = false;
        self.heard = false;
        self.lines.clear();
        self.events.clear();
        self.doing = None;
        self.asked = false;
        self.line_ends = None;
    }

    fn received(&mut self, now: Instant, _channel: Channel, bytes: &[u8]) {
        self.pacer.heard(now);
        self.lines.push(bytes);
        while let Some(line) = self.lines.next_line() {
            match line {
                Line::Whole(line) => self.line(now, &line),
                Line::Overlong(length) => self.events.push_back(DriverEvent::Unreadable(format!(
                    "a line of {length} bytes, dropped"
                ))),
            }
        }
        let wait = if codec::is_lone_letter(self.lines.partial()) {
            LETTER_WAIT
        } else {
            LINE_WAIT
        };
        self.line_ends = self.lines.is_unfinished().then(|| now + wait);
    }

    fn timeout(&mut self, now: Instant) {
        if self.line_ends.is_some_and(|at| at <= now) {
            self.line_ends = None;
            let lone = codec::is_lone_letter(self.lines.partial());
            let line = self.lines.take_partial();
            if lone {
                self.line(now, &line);
            } else {
                let text = printable(&line, MAX_LINE);
                self.events.push_back(DriverEvent::Unreadable(text));
            }
        }
        if matches!(self.doing, Some(Doing::Hand { until, .. }) if until <= now) {
            self.doing = None;
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let hand = match self.doing {
            Some(Doing::Hand { until, .. }) => Some(until),
            _ => None,
        };
        [self.pacer.deadline(), hand, self.line_ends]
            .into_iter()
            .flatten()
            .min()
    }

    fn idle(&self) -> bool {
        self.doing.is_none() && self.takes_position()
    }

    fn takes_position(&self) -> bool {
        let is_free = self.up && !self.asked && self.pacer.is_empty();
        is_free && !self.stepping()
    }

    fn stepping(&self) -> bool {
        matches!(self.doing, Some(Doing::Sending { .. }))
    }

    fn start(&mut self, now: Instant, step: Step) {
        let wait = match step {
            Step::Show(m) if self.idle() => {
                self.say(now, &codec::show(m), LineKind::StepEnd);
                self.settings.move_wait
            }
            Step::NewGame(_) if self.takes_position() => {
                self.say(now, "New Game", LineKind::StepEnd);
                self.settings.setup_wait
            }
            Step::SetUp(game) if self.takes_position() => {
                self.position_lines(now, game.position(), false);
                self.settings.setup_wait
            }
            // A take-back is not among this board's capabilities.
            Step::Show(_) | Step::NewGame(_) | Step::SetUp(_) | Step::TakeBack(_) => return,
        };
        self.doing = Some(Doing::Sending { wait, begun: false });
    }

    fn confirm(&mut self, now: Instant) {
        if let Some(Doing::Hand { since, until, .. }) = &mut self.doing {
            // The board needs time for the line, however quick the player is.
            *until = (*until).min(*since + self.settings.line_gap);
            if *until <= now {
                self.doing = None;
            }
        }
    }

    fn tell_position(&mut self, now: Instant, position: &Chess, new_to_board: bool) {
        self.asked = false;
        // The answer replaces the current step: it is where the pieces have to stand.
        let wait = match self.doing {
            _ if new_to_board => self.settings.setup_wait,
            Some(Doing::Hand { until, .. }) => until.saturating_duration_since(now),
            _ => Duration::ZERO,
        };
        self.pacer.clear();
        // The board waits for it: it is sent in any case.
        self.doing = Some(Doing::Sending { wait, begun: true });
        self.position_lines(now, position, true);
    }

    fn learn(&mut self, _now: Instant) {}

    fn look(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let (bytes, sent) = self.pacer.poll(now)?;
        if let Some(Doing::Sending { wait, begun }) = &mut self.doing {
            *begun = true;
            if sent == LineKind::StepEnd {
                self.doing = Some(Doing::Hand {
                    since: now,
                    until: now + *wait,
                });
                self.events.push_back(DriverEvent::Accepted);
            }
        }
        Some(Outgoing::serial(bytes))
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}
