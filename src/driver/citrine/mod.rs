//! The Novag Citrine and its sister boards (57600 baud 8N1, lines ended by CR LF).
//!
//! Sources: "Communicating with the Novag Citrine" (2016) and public drivers' habits, see `PROTOCOL.md`.
//! What shaped this driver:
//!
//! - The board loses commands that come too close together: all go through a [`Pacer`].
//! - A move is sent twice, [`Settings::second_send`] apart ([`Settings::second_send_capture`] for a capture). Only
//!   the first is echoed, and the echo means *accepted*, not *executed by the player*.
//! - `New Game`, from either side, makes the board forget its settings. The driver also asks for them from time to
//!   time, because the board may lose them in other ways.
//! - A question turns the lamps off: a move that the player may still have to make is lit again afterwards.
//! - The board keeps its game while disconnected: the driver asks for it with `G` after every connection.

mod answer;
pub mod codec;
mod identity;
pub mod limits;
mod settings;
mod switches;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use serde_json::json;
use shakmaty::{Board, Chess, Color, Move, Piece, Position, Rank, uci::UciMove};

pub use self::settings::{Dialect, Settings};
use self::{
    answer::{Asking, Question, Receiving, differences, game_list},
    codec::Message,
    limits::{
        ANSWER_WAIT, ATTEMPTS, CASTLING_ECHO, CHECK_EVERY, CHECK_QUIET, ECHO_WAIT, LEARN_EVERY,
        LIST_PAUSE, LIST_PLIES, LIT_WAIT, MAX_LINE, SILENT_RETRY,
    },
    switches::{On, Throttle},
};
pub use self::{codec::KIND, identity::IDENTITY};
use super::{Driver, DriverEvent, Profile, Step, StepFailure, pacer::Pacer, stranger};
use crate::{
    chess::game::{Game, uci},
    text::lines::{LINE_WAIT, Line, Lines, printable},
    vocabulary::{Channel, Outgoing, Reported, Wording},
};

/// Referee mode: the player moves both sides, the board neither.
const REFEREE_ON: &str = "U ON";

/// The kind of a queued command: some waits begin when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandKind {
    Plain,
    Settings,
    Question,
    SecondSend,
}

/// A castling whose second send came late, where the same words may be the other side's.
#[derive(Clone, Copy, Debug)]
enum Relit {
    /// It was sent.
    Sent(Move),
    /// The other side's was made by it, and is taken back.
    TakenBack,
}

/// Whether the board answers.
#[derive(Debug, Default, PartialEq, Eq)]
enum Contact {
    /// It has not answered, or no longer does.
    #[default]
    Silent,
    /// It answers, with this name if it has given one. That is reported together with the first that it says of its game.
    Greets { id: Option<String> },
    /// It answers.
    Answers,
}

/// The current step.
#[derive(Debug)]
enum Doing {
    Show {
        m: Move,
        accepted: bool,
        sent_twice: bool,
        deadline: Option<Instant>,
    },
    TakeBack {
        m: Move,
        deadline: Option<Instant>,
    },
    NewGame {
        deadline: Option<Instant>,
    },
    SetUp {
        board: Box<Board>,
    },
}

