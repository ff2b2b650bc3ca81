//! Any board that speaks SWPP, over a serial line, TCP or Bluetooth LE: here `BoardBridge` is the app.
//!
//! Source: the protocol's document and the field notes, see `PROTOCOL.md`. What shaped this driver:
//!
//! - The board is asked once whether it is there ([`handshake`]), and acknowledges nothing afterwards: what the link
//!   has taken counts as shown. Successive moves are sent [`MOVE_WAIT`] apart, so that the player can make them one
//!   by one.
//! - The protocol has no take-back, no position and no request for the game: after a lost link the board is assumed to
//!   hold its previous game, and the player sets up by hand what no message can express. A board that has restarted
//!   is sent its game again, as far as there are messages for it.
//! - The board reports moves only. A move that cannot be played is reported to the player and changes nothing.

pub mod handshake;
mod identity;
mod memory;
mod settings;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Chess, Color, Outcome, Position};

pub use self::identity::{IDENTITY, KIND};
pub use self::settings::Settings;
use self::{
    handshake::{Answer, Due, Handshake},
    memory::SavedSwpp,
};
use super::{
    Driver, DriverEvent, Profile, Step, StepFailure,
    outbox::{Outbox, Settled},
};
use crate::{
    chess::game::Game,
    text::{
        lines::{LINE_WAIT, Line, Lines, printable},
        swpp::{self, Ending, GameKind, MAX_LINE, Message},
    },
    vocabulary::{
        Beginning, Channel, GameEnd, Opponent, Outgoing, Reason, Reply, Reported, Request, Wording,
    },
};

/// How long the player may take for a shown move before the next one is shown, by default: no board reports that the
/// move was made.
pub const MOVE_WAIT: Duration = Duration::from_secs(3);
/// How long another `BoardBridge` has after its handshake to report a move of its player, before messages that may have
/// been lost are repeated: it reports one at once.
pub const REPEAT_WAIT: Duration = Duration::from_secs(2);
/// The app build that we send. The field notes' example; no known board uses it.
pub const BUILD: u16 = 0x0023;

/// How messages are framed within the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A serial line or TCP: bytes both ways, never acknowledged.
    Stream,
    /// Two characteristics: we write to one, one message per write, and the board notifies on the other.
    Gatt {
        /// Written with a response.
        write: Channel,
        /// Subscribed to.
        notify: Channel,
    },
}

/// What a request is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Subscription,
    Handshake,
    /// The last message of the current step.
    Step,
    /// The end of a game.
    Ending,
    /// A message that may have been lost with the previous link.
    Repeat,
    /// The move that the player has yet to make, shown again.
    Again,
}

/// The current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// A new game, on its way to the board.
    Beginning(Beginning),
    /// A move, on its way to the board.
    Showing,
    /// The player has until then.
    Hand(Instant),
}

/// The driver. See the module documentation.
#[derive(Debug)]
pub struct Swpp {
    way: Framing,
    move_wait: Duration,
    handshake: Handshake,
    lines: Lines,
    outbox: Outbox<Part>,
    events: VecDeque<DriverEvent>,
    doing: Option<Doing>,
    /// The game that the board was last told to begin.
    told: Option<Beginning>,
    /// Whether that game is in progress: begun, and not over.
    running: bool,
    /// How that game ended, until this can be sent to the board.
    ending: Option<Ending>,
    /// When to answer that the board cannot report its game, after [`Driver::learn`].
    asked: Option<Instant>,
    /// When an unfinished line is given up.
    line_ends: Option<Instant>,
    /// What was wrong with the last H1.
    unfit: Option<String>,
    hang_up: Option<String>,
    /// The board is another `BoardBridge`: it recognises a repeated message as the same.
    repeats: bool,
    /// Whether the board forgets its game when its link is reopened; if not configured, its answers show it.
    forgets: Option<bool>,
    /// The line powers the board: it forgets its game whenever the line is lost.
    fed: bool,
    /// The daemon was restarted; the board may have kept its power meanwhile, and has not answered since.
    recalled: bool,
    /// What the board said of itself in its last H1.
    id: Option<String>,
    /// The message of the current step.
    leaving: Option<Message>,
    /// Messages that the link has taken since the player's last move: they may not have arrived.
    unheard: Vec<Message>,
    /// The player's last move in this game.
    heard: Option<Wording>,
    /// When the messages in `unheard` are repeated.
    repeats_at: Option<Instant>,
}

