//! The Novag Citrine and its sister boards (57600 baud 8N1, lines ended by CR LF).
//!
//! Sources: "Communicating with the Novag Citrine" (2016) and public drivers' habits, see `docs/protocols.md`.
//! What shaped this driver:
//!
//! - The board loses commands that come too close: all go through a [`Pacer`].
//! - A move is sent twice, [`Timing::second_send`] apart ([`Timing::second_send_capture`] for a capture). Only
//!   the first is echoed, and the echo means *accepted*, not *executed by the hand*.
//! - `New Game`, whoever began it, makes the board forget its settings.
//! - The board keeps its game while the computer is away: `G` tells it after every connection.

mod answer;
pub mod codec;
mod setting;
pub mod timing;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Board, Chess, Color, Move, Piece, Position, Rank};

pub use self::timing::Timing;
use self::{
    answer::{Asking, Question, Receiving, differences, game_list},
    codec::Message,
    setting::Setting,
    timing::{
        ANSWER_WAIT, ATTEMPTS, ECHO_WAIT, LEARN_EVERY, LIST_PAUSE, LIST_PLIES, MAX_LINE,
        SILENT_RETRY,
    },
};
use super::{
    Capabilities, Channel, Driver, DriverEvent, Outgoing, Reported, Step, StepFailure,
    lines::{LINE_WAIT, Line, Lines, printable},
    pacer::Pacer,
};

/// What went out, so that a wait begins when its question left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Plain,
    Settings,
    Question,
    FirstSend,
    SecondSend,
}

/// The step under way.
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

/// The driver. See the module's introduction.
#[derive(Debug)]
pub struct Citrine {
    timing: Timing,
    level: Option<String>,
    up: bool,
    answering: bool,
    lines: Lines,
    /// When an unfinished line counts as broken off.
    line_ends: Option<Instant>,
    pacer: Pacer<Sent>,
    events: VecDeque<DriverEvent>,
    asking: Option<Asking>,
    setting: Option<Setting>,
    receiving: Option<Receiving>,
    doing: Option<Doing>,
    /// A move sent once and not yet twice: it must be, even if the link was lost between the two.
    sent_once: Option<Move>,
    /// The hand is given until then.
    rests_until: Option<Instant>,
    /// When the game was last asked for.
    learned: Option<Instant>,
    /// Something was damaged: the game is to be asked for then, or as soon as nothing else is under way.
    learn_at: Option<Instant>,
    /// Valid lines heard since the question under way was first asked, and lists that could not be read.
    heard: bool,
    unreadable: bool,
}

impl Citrine {
    /// A driver; `level` is set at every new game (for instance `TR8`), or left as the board has it.
    pub fn new(timing: Timing, level: Option<String>) -> Self {
        Self {
            timing,
            level,
            up: false,
            answering: false,
            lines: Lines::new(MAX_LINE),
            line_ends: None,
            pacer: Pacer::default(),
            events: VecDeque::new(),
            asking: None,
            setting: None,
            receiving: None,
            doing: None,
            sent_once: None,
            rests_until: None,
            learned: None,
            learn_at: None,
            heard: false,
            unreadable: false,
        }
    }

    fn send(&mut self, now: Instant, command: &str, tag: Sent, gap: Duration) {
        let gap = gap.max(self.timing.command_gap);
        self.pacer.push(
            now,
            format!("{command}\r\n"),
            tag,
            gap,
            self.timing.command_gap,
        );
    }

    fn command(&mut self, now: Instant, command: &str) {
        self.send(now, command, Sent::Plain, Duration::ZERO);
    }

    /// Referee mode (the player moves both sides), moves transmitted, the level: lost at every new game.
    fn settings(&mut self, now: Instant) {
        self.setting = Some(Setting::default());
        self.send_settings(now);
    }

    fn send_settings(&mut self, now: Instant) {
        if let Some(setting) = &mut self.setting {
            setting.attempts += 1;
            setting.deadline = None;
        }
        self.command(now, "U ON");
        if let Some(level) = self.level.clone() {
            self.command(now, &format!("L {level}"));
        }
        self.send(now, "X ON", Sent::Settings, Duration::ZERO);
    }

    /// An answer to a setting, perhaps.
    fn setting_told(&mut self, text: &str) {
        if self
            .setting
            .as_mut()
            .is_some_and(|setting| setting.told(text))
        {
            self.setting = None;
        }
    }

    /// When the settings are to be sent again; not in the middle of a step.
    fn setting_deadline(&self) -> Option<Instant> {
        let setting = self.setting.as_ref().filter(|_| self.doing.is_none());
        setting.and_then(|setting| setting.deadline)
    }

