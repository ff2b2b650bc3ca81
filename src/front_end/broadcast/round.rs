//! One round of a broadcast: every game of it, and what the server is asked. No I/O; time comes in as a value.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::about::{About, Details};
use super::{
    about::short,
    delay::{Delayed, Now, SavedDelayed, millis, time},
    pace::{MAX_GAMES, Pace},
    pairing_file::Pairings,
    pgn::{self, Heading, MAX_PLIES},
    trouble::Trouble,
};
use crate::{
    bus::{delayed::Told, pairings::Pairing},
    chess::game::Game,
    vocabulary::{BoardName, GameEnd, Snapshot},
};

/// Games of one board that wait for the server: a cut of an hour, in which blitz is played.
pub const MAX_WAITING: usize = 16;
/// A difference between the two clocks that is more than their drift: the time of day was set.
const CLOCK_SET: Duration = Duration::from_secs(2);
/// The game on a board now.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The board.
    pub board: BoardName,
    /// The board that it is linked with.
    pub linked: Option<BoardName>,
    /// Its `GameId`.
    pub id: String,
    /// Since when it is known.
    pub since: SystemTime,
    /// The game.
    pub game: Game,
    /// What the clocks showed after each move.
    pub clocks: Vec<Option<Duration>>,
    /// How it ended, as far as the board knows.
    pub end: Option<GameEnd>,
    /// The rest.
    pub details: Details,
    /// The board as it is, for others who tell its game with the same delay.
    pub now: Option<Told>,
}

/// A game of the round.
#[derive(Clone, Debug)]
struct Entry {
    id: String,
    since: u64,
    linked: Option<BoardName>,
    details: Details,
    game: Delayed,
    /// The board when it was last seen with this game.
    last: Option<Told>,
    /// Its PGN as it may be shown now; `None` if that has to be made.
    text: Option<String>,
    /// The text that the server was sent last and has answered.
    taken: Option<String>,
    /// Whether it could not read that.
    is_unreadable: bool,
}

impl Entry {
    /// What may be told of its board by now.
    fn told(&self, board: &BoardName) -> Told {
        let (game, details) = (&self.game, &self.details);
        let shown = game.shown();
        // After a restart, a game that has left its board is known only as it was kept.
        let kept = || Told {
            state: Arc::new(Snapshot {
                since: Some(time(self.since)),
                began: details.began,
                ..Snapshot::new(board.clone())
            }),
            paired: details.players.iter().any(Option::is_some).then(|| {
                Arc::new(Pairing {
                    players: details.players.clone(),
                    site: details.site.clone(),
                    ..Pairing::default()
                })
            }),
        };
        let last = self.last.clone().unwrap_or_else(kept);
        last.until(shown, game.shown_end(), game.clocks())
    }
}

/// A game as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedGame {
    id: String,
    since: u64,
    linked: Option<BoardName>,
    details: Details,
    game: SavedDelayed,
}

/// The games of a board, as they are kept: the last one is on the board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedBoard(Vec<SavedGame>);

/// What the server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// What the round is.
    Round,
    /// To take these games.
    Push(String),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A success, with its text.
    Done(String),
    /// A status that is none, and what the server says.
    Refused(u16, String),
    /// The server was not reached.
    Lost(String),
    /// There is no token, and why.
    NoToken(String),
}

/// What is worth a line in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something goes wrong.
    Trouble(Trouble),
    /// The server knows the round, and this is its delay.
    Connected(About, Duration),
    /// The server takes games again.
    Mended,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trouble(trouble) => trouble.fmt(f),
            Self::Connected(about, here) => {
                let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
                write!(
                    f,
                    "games go to {}, {}",
                    name(&about.event),
                    name(&about.round)
                )?;
                match (about.delay, here.as_secs()) {
                    (Some(server), 0) => {
                        write!(
                            f,
                            "; the server shows them after {} s, nothing is held back here",
                            server.as_secs()
                        )
                    }
                    (None, 0) => f.write_str("; nothing is held back here"),
                    (_, here) => write!(f, "; each move {here} s after it was made"),
                }
            }
            Self::Mended => f.write_str("the server takes games again"),
        }
    }
}

/// A push under way: each game with the text that was sent, in order.
type Sent = Vec<(BoardName, String, String)>;