impl Swpp {
    /// A driver for a board reached in this way.
    pub fn new(way: Framing, move_wait: Duration) -> Self {
        Self {
            way,
            move_wait,
            handshake: Handshake::default(),
            lines: Lines::new(MAX_LINE),
            outbox: Outbox::default(),
            events: VecDeque::new(),
            doing: None,
            told: None,
            running: false,
            ending: None,
            asked: None,
            line_ends: None,
            unfit: None,
            hang_up: None,
            repeats: false,
            forgets: None,
            fed: false,
            recalled: false,
            id: None,
            leaving: None,
            unheard: Vec::new(),
            heard: None,
            repeats_at: None,
        }
    }

    /// A driver for the board of another `BoardBridge`, over a stream. What a link had taken when it broke may be lost;
    /// this driver repeats it on the next link, where a board of another make might take it for a mistake.
    pub fn toward_boardbridge() -> Self {
        Self {
            repeats: true,
            // The core at the other end leads its player from move to move.
            ..Self::new(Framing::Stream, Duration::ZERO)
        }
    }

    /// The same, where it is known whether the board forgets its game when its link is reopened.
    pub fn forgetting(mut self, forgets: Option<bool>) -> Self {
        self.forgets = forgets;
        self
    }

    /// The same; `fed`: the line powers the board.
    pub fn fed_by_its_line(mut self, fed: bool) -> Self {
        self.fed = fed;
        self
    }

    /// Repeats what may have been lost.
    fn repeat(&mut self) {
        for message in self.unheard.clone() {
            self.send(&message, Part::Repeat);
        }
    }

    /// The board has repeated its handshake. If `restarted`, it has lost its game and its lamps: it is told which game
    /// is in progress and shown the last move again, unless the player has moved since. Otherwise only that move is
    /// repeated: a board that has it knows that the same move is never made twice running. (Castling is not repeated:
    /// `0-0` may be the other side's.)
    fn remind(&mut self, now: Instant, restarted: bool) {
        if self.repeats {
            self.repeats_at = (!self.unheard.is_empty()).then(|| now + REPEAT_WAIT);
            return;
        }
        if let Some(told) = self.told {
            if !self.running {
                return;
            }
            if restarted {
                self.send(&announcement(told), Part::Repeat);
            }
        }
        let castles = |m: &&Message| matches!(m, Message::AppMove(Wording::Castle(_)));
        let shown = self.unheard.last();
        let shown = shown.filter(|m| matches!(m, Message::AppMove(_)));
        if let Some(message) = shown.filter(|m| restarted || !castles(m)).cloned() {
            self.send(&message, Part::Again);
            self.doing = Some(Doing::Hand(now + self.move_wait));
        }
    }

    fn send(&mut self, message: &Message, part: Part) {
        let channel = match self.way {
            Framing::Stream => Channel::Serial,
            Framing::Gatt { write, .. } => write,
        };
        let request = Request::Write(swpp::write(message).into());
        self.outbox.push(Outgoing { channel, request }, part);
    }

    fn line(&mut self, now: Instant, line: &[u8]) {
        match swpp::read(line) {
            Ok(Message::HandshakeResponse {
                protocol,
                version,
                serial,
            }) => {
                self.unfit = None;
                let answer = self.handshake.answered(now);
                if let Answer::Awaited { missed } = answer {
                    let mut id = format!("SWPP {protocol}, version {}", version.as_str());
                    if !serial.is_empty() {
                        id = format!("{id}, serial number {serial}");
                        if version.is_full() {
                            // This may be intended: the board is accepted as it is.
                            id += " (is the version filled up to 8 characters?)";
                        }
                    }
                    let before = self.id.replace(id.clone());
                    let other = before.is_some_and(|before| before != id);
                    let unfed = self.fed && !std::mem::take(&mut self.recalled);
                    self.events.push_back(DriverEvent::Answers { id: Some(id) });
                    self.send_ending();
                    self.remind(now, self.forgets.unwrap_or(missed || other || unfed));
                } else if answer == Answer::Unasked && !self.stepping() {
                    self.remind(now, self.forgets != Some(false));
                }
            }
            // On a new link a move may arrive before H1: the player does not wait for it.
            Ok(Message::BoardMove(wording)) => {
                // A repeated move was sent before: the same piece never makes the same move twice running.
                if self.heard.replace(wording) != Some(wording) {
                    self.unheard.clear();
                    self.repeats_at = None;
                }
                let reported = Reported {
                    color: None,
                    wording,
                };
                self.events.push_back(DriverEvent::Moved(reported));
            }
            // Only an app sends these: an echo, or two apps on one line.
            Ok(_) => self.unreadable(format!(
                "an app's message came back: {}",
                printable(line, MAX_LINE)
            )),
            Err(error) => {
                if line.starts_with(b"H1") && !self.handshake.is_done() {
                    self.unfit = Some(error.to_string());
                }
                self.unreadable(error.to_string());
            }
        }
    }

