//! UCI from the GUI's side, without I/O: lines and time go in, lines, moves and faults come out. One conversation is one
//! life of the engine's process.
//!
//! The engine is asked one question at a time. Lines that are not awaited, and those that cannot be read, are ignored:
//! engines print banners, debugging and information of many kinds. Only the answer counts, and it has to be legal.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::RangeInclusive,
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::{Move, Position, uci::UciMove};
use thiserror::Error;

use super::settings::{EngineSettings, OptionValue, is_plain};
use crate::{
    chess::game::Game,
    text::{lines::printable, spelling::like},
    vocabulary::Evaluation,
};

/// How long after its time limit an engine counts as hung: a busy machine is late by less.
pub const OVERTIME: Duration = Duration::from_secs(10);
/// The longest name of an engine that is shown, in characters.
pub const MAX_ENGINE_NAME: usize = 40;
/// Options of an engine that are remembered: more than any has.
const MAX_KNOWN: usize = 512;
/// The longest name of an option that is remembered, in bytes: twice the longest that is known.
const MAX_OPTION_NAME: usize = 64;
/// Options that are suggested in place of a mistyped one.
const MAX_LIKE: usize = 3;
/// The options by which engines play weaker than they can.
const STRENGTH: [&str; 3] = ["UCI_LimitStrength", "UCI_Elo", "Skill Level"];
/// How much of a wrong answer is repeated, in bytes.
const QUOTED: usize = 20;

/// Why an engine cannot be used any longer; ends with the reason, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// It does not speak UCI.
    #[error("the engine has not answered `uci` within {} s: is it a UCI engine?", .0.as_secs())]
    NoUci(Duration),
    /// It has stopped answering.
    #[error("the engine has not answered within {} s", .0.as_secs())]
    Hangs(Duration),
    /// Its answer is not a legal move.
    #[error("the engine answered `{0}`, which is not a legal move")]
    Illegal(String),
    /// Its process cannot be started, or has ended.
    #[error("{0}")]
    Ended(String),
}

impl Fault {
    /// In words, with what the engine said last.
    pub fn told(&self, last_words: Option<&str>) -> String {
        match last_words {
            Some(words) => format!("{self}. It last said `{words}`"),
            None => self.to_string(),
        }
    }
}

/// Why an option cannot be set as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// It has no option of this name.
    #[error(
        "the engine has no option `{name}`{}",
        if like.is_empty() { ": see `options` in the configuration".to_owned() } else { format!("; did you mean `{}`?", like.join("` or `")) }
    )]
    Unknown {
        /// The name in the configuration.
        name: String,
        /// Its options that this may mean.
        like: Vec<String>,
    },
    /// The number is outside the range that the engine takes; the nearest one was set.
    #[error("the engine takes {} to {} as `{name}`: set to {set} instead of {given}", .range.start(), .range.end())]
    OutOfRange {
        /// The option.
        name: String,
        /// The number in the configuration.
        given: i64,
        /// The number that was set.
        set: i64,
        /// What the engine takes.
        range: RangeInclusive<i64>,
    },
    /// A text stands where the engine takes a number or a switch; nothing was set.
    #[error("the engine takes {wanted} as `{name}`, not `{given}`: it is not set")]
    Unfit {
        /// The option.
        name: String,
        /// The value in the configuration.
        given: String,
        /// What the engine takes.
        wanted: String,
    },
}

impl OptionError {
    /// Whether the engine was to play weaker than it can, and has no option for that.
    pub fn is_of_strength(&self) -> bool {
        let Self::Unknown { name, .. } = self else {
            return false;
        };
        STRENGTH
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    }
}

/// What was heard from the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Its name.
    Name(Arc<str>),
    /// One of its options cannot be set as configured.
    Option(OptionError),
    /// Its move in the position it was asked about, and what it makes of that, if it said so.
    Moved(Move, Option<Evaluation>),
    /// It cannot be used any longer. Nothing comes after that.
    Fault(Fault),
}

#[derive(Debug)]
enum State {
    /// It has been sent `uci`.
    Greets,
    /// It has been sent `isready`; then it thinks about this game, if there is one.
    Prepares(Option<Box<Game>>),
    /// It waits for a question.
    Rests,
    /// It thinks; what it makes of the position by now.
    Thinks(Box<Game>, Option<Evaluation>),
    /// It was told to stop; its answer does not count.
    Stops,
    /// It has failed.
    Failed,
}

/// One of the engine's options.
#[derive(Debug)]
struct KnownOption {
    name: String,
    kind: OptionKind,
}

/// What an option of the engine is, as far as that limits its value.
#[derive(Debug)]
enum OptionKind {
    /// `true` or `false`.
    Check,
    /// A number of this range.
    Spin(RangeInclusive<i64>),
    /// A word, a text, or a button.
    Other,
}