/// One round. See the module documentation.
#[derive(Debug)]
pub struct Round {
    id: String,
    delay: Duration,
    boards: BTreeMap<BoardName, Vec<Entry>>,
    pairings: Pairings,
    about: Option<About>,
    pace: Pace,
    sent: Option<Sent>,
    /// The games of the last full push that are still to be sent.
    rest: VecDeque<(BoardName, String)>,
    told: BTreeSet<Trouble>,
    notices: VecDeque<Notice>,
    /// Boards whose games are to be kept.
    changed: BTreeSet<BoardName>,
    /// Every game that the server has taken.
    chapters: BTreeSet<String>,
    /// Both clocks at one moment.
    anchor: Now,
}

impl Round {
    /// A round with this id.
    pub fn new(id: &str, delay: Duration, now: Now) -> Self {
        Self {
            id: id.to_owned(),
            delay,
            boards: BTreeMap::new(),
            pairings: Pairings::default(),
            about: None,
            pace: Pace::default(),
            sent: None,
            rest: VecDeque::new(),
            told: BTreeSet::new(),
            notices: VecDeque::new(),
            changed: BTreeSet::new(),
            chapters: BTreeSet::new(),
            anchor: now,
        }
    }

    /// Takes up a board's games from before a restart.
    pub fn restore(&mut self, board: BoardName, saved: SavedBoard, now: Now) {
        let games = saved.0.into_iter().map(|saved| Entry {
            id: saved.id,
            since: saved.since,
            linked: saved.linked,
            details: saved.details,
            game: Delayed::restored(saved.game, now, self.delay),
            last: None,
            text: None,
            taken: None,
            is_unreadable: false,
        });
        self.boards.insert(board, games.collect());
    }

    /// The next board whose games are to be kept before the server is told of them.
    pub fn poll_kept(&mut self) -> Option<(BoardName, SavedBoard)> {
        let board = self.changed.pop_first()?;
        let saved = self.memory_of(&board);
        Some((board, saved))
    }

    /// A board's games, for a restart.
    fn memory_of(&self, board: &BoardName) -> SavedBoard {
        let games = self.boards.get(board).into_iter().flatten();
        let games = games.map(|entry| SavedGame {
            id: entry.id.clone(),
            since: entry.since,
            linked: entry.linked.clone(),
            details: entry.details.clone(),
            game: entry.game.memory(),
        });
        SavedBoard(games.collect())
    }

    /// Every board's games, for the next round with this id.
    pub fn memory(&self) -> BTreeMap<BoardName, SavedBoard> {
        let all = self.boards.keys();
        all.map(|board| (board.clone(), self.memory_of(board)))
            .collect()
    }

    /// Whether the server does not have everything yet.
    pub fn has_more(&self) -> bool {
        let mut entries = self.boards.values().flatten();
        entries.any(|entry| {
            let is_shown = !entry.game.shown().is_empty();
            !entry.game.is_all_shown() || is_shown && entry.taken != entry.text
        })
    }

    /// The players are these from now on.
    pub fn pairings(&mut self, pairings: Pairings) {
        if self.pairings != pairings {
            self.pairings = pairings;
            self.write_again();
        }
    }

    fn write_again(&mut self) {
        for entry in self.boards.values_mut().flatten() {
            entry.text = None;
        }
    }