    fn unreadable(&mut self, text: String) {
        self.events.push_back(DriverEvent::Unreadable(text));
    }

    fn settled(&mut self, now: Instant, settled: Settled<Part>) {
        match settled {
            Settled::Done(Part::Subscription) => self.handshake.begin(now),
            Settled::Done(Part::Handshake) => self.handshake.left(now),
            Settled::Done(Part::Step) => {
                self.unheard.extend(self.leaving.take());
                self.doing = match self.doing {
                    Some(Doing::Showing) => Some(Doing::Hand(now + self.move_wait)),
                    // The first move may be shown at once: the board keeps it until the pieces are set up.
                    Some(Doing::Beginning(beginning)) => {
                        self.told = Some(beginning);
                        self.running = true;
                        None
                    }
                    Some(Doing::Hand(_)) | None => return,
                };
                self.events.push_back(DriverEvent::Accepted);
            }
            Settled::GivenUp(Part::Step, _) => {
                self.doing = None;
                self.events
                    .push_back(DriverEvent::Failed(StepFailure::NoAnswer));
            }
            Settled::GivenUp(Part::Subscription | Part::Handshake, why) => {
                self.hang_up = Some(format!(
                    "the board rejects the connection: {why}; write and notify in its ble = {{ … }} name the ones to use"
                ));
            }
            Settled::Done(Part::Repeat | Part::Again) => {
                if let Some(Doing::Hand(until)) = &mut self.doing {
                    *until = now + self.move_wait;
                }
            }
            // Whether it arrived makes no difference to the next game, which is announced in any case.
            Settled::Done(Part::Ending)
            | Settled::GivenUp(Part::Ending | Part::Repeat | Part::Again, _) => {}
        }
    }

    /// The player's deadline for the shown move; none while messages are still being sent.
    fn hand_until(&self) -> Option<Instant> {
        match self.doing {
            Some(Doing::Hand(until)) if self.outbox.is_empty() => Some(until),
            _ => None,
        }
    }

    /// Tells the board once that its game is over; if the handshake is not done yet, afterwards.
    fn end(&mut self, ending: Ending) {
        if std::mem::take(&mut self.running) {
            self.ending = Some(ending);
            self.send_ending();
        }
    }

    /// Sends the end of the last game if the board has not been told. It survives a lost link.
    fn send_ending(&mut self) {
        if self.handshake.is_done()
            && let Some(ending) = self.ending.take()
        {
            self.send(&Message::GameEnded(ending), Part::Ending);
        }
    }

    fn begin(&mut self, beginning: Beginning) {
        // A game abandoned for another was never finished.
        self.end(Ending::Aborted);
        let message = announcement(beginning);
        self.send(&message, Part::Step);
        self.unheard.clear();
        self.heard = None;
        self.leaving = Some(message);
    }
}

/// The message that begins this game.
fn announcement(beginning: Beginning) -> Message {
    let kind = match beginning.opponent {
        Opponent::Nobody => GameKind::Offline,
        Opponent::Engine => GameKind::Engine,
        Opponent::WhitePawn => GameKind::WhitePawn,
        Opponent::Lichess => GameKind::Lichess,
    };
    Message::NewGame {
        kind,
        waits_for_board: beginning.hand != Some(Color::Black),
    }
}

impl Driver for Swpp {
    fn profile(&self) -> Profile {
        Profile::MovesOnly
    }

    fn link_up(&mut self, now: Instant) {
        self.link_down();
        match self.way {
            Framing::Stream => self.handshake.begin(now),
            Framing::Gatt { notify, .. } => self.outbox.push(
                Outgoing {
                    channel: notify,
                    request: Request::Subscribe,
                },
                Part::Subscription,
            ),
        }
    }

    fn link_down(&mut self) {
        self.handshake = Handshake::default();
        self.lines.clear();
        self.outbox.clear();
        self.events.clear();
        // The player keeps the time for what was shown, whatever happens to the link.
        self.doing.take_if(|doing| !matches!(doing, Doing::Hand(_)));
        self.asked = None;
        self.line_ends = None;
        self.unfit = None;
        self.hang_up = None;
        // This message may not have arrived and will be shown again: the move before it is no longer the last.
        if self.leaving.take().is_some() && !self.repeats {
            self.unheard.clear();
        }
        self.repeats_at = None;
    }

    fn received(&mut self, now: Instant, _channel: Channel, bytes: &[u8]) {
        self.lines.push(bytes);
        while let Some(line) = self.lines.next_line() {
            match line {
                Line::Whole(line) => self.line(now, &line),
                Line::Overlong(length) => {
                    self.unreadable(format!("a line of {length} bytes, dropped"));
                }
            }
        }
        self.line_ends = self.lines.is_unfinished().then(|| now + LINE_WAIT);
    }

