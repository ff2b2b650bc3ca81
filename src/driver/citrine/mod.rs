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

pub mod codec;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use bytes::Bytes;
use shakmaty::{Board, Chess, Color, Move, Piece, Position, Rank};

use self::codec::Message;
use super::{
    Capabilities, Driver, DriverEvent, Reported, Step, StepFailure,
    lines::{Line, Lines, printable},
    pacer::Pacer,
};

/// The longest line read, bytes. The longest the documents show has 41 (a row of the game list).
pub const MAX_LINE: usize = 128;
/// How long an answer may take before the question is asked again. Answers were seen within 50 ms of the
/// command (the documents' read timeout); the board may be busy with the player's hand.
pub const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// How long the echo of a shown move may take after its second send before the board is asked for its game.
/// Longer than [`ANSWER_WAIT`]: the question puts out the lamps that show the move.
pub const ECHO_WAIT: Duration = Duration::from_secs(5);
/// A list from the board has no end mark: it ends when the board is silent for so long. At 57600 baud a row
/// takes 7 ms, at the 1200 baud of the oldest sister board 340 ms.
pub const LIST_PAUSE: Duration = Duration::from_millis(500);
/// Questions asked in vain before the board counts as silent.
pub const ATTEMPTS: u8 = 3;
/// How often a silent board is asked again.
pub const SILENT_RETRY: Duration = Duration::from_secs(5);
/// A damaged line makes the driver ask for the game, at most this often.
pub const LEARN_EVERY: Duration = Duration::from_secs(3);
/// The longest game `G` lists, in plies (field notes).
pub const LIST_PLIES: usize = 112;

/// The distances this board needs. The defaults are the documents'.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Between two commands: at least 100 ms, drivers use 100 to 200 ms.
    pub command_gap: Duration,
    /// Between the two sends of a move.
    pub second_send: Duration,
    /// Between the two sends of a capture.
    pub second_send_capture: Duration,
    /// How long the hand may take for a shown move before the next one is shown.
    pub move_wait: Duration,
    /// How long the hand may take to set up a position before a move is shown.
    pub setup_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            command_gap: Duration::from_millis(150),
            second_send: Duration::from_millis(200),
            second_send_capture: Duration::from_secs(3),
            move_wait: Duration::from_secs(3),
            setup_wait: Duration::from_secs(5),
        }
    }
}

/// What went out, so that a wait begins when its question left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Plain,
    Question,
    FirstSend,
    SecondSend,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Game,
    Squares,
}

/// A question under way.
#[derive(Debug)]
struct Asking {
    what: Question,
    attempts: u8,
    /// When to ask again, once it has left.
    deadline: Option<Instant>,
}

/// The rows of an answer that is being received.
#[derive(Debug)]
enum Receiving {
    Game {
        rows: Vec<(usize, Option<Reported>, Option<Reported>)>,
        ends: Instant,
    },
    Squares {
        rows: Vec<[Option<Piece>; 8]>,
        turn: Option<Color>,
        ends: Instant,
    },
}