    /// The board did not say that it has the settings: they are sent again, a few times, as not every sister
    /// board may say so. What the hand did meanwhile was not transmitted.
    fn settings_overdue(&mut self, now: Instant) {
        if self
            .setting
            .as_ref()
            .is_some_and(|s| s.attempts >= ATTEMPTS)
        {
            self.setting = None;
        } else if self.answering {
            self.send_settings(now);
            self.learn(now);
        } else {
            // A board that does not answer at all gets them when it does.
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

    fn send_question(&mut self, now: Instant) {
        if self
            .asking
            .as_ref()
            .is_some_and(|asking| asking.attempts > 0)
        {
            // A board that answers this and not the question has no answer to the question.
            self.command(now, "I");
        }
        if let Some(asking) = &mut self.asking {
            asking.attempts = asking.attempts.saturating_add(1);
            asking.deadline = None;
            let command = match asking.what {
                Question::Game => "G",
                Question::Squares => "P",
            };
            self.send(now, command, Sent::Question, Duration::ZERO);
        }
    }

    fn event(&mut self, event: DriverEvent) {
        self.events.push_back(event);
    }

    fn line(&mut self, now: Instant, line: &[u8]) {
        let message = codec::parse(line);
        self.heard |= !matches!(message, Message::Damaged);
        if !matches!(message, Message::Damaged) && !self.answering {
            self.answering = true;
            self.event(DriverEvent::Answers { id: None });
            if self.asking.as_ref().is_some_and(|a| a.attempts > 1) {
                // The board was off or away when the settings were sent.
                self.settings(now);
            }
        }
        // A list ends with a pause. The heads of its columns and the answer to a command sent before the question
        // do not end it; nor does a move in its midst, unless it is the one that comes after what the list has.
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
                if matches!(&self.asking, Some(asking) if asking.what == Question::Game) {
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
                    // Not asked for: a move that lost its letter.
                    self.damaged(now, line);
                }
            }
            Message::GridRow(cells, side) => self.grid_row(now, cells, side),
            Message::Id(id) => self.event(DriverEvent::Answers { id: Some(id) }),
            // Answers to settings (`Xmit on`) and whatever else the firmware likes to say; the column heads
            // of a list come here too.
            Message::Other(text) if codec::holds_move(&text) => self.damaged(now, line),
            Message::Other(text) => self.setting_told(&text),
            Message::Damaged => self.damaged(now, line),
        }
    }

    /// A damaged line may have been a move: the board's own record tells.
    fn damaged(&mut self, now: Instant, line: &[u8]) {
        self.event(DriverEvent::Unreadable(printable(line, MAX_LINE)));
        let due = self.learned.map_or(now, |at| (at + LEARN_EVERY).max(now));
        self.learn_at = Some(due);
        self.learn_if_due(now);
    }

    fn learn_if_due(&mut self, now: Instant) {
        if self.learn_deadline().is_some_and(|at| at <= now) {
            self.learn(now);
        }
    }

    /// When the game is to be asked for because something was damaged; not in the middle of anything.
    fn learn_deadline(&self) -> Option<Instant> {
        let free = self.answering && self.asking.is_none() && self.doing.is_none();
        self.learn_at.filter(|_| free)
    }

