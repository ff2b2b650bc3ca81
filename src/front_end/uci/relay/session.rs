//! What the relay sends to the GUI and to the daemon, without I/O: lines and time go in, actions come out.
//!
//! The relay outlives the daemon. It remembers what a daemon must be told to continue the GUI's game, and sends it on
//! every connection:
//!
//! - the options, the latest of each name (buttons are not pressed again), and `debug`;
//! - the last `position`, with the `go` that has not been answered;
//! - `ucinewgame` only until the daemon has taken the first position after it (the answer to an `isready` sent after
//!   both proves that). Sent later it would restart a game that is under way.
//!
//! Every connection begins with a `uci` of the relay's own: its answer proves that a daemon is there, and is passed on
//! when the GUI sends `uci`. Each `go` is answered by one `bestmove` at most, and only a whole line counts.
//!
//! Without a daemon: `isready` is answered, for the relay is ready. A `go` waits. One that the GUI ends (`stop`,
//! another `go` or `position`) is answered at once by `bestmove 0000`, the null move: UCI demands an answer, and no
//! move is known.

use std::{
    collections::VecDeque,
    mem,
    time::{Duration, Instant},
};

use crate::{
    front_end::uci::{
        command::{self, ALIVE},
        introduction::introduction,
    },
    net::reach::{Responder, Wanted},
    transport::backoff::Backoff,
};

/// How long `uci` waits for a daemon that may be starting. GUIs wait 5 s and longer.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// A daemon answers `uci` and `isready` within milliseconds, whatever its boards do: one that takes this long is dead.
pub const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How long a new connection may wait for the daemon's introduction: while the service restarts, systemd keeps its port open, and
/// serves those who wait when it is back. It stops within 5 s and is started again 2 s later; a slow Pi takes some more.
pub const GREETING_WAIT: Duration = Duration::from_secs(15);
/// A daemon that has been silent for this long is asked whether it is there.
pub const QUIET: Duration = Duration::from_secs(30);
/// How often the daemon gets a sign of life, by which it tells a relay that was stopped from one whose player thinks.
pub const ALIVE_EVERY: Duration = Duration::from_secs(5);
/// The time between two attempts if something other than a daemon answers.
pub const WRONG_WAIT: Duration = Duration::from_mins(1);
/// How long the daemon may take for its last lines after `quit`.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);
/// How long a GUI that sends `uci` and `quit` together waits for a daemon.
pub const QUIT_WAIT: Duration = Duration::from_millis(500);
/// Options remembered. A GUI sets the few that the engine has, and may try some others.
pub const MAX_OPTIONS: usize = 64;
/// The longest option remembered, in bytes.
pub const MAX_OPTION: usize = 1024;
/// `isready`s awaiting an answer; further ones are answered by the relay.
pub const MAX_ASKED: usize = 256;
/// The most lines kept of an introduction.
const MAX_INTRODUCTION: usize = 64;
/// Different reasons reported in a row; further ones are not reported.
const MAX_TOLD: usize = 8;
/// The prefix of a line of text.
const INFO: &str = "info string ";
/// The option that chooses the board.
const BOARD: &str = "Board";

/// What the relay wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this line to the GUI.
    Say(String),
    /// Send this line to the daemon.
    Send(String),
    /// Try to connect.
    Connect,
    /// Close the connection.
    HangUp,
    /// The relay ends.
    End,
}

/// The state of the connection.
#[derive(Debug)]
enum Link {
    /// Not connected, until the next attempt at this time.
    Down { again: Instant },
    /// An attempt is under way.
    Trying,
    /// The relay's own `uci` must be answered by then.
    Greeting { until: Instant },
    /// A daemon is there, and gets the next sign of life then.
    Up { alive: Instant },
}

/// Who asked `isready`, or why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Gui,
    /// Whether the daemon is there.
    Relay,
    /// Whether it has taken a new game and its first position.
    NewGame,
}

/// An unanswered `go`.
#[derive(Debug)]
struct Search {
    go: String,
    ponderhit: bool,
}

