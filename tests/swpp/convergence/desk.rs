//! A machine and the conversation with an app in front of it, as the server has them: commands and snapshots take a moment, a
//! message leaves when the link has taken it, and a link that was cut is found to be so later.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    board::core::Core,
    front_end::whitepawn::session::{Action, AppConversation, Identity},
    text::{
        lines::{Line as Text, Lines},
        swpp::{self, MAX_LINE},
    },
    vocabulary::{ClientId, Command},
};
use fastrand::Rng;

use super::line::{Manner, Pipe};

pub const CLIENT: ClientId = ClientId(1);

/// The connection that has shaken hands, as it is known here.
struct Link {
    lines: Lines,
    /// This goes, and the link has taken it at that time.
    sending: Option<(Instant, String)>,
    /// It was cut, and neither end has noticed.
    dead: bool,
    /// What it was given and the other end has not read.
    lost: Vec<String>,
}

/// See the module's introduction.
pub struct Desk {
    pub core: Core,
    session: AppConversation,
    commands: VecDeque<(Instant, Command)>,
    snapshot: Option<Instant>,
    active: Option<Link>,
    /// A connection that has not shaken hands yet.
    guest: Option<Lines>,
    /// When a link that was cut is noticed, and whether it tells then what was not read.
    notice: Option<(Instant, bool)>,
    /// What goes to the app.
    pub out: Pipe<String>,
    /// Moves that were sent and may not have arrived.
    unproven: Vec<String>,
    /// What the link is taking is a move of a game that is over.
    withdrawn: bool,
    /// Moves that are told again, for the link told that they were not read.
    again: Vec<String>,
    /// Moves that the app will never be told.
    pub lost: Vec<String>,
    /// Moves that were given to a link.
    pub given: Vec<String>,
    random: Rng,
}

impl Desk {
    pub fn new(core: Core, manner: Manner, seed: u64) -> Self {
        let identity = Identity {
            version: "0.1.0".to_owned(),
            serial: "board".to_owned(),
        };
        Self {
            core,
            session: AppConversation::new(CLIENT, "the app".into(), identity),
            commands: VecDeque::new(),
            snapshot: None,
            active: None,
            guest: None,
            notice: None,
            out: Pipe::new(manner),
            unproven: Vec::new(),
            withdrawn: false,
            again: Vec::new(),
            lost: Vec::new(),
            given: Vec::new(),
            random: Rng::with_seed(seed),
        }
    }

    fn soon(&mut self, now: Instant, ms: u64) -> Instant {
        now + Duration::from_millis(self.random.u64(0..=ms))
    }

    /// Nothing is on its way between the conversation and the core.
    pub fn is_quiet(&self) -> bool {
        self.commands.is_empty() && self.snapshot.is_none()
    }

    /// Moves that the app may yet hear of, whatever it says now.
    pub fn tells_moves(&self) -> bool {
        let moves = |text: &String| text.starts_with("MB");
        let sending = self.active.as_ref().and_then(|link| link.sending.as_ref());
        self.out.under_way().any(moves) || sending.is_some_and(|(_, text)| moves(text))
    }

    pub fn connected(&mut self) {
        self.guest = Some(Lines::new(MAX_LINE));
    }

    /// The cable to the app is cut; that is noticed so many milliseconds later, if no other connection shakes hands before.
    pub fn cut(&mut self, now: Instant, ms: u64, tells: bool) {
        let lost = self.out.cut();
        if self.guest.take().is_some() {
            assert!(lost.is_empty());
            return;
        }
        if let Some(link) = self.active.as_mut().filter(|link| !link.dead) {
            link.dead = true;
            link.lost = lost;
            self.notice = Some((now + Duration::from_millis(ms), tells));
        }
    }

    fn gone(&mut self, now: Instant, tells: bool) {
        self.notice = None;
        self.withdrawn = false;
        let Some(mut link) = self.active.take() else {
            return;
        };
        let undelivered = tells && !link.lost.is_empty();
        // What is told again is not lost. The link tells that not all was read, and not what: one that was read while
        // the next was on its way comes twice, and the app may take that as it likes.
        for again in self.unproven.drain(..).filter(|_| undelivered) {
            match link.lost.iter().position(|lost| *lost == again) {
                Some(at) => drop(link.lost.remove(at)),
                None => self.lost.push(again.clone()),
            }
            self.again.push(again);
        }
        link.lost.retain(|text| text.starts_with("MB"));
        self.lost.extend(link.lost);
        let delivery = if undelivered {
            Duration::MAX
        } else {
            Duration::ZERO
        };
        self.session.disconnected(now, "cut", delivery);
    }