/// The driver. See the module documentation.
#[derive(Debug)]
pub struct Citrine {
    settings: Settings,
    up: bool,
    contact: Contact,
    lines: Lines,
    /// When an unfinished line is given up.
    line_ends: Option<Instant>,
    pacer: Pacer<CommandKind>,
    events: VecDeque<DriverEvent>,
    asking: Option<Asking>,
    /// Settings that were sent and not yet confirmed.
    setting: Option<Throttle>,
    /// Which settings the board reported as on since it was last sent or asked for them.
    on: On,
    /// Whether the board reports that its settings are on.
    tells_settings: bool,
    /// Whether it answers when it is asked for its squares, once that is known.
    shows_squares: Option<bool>,
    /// The rank that its answer begins with.
    first_rank: Rank,
    /// When its settings were last sent or asked for.
    checked: Option<Instant>,
    receiving: Option<Receiving>,
    doing: Option<Doing>,
    /// A castling that was sent once before the link or the daemon ended. The lamps have not shown it, so the hand has not made
    /// it.
    unlit: Option<UciMove>,
    /// A castling of which it is only assumed that the hand has not made it.
    relit: Option<Relit>,
    /// Since when the lamps may show a move that the player has to make or take back.
    lit: Option<Instant>,
    /// Until then the player has time for the last step.
    rests_until: Option<Instant>,
    /// The game with the last position that the player is given time to set up.
    set_up: Option<Box<Game>>,
    /// When the game was last asked for.
    learned: Option<Instant>,
    /// When to ask for the game because something may have been missed; later if the driver is busy then.
    learn_at: Option<Instant>,
    /// A valid line was heard since the current question was first sent; and the list that came could not be read.
    heard: bool,
    unreadable: bool,
}