impl OptionKind {
    /// From the words after `option name`.
    fn of(words: &[&str]) -> Self {
        let after = words.rsplit(|word| *word == "type").next();
        let kind = after.and_then(|words| words.first());
        match (kind, range(words)) {
            (Some(&"check"), _) => Self::Check,
            (_, Some(range)) => Self::Spin(range),
            _ => Self::Other,
        }
    }
}

impl KnownOption {
    /// The value to set, and what is to be told of it. `name` is its name in the configuration.
    fn value(&self, name: &str, given: &OptionValue) -> (Option<OptionValue>, Option<OptionError>) {
        let unfit = |wanted: &str| OptionError::Unfit {
            name: name.to_owned(),
            given: given.to_string(),
            wanted: wanted.to_owned(),
        };
        let text = given.to_string();
        match &self.kind {
            OptionKind::Check => match text.parse() {
                Ok(on) => (Some(OptionValue::Check(on)), None),
                Err(_) => (None, Some(unfit("true or false"))),
            },
            OptionKind::Spin(range) => {
                let Ok(given) = text.parse::<i64>() else {
                    let wanted = format!("{} to {}", range.start(), range.end());
                    return (None, Some(unfit(&wanted)));
                };
                let set = given.clamp(*range.start(), *range.end());
                let told = (set != given).then(|| OptionError::OutOfRange {
                    name: name.to_owned(),
                    given,
                    set,
                    range: range.clone(),
                });
                (Some(OptionValue::Spin(set)), told)
            }
            OptionKind::Other => (Some(given.clone()), None),
        }
    }
}

/// One life of an engine. See the module documentation.
#[derive(Debug)]
pub struct Conversation {
    settings: Arc<EngineSettings>,
    state: State,
    /// When it counts as hung, and the time that it had.
    until: Option<(Instant, Duration)>,
    /// It has answered a question: whatever it loads for that is loaded.
    has_answered: bool,
    /// Its options, by their names in small letters.
    known: BTreeMap<String, KnownOption>,
    lines: VecDeque<String>,
    heard: VecDeque<Heard>,
}

impl Conversation {
    /// Begins with an engine that was just started.
    pub fn new(now: Instant, settings: Arc<EngineSettings>) -> Self {
        let mut conversation = Self {
            settings,
            state: State::Greets,
            until: None,
            has_answered: false,
            known: BTreeMap::new(),
            lines: VecDeque::new(),
            heard: VecDeque::new(),
        };
        conversation.say("uci");
        conversation.patiently(now);
        conversation
    }

    /// The next line for the engine, without its end.
    pub fn poll_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// What was heard next.
    pub fn poll_heard(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        self.until.map(|(at, _)| at)
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        let Some((_, had)) = self.until.take_if(|(at, _)| *at <= now) else {
            return;
        };
        self.fail(match self.state {
            State::Greets => Fault::NoUci(had),
            _ => Fault::Hangs(had),
        });
    }

    /// Whether it has yet to answer `uci`, after which its options are known.
    pub fn greets(&self) -> bool {
        matches!(self.state, State::Greets)
    }

    /// Whether it can be asked.
    pub fn is_free(&self) -> bool {
        matches!(self.state, State::Rests)
    }

    /// Asks for a move in the last position of this game; `fresh` if it has not been asked about that game before. Does
    /// nothing unless the engine is free.
    pub fn ask(&mut self, now: Instant, game: Game, fresh: bool) {
        if !self.is_free() {
            return;
        }
        if fresh {
            self.say("ucinewgame");
            self.say("isready");
            self.state = State::Prepares(Some(Box::new(game)));
            self.patiently(now);
        } else {
            self.think(now, Box::new(game));
        }
    }

    /// Stops the search: its answer is no longer wanted.
    pub fn stop(&mut self, now: Instant) {
        match &mut self.state {
            State::Prepares(game) => *game = None,
            State::Thinks(..) => {
                self.say("stop");
                self.state = State::Stops;
                self.grant(now, OVERTIME);
            }
            State::Greets | State::Rests | State::Stops | State::Failed => {}
        }
    }

    /// Handles a line of the engine.
    pub fn line(&mut self, now: Instant, line: &[u8]) {
        let Ok(text) = str::from_utf8(line) else {
            return;
        };
        let mut words = text.split_whitespace();
        match (words.next(), words.next()) {
            (Some("id"), Some("name")) => self.named(words),
            (Some("option"), Some("name")) if self.known.len() < MAX_KNOWN => {
                let words: Vec<&str> = words.collect();
                let name = words.split(|word| *word == "type").next();
                let name = name.unwrap_or_default().join(" ");
                let kind = OptionKind::of(&words);
                if is_plain(&name) && name.len() <= MAX_OPTION_NAME {
                    let known = KnownOption { name, kind };
                    self.known.insert(known.name.to_lowercase(), known);
                }
            }
            (Some("uciok"), _) if matches!(self.state, State::Greets) => self.prepare(now),
            (Some("readyok"), _) => self.ready(now),
            (Some("info"), first) => self.judged(first.into_iter().chain(words)),
            (Some("bestmove"), answer) => self.answered(answer.unwrap_or_default()),
            _ => {}
        }
    }