    fn moved(&mut self, now: Instant, reported: Reported) {
        if let Some(Doing::Show { m, accepted, .. }) = &mut self.doing {
            // The echo of a shown move names the side by the comma as well; the machine knows whose it is.
            let mover = reported.color.unwrap_or(Color::White);
            if !*accepted && reported.names(*m, mover) {
                *accepted = true;
                self.event(DriverEvent::Accepted);
                self.finish_show(now);
                return;
            }
            if *accepted {
                // The hand is ahead of the second send: the lamps have done their work.
                self.pacer.clear();
                self.sent_once = None;
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
            self.rests_until = Some(now + self.timing.move_wait);
        }
    }

    fn took_back(&mut self, now: Instant, reported: Reported) {
        match self.doing {
            Some(Doing::TakeBack { m, .. }) => {
                self.doing = None;
                let mover = reported.color.unwrap_or(Color::White);
                if reported.names(m, mover) {
                    self.rests_until = Some(now + self.timing.move_wait);
                    self.event(DriverEvent::Accepted);
                } else {
                    self.event(DriverEvent::Failed(StepFailure::Refused));
                }
                return;
            }
            Some(Doing::Show { .. }) => {
                self.pacer.clear();
                self.sent_once = None;
                self.doing = None;
            }
            _ => {}
        }
        self.event(DriverEvent::TookBack(Some(reported)));
    }

    fn new_game(&mut self, now: Instant) {
        self.sent_once = None;
        match self.doing {
            Some(Doing::NewGame { .. }) => {
                self.doing = None;
                self.settings(now);
                self.rests_until = Some(now + self.timing.setup_wait);
                self.event(DriverEvent::Accepted);
                self.learn(now);
            }
            // The set-up sends the settings itself, after it.
            Some(Doing::SetUp { .. }) => {}
            _ => {
                self.abandon();
                self.settings(now);
                self.event(DriverEvent::NewGame);
                // A hand that moved before the settings arrived was not heard.
                self.learn(now);
            }
        }
    }

    /// Drops the step and the question under way and everything queued for them.
    fn abandon(&mut self) {
        self.pacer.clear();
        self.doing = None;
        self.asking = None;
        self.setting = None;
        self.receiving = None;
        self.rests_until = None;
    }

    fn grid_row(&mut self, now: Instant, cells: [Option<Piece>; 8], side: Option<Color>) {
        if !matches!(&self.asking, Some(asking) if asking.what == Question::Squares) {
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

    /// The board went on with something else in the midst of an answer: it is asked once more.
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
                    self.send_second_time(now, moves.last());
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

    /// Sends a move the second time that was sent once before the link was lost, if the board has it.
    fn send_second_time(&mut self, now: Instant, last: Option<&Reported>) {
        let Some(m) = self.sent_once.take() else {
            return;
        };
        if last.is_some_and(|last| last.names(m, last.color.unwrap_or(Color::White))) {
            self.command(now, &codec::show(m));
            self.rests_until = Some(now + self.timing.move_wait);
        }
    }

    fn placed(&mut self, now: Instant, rows: &[[Option<Piece>; 8]], side: Option<Color>) {
        // The documents do not say which rank comes first; Novag's position lines elsewhere begin with the
        // eighth.
        let mut board = codec::grid(rows, Rank::Eighth);
        if let Some(Doing::SetUp { board: wanted }) = &self.doing {
            let turned = codec::grid(rows, Rank::First);
            if differences(wanted, &turned) < differences(wanted, &board) {
                board = turned;
            }
            self.doing = None;
            self.rests_until = Some(now + self.timing.setup_wait);
        }
        self.event(DriverEvent::Placed {
            board: Box::new(board),
            turn: side,
        });
    }

    /// The question under way was not answered in time, or not so that it could be read.
    fn ask_again(&mut self, now: Instant) {
        let Some(Asking { what, attempts, .. }) = self.asking else {
            return;
        };
        match what {
            // It said something, but nothing that is a picture.
            Question::Squares if self.heard || attempts >= ATTEMPTS => {
                self.asking = None;
                if matches!(self.doing, Some(Doing::SetUp { .. })) {
                    // A board that does not show its squares is believed to have taken the position.
                    self.doing = None;
                    self.rests_until = Some(now + self.timing.setup_wait);
                    self.event(DriverEvent::Accepted);
                } else {
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
                self.answering = false;
                self.event(DriverEvent::Silent);
            }
            _ => {}
        }
        self.send_question(now);
    }

    fn step_failed(&mut self, failure: StepFailure) {
        self.doing = None;
        self.event(DriverEvent::Failed(failure));
    }
}

impl Driver for Citrine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            take_back: true,
            set_up_cost: Some(12),
            new_game_cost: 6,
            moves_itself: false,
            sees_squares: false,
            castles_anyhow: false,
            keeps_record: true,
            tells_moves_only: false,
            tells_game: true,
        }
    }

    fn link_up(&mut self, now: Instant) {
        self.link_down();
        self.up = true;
        self.settings(now);
        self.command(now, "I");
        self.learn(now);
    }

    fn link_down(&mut self) {
        self.abandon();
        self.up = false;
        self.answering = false;
        self.lines.clear();
        self.line_ends = None;
        self.pacer.link_ended();
        self.events.clear();
        self.learned = None;
        self.learn_at = None;
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
            && self.answering
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
        match step {
            Step::Show(m) => {
                let command = codec::show(m);
                let second = if m.is_capture() {
                    self.timing.second_send_capture
                } else {
                    self.timing.second_send
                };
                self.send(now, &command, Sent::FirstSend, Duration::ZERO);
                self.send(now, &command, Sent::SecondSend, second);
                self.doing = Some(Doing::Show {
                    m,
                    accepted: false,
                    sent_twice: false,
                    deadline: None,
                });
            }
            Step::TakeBack(m) => {
                self.send(now, "T", Sent::Question, Duration::ZERO);
                self.doing = Some(Doing::TakeBack { m, deadline: None });
            }
            Step::NewGame(_) => {
                self.send(now, "N", Sent::Question, Duration::ZERO);
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
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {
        // This board answers questions about its position, it does not ask them.
    }

    fn learn(&mut self, now: Instant) {
        if self.up && self.asking.is_none() {
            self.doing = None;
            self.learned = Some(now);
            self.learn_at = None;
            self.ask(now, Question::Game);
        }
    }

    fn look(&mut self, now: Instant) {
        if self.up && self.asking.is_none() {
            self.ask(now, Question::Squares);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let (bytes, sent) = self.pacer.poll(now)?;
        match sent {
            Sent::Plain => {}
            Sent::Settings => {
                if let Some(setting) = &mut self.setting {
                    setting.deadline = Some(now + ANSWER_WAIT);
                }
            }
            Sent::FirstSend => {
                if let Some(Doing::Show { m, .. }) = self.doing {
                    self.sent_once = Some(m);
                }
            }
            Sent::Question => match (&mut self.doing, &mut self.asking) {
                (Some(Doing::TakeBack { deadline, .. } | Doing::NewGame { deadline }), _) => {
                    *deadline = Some(now + ANSWER_WAIT);
                }
                (_, Some(asking)) => {
                    let wait = if asking.attempts > ATTEMPTS {
                        SILENT_RETRY
                    } else {
                        ANSWER_WAIT
                    };
                    asking.deadline = Some(now + wait);
                }
                _ => {}
            },
            Sent::SecondSend => {
                self.sent_once = None;
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