impl Citrine {
    /// A driver with these settings.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            up: false,
            contact: Contact::default(),
            lines: Lines::new(MAX_LINE),
            line_ends: None,
            pacer: Pacer::default(),
            events: VecDeque::new(),
            asking: None,
            setting: None,
            on: On::default(),
            tells_settings: false,
            shows_squares: None,
            first_rank: Rank::Eighth,
            checked: None,
            receiving: None,
            doing: None,
            unlit: None,
            relit: None,
            lit: None,
            rests_until: None,
            set_up: None,
            learned: None,
            learn_at: None,
            heard: false,
            unreadable: false,
        }
    }

    fn is_answering(&self) -> bool {
        self.contact != Contact::Silent
    }

    fn send(&mut self, now: Instant, command: &str, tag: CommandKind, gap: Duration) {
        let gap = gap.max(self.settings.command_gap);
        self.pacer.push(
            now,
            format!("{command}\r\n"),
            tag,
            gap,
            self.settings.command_gap,
        );
    }

    fn command(&mut self, now: Instant, command: &str) {
        self.send(now, command, CommandKind::Plain, Duration::ZERO);
    }

    /// Sends referee mode (the player moves both sides), move transmission and the level: every new game resets them.
    fn settings(&mut self, now: Instant) {
        self.setting = Some(Throttle::default());
        self.on = On::default();
        self.send_settings(now);
    }

    fn send_settings(&mut self, now: Instant) {
        if let Some(setting) = &mut self.setting {
            setting.attempts += 1;
            setting.deadline = None;
        }
        self.command(now, REFEREE_ON);
        if let Some(level) = self.settings.level.clone() {
            self.command(now, &format!("L {level}"));
        }
        self.send(now, "X ON", CommandKind::Settings, Duration::ZERO);
    }

    /// Handles a line that may report a setting.
    fn setting_told(&mut self, now: Instant, text: &str) {
        let Some((setting, is_on)) = switches::told(text) else {
            return;
        };
        self.tells_settings = true;
        if is_on {
            self.on.add(setting);
            if self.on.all() {
                self.settings_done(now);
            }
        } else if self.setting.is_none() && self.doing.is_none() {
            // Moves that the player made meanwhile were not transmitted.
            self.settings_done(now);
            self.settings(now);
            self.learn_soon(now);
        }
    }

    /// The board has its settings, or nothing more can be learned about them now.
    fn settings_done(&mut self, now: Instant) {
        self.setting = None;
        self.checked = Some(now);
        if self.asks(Question::Settings) {
            self.asking = None;
        }
    }

    /// When to ask the board for its settings: at intervals, and not while the lamps may show a move.
    fn check_deadline(&self) -> Option<Instant> {
        let due = self.checked.filter(|_| self.idle())? + CHECK_EVERY;
        let quiet = self.pacer.last_heard().map(|at| at + CHECK_QUIET);
        let seen = self.lit.map(|since| since + LIT_WAIT);
        [Some(due), quiet, seen].into_iter().flatten().max()
    }

    /// When the settings are to be sent again; not in the middle of a step.
    fn setting_deadline(&self) -> Option<Instant> {
        let setting = self.setting.as_ref().filter(|_| self.doing.is_none());
        setting.and_then(|setting| setting.deadline)
    }

    /// The board did not confirm the settings. They are sent again a few times only, because some sister boards may never
    /// confirm them. Moves made meanwhile were not transmitted.
    fn settings_overdue(&mut self, now: Instant) {
        if self
            .setting
            .as_ref()
            .is_some_and(|s| s.attempts >= ATTEMPTS)
        {
            self.settings_done(now);
        } else if self.is_answering() {
            self.send_settings(now);
            self.learn_soon(now);
        } else {
            // A board that does not answer at all gets them when it answers again.
            self.setting = None;
        }
    }

    fn ask(&mut self, now: Instant, what: Question) {
        self.receiving = None;
        self.heard = false;
        self.unreadable = false;
        self.asking = Some(Asking {
            what,
            attempts: 0,
            deadline: None,
        });
        self.send_question(now);
    }

    fn asks(&self, what: Question) -> bool {
        self.asking
            .as_ref()
            .is_some_and(|asking| asking.what == what)
    }

    /// Whether this question has been sent. Lines received before that answer an earlier question.
    fn has_asked(&self, what: Question) -> bool {
        let left = |asking: &Asking| asking.attempts > 1 || asking.deadline.is_some();
        self.asks(what) && self.asking.as_ref().is_some_and(left)
    }

    fn send_question(&mut self, now: Instant) {
        self.lit = None;
        if self
            .asking
            .as_ref()
            .is_some_and(|asking| asking.attempts > 0)
        {
            // A board that answers `I` but not the question does not support the question.
            self.command(now, "I");
        }
        if let Some(asking) = &mut self.asking {
            asking.attempts = asking.attempts.saturating_add(1);
            asking.deadline = None;
            let command = match asking.what {
                Question::Game => "G",
                Question::Squares => "P",
                Question::Settings if self.tells_settings => {
                    self.on = On::default();
                    self.command(now, "X");
                    "U"
                }
                Question::Settings => "I",
            };
            self.send(now, command, CommandKind::Question, Duration::ZERO);
        }
    }

    /// Sends a move the second time, which lights it.
    fn send_second(&mut self, now: Instant, m: Move) {
        let gap = if m.is_capture() {
            self.settings.second_send_capture
        } else {
            self.settings.second_send
        };
        self.send(now, &codec::show(m), CommandKind::SecondSend, gap);
    }

    fn unlit(&self) -> Option<UciMove> {
        match self.doing {
            Some(Doing::Show {
                m,
                sent_twice: false,
                ..
            }) if m.is_castle() => Some(uci(m)),
            _ => self.unlit,
        }
    }

    /// Reports something of the game, or that asking for it has ended; and before the first of these that the board answers. Before
    /// that, a first move that it does not transmit yet would look like an old game's.
    fn event(&mut self, event: DriverEvent) {
        if let Contact::Greets { id } = &mut self.contact {
            let id = id.take();
            self.contact = Contact::Answers;
            self.events.push_back(DriverEvent::Answers { id });
        }
        self.events.push_back(event);
    }

    fn line(&mut self, now: Instant, line: &[u8]) {
        let other = stranger::talks_as(line, KIND);
        if let Some(kind) = other.filter(|_| !self.is_answering()) {
            self.events.push_back(DriverEvent::Stranger(kind));
            return;
        }
        let message = codec::parse(line);
        self.heard |= !matches!(message, Message::Damaged);
        let answers = !matches!(message, Message::Damaged) && !stranger::may_be_no_citrines(line);
        if answers && !self.is_answering() {
            self.contact = Contact::Greets { id: None };
            if self.setting.is_none() || self.asking.as_ref().is_some_and(|a| a.attempts > 1) {
                // The board was off or disconnected when the settings were sent, or did not confirm them. Until it has
                // them, it does not transmit the player's moves.
                self.settings(now);
                self.learn_soon(now);
            }
        }
        // A list ends with a pause. Its column heads and the answer to a command sent before the question do not
        // end it, and neither does a move, unless it directly follows the last one listed.
        match &message {
            Message::Moved(number, reported) if matches!(&self.receiving, Some(list) if list.is_followed_by(*number, *reported)) =>
            {
                self.finish_list(now);
            }
            Message::Moved(..) | Message::TookBack(_) | Message::NewGame | Message::Ended(_) => {
                self.interrupt_list(now);
            }
            _ => {}
        }
        match message {
            Message::Moved(_, reported) => self.moved(now, reported),
            Message::TookBack(reported) => self.took_back(now, reported),
            Message::Ended(result) => self.event(DriverEvent::Ended(result)),
            Message::NewGame => self.new_game(now),
            Message::GameHead => {
                if self.has_asked(Question::Game) {
                    self.receiving = Some(Receiving::Game {
                        rows: Vec::new(),
                        ends: now + LIST_PAUSE,
                    });
                }
            }
            Message::GameRow {
                number,
                white,
                black,
            } => {
                if let Some(Receiving::Game { rows, ends }) = &mut self.receiving {
                    *ends = now + LIST_PAUSE;
                    if rows.len() < LIST_PLIES {
                        rows.push((number, white, black));
                    }
                } else {
                    // Unsolicited: a move that lost its letter.
                    self.damaged(now, line);
                }
            }
            Message::GridRow(cells, side) => self.grid_row(now, cells, side),
            Message::Id(_) if self.asks(Question::Settings) && !self.tells_settings => {
                self.settings_done(now);
            }
            Message::Id(name) => match &mut self.contact {
                Contact::Greets { id } => *id = Some(name),
                _ => self.event(DriverEvent::Answers { id: Some(name) }),
            },
            // Answers to settings (`Xmit on`) and other output of the firmware; the column heads of a list come
            // here too.
            Message::Other(text) if codec::holds_move(&text) => self.damaged(now, line),
            Message::Other(text) => self.setting_told(now, &text),
            Message::Damaged => self.damaged(now, line),
        }
    }

    /// A damaged line may have been a move: ask for the board's own record.
    fn damaged(&mut self, now: Instant, line: &[u8]) {
        let unreadable = DriverEvent::Unreadable(printable(line, MAX_LINE));
        self.events.push_back(unreadable);
        // It may have been the answer: ask again before concluding that the board has none.
        self.heard = false;
        let due = self.learned.map_or(now, |at| (at + LEARN_EVERY).max(now));
        self.learn_at = Some(due);
        self.learn_if_due(now);
    }

    /// A move of the player's may not have been transmitted: ask for the game after the current question.
    fn learn_soon(&mut self, now: Instant) {
        self.learn_at = Some(now);
        self.learn_if_due(now);
    }

    fn learn_if_due(&mut self, now: Instant) {
        if self.learn_deadline().is_some_and(|at| at <= now) {
            self.learn(now);
        }
    }

    /// When to ask for the game because something may have been missed; never during a step or a question.
    fn learn_deadline(&self) -> Option<Instant> {
        let free = self.is_answering() && self.asking.is_none() && self.doing.is_none();
        self.learn_at.filter(|_| free)
    }

    /// The lamps had not shown a castling, and yet the hand had made it: the board has taken the words for the other side's. That move is
    /// taken back. `true` if so.
    fn castles_for_the_other(&mut self, now: Instant, reported: Reported) -> bool {
        let Some(Relit::Sent(m)) = self.relit else {
            return false;
        };
        self.relit = None;
        let at_once = self.lit.is_some_and(|at| now < at + CASTLING_ECHO);
        let side = m.castling_side();
        let is_echo = matches!(reported.wording, Wording::Castle(by) if Some(by) == side);
        if at_once && is_echo {
            self.command(now, "T");
            self.relit = Some(Relit::TakenBack);
        }
        at_once && is_echo
    }

    fn moved(&mut self, now: Instant, reported: Reported) {
        if self.castles_for_the_other(now, reported) {
            return;
        }
        self.unlit = None;
        if let Some(Doing::Show { m, accepted, .. }) = &mut self.doing {
            // The echo of a shown move marks the side by the comma as well; the core knows whose move it is.
            let mover = reported.color.unwrap_or(Color::White);
            if !*accepted && reported.names(*m, mover) {
                *accepted = true;
                self.event(DriverEvent::Accepted);
                self.finish_show(now);
                return;
            }
            if *accepted {
                // The player moved before the second send: the lamps are no longer needed.
                self.pacer.clear();
                self.doing = None;
            }
        }
        self.event(DriverEvent::Moved(reported));
    }

    fn finish_show(&mut self, now: Instant) {
        if let Some(Doing::Show {
            accepted: true,
            sent_twice: true,
            ..
        }) = self.doing
        {
            self.doing = None;
            self.lit = Some(now);
            self.rests_until = Some(now + self.settings.move_wait);
        }
    }

    fn took_back(&mut self, now: Instant, reported: Reported) {
        if matches!(self.relit.take(), Some(Relit::TakenBack)) {
            return;
        }
        self.unlit = None;
        match self.doing {
            Some(Doing::TakeBack { m, .. }) => {
                self.doing = None;
                let mover = reported.color.unwrap_or(Color::White);
                if reported.names(m, mover) {
                    self.lit = Some(now);
                    self.rests_until = Some(now + self.settings.move_wait);
                    self.event(DriverEvent::Accepted);
                } else {
                    self.event(DriverEvent::Failed(StepFailure::Refused));
                }
                return;
            }
            Some(Doing::Show { .. }) => {
                self.pacer.clear();
                self.doing = None;
            }
            _ => {}
        }
        self.event(DriverEvent::TookBack(Some(reported)));
    }

    fn new_game(&mut self, now: Instant) {
        self.unlit = None;
        self.lit = None;
        match self.doing {
            Some(Doing::NewGame { .. }) => {
                self.doing = None;
                self.settings(now);
                self.set_up_taken(now);
                self.event(DriverEvent::Accepted);
                self.learn(now);
            }
            Some(Doing::SetUp { .. }) => {
                // The set-up sends the settings itself and asks afterwards; if already asked, the board is asked again.
                if self.asking.as_ref().is_some_and(|a| a.deadline.is_some()) {
                    self.settings(now);
                    self.ask(now, Question::Squares);
                }
            }
            _ => {
                self.drop_all();
                self.settings(now);
                self.event(DriverEvent::NewGame);
                // The pieces may stand elsewhere than at the start: a board that shows its squares is asked for them first.
                if self.shows_squares == Some(true) {
                    self.ask(now, Question::Squares);
                }
                // A move made before the settings arrived was not reported.
                self.learn_soon(now);
            }
        }
    }

    /// Drops the current step and question and everything queued for them.
    fn drop_all(&mut self) {
        self.pacer.clear();
        self.doing = None;
        self.asking = None;
        self.setting = None;
        self.receiving = None;
        self.rests_until = None;
        self.relit = None;
    }

    fn grid_row(&mut self, now: Instant, cells: [Option<Piece>; 8], side: Option<Color>) {
        if !self.has_asked(Question::Squares) {
            return;
        }
        if !matches!(self.receiving, Some(Receiving::Squares { .. })) {
            self.receiving = Some(Receiving::Squares {
                rows: Vec::new(),
                turn: None,
                ends: now,
            });
        }
        if let Some(Receiving::Squares { rows, turn, ends }) = &mut self.receiving {
            *ends = now + LIST_PAUSE;
            *turn = side.or(*turn);
            if rows.len() < 8 {
                rows.push(cells);
            }
            if rows.len() == 8 {
                self.finish_list(now);
            }
        }
    }

    /// The board interrupted its answer with something else: ask once more.
    fn interrupt_list(&mut self, now: Instant) {
        if self.receiving.take().is_some()
            && let Some(asking) = &mut self.asking
        {
            asking.attempts = 0;
            asking.deadline = Some(now + LIST_PAUSE);
        }
    }

    /// The answer being received is complete.
    fn finish_list(&mut self, now: Instant) {
        match self.receiving.take() {
            None => {}
            Some(Receiving::Game { rows, .. }) => {
                if let Some((skipped, moves)) = game_list(&rows) {
                    self.asking = None;
                    let full = moves.len() >= LIST_PLIES;
                    self.event(DriverEvent::Listed {
                        skipped,
                        moves,
                        full,
                    });
                } else {
                    self.unreadable = true;
                    self.ask_again(now);
                }
            }
            Some(Receiving::Squares { rows, turn, .. }) => {
                if rows.len() < 8 {
                    self.ask_again(now);
                    return;
                }
                self.asking = None;
                self.placed(now, &rows, turn);
            }
        }
    }

    fn placed(&mut self, now: Instant, rows: &[[Option<Piece>; 8]], side: Option<Color>) {
        self.shows_squares = Some(true);
        // The documents do not say which rank comes first; Novag's position lines elsewhere begin with the eighth. A
        // position that is expected shows it, and so does the start position.
        let [down, up] = [Rank::Eighth, Rank::First].map(|first| codec::grid(rows, first));
        if let Some(Doing::SetUp { board: wanted }) = &self.doing {
            if differences(wanted, &up) < differences(wanted, &down) {
                self.first_rank = Rank::First;
            } else if differences(wanted, &down) < differences(wanted, &up) {
                self.first_rank = Rank::Eighth;
            }
            self.set_up_taken(now);
        } else if up == Board::new() {
            self.first_rank = Rank::First;
        } else if down == Board::new() {
            self.first_rank = Rank::Eighth;
        }
        let board = match self.first_rank {
            Rank::First => up,
            _ => down,
        };
        self.event(DriverEvent::Placed {
            board: Box::new(board),
            turn: side,
        });
    }

    /// The current question was not answered in time, or the answer could not be read.
    fn ask_again(&mut self, now: Instant) {
        let Some(Asking { what, attempts, .. }) = &mut self.asking else {
            return;
        };
        let attempts = *attempts;
        match what {
            Question::Settings if self.heard => {
                self.settings_done(now);
                return;
            }
            // It may be off: ask for its game until it answers, as after a connection.
            Question::Settings => *what = Question::Game,
            // The board said something, but not its squares, twice: a question may get lost.
            Question::Squares if self.heard && attempts > 1 || attempts >= ATTEMPTS => {
                self.asking = None;
                if matches!(self.doing, Some(Doing::SetUp { .. })) {
                    // Assume that a board that does not show its squares has taken the position.
                    self.set_up_taken(now);
                    self.event(DriverEvent::Accepted);
                } else {
                    self.shows_squares = Some(false);
                    self.event(DriverEvent::NoPicture);
                }
                return;
            }
            Question::Game if attempts >= ATTEMPTS && self.unreadable => {
                self.asking = None;
                self.event(DriverEvent::ListUnreadable);
                return;
            }
            Question::Game if attempts >= ATTEMPTS && self.heard => {
                self.asking = None;
                self.event(DriverEvent::NoList);
                return;
            }
            _ if attempts == ATTEMPTS => {
                self.contact = Contact::Silent;
                self.event(DriverEvent::Silent);
            }
            _ => {}
        }
        self.send_question(now);
    }

    /// The board has the position; the player is given time for it, unless it is no longer wanted.
    fn set_up_taken(&mut self, now: Instant) {
        self.doing = None;
        self.rests_until = self.set_up.as_ref().map(|_| now + self.settings.setup_wait);
    }

    fn step_failed(&mut self, failure: StepFailure) {
        self.doing = None;
        self.event(DriverEvent::Failed(failure));
    }
}