    /// Bytes came from the app.
    pub fn received(&mut self, now: Instant, bytes: &[u8]) {
        if let Some(mut lines) = self.guest.take() {
            lines.push(bytes);
            while let Some(line) = lines.next_line() {
                let Text::Whole(line) = line else { continue };
                if self.active.is_none() || self.active.as_ref().is_some_and(|link| link.dead) {
                    if !AppConversation::is_handshake(&line) {
                        continue;
                    }
                    self.gone(now, false);
                    self.active = Some(Link {
                        lines: Lines::new(MAX_LINE),
                        sending: None,
                        dead: false,
                        lost: Vec::new(),
                    });
                }
                self.line(&line);
            }
            match &mut self.active {
                Some(link) if !link.dead => link.lines = lines,
                _ => self.guest = Some(lines),
            }
        } else if let Some(mut link) = self.active.take() {
            link.lines.push(bytes);
            let mut lines = std::mem::replace(&mut link.lines, Lines::new(MAX_LINE));
            self.active = Some(link);
            while let Some(line) = lines.next_line() {
                match line {
                    Text::Whole(line) => self.line(&line),
                    Text::Overlong(_) => {}
                }
            }
            self.active.as_mut().unwrap().lines = lines;
        }
        self.pump(now);
    }

    fn line(&mut self, line: &[u8]) {
        let announces = line.starts_with(b"NG") || line.starts_with(b"GE");
        let sending = self
            .active
            .as_ref()
            .is_some_and(|link| link.sending.is_some());
        self.withdrawn |= announces && sending;
        self.session.line("the app", line);
        if self.session.unproven().is_none() {
            self.unproven.clear();
        }
    }

    /// Something has arrived at the app.
    pub fn delivered(&mut self) {
        if self.out.under_way().next().is_none() {
            self.session.arrived();
            self.unproven.clear();
        }
    }

    /// Lets everything said now go on its way.
    pub fn pump(&mut self, now: Instant) {
        while let Some(action) = self.session.poll_action() {
            if let Action::Ask(command) = action {
                let after = self.commands.back().map_or(now, |(at, _)| *at);
                let at = self.soon(now, 5).max(after);
                self.commands.push_back((at, command));
            }
        }
        while self.core.poll_event().is_some() {}
        if self.core.poll_snapshot().is_some() && self.snapshot.is_none() {
            self.snapshot = Some(self.soon(now, 5));
        }
        let at = self.soon(now, 15);
        if let Some(link) = &mut self.active
            && link.sending.is_none()
            && let Some(message) = self.session.next_message()
        {
            let text = swpp::write(&message).trim_end_matches('\n').to_owned();
            link.sending = Some((at, text));
        }
    }

    pub fn due(&self) -> Option<Instant> {
        let link = self.active.as_ref();
        [
            self.core.deadline(),
            self.commands.front().map(|(at, _)| *at),
            self.snapshot,
            self.notice.map(|(at, _)| at),
            link.and_then(|link| link.sending.as_ref())
                .map(|(at, _)| *at),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Everything that is due now.
    pub fn tick(&mut self, now: Instant) {
        if let Some((_, tells)) = self.notice.take_if(|(at, _)| *at <= now) {
            self.gone(now, tells);
        }
        if self.core.deadline().is_some_and(|at| at <= now) {
            self.core.timeout(now);
        }
        while let Some((_, command)) = self.commands.pop_front_if(|(at, _)| *at <= now) {
            self.core.command(now, command);
        }
        self.pump(now);
        if self.snapshot.take_if(|at| *at <= now).is_some() {
            let snapshot = self.core.snapshot();
            self.session.snapshot(&snapshot);
        }
        if let Some(link) = &mut self.active
            && let Some((_, text)) = link.sending.take_if(|(at, _)| *at <= now)
        {
            self.session.sent(now);
            let moves = text.starts_with("MB");
            let withdrawn = std::mem::take(&mut self.withdrawn);
            if moves && !withdrawn {
                self.unproven.push(text.clone());
            }
            if moves {
                match self.again.iter().position(|again| *again == text) {
                    Some(at) => drop(self.again.remove(at)),
                    None => self.given.push(text.clone()),
                }
            }
            if link.dead {
                link.lost.push(text);
            } else {
                let bytes = format!("{text}\n");
                self.out.send(now, bytes.as_bytes(), text, &mut self.random);
            }
        }
        self.pump(now);
    }
}