    /// The game on a board is now this.
    pub fn seen(&mut self, seen: Seen, now: Now) {
        self.notice_clock(now);
        let since = millis(seen.since);
        let delay = self.delay;
        let entries = self.boards.entry(seen.board.clone()).or_default();
        if let Some(last) = entries.last_mut()
            && last.since != since
            && last.game.known().is_empty()
            && last.game.shown().is_empty()
        {
            // Pieces that were put up again before the first move: the server has this game already.
            last.since = since;
            last.text = None;
            last.game = Delayed::new(&seen.game);
        }
        if entries.last().is_none_or(|last| last.since != since) {
            // It was over before the round began here, or belongs to the round before.
            if seen.end.or(GameEnd::by_rules(&seen.game)).is_some() {
                return;
            }
            entries.push(Entry {
                id: seen.id,
                since,
                linked: None,
                details: Details::default(),
                game: Delayed::new(&seen.game),
                last: None,
                text: None,
                taken: None,
                is_unreadable: false,
            });
            if entries.len() > MAX_WAITING {
                entries.remove(0);
                tell(
                    &mut self.told,
                    &mut self.notices,
                    Trouble::TooManyWait(seen.board.clone()),
                );
            }
        }
        let Some(entry) = entries.last_mut() else {
            return;
        };
        entry.last = seen.now.or(entry.last.take());
        let mut is_new = entry
            .game
            .is(&seen.game, &seen.clocks, seen.end, now, delay);
        if is_new {
            entry.text = None;
        }
        // A front-end that leaves the game after its end takes nothing away.
        let mut details = seen.details;
        for (name, known) in details.players.as_mut().zip(entry.details.players.as_ref()) {
            if name.is_none() {
                name.clone_from(known);
            }
        }
        let kept = &entry.details;
        details.site = details.site.or_else(|| kept.site.clone());
        details.began = kept.began.or(details.began);
        if !kept.number.is_empty() {
            details.number.clone_from(&kept.number);
        }
        let linked = seen.linked.or_else(|| entry.linked.clone());
        if entry.details != details || entry.linked != linked {
            entry.details = details;
            entry.linked = linked;
            entry.text = None;
            is_new = true;
        }
        if entry.game.known().len() > MAX_PLIES {
            tell(
                &mut self.told,
                &mut self.notices,
                Trouble::TooLong(seen.board.clone()),
            );
        }
        if is_new {
            self.changed.insert(seen.board);
        }
        self.advance(now.at);
    }

    /// The time of day may have been set: what waits keeps its age.
    fn notice_clock(&mut self, now: Now) {
        let passed = now.at.saturating_duration_since(self.anchor.at);
        let Some(expected) = self.anchor.day.checked_add(passed) else {
            return;
        };
        let forward = now.day.duration_since(expected).unwrap_or_default();
        let back = expected.duration_since(now.day).unwrap_or_default();
        if forward.max(back) > CLOCK_SET {
            let shifted =
                |seen: SystemTime| time(millis((seen + forward).checked_sub(back).unwrap_or(seen)));
            for (board, entries) in &mut self.boards {
                for entry in entries
                    .iter_mut()
                    .filter(|entry| !entry.game.is_all_shown())
                {
                    entry.game.clock_was_set(shifted);
                    self.changed.insert(board.clone());
                }
            }
            self.anchor = now;
        }
    }

    /// Shows what is due.
    pub fn advance(&mut self, now: Instant) {
        for (board, entries) in &mut self.boards {
            for entry in entries.iter_mut() {
                let waited = entry.game.deadline();
                if entry.game.advance(now) {
                    entry.text = None;
                }
                if waited != entry.game.deadline() {
                    self.changed.insert(board.clone());
                }
            }
        }
    }

    /// What may be told of a board by now: its last game that has a move to show, else the last one.
    pub fn told(&self, board: &BoardName) -> Option<Told> {
        let entries = self.boards.get(board)?;
        let has_moves = |entry: &&Entry| !entry.game.shown().is_empty();
        let shown = entries.iter().rev().find(has_moves);
        shown.or(entries.last()).map(|entry| entry.told(board))
    }

    /// Makes the texts that have to be made, and forgets the games that the server has whole.
    fn write(&mut self) {
        let Some(about) = &self.about else {
            return;
        };
        for (board, entries) in &mut self.boards {
            let is_first = entries.len() == 1;
            let last = entries.len().saturating_sub(1);
            let is_empty = |last: &Entry| last.game.shown().is_empty();
            let last_is_empty = entries.last().is_some_and(is_empty);
            let mut index = 0;
            entries.retain_mut(|entry| {
                let is_last = index == last;
                index += 1;
                if entry.text.is_none() {
                    let listed = self.pairings.has(board)
                        || entry
                            .linked
                            .as_ref()
                            .is_some_and(|with| self.pairings.has(with));
                    // Before its first move a game is shown only if the round is known to have it.
                    let is_shown = !entry.game.shown().is_empty()
                        || (is_first && listed)
                        || entry.taken.is_some();
                    entry.text = Some(if is_shown {
                        pgn::text(&Heading {
                            id: &entry.id,
                            board,
                            linked: entry.linked.as_ref(),
                            about,
                            pairings: &self.pairings,
                            game: &entry.game,
                            details: &entry.details,
                        })
                    } else {
                        String::new()
                    });
                }
                let text = entry.text.as_ref();
                let is_taken = entry.taken.as_ref() == text && !entry.is_unreadable;
                let is_done = text.is_some_and(String::is_empty) || is_taken;
                // A board whose game is over shows no second one before that has a move.
                let is_before = index == last && last_is_empty;
                let is_kept = is_last || is_before || !entry.game.is_all_shown() || !is_done;
                if !is_kept {
                    self.changed.insert(board.clone());
                }
                is_kept
            });
        }
    }