/// One GUI's conversation with whatever daemon there is. See the module documentation.
#[derive(Debug)]
pub struct RelayConversation {
    address: String,
    link: Link,
    backoff: Backoff,
    /// Whether a daemon has ever been there.
    met: bool,
    /// When it last sent something.
    heard: Instant,
    /// `isready`s that are not answered yet, oldest first.
    asked: VecDeque<(Asker, Instant)>,
    /// The last daemon's introduction; empty before the first.
    introduction: Vec<String>,
    /// The lines so far of an introduction that is being received.
    coming: Vec<String>,
    /// Other lines received before its end.
    aside: Vec<String>,
    /// The GUI awaits the introduction, by this time at the latest.
    uci_due: Option<Instant>,
    /// The GUI was introduced without a daemon, and does not know the boards.
    made_up: bool,
    /// Options by name in lower case.
    options: Vec<(String, String)>,
    /// The line for the board, as this daemon has received it.
    board_told: Option<String>,
    debug: Option<String>,
    new_game: bool,
    position: Option<String>,
    search: Option<Search>,
    /// Searches that the GUI has ended and the daemon has not answered yet.
    owed: usize,
    /// Why there is no daemon, in words.
    why: String,
    /// The reasons already reported.
    told: Vec<String>,
    /// No failed attempt is reported before this time: a restart is over by then.
    tell_from: Instant,
    /// The GUI has sent `quit`: the relay ends by then at the latest.
    quit_due: Option<Instant>,
    actions: VecDeque<Action>,
}

impl RelayConversation {
    /// A GUI has started the relay, with this board chosen.
    pub fn new(address: &str, board: Option<&str>, now: Instant) -> Self {
        let board = board.map(|board| {
            let line = format!("setoption name {BOARD} value {board}");
            (BOARD.to_lowercase(), line)
        });
        Self {
            address: address.to_owned(),
            link: Link::Trying,
            backoff: Backoff::default(),
            met: false,
            heard: now,
            asked: VecDeque::new(),
            introduction: Vec::new(),
            coming: Vec::new(),
            aside: Vec::new(),
            uci_due: None,
            made_up: false,
            options: board.into_iter().collect(),
            board_told: None,
            debug: None,
            new_game: false,
            position: None,
            search: None,
            owed: 0,
            why: format!("BoardBridge at {address} has not answered yet"),
            told: Vec::new(),
            tell_from: now,
            quit_due: None,
            actions: VecDeque::from([Action::Connect]),
        }
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        let link = match self.link {
            Link::Down { again } => Some(again),
            Link::Trying => None,
            Link::Greeting { until } => Some(until),
            Link::Up { alive } => Some(alive.min(match self.asked.front() {
                Some((_, since)) => *since + ANSWER_WAIT,
                None => self.heard + QUIET,
            })),
        };
        [link, self.uci_due, self.quit_due]
            .into_iter()
            .flatten()
            .min()
    }

    /// Time has passed.
    pub fn timeout(&mut self, now: Instant) {
        if self.quit_due.is_some_and(|due| due <= now) {
            self.finish();
            return;
        }
        if self.uci_due.is_some_and(|due| due <= now) {
            self.introduce();
        }
        if let Link::Up { alive } = &mut self.link
            && *alive <= now
        {
            *alive = now + ALIVE_EVERY;
            self.send(ALIVE);
        }
        match self.link {
            Link::Down { again } if again <= now => {
                self.link = Link::Trying;
                self.actions.push_back(Action::Connect);
            }
            Link::Greeting { until } if until <= now => self.wrong(&Responder::Silence, now),
            Link::Up { .. } => match self.asked.front() {
                Some((_, since)) if *since + ANSWER_WAIT <= now => {
                    self.actions.push_back(Action::HangUp);
                    self.lost("does not answer any more", now);
                }
                None if self.heard + QUIET <= now => self.ask(Asker::Relay, now),
                _ => {}
            },
            _ => {}
        }
    }

    // The connection.

    /// The attempt has succeeded.
    pub fn connected(&mut self, now: Instant) {
        self.link = Link::Greeting {
            until: now + GREETING_WAIT,
        };
        self.coming.clear();
        self.aside.clear();
        // First, so that the introduction names this board.
        self.board_told = self.option(BOARD).cloned();
        let lines = self.board_told.clone().into_iter();
        for line in lines.chain(["uci".to_owned()]) {
            self.send(line);
        }
    }