impl Receiving {
    fn ends(&self) -> Instant {
        match self {
            Self::Game { ends, .. } | Self::Squares { ends, .. } => *ends,
        }
    }
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
        turn: Color,
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
    pacer: Pacer<Sent>,
    events: VecDeque<DriverEvent>,
    asking: Option<Asking>,
    receiving: Option<Receiving>,
    doing: Option<Doing>,
    /// The hand is given until then.
    rests_until: Option<Instant>,
    learned: Option<Instant>,
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
            pacer: Pacer::default(),
            events: VecDeque::new(),
            asking: None,
            receiving: None,
            doing: None,
            rests_until: None,
            learned: None,
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
        self.command(now, "U ON");
        self.command(now, "X ON");
        if let Some(level) = self.level.clone() {
            self.command(now, &format!("L {level}"));
        }
    }

    fn ask(&mut self, now: Instant, what: Question) {
        self.receiving = None;
        self.asking = Some(Asking {
            what,
            attempts: 0,
            deadline: None,
        });
        self.send_question(now);
    }

    fn send_question(&mut self, now: Instant) {
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
        if !matches!(message, Message::Damaged) && !self.answering {
            self.answering = true;
            self.event(DriverEvent::Answers { id: None });
            if self.asking.as_ref().is_some_and(|a| a.attempts > 1) {
                // The board was off or away when the settings were sent.
                self.settings(now);
            }
        }
        // A list ends with a pause, or where the board goes on with something else. The heads of its columns and
        // the answer to a command sent before the question do not end it.
        if matches!(
            message,
            Message::Moved(_) | Message::TookBack(_) | Message::NewGame | Message::Ended(_)
        ) {
            self.finish_list(now);
        }
        match message {
            Message::Moved(reported) => self.moved(now, reported),
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
                }
            }
            Message::GridRow(cells, side) => self.grid_row(now, cells, side),
            Message::Id(id) => self.event(DriverEvent::Answers { id: Some(id) }),
            // Answers to settings (`Xmit on`) and whatever else the firmware likes to say; the column heads
            // of a list come here too.
            Message::Other(_) => {}
            Message::Damaged => self.damaged(now, line),
        }
    }

    /// A damaged line may have been a move: the board's own record tells.
    fn damaged(&mut self, now: Instant, line: &[u8]) {
        self.event(DriverEvent::Unreadable(printable(line, MAX_LINE)));
        let due = self.learned.is_none_or(|at| now >= at + LEARN_EVERY);
        if self.answering && due && self.asking.is_none() && self.doing.is_none() {
            self.learn(now);
        }
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
                self.doing = None;
            }
            _ => {}
        }
        self.event(DriverEvent::TookBack(Some(reported)));
    }

    fn new_game(&mut self, now: Instant) {
        match self.doing {
            Some(Doing::NewGame { .. }) => {
                self.doing = None;
                self.settings(now);
                self.rests_until = Some(now + self.timing.setup_wait);
                self.event(DriverEvent::Accepted);
            }
            // The set-up sends the settings itself, after it.
            Some(Doing::SetUp { .. }) => {}
            _ => {
                self.abandon();
                self.settings(now);
                self.event(DriverEvent::NewGame);
            }
        }
    }

    /// Drops the step and the question under way and everything queued for them.
    fn abandon(&mut self) {
        self.pacer.clear();
        self.doing = None;
        self.asking = None;
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

    /// The answer being received is complete.
    fn finish_list(&mut self, now: Instant) {
        match self.receiving.take() {
            None => {}
            Some(Receiving::Game { rows, .. }) => match game_list(&rows) {
                Some((skipped, moves)) => {
                    self.asking = None;
                    let full = moves.len() >= LIST_PLIES;
                    self.event(DriverEvent::Listed {
                        skipped,
                        moves,
                        full,
                    });
                }
                None => self.ask_again(now),
            },
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
        // The documents do not say which rank comes first; Novag's position lines elsewhere begin with the
        // eighth.
        let board = codec::grid(rows, Rank::Eighth);
        if let Some(Doing::SetUp {
            board: wanted,
            turn,
        }) = &self.doing
        {
            let right = **wanted == board || **wanted == codec::grid(rows, Rank::First);
            let right = right && side.is_none_or(|side| side == *turn);
            self.doing = None;
            if right {
                self.rests_until = Some(now + self.timing.setup_wait);
                self.event(DriverEvent::Accepted);
            } else {
                self.event(DriverEvent::Failed(StepFailure::Refused));
            }
            return;
        }
        self.event(DriverEvent::Placed {
            board: Box::new(board),
            turn: side,
        });
    }

    fn ask_again(&mut self, now: Instant) {
        let Some(asking) = &self.asking else { return };
        if asking.attempts >= ATTEMPTS {
            if matches!(self.doing, Some(Doing::SetUp { .. })) {
                // A board that does not show its squares is believed to have taken the position.
                self.asking = None;
                self.doing = None;
                self.rests_until = Some(now + self.timing.setup_wait);
                self.event(DriverEvent::Accepted);
                return;
            }
            if asking.what == Question::Squares {
                self.asking = None;
                self.event(DriverEvent::NoPicture);
                return;
            }
            if asking.attempts == ATTEMPTS {
                self.answering = false;
                self.event(DriverEvent::Silent);
            }
        }
        self.send_question(now);
    }

    fn step_failed(&mut self, failure: StepFailure) {
        self.doing = None;
        self.event(DriverEvent::Failed(failure));
    }
}

/// Rows as one list: plies before the first, and the moves. `None` if a row is missing or out of turn.
fn game_list(
    rows: &[(usize, Option<Reported>, Option<Reported>)],
) -> Option<(usize, Vec<Reported>)> {
    let Some(&(first, begins_with_white, _)) = rows.first() else {
        return Some((0, Vec::new()));
    };
    let mut moves = Vec::new();
    for (index, &(number, white, black)) in rows.iter().enumerate() {
        let last = index + 1 == rows.len();
        let whole = (index == 0 || white.is_some()) && (last || black.is_some());
        if number != first + index || !whole {
            return None;
        }
        moves.extend(white);
        moves.extend(black);
    }
    let skipped = first.saturating_sub(1) * 2 + usize::from(begins_with_white.is_none());
    Some((skipped, moves))
}

impl Driver for Citrine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            take_back: true,
            set_up_cost: 12,
            new_game_cost: 6,
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
        self.pacer.reset();
        self.events.clear();
        self.learned = None;
    }

    fn received(&mut self, now: Instant, bytes: &[u8]) {
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
    }

    fn timeout(&mut self, now: Instant) {
        if self.rests_until.is_some_and(|at| at <= now) {
            self.rests_until = None;
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
        [self.pacer.deadline(), self.rests_until, doing, asking]
            .into_iter()
            .flatten()
            .min()
    }

    fn idle(&self) -> bool {
        self.up
            && self.answering
            && self.asking.is_none()
            && self.doing.is_none()
            && self.rests_until.is_none()
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
            Step::NewGame => {
                self.send(now, "N", Sent::Question, Duration::ZERO);
                self.doing = Some(Doing::NewGame { deadline: None });
            }
            Step::SetUp(game) => {
                let position = game.position();
                self.command(now, &codec::set_up(position));
                self.settings(now);
                self.doing = Some(Doing::SetUp {
                    board: Box::new(position.board().clone()),
                    turn: position.turn(),
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
            self.ask(now, Question::Game);
        }
    }

    fn look(&mut self, now: Instant) {
        if self.up && self.asking.is_none() {
            self.ask(now, Question::Squares);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Bytes> {
        let (bytes, sent) = self.pacer.poll(now)?;
        match sent {
            Sent::Plain | Sent::FirstSend => {}
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
        Some(bytes)
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}