    fn say(&mut self, line: impl Into<String>) {
        self.lines.push_back(line.into());
    }

    fn patiently(&mut self, now: Instant) {
        self.grant(now, self.settings.patience);
    }

    /// Sets the time for the answer. Before the first answer, for which it may load a network, that is at least `patience`.
    fn grant(&mut self, now: Instant, time: Duration) {
        let time = if self.has_answered {
            time
        } else {
            time.max(self.settings.patience)
        };
        self.until = Some((now + time, time));
    }

    fn rest(&mut self) {
        self.state = State::Rests;
        self.until = None;
    }

    fn fail(&mut self, fault: Fault) {
        self.state = State::Failed;
        self.until = None;
        self.lines.clear();
        self.heard.push_back(Heard::Fault(fault));
    }

    fn named<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        let name = words.collect::<Vec<_>>().join(" ");
        let plain = name.chars().filter(|c| !c.is_control());
        let name: String = plain.take(MAX_ENGINE_NAME).collect();
        if !name.is_empty() && matches!(self.state, State::Greets) {
            self.heard.push_back(Heard::Name(name.trim().into()));
        }
    }

    fn prepare(&mut self, now: Instant) {
        let settings = self.settings.clone();
        for (name, value) in &settings.options {
            let Some(known) = self.known.get(&name.to_lowercase()) else {
                let unknown = self.unknown(name);
                self.heard.push_back(Heard::Option(unknown));
                continue;
            };
            let (value, told) = known.value(name, value);
            self.heard.extend(told.map(Heard::Option));
            if let Some(value) = value {
                self.say(format!("setoption name {name} value {value}"));
            }
        }
        self.say("isready");
        self.state = State::Prepares(None);
        self.patiently(now);
    }

    fn unknown(&self, name: &str) -> OptionError {
        let known = self.known.values();
        // Names of options have spaces where others have hyphens.
        let words: Vec<(String, &str)> = known
            .map(|known| (known.name.to_lowercase().replace(' ', "-"), &*known.name))
            .collect();
        let keys: Vec<&str> = words.iter().map(|(key, _)| key.as_str()).collect();
        let found = like(name, &keys);
        let like = words.iter().filter(|(key, _)| found.contains(&&**key));
        OptionError::Unknown {
            name: name.to_owned(),
            like: like
                .take(MAX_LIKE)
                .map(|(_, name)| (*name).to_owned())
                .collect(),
        }
    }

    fn ready(&mut self, now: Instant) {
        if let State::Prepares(game) = &mut self.state {
            match game.take() {
                Some(game) => self.think(now, game),
                None => self.rest(),
            }
        }
    }

    fn think(&mut self, now: Instant, game: Box<Game>) {
        self.say(format!("position {game}"));
        self.say(format!("go {}", self.settings.go.words()));
        let time = self.settings.go.time(game.turn());
        let had = time.map_or(self.settings.patience, |time| time + OVERTIME);
        self.grant(now, had);
        self.state = State::Thinks(game, None);
    }

    /// Notes the score of its first line of play.
    fn judged<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        let State::Thinks(game, evaluation) = &mut self.state else {
            return;
        };
        // `string` and `pv` go up to the end of the line.
        let words: Vec<&str> = words
            .take_while(|word| !matches!(*word, "string" | "pv"))
            .collect();
        let after = |key| {
            let at = words.iter().position(|word| *word == key)?;
            words.get(at + 1..)
        };
        let is_first = after("multipv").is_none_or(|rest| rest.first() == Some(&"1"));
        let score = after("score").filter(|_| is_first);
        let score =
            score.and_then(|score| Evaluation::of_score(score.iter().copied(), game.turn()));
        *evaluation = score.or(*evaluation);
    }

    fn answered(&mut self, answer: &str) {
        self.has_answered |= matches!(self.state, State::Thinks(..) | State::Stops);
        match &self.state {
            State::Thinks(game, evaluation) => {
                let answer_of = |uci: UciMove| uci.to_move(game.position()).ok();
                let m = answer.parse().ok().and_then(answer_of);
                match m.filter(|m| game.position().is_legal(*m)) {
                    Some(m) => {
                        let evaluation = *evaluation;
                        self.rest();
                        self.heard.push_back(Heard::Moved(m, evaluation));
                    }
                    None => self.fail(Fault::Illegal(printable(answer.as_bytes(), QUOTED))),
                }
            }
            State::Stops => self.rest(),
            State::Greets | State::Prepares(_) | State::Rests | State::Failed => {}
        }
    }
}

/// What follows `min` and `max`, if that is a range.
fn range(words: &[&str]) -> Option<RangeInclusive<i64>> {
    let number = |key| {
        let at = words.iter().rposition(|word| *word == key)?;
        words.get(at + 1)?.parse::<i64>().ok()
    };
    let (min, max) = (number("min")?, number("max")?);
    (min <= max).then_some(min..=max)
}