    fn answered(&mut self, now: Instant, _channel: Channel, outcome: Reply) {
        if let Some(settled) = self.outbox.answered(now, outcome) {
            self.settled(now, settled);
        }
    }

    fn timeout(&mut self, now: Instant) {
        if self.line_ends.take_if(|at| *at <= now).is_some() {
            let text = printable(&self.lines.take_partial(), MAX_LINE);
            self.unreadable(format!("a line without its end: {text}"));
        }
        match self.handshake.poll(now) {
            Some(Due::Ask) => {
                let h0 = Message::HandshakeRequest {
                    protocol: Some(swpp::VERSION),
                    build: Some(BUILD),
                };
                self.send(&h0, Part::Handshake);
            }
            Some(Due::Silent) => match self.unfit.take() {
                Some(unfit) => self.hang_up = Some(format!("the handshake failed: {unfit}")),
                None => self.events.push_back(DriverEvent::Silent),
            },
            None => {}
        }
        if self.hand_until().is_some_and(|until| until <= now) {
            self.doing = None;
        }
        if self.repeats_at.take_if(|at| *at <= now).is_some() {
            self.repeat();
        }
        if self.asked.take_if(|at| *at <= now).is_some() {
            // It is unknown whether the board has forgotten its game.
            self.events.push_back(DriverEvent::NoList);
        }
    }

    fn deadline(&self) -> Option<Instant> {
        [
            self.handshake.deadline(),
            self.outbox.deadline(),
            self.hand_until(),
            self.asked,
            self.line_ends,
            self.repeats_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn idle(&self) -> bool {
        self.handshake.is_done() && self.doing.is_none() && self.repeats_at.is_none()
    }

    fn stepping(&self) -> bool {
        matches!(self.doing, Some(Doing::Beginning(_) | Doing::Showing))
    }

    fn start(&mut self, _now: Instant, step: Step) {
        if !self.idle() {
            return;
        }
        self.doing = match step {
            Step::Show(m) => {
                let message = Message::AppMove(Reported::of(m).wording);
                self.send(&message, Part::Step);
                self.leaving = Some(message);
                Some(Doing::Showing)
            }
            Step::NewGame(beginning) => {
                self.begin(beginning);
                Some(Doing::Beginning(beginning))
            }
            // This protocol has no messages for these.
            Step::TakeBack(_) | Step::SetUp(_) => None,
        };
    }

    fn confirm(&mut self, _now: Instant) {
        if matches!(self.doing, Some(Doing::Hand(_))) {
            self.doing = None;
        }
        if !self.repeats {
            // Moves that the player has made, or that a position set up by hand has replaced, are not shown again.
            self.unheard.clear();
            self.outbox.retract(Part::Again);
        }
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {}

    fn learn(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    fn look(&mut self, _now: Instant) {}

    fn follow(&mut self, _now: Instant, game: &Game, _may_replace: bool) -> bool {
        match game.position().outcome() {
            Outcome::Known(outcome) => self.end(match outcome.winner() {
                Some(_) => Ending::Checkmate,
                None => Ending::Draw,
            }),
            Outcome::Unknown => {}
        }
        false
    }

    fn knows_of(&self, beginning: Beginning) -> bool {
        self.running && self.told == Some(beginning)
    }

    fn game_ended(&mut self, _now: Instant, end: GameEnd) {
        let hand = self.told.and_then(|told| told.hand);
        let ending = match (end.reason, end.loser()) {
            (Reason::Checkmate, _) => Ending::Checkmate,
            // Any other loss can be sent only as one of these two. If the player moves both sides, it is the user who resigns.
            (_, Some(loser)) if hand.is_none_or(|hand| loser == hand) => Ending::UserResigned,
            (_, Some(_)) => Ending::OpponentResigned,
            (_, None) if end.outcome.is_known() => Ending::Draw,
            (_, None) => Ending::Aborted,
        };
        self.end(ending);
    }

    fn memory(&self) -> Option<serde_json::Value> {
        serde_json::to_value(SavedSwpp::of(self)).ok()
    }

    fn recall(&mut self, memory: serde_json::Value) {
        if let Ok(memory) = serde_json::from_value::<SavedSwpp>(memory) {
            memory.recall(self);
        }
    }

    fn poll_hang_up(&mut self) -> Option<String> {
        self.hang_up.take()
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let outgoing = self.outbox.poll(now, false)?;
        if self.outbox.under_way() == Some(Part::Handshake) {
            self.handshake.leaves(now);
        }
        if self.way == Framing::Stream
            && let Some(settled) = self.outbox.answered(now, Reply::Done)
        {
            self.settled(now, settled);
        }
        Some(outgoing)
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}