    /// The attempt has failed.
    pub fn failed(&mut self, why: String, now: Instant) {
        let again = now + self.backoff.next_wait();
        self.down(again, why);
        if self.tell_from <= now {
            self.tell();
        }
    }

    /// The daemon has closed the connection, or it broke.
    pub fn closed(&mut self, now: Instant) {
        match self.link {
            Link::Greeting { .. } => {
                let said = self.aside.pop();
                let said = said.and_then(|line| Some(line.strip_prefix(INFO)?.to_owned()));
                let why =
                    said.unwrap_or_else(|| Responder::Closed.told(&self.address, Wanted::Uci));
                self.failed(why, now);
            }
            Link::Up { .. } => self.lost("is gone", now),
            Link::Down { .. } | Link::Trying => {}
        }
    }

    /// A daemon that was there is lost.
    fn lost(&mut self, what: &str, now: Instant) {
        self.tell_from = now + PATIENCE;
        let why = format!("BoardBridge at {} {what}", self.address);
        let again = now + self.backoff.next_wait();
        self.down(again, why);
        if self.quit_due.is_none() {
            self.tell();
        }
        for _ in 0..mem::take(&mut self.owed) {
            self.say("bestmove 0000");
        }
        // The introduction of the last daemon is better than none.
        if self.uci_due.is_some() {
            self.introduce();
        }
        self.answer_asked();
    }

    /// Something other than a daemon answers.
    fn wrong(&mut self, found: &Responder, now: Instant) {
        self.actions.push_back(Action::HangUp);
        let hangs = self.met && *found == Responder::Silence;
        let wait = if hangs {
            self.backoff.next_wait()
        } else {
            WRONG_WAIT
        };
        self.down(now + wait, found.told(&self.address, Wanted::Uci));
        self.tell();
    }

    fn down(&mut self, again: Instant, why: String) {
        self.link = Link::Down { again };
        self.why = why;
        if self.quit_due.is_some() {
            self.finish();
        }
    }

    /// A daemon has introduced itself: it is sent everything.
    fn up(&mut self, now: Instant) {
        self.link = Link::Up { alive: now };
        self.met = true;
        self.backoff.reset();
        self.introduction = mem::take(&mut self.coming);
        if self.uci_due.is_some() {
            self.introduce();
        }
        self.answer_asked();
        for line in mem::take(&mut self.aside) {
            self.say(line);
        }
        let told = !mem::take(&mut self.told).is_empty();
        let boards = mem::take(&mut self.made_up).then(|| self.boards());
        if told || boards.is_some() {
            let boards = boards.unwrap_or_default();
            self.info(&format!("BoardBridge answers at {}{boards}", self.address));
        }
        let told = self.board_told.clone();
        let options = self.options.iter().map(|(_, line)| line);
        let options = options.filter(|line| Some(*line) != told.as_ref());
        let mut lines: Vec<String> = options.chain(&self.debug).cloned().collect();
        if self.new_game {
            lines.push("ucinewgame".to_owned());
        }
        lines.extend(self.position.clone());
        if let Some(search) = &self.search {
            lines.push(search.go.clone());
            if search.ponderhit {
                lines.push("ponderhit".to_owned());
            }
        }
        for line in lines {
            self.send(line);
        }
        self.ask_of_new_game(now);
        if self.quit_due.is_some() {
            self.send("quit");
            self.quit_due = Some(now + CLOSE_WAIT);
        }
    }

    /// The names of the daemon's boards, for a GUI that was introduced without them.
    fn boards(&self) -> String {
        let head = format!("option name {BOARD} ");
        let option = self
            .introduction
            .iter()
            .find(|line| line.starts_with(&head));
        let names = option.map_or(Vec::new(), |line| line.split(" var ").skip(1).collect());
        format!("; the option {BOARD} is one of: {}", names.join(", "))
    }

    // The daemon.