    /// What the server is to be asked now; its answer has to come before the next.
    pub fn poll_request(&mut self, now: Now) -> Option<Ask> {
        self.notice_clock(now);
        self.advance(now.at);
        self.write();
        if !self.pace.may_ask(now.at) {
            return None;
        }
        if self.about.is_none() {
            // Nothing is asked of the server before there is a game.
            if self.boards.values().all(Vec::is_empty) {
                return None;
            }
            self.pace.asks(now.at, false);
            return Some(Ask::Round);
        }
        let key = |board: &BoardName, entry: &Entry| (board.clone(), entry.id.clone());
        let all = || {
            let all = self.boards.iter();
            let all =
                all.flat_map(|(board, entries)| entries.iter().map(move |entry| (board, entry)));
            all.filter(|(_, entry)| entry.text.as_ref().is_some_and(|text| !text.is_empty()))
        };
        let is_new = |entry: &Entry| entry.taken != entry.text;
        let mut wanted: VecDeque<_> = all()
            .filter(|(_, entry)| is_new(entry))
            .map(|(board, entry)| key(board, entry))
            .collect();
        if wanted.is_empty() {
            if self.rest.is_empty() && self.pace.is_rest_over(now.at) {
                self.rest = all().map(|(board, entry)| key(board, entry)).collect();
            }
            wanted.append(&mut self.rest);
        }
        let (mut sent, mut body): (Sent, _) = (Vec::new(), String::new());
        while let Some((board, id)) = wanted.front()
            && sent.len() < MAX_GAMES
        {
            let entries = self.boards.get(board).into_iter().flatten();
            let text = entries
                .filter(|entry| entry.id == *id)
                .find_map(|entry| entry.text.clone());
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                // One game is sent however large it is.
                if !sent.is_empty() && body.len() + text.len() > self.pace.most_bytes() {
                    break;
                }
                body.push_str(&text);
                sent.push((board.clone(), id.clone(), text));
            }
            wanted.pop_front();
        }
        if sent.is_empty() {
            return None;
        }
        // What is new is found again by itself.
        let at_rest = |(board, id): &(BoardName, String)| {
            let mut entries = self.boards.get(board).into_iter().flatten();
            entries.any(|entry| entry.id == *id && !is_new(entry))
        };
        self.rest = wanted.into_iter().filter(at_rest).collect();
        self.sent = Some(sent);
        self.pace.asks(now.at, true);
        Some(Ask::Push(body))
    }

    /// The server has answered what was asked last.
    pub fn answered(&mut self, answer: Answer, now: Instant) {
        let sent = self.sent.take();
        let games = sent.as_ref().map_or(0, Vec::len);
        let bytes = sent.iter().flatten().map(|(.., text)| text.len()).sum();
        match (answer, sent) {
            (Answer::Done(text), Some(sent)) => self.pushed(&text, sent, now),
            (Answer::Done(text), None) => match About::read(&text) {
                Ok(about) => {
                    self.pace.succeeded();
                    if let Some(server) = about.delay.filter(|delay| !delay.is_zero())
                        && !self.delay.is_zero()
                    {
                        let here = self.delay;
                        self.tell(Trouble::TwoDelays { server, here });
                    }
                    self.notices
                        .push_back(Notice::Connected(about.clone(), self.delay));
                    self.about = Some(about);
                    self.write_again();
                }
                Err(error) => self.lost(&format!("its answer cannot be read: {error}"), now),
            },
            (Answer::Lost(words), _) => self.lost(&words, now),
            (Answer::NoToken(words), _) => {
                self.pace.refused(now);
                self.tell(Trouble::NoToken(words));
            }
            (Answer::Refused(status, words), _) => {
                let words = short(&words);
                match status {
                    429 => {
                        self.pace.too_many(now);
                        self.tell(Trouble::TooMany);
                    }
                    413 if games < 2 => {
                        self.pace.refused(now);
                        self.tell(Trouble::Refused(words));
                    }
                    413 => {
                        self.pace.too_large(now, bytes);
                        self.tell(Trouble::TooLarge);
                    }
                    500.. => self.lost(&words, now),
                    // A server that does not say what the round is may take games all the same; if not, the push tells why.
                    400..500 if self.about.is_none() && status != 401 => {
                        self.pace.succeeded();
                        self.about = Some(About::default());
                        self.write_again();
                    }
                    _ => {
                        self.pace.refused(now);
                        // What the round is may be told by now.
                        self.about.take_if(|about| *about == About::default());
                        self.tell(match status {
                            401 => Trouble::NotAccepted,
                            403 => Trouble::NotContributor(words),
                            404 => Trouble::NoRound(self.id.clone()),
                            _ => Trouble::Refused(words),
                        });
                    }
                }
            }
        }
    }

    fn lost(&mut self, words: &str, now: Instant) {
        self.pace.lost(now);
        // Told once for a cut, whatever the words.
        if !self
            .told
            .iter()
            .any(|told| matches!(told, Trouble::Unreachable(_)))
        {
            self.tell(Trouble::Unreachable(short(words)));
        }
    }

    fn pushed(&mut self, text: &str, sent: Sent, now: Instant) {
        let answer: Value = match serde_json::from_str(text) {
            Ok(answer) => answer,
            Err(error) => return self.lost(&format!("its answer cannot be read: {error}"), now),
        };
        let told = answer["games"].as_array().map_or(&[][..], Vec::as_slice);
        if told.len() != sent.len() {
            let words = told.iter().find_map(|game| game["error"].as_str());
            let words = words.unwrap_or("it does not say what came of each game");
            self.pace.refused(now);
            return self.tell(Trouble::NoPushes(short(words)));
        }
        self.pace.succeeded();
        for ((board, id, text), told) in sent.into_iter().zip(told) {
            let error = told["error"].as_str();
            if let Some(words) = error {
                self.tell(Trouble::Game {
                    board: board.clone(),
                    words: short(words),
                });
            } else {
                if self.chapters.len() <= MAX_GAMES {
                    self.chapters.insert(id.clone());
                }
                // It may be told again when it goes wrong again.
                self.told.retain(|told| match told {
                    Trouble::Game { board: of, .. } | Trouble::TooManyWait(of) => *of != board,
                    _ => true,
                });
            }
            let entries = self.boards.get_mut(&board).into_iter().flatten();
            for entry in entries.filter(|entry| entry.id == id) {
                entry.taken = Some(text.clone());
                entry.is_unreadable = error.is_some();
            }
        }
        if self.chapters.len() > MAX_GAMES {
            self.tell(Trouble::TooManyGames);
        }
        let before = self.told.len();
        self.told.retain(|told| !told.ends_with_success());
        if self.told.len() < before {
            self.notices.push_back(Notice::Mended);
        }
    }

    fn tell(&mut self, trouble: Trouble) {
        tell(&mut self.told, &mut self.notices, trouble);
    }

    /// What is worth a line in the log.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// When something more may be shown.
    pub fn due(&self) -> Option<Instant> {
        let entries = self.boards.values().flatten();
        entries.filter_map(|entry| entry.game.deadline()).min()
    }

    /// When [`poll_request`](Self::poll_request) has to be asked again.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        let entries = || self.boards.values().flatten();
        let may = self.pace.next_at(now);
        let waits = |entry: &Entry| {
            let text = entry.text.as_ref();
            text.is_none()
                || text.is_some_and(|text| !text.is_empty()) && entry.taken.as_ref() != text
        };
        let ask = match &self.about {
            None => may.filter(|_| entries().next().is_some()),
            Some(_) if !self.rest.is_empty() || entries().any(waits) => may,
            Some(_) => {
                let some = entries().any(|entry| entry.taken.is_some());
                let rest = self.pace.rest_ends().filter(|_| some);
                may.and_then(|may| rest.map(|rest| rest.max(may)))
            }
        };
        [self.due(), ask].into_iter().flatten().min()
    }
}

fn tell(told: &mut BTreeSet<Trouble>, notices: &mut VecDeque<Notice>, trouble: Trouble) {
    if told.insert(trouble.clone()) {
        notices.push_back(Notice::Trouble(trouble));
    }
}
