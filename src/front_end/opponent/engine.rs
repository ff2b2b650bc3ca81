//! Runs one engine, without I/O: starts it, asks it, and starts it again when it crashes or hangs.
//!
//! The caller states the question to answer now, or none. A search for another question is stopped, and after a restart the new
//! process is asked the question of the old one.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::Move;

use super::{
    notice::Notice,
    settings::EngineSettings,
    uci::{Conversation, Fault, Heard},
};
use crate::{chess::game::Game, vocabulary::Evaluation};

/// The wait before an engine is started again after it failed; it doubles with each failure in a row.
pub const RESTART_WAIT: Duration = Duration::from_secs(1);
/// The longest of these waits: an engine that always crashes costs no more than one start a minute.
pub const MAX_RESTART_WAIT: Duration = Duration::from_mins(1);
/// Doublings until then.
const DOUBLINGS: u32 = 6;

/// What the engine is to answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Tells questions apart.
    pub number: u64,
    /// Tells games apart.
    pub game_number: u64,
    /// A move is wanted in the last position of this game.
    pub game: Game,
}

/// Its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// To which question.
    pub question: Question,
    /// Its move.
    pub m: Move,
    /// What it makes of the position, if it said so.
    pub evaluation: Option<Evaluation>,
}

/// What to do with the engine's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start it.
    Start,
    /// Write this line to it.
    Write(String),
    /// Kill it.
    Kill,
}

/// One engine. See the module documentation.
#[derive(Debug)]
pub struct Engine {
    settings: Arc<EngineSettings>,
    file: Arc<str>,
    stated: Option<Arc<str>>,
    conversation: Option<Conversation>,
    start_at: Option<Instant>,
    /// Failures in a row.
    failures: u32,
    /// The question it is answering, and the game of the one before.
    asked: Option<u64>,
    last_game: Option<u64>,
    wanted: Option<Question>,
    /// It was to play weaker, and cannot.
    is_at_full_strength: bool,
    /// Why it does not play, and the same in words.
    trouble: Option<(Fault, Arc<str>)>,
    /// The last line of its process on standard error, or as `info string`.
    last_words: Option<String>,
    actions: VecDeque<Action>,
    answers: VecDeque<Answer>,
    notices: VecDeque<Notice>,
}

impl Engine {
    /// An engine that is started at once.
    pub fn new(now: Instant, settings: EngineSettings) -> Self {
        let file = settings.program.path.file_name();
        let file = file.map_or_else(|| "engine".into(), |name| name.to_string_lossy());
        Self {
            file: file.into(),
            stated: None,
            settings: Arc::new(settings),
            conversation: None,
            start_at: Some(now),
            failures: 0,
            asked: None,
            last_game: None,
            wanted: None,
            is_at_full_strength: false,
            trouble: None,
            last_words: None,
            actions: VecDeque::new(),
            answers: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// How it is started and asked.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Its name as it states it; until then that of its file.
    pub fn name(&self) -> &Arc<str> {
        self.stated().unwrap_or(&self.file)
    }

    /// Its name as it states it, once it has.
    pub fn stated(&self) -> Option<&Arc<str>> {
        self.stated.as_ref()
    }

    /// Why it does not play, if it has failed and not answered since.
    pub fn trouble(&self) -> Option<&Arc<str>> {
        self.trouble.as_ref().map(|(_, words)| words)
    }

    /// Whether it was to play weaker than it can, and has no option for that.
    pub fn is_at_full_strength(&self) -> bool {
        self.is_at_full_strength
    }

    /// What to do with its process next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Its next answer.
    pub fn poll_answer(&mut self) -> Option<Answer> {
        self.answers.pop_front()
    }

    /// The next notice.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        let answer = self.conversation.as_ref().and_then(Conversation::deadline);
        [self.start_at, answer].into_iter().flatten().min()
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        if self.start_at.take_if(|at| *at <= now).is_some() {
            self.actions.push_back(Action::Start);
        }
        if let Some(conversation) = &mut self.conversation {
            conversation.timeout(now);
        }
        self.listen(now);
    }

    /// Sets the question that it has to answer now.
    pub fn want(&mut self, now: Instant, question: Option<Question>) {
        if self.wanted != question {
            self.wanted = question;
            self.listen(now);
        }
    }

    /// Its process was started.
    pub fn started(&mut self, now: Instant) {
        self.conversation = Some(Conversation::new(now, self.settings.clone()));
        self.asked = None;
        self.last_game = None;
        self.last_words = None;
        self.is_at_full_strength = false;
        self.listen(now);
    }

    /// Notes the last line of its process on standard error, or as `info string`: it is reported with the next fault.
    pub fn last_words(&mut self, words: Option<&str>) {
        self.last_words = words.map(str::to_owned);
    }

    /// Handles a line of its process.
    pub fn line(&mut self, now: Instant, line: &[u8]) {
        if let Some(conversation) = &mut self.conversation {
            conversation.line(now, line);
        }
        self.listen(now);
    }

    /// Its process has ended by itself, or cannot be started.
    pub fn ended(&mut self, now: Instant, why: String) {
        self.failed(now, Fault::Ended(why));
    }

    fn failed(&mut self, now: Instant, fault: Fault) {
        self.conversation = None;
        self.asked = None;
        self.actions.clear();
        self.actions.push_back(Action::Kill);
        let wait = RESTART_WAIT * 2u32.pow(self.failures.min(DOUBLINGS));
        self.failures = self.failures.saturating_add(1);
        self.start_at = Some(now + wait.min(MAX_RESTART_WAIT));
        let words = self.last_words.take();
        // Reported once: further failures of the same kind are not, even if the last words differ, for instance in a time.
        if self
            .trouble
            .as_ref()
            .is_none_or(|(known, _)| *known != fault)
        {
            let text: Arc<str> = fault.told(words.as_deref()).into();
            self.notices.push_back(Notice::Fault(text.clone()));
            self.trouble = Some((fault, text));
        }
    }

    /// Handles what the conversation has heard, then stops or asks the engine as the question requires.
    fn listen(&mut self, now: Instant) {
        while let Some(heard) = self
            .conversation
            .as_mut()
            .and_then(Conversation::poll_heard)
        {
            match heard {
                Heard::Name(name) => self.stated = Some(name),
                Heard::Option(error) => {
                    self.is_at_full_strength |= error.is_of_strength();
                    self.notices.push_back(Notice::Option(error));
                }
                Heard::Moved(m, evaluation) => {
                    self.failures = 0;
                    if self.trouble.take().is_some() {
                        self.notices.push_back(Notice::Recovered);
                    }
                    let asked = self.asked.take();
                    let answers = |question: &mut Question| asked == Some(question.number);
                    if let Some(question) = self.wanted.take_if(answers) {
                        self.answers.push_back(Answer {
                            question,
                            m,
                            evaluation,
                        });
                    }
                }
                Heard::Fault(fault) => self.failed(now, fault),
            }
        }
        let Some(conversation) = &mut self.conversation else {
            return;
        };
        let wanted = self.wanted.as_ref().map(|question| question.number);
        if self.asked.is_some() && self.asked != wanted {
            conversation.stop(now);
            self.asked = None;
        }
        if let Some(question) = &self.wanted
            && self.asked.is_none()
            && conversation.is_free()
        {
            let fresh = self.last_game.replace(question.game_number) != Some(question.game_number);
            self.asked = Some(question.number);
            conversation.ask(now, question.game.clone(), fresh);
        }
        while let Some(line) = conversation.poll_line() {
            self.actions.push_back(Action::Write(line));
        }
    }
}