    /// A whole line came from the daemon.
    pub fn daemon_line(&mut self, line: &str, now: Instant) {
        self.heard = now;
        let word = line.split_whitespace().next().unwrap_or_default();
        let introduces = matches!(word, "id" | "option" | "uciok");
        match self.link {
            Link::Greeting { .. } => match (Responder::by(line.as_bytes()), word) {
                (Responder::Uci, "uciok") => self.up(now),
                (Responder::Uci, _) if introduces => self.collect(line),
                (Responder::Uci, _) => {
                    if self.aside.len() < MAX_TOLD {
                        self.aside.push(line.to_owned());
                    }
                }
                (found, _) => self.wrong(&found, now),
            },
            Link::Up { .. } if introduces => {
                if self.uci_due.is_none() {
                    // The answer comes too late.
                } else if word == "uciok" {
                    self.introduction = mem::take(&mut self.coming);
                    self.introduce();
                } else {
                    self.collect(line);
                }
            }
            Link::Up { .. } => match word {
                "readyok" => self.ready(),
                "bestmove" => {
                    if self.owed > 0 {
                        self.owed -= 1;
                        self.say(line);
                    } else if self.search.take().is_some() {
                        self.say(line);
                    }
                }
                _ => self.say(line),
            },
            Link::Down { .. } | Link::Trying => {}
        }
    }

    fn collect(&mut self, line: &str) {
        if self.coming.len() < MAX_INTRODUCTION {
            self.coming.push(line.to_owned());
        }
    }

    /// The daemon sends `readyok`.
    fn ready(&mut self) {
        match self.asked.pop_front() {
            Some((Asker::Gui, _)) => self.say("readyok"),
            Some((Asker::NewGame, _)) => {
                // Another new game may have been announced since.
                let others = self.asked.iter().any(|(asker, _)| *asker == Asker::NewGame);
                self.new_game = others || self.position.is_none();
            }
            Some((Asker::Relay, _)) | None => {}
        }
    }

    fn ask(&mut self, asker: Asker, now: Instant) {
        if self.asked.len() < MAX_ASKED {
            self.asked.push_back((asker, now));
            self.send("isready");
        } else if asker == Asker::Gui {
            self.say("readyok");
        }
    }

    /// Asks whether the daemon has taken the new game, once that has a position.
    fn ask_of_new_game(&mut self, now: Instant) {
        if self.new_game && self.position.is_some() {
            self.ask(Asker::NewGame, now);
        }
    }

    /// Answers what the daemon will no longer answer.
    fn answer_asked(&mut self) {
        for (asker, _) in mem::take(&mut self.asked) {
            if asker == Asker::Gui {
                self.say("readyok");
            }
        }
    }

    // The GUI.

    /// A whole line came from the GUI.
    pub fn gui_line(&mut self, line: &str, now: Instant) {
        if self.quit_due.is_some() {
            return;
        }
        let is_up = matches!(self.link, Link::Up { .. });
        let Some((word, rest)) = command::head(line) else {
            // A newer daemon may know it.
            if is_up {
                self.send(line);
            }
            return;
        };
        match word {
            "uci" => {
                self.uci(now);
                return;
            }
            "isready" => {
                if is_up {
                    self.ask(Asker::Gui, now);
                } else if self.uci_due.is_some() && self.asked.len() < MAX_ASKED {
                    // Answered after the `uciok`.
                    self.asked.push_back((Asker::Gui, now));
                } else {
                    self.say("readyok");
                }
                return;
            }
            "quit" => {
                self.quit(now);
                return;
            }
            "debug" => self.debug = Some(line.to_owned()),
            "setoption" => self.remember(rest, line),
            "ucinewgame" => {
                self.end_search(now);
                self.new_game = true;
                self.position = None;
            }
            "position" => {
                self.end_search(now);
                self.position = Some(line.to_owned());
            }
            "go" => {
                self.end_search(now);
                self.search = Some(Search {
                    go: line.to_owned(),
                    ponderhit: false,
                });
                if !is_up {
                    let text = format!("waiting: {}", self.why);
                    self.info(&text);
                }
            }
            "stop" => self.end_search(now),
            "ponderhit" => {
                if let Some(search) = &mut self.search {
                    search.ponderhit = true;
                }
            }
            _ => {}
        }
        if is_up {
            self.send(line);
            if word == "position" {
                self.ask_of_new_game(now);
            }
        }
    }