impl Driver for Citrine {
    fn profile(&self) -> Profile {
        Profile::Listed
    }

    fn link_up(&mut self, now: Instant) {
        self.link_down();
        self.pacer.link_began(now);
        self.up = true;
        self.checked = Some(now);
        self.settings(now);
        self.command(now, "I");
        self.learn(now);
    }

    fn link_down(&mut self) {
        self.unlit = self.unlit();
        self.drop_all();
        self.up = false;
        self.contact = Contact::Silent;
        self.lines.clear();
        self.line_ends = None;
        self.events.clear();
        self.learned = None;
        self.learn_at = None;
        self.lit = None;
        self.tells_settings = false;
        self.shows_squares = None;
    }

    fn received(&mut self, now: Instant, _channel: Channel, bytes: &[u8]) {
        self.pacer.heard(now);
        self.lines.push(bytes);
        while let Some(line) = self.lines.next_line() {
            match line {
                Line::Whole(line) => self.line(now, &line),
                Line::Overlong(length) => {
                    let text = format!("a line of {length} bytes, dropped");
                    self.damaged(now, text.as_bytes());
                }
            }
        }
        self.line_ends = self.lines.is_unfinished().then(|| now + LINE_WAIT);
    }

    fn timeout(&mut self, now: Instant) {
        if self.rests_until.is_some_and(|at| at <= now) {
            self.rests_until = None;
        }
        if self.line_ends.is_some_and(|at| at <= now) {
            self.line_ends = None;
            let broken = self.lines.take_partial();
            self.damaged(now, &broken);
        }
        if self.receiving.as_ref().is_some_and(|r| r.ends() <= now) {
            self.finish_list(now);
        }
        let overdue = |deadline: Option<Instant>| deadline.is_some_and(|at| at <= now);
        if let Some(asking) = &self.asking
            && self.receiving.is_none()
            && overdue(asking.deadline)
        {
            self.ask_again(now);
        }
        if overdue(self.setting_deadline()) {
            self.settings_overdue(now);
        }
        self.learn_if_due(now);
        if overdue(self.check_deadline()) {
            self.ask(now, Question::Settings);
        }
        match self.doing {
            Some(
                Doing::Show { deadline, .. }
                | Doing::TakeBack { deadline, .. }
                | Doing::NewGame { deadline },
            ) if overdue(deadline) => {
                self.step_failed(StepFailure::NoAnswer);
            }
            _ => {}
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let doing = match self.doing {
            Some(
                Doing::Show { deadline, .. }
                | Doing::TakeBack { deadline, .. }
                | Doing::NewGame { deadline },
            ) => deadline,
            _ => None,
        };
        let asking = match (&self.receiving, &self.asking) {
            (Some(receiving), _) => Some(receiving.ends()),
            (None, Some(asking)) => asking.deadline,
            (None, None) => None,
        };
        [
            self.pacer.deadline(),
            self.setting_deadline(),
            self.learn_deadline(),
            self.check_deadline(),
            self.rests_until,
            self.line_ends,
            doing,
            asking,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn idle(&self) -> bool {
        self.up
            && self.is_answering()
            && self.setting.is_none()
            && self.asking.is_none()
            && self.doing.is_none()
            && self.rests_until.is_none()
    }

    fn stepping(&self) -> bool {
        let accepted = matches!(self.doing, Some(Doing::Show { accepted: true, .. }));
        self.doing.is_some() && !accepted
    }

    fn start(&mut self, now: Instant, step: Step) {
        if !self.idle() {
            return;
        }
        self.set_up = match &step {
            Step::Show(_) | Step::TakeBack(_) => None,
            Step::NewGame(_) => Some(Box::default()),
            Step::SetUp(game) => Some(game.clone()),
        };
        match step {
            Step::Show(m) => {
                // A board that lost this mode unnoticed would answer the move with one of its own.
                self.command(now, REFEREE_ON);
                self.command(now, &codec::show(m));
                self.send_second(now, m);
                self.doing = Some(Doing::Show {
                    m,
                    accepted: false,
                    sent_twice: false,
                    deadline: None,
                });
            }
            Step::TakeBack(m) => {
                self.send(now, "T", CommandKind::Question, Duration::ZERO);
                self.doing = Some(Doing::TakeBack { m, deadline: None });
            }
            Step::NewGame(_) => {
                self.send(now, "N", CommandKind::Question, Duration::ZERO);
                self.doing = Some(Doing::NewGame { deadline: None });
            }
            Step::SetUp(game) => {
                let position = game.position();
                self.command(now, &codec::set_up(position));
                self.settings(now);
                self.doing = Some(Doing::SetUp {
                    board: Box::new(position.board().clone()),
                });
                self.ask(now, Question::Squares);
            }
        }
    }

    fn confirm(&mut self, _now: Instant) {
        self.rests_until = None;
        self.lit = None;
    }

    fn light_again(&mut self, now: Instant, game: &Game) -> bool {
        let Some(m) = game.last().filter(|_| self.lit.is_none()) else {
            return false;
        };
        // `mO-O` means the other side's castling once the player has made this one.
        let means = |next: &Move| codec::show(*next) == codec::show(m);
        let may_be_made = self.unlit.take() != Some(uci(m));
        let is_ambiguous = game.position().legal_moves().iter().any(means);
        if may_be_made && is_ambiguous {
            return false;
        }
        self.relit = is_ambiguous.then_some(Relit::Sent(m));
        self.send_second(now, m);
        self.doing = Some(Doing::Show {
            m,
            accepted: true,
            sent_twice: false,
            deadline: None,
        });
        true
    }

    fn abandon(&mut self, target: Option<&Game>) {
        let left = |game: &mut Box<Game>| !target.is_some_and(|target| target.continues(game));
        if self.set_up.take_if(left).is_some() {
            self.rests_until = None;
        }
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {
        // This board never asks for the position; it is asked.
    }

    fn learn(&mut self, now: Instant) {
        if self.up && self.asking.is_none() {
            self.doing = None;
            self.learned = Some(now);
            self.learn_at = None;
            self.ask(now, Question::Game);
        }
    }

    fn is_asked(&self) -> bool {
        self.asking.is_some()
    }

    fn look(&mut self, now: Instant) {
        if self.shows_squares == Some(false) {
            self.event(DriverEvent::NoPicture);
        } else if self.up && self.asking.is_none() {
            self.ask(now, Question::Squares);
        }
    }

    fn memory(&self) -> Option<serde_json::Value> {
        let unlit = self.unlit().map(|m| m.to_string());
        let from_first = self.first_rank == Rank::First;
        (unlit.is_some() || from_first)
            .then(|| json!({"unlit": unlit, "from_first_rank": from_first}))
    }

    fn recall(&mut self, memory: serde_json::Value) {
        let unlit = memory["unlit"].as_str();
        self.unlit = unlit.and_then(|text| text.parse().ok());
        if memory.get("from_first_rank") == Some(&true.into()) {
            self.first_rank = Rank::First;
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let (bytes, sent) = self.pacer.poll(now)?;
        match sent {
            CommandKind::Plain => {}
            CommandKind::Settings => {
                if let Some(setting) = &mut self.setting {
                    setting.deadline = Some(now + ANSWER_WAIT);
                }
            }
            CommandKind::Question => match (&mut self.doing, &mut self.asking) {
                (Some(Doing::TakeBack { deadline, .. } | Doing::NewGame { deadline }), _) => {
                    *deadline = Some(now + ANSWER_WAIT);
                }
                (_, Some(asking)) => {
                    if asking.attempts == 1 {
                        // What was heard before does not answer it.
                        self.heard = false;
                    }
                    let wait = if asking.attempts > ATTEMPTS {
                        SILENT_RETRY
                    } else {
                        ANSWER_WAIT
                    };
                    asking.deadline = Some(now + wait);
                }
                _ => {}
            },
            CommandKind::SecondSend => {
                if let Some(Doing::Show {
                    sent_twice,
                    deadline,
                    ..
                }) = &mut self.doing
                {
                    *sent_twice = true;
                    *deadline = Some(now + ECHO_WAIT);
                }
                self.finish_show(now);
            }
        }
        Some(Outgoing::serial(bytes))
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}