    /// A line from the GUI that cannot be accepted.
    pub fn refuse(&mut self, why: &str) {
        self.info(why);
    }

    /// The GUI closes the conversation: by `quit`, or by closing its end.
    pub fn quit(&mut self, now: Instant) {
        match self.link {
            _ if self.quit_due.is_some() => {}
            Link::Up { .. } => {
                self.send("quit");
                self.quit_due = Some(now + CLOSE_WAIT);
            }
            Link::Trying | Link::Greeting { .. } if self.uci_due.is_some() => {
                self.quit_due = Some(now + QUIT_WAIT);
            }
            _ => self.finish(),
        }
    }

    fn finish(&mut self) {
        if self.uci_due.is_some() {
            self.introduce();
        }
        self.actions.push_back(Action::End);
    }

    fn uci(&mut self, now: Instant) {
        if self.uci_due.is_some() {
            return;
        }
        match self.link {
            Link::Up { .. } => {
                self.coming.clear();
                self.uci_due = Some(now + ANSWER_WAIT);
                self.send("uci");
            }
            _ if self.met => self.introduce(),
            _ => self.uci_due = Some(now + PATIENCE),
        }
    }

    /// Answers `uci` with what is known.
    fn introduce(&mut self) {
        self.uci_due = None;
        let lines = if self.introduction.is_empty() {
            self.made_up = true;
            self.tell();
            let (name, option) = match self.option(BOARD).and_then(|line| value(line)) {
                Some(name) => {
                    let option =
                        format!("option name {BOARD} type combo default {name} var {name}");
                    (name, option)
                }
                None => (
                    "not connected".to_owned(),
                    format!("option name {BOARD} type string default <empty>"),
                ),
            };
            introduction(&name, Some(option))
        } else {
            self.introduction.clone()
        };
        for line in lines {
            self.say(line);
        }
        self.say("uciok");
        if !matches!(self.link, Link::Up { .. }) {
            self.answer_asked();
        }
    }

    fn option(&self, name: &str) -> Option<&String> {
        let mut options = self.options.iter();
        let found = options.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, line)| line)
    }

    fn remember(&mut self, rest: &str, line: &str) {
        let Some((name, Some(value))) = command::option(rest) else {
            return;
        };
        let name = name.to_lowercase();
        let is_empty = value.is_empty() || value == "<empty>";
        if line.len() > MAX_OPTION || (is_empty && name.eq_ignore_ascii_case(BOARD)) {
            return;
        }
        if let Some((_, known)) = self.options.iter_mut().find(|(known, _)| *known == name) {
            line.clone_into(known);
        } else if self.options.len() < MAX_OPTIONS {
            self.options.push((name, line.to_owned()));
        }
    }

    /// The GUI ends the search, if there is one.
    fn end_search(&mut self, now: Instant) {
        if self.search.take().is_none() {
            return;
        }
        if matches!(self.link, Link::Up { .. }) {
            self.owed += 1;
            // A daemon that does not answer this will not answer the search either.
            self.ask(Asker::Relay, now);
        } else {
            self.say("bestmove 0000");
        }
    }

    /// Reports why there is no daemon, once.
    fn tell(&mut self) {
        if self.told.len() < MAX_TOLD && !self.told.contains(&self.why) {
            let why = self.why.clone();
            let end = if why.ends_with('?') { "" } else { "." };
            self.info(&format!(
                "{why}{end} Trying again until BoardBridge answers"
            ));
            self.told.push(why);
        }
    }

    fn info(&mut self, text: &str) {
        self.say(format!("{INFO}{text}"));
    }

    fn say(&mut self, line: impl Into<String>) {
        self.actions.push_back(Action::Say(line.into()));
    }

    fn send(&mut self, line: impl Into<String>) {
        self.actions.push_back(Action::Send(line.into()));
    }
}

/// The value in a `setoption` line.
fn value(line: &str) -> Option<String> {
    let (_, rest) = command::head(line)?;
    command::option(rest)?.1
}
