//! Decides which game is played on a board, and what to write of it when. Without I/O.
//!
//! Snapshots and time go in; texts for files come out, one at a time. The rules:
//!
//! - Only a game known for certain counts, or one that was seen being played while no program has the board; and only
//!   one with a move.
//! - A game continues while the board's game has its moves, even if reported from another starting position. Up to
//!   [`MAX_TAKEN_BACK`] moves that were taken back or replaced are forgotten. If there are more, the game is kept as it
//!   was, and the next different move begins another one: a mistake does not lose what was played.
//! - What the board's core takes for another game is one, even if it begins with the same moves.
//! - A board back at a start begins another game with its next move, unless it is led back into the old one or only
//!   [`MAX_UNMADE`] moves had been made.
//! - A game found in its file, or one the board was put back from, continues if the board's game has all of its moves,
//!   or all but a few of many, and it was not over.
//!
//! A game is written when it begins, so that it has its file; when it is over, moves are taken back, another one begins, or
//! the board is lost; and when it stands for [`STANDS_WAIT`]. The moves in between survive in the board's memory, from which
//! the next start writes them. Where there is none (`every_move`) each move is written.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use jiff::tz::TimeZone;

use super::{
    folder::{GameFile, Writing},
    reading,
    record::{Heading, Record},
    tags::pgn,
};
use crate::{
    bus::pairings::{Pairing, Player},
    chess::game::Game,
    front_end::{
        pgn::settings::GamesConfig,
        pgn_text::{TagText, clock, program},
    },
    vocabulary::{BoardName, By, Event, GameEnd, Judge, Snapshot},
};

/// Moves that may be taken back before another move begins another game. Players take back one or two moves of
/// each side.
pub const MAX_TAKEN_BACK: usize = 8;
/// A board that is put back to the start after this few moves continues the same game.
pub const MAX_UNMADE: usize = 2;
/// So many moves that a board reports afterwards count as the hand's; who made more than that at once is unknown.
const MAX_UNSEEN: usize = 2;
/// The least time between two writes of one game: it spares a memory card when moves go to and fro; a power cut costs only what
/// was played in that time.
pub const WRITE_GAP: Duration = Duration::from_secs(2);
/// A running game without a move for this long is written: the players think, or have left it.
pub const STANDS_WAIT: Duration = Duration::from_mins(1);
/// How long after a failed write another one is tried; a move ends the wait.
pub const RETRY_WAIT: Duration = Duration::from_mins(1);
/// Games that may wait to be written: some days' games on a full disk.
pub const MAX_UNWRITTEN: usize = 32;

/// The beginning of a file's name: in UTC, so that names stay in the order of the games when the clocks change.
const STAMP: &str = "%Y-%m-%d_%H%M%S";

/// What to tell the player after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Nothing new.
    Nothing,
    /// It failed, and the one before had not.
    Trouble,
    /// It succeeded, after others had failed.
    Mended,
}

/// A game and its file.
#[derive(Debug)]
struct ArchivedGame {
    /// Numbers the games.
    id: u64,
    record: Record,
    file: Option<String>,
    /// The file of the game that this one replaced.
    instead_of: Option<String>,
    /// Numbers the changes.
    revision: u64,
    /// The revision in the file.
    written: u64,
    /// The board has been at a start since, or was not seen: another game may be played now.
    left: bool,
    /// The board was put back to the start, and no client leads it into this game again.
    put_back: bool,
    /// It was read from its file, and has not continued yet.
    found: bool,
    /// Its identity at the board, once it was seen there: see [`Snapshot::since`].
    since: Option<SystemTime>,
    /// An earlier snapshot showed it: if it is over, who plays now does not play it.
    met: bool,
    /// A write is due, although the game is running and has a file.
    due: bool,
}

impl ArchivedGame {
    /// A game that has not begun.
    fn new(id: u64, record: Record) -> Self {
        Self {
            id,
            record,
            file: None,
            instead_of: None,
            revision: 0,
            written: 0,
            left: false,
            put_back: false,
            found: false,
            since: None,
            met: false,
            due: false,
        }
    }

    /// Whether the board holds another game by now, which may begin with the same moves.
    fn is_another(&self, since: Option<SystemTime>) -> bool {
        self.since
            .is_some_and(|own| since.is_some_and(|now| now != own))
    }

    /// Whether it is written without waiting for a pause.
    fn is_due(&self) -> bool {
        self.due || self.file.is_none() || self.record.is_over()
    }

    /// Whether it is over, or was given up after more than a few moves: its board is at the start, or another game is the `last` there.
    fn has_ended(&self, last: Option<u64>) -> bool {
        let is_left =
            (self.put_back || last != Some(self.id)) && self.record.game.len() > MAX_TAKEN_BACK;
        is_left || self.record.is_over()
    }

    fn is_dirty(&self) -> bool {
        self.revision != self.written
    }

    /// Whether this is the game on the board now; they have this many moves in common.
    fn goes_on_as(&self, game: &Game, common: usize) -> bool {
        let before = self.record.game.len();
        let lost = before - common;
        if self.put_back && before <= MAX_UNMADE {
            return false;
        }
        if self.record.game == *game {
            return true;
        }
        if !self.left {
            return lost <= MAX_TAKEN_BACK;
        }
        let known = lost == 0 || (lost <= MAX_TAKEN_BACK && common > MAX_TAKEN_BACK);
        !self.record.is_over() && known
    }

    /// Whether it has so few moves that this game, from the same start, replaces it.
    fn gives_way_to(&self, game: &Game) -> bool {
        let unmade = self.record.game.len() <= MAX_UNMADE && !self.record.is_over();
        unmade && self.left && !self.found && self.record.game.start() == game.start()
    }

    /// Another game replaces it.
    fn begin_anew(&mut self, at: SystemTime, game: &Game) {
        self.record = Record::new(at, Game::from_start(game.start().clone()));
        self.instead_of = self.file.take().or(self.instead_of.take());
        self.revision += 1;
    }

    /// The game now has these moves.
    fn go_on(&mut self, game: &Game, snapshot: &Snapshot) {
        let (by, since) = (&snapshot.by, identity(snapshot));
        self.left = false;
        self.put_back = false;
        self.found = false;
        let common = self.record.game.common_plies(game).unwrap_or(0);
        self.due |= common < self.record.game.len();
        if !self.record.follow(game) {
            // One that is over keeps its own.
            if self.since.is_none() || !self.record.is_over() {
                self.since = since.or(self.since);
            }
            return;
        }
        self.since = since.or(self.since);
        self.revision += 1;
        // The board may report the game from a later position than the one known here.
        let later = game.len().saturating_sub(by.len());
        let seen = |ply: usize| by.get(ply.checked_sub(later)?).copied().flatten();
        let unseen = (common..game.len()).filter(|ply| seen(*ply) == Some(By::HandUnseen));
        // It is unknown who made many unseen moves.
        let many = unseen.count() > MAX_UNSEEN;
        for ply in common..game.len() {
            self.record.by[ply] = seen(ply).filter(|by| *by != By::HandUnseen || !many);
        }
    }
}

/// See the module's introduction.
#[derive(Debug)]
pub struct Archive {
    board: BoardName,
    heading: Heading,
    every_move: bool,
    /// The last game is, or was last, on the board; the one before it may return there.
    games: VecDeque<ArchivedGame>,
    /// The last game and target processed.
    seen: Option<(Arc<Game>, Option<Arc<Game>>)>,
    /// The end of a program's game that the board has not yet been led to.
    announced: Option<(Arc<Game>, GameEnd)>,
    /// The game that is being written, and its revision.
    writing: Option<(u64, u64)>,
    ids: u64,
    /// No write before this time: the last one was too recent.
    write_after: Option<Instant>,
    /// No write before this time, after a failed one, unless the game changes.
    retry_after: Option<Instant>,
    /// The last game has changed since [`Self::poll_write`].
    changed: bool,
    /// When the last game has not changed for [`STANDS_WAIT`].
    stands_at: Option<Instant>,
    failing: bool,
}

impl Archive {
    /// A board in this time zone whose games are kept; `last` is its last file.
    pub fn new(
        board: BoardName,
        config: &GamesConfig,
        zone: TimeZone,
        last: Option<GameFile>,
    ) -> Self {
        let heading = heading(&board, config, zone);
        let found = last.and_then(|GameFile { file, text }| {
            Some(ArchivedGame {
                file: Some(file),
                left: true,
                found: true,
                ..ArchivedGame::new(0, reading::own(&text, &heading)?)
            })
        });
        Self {
            board,
            heading,
            every_move: config.every_move,
            games: found.into_iter().collect(),
            seen: None,
            announced: None,
            writing: None,
            ids: 0,
            write_after: None,
            retry_after: None,
            changed: false,
            stands_at: None,
            failing: false,
        }
    }

    /// Notes that the player was told of a folder that could not be opened: it is not told again until it is fixed.
    pub fn trouble_told(&mut self) {
        self.failing = true;
    }

    /// Processes the events that led to a snapshot, before [`Self::see`] does that. A game that ends and is left in one publication
    /// has no end in its snapshot.
    pub fn hear(&mut self, events: &[Event], snapshot: &Snapshot) {
        let ended = |event: &Event| match event {
            Event::Ended { end, .. } => Some(*end),
            _ => None,
        };
        let Some(end) = events.iter().rev().find_map(ended) else {
            return;
        };
        let Some(kept) = self.games.back_mut() else {
            return;
        };
        // A program may end a game that the board was still to be led to.
        let target = self.seen.as_ref().and_then(|(_, target)| target.as_ref());
        let is_its = target.is_none_or(|target| target.continues(&kept.record.game));
        let is_open = snapshot.ending.is_none() && !kept.left && !kept.record.is_over();
        if is_its && is_open && kept.record.end(end) {
            kept.revision += 1;
            kept.due = true;
            self.changed = true;
        }
    }

    /// Processes a snapshot of the board.
    pub fn see(&mut self, at: SystemTime, snapshot: &Snapshot) {
        let state =
            |games: &VecDeque<ArchivedGame>| games.back().map(|kept| (kept.id, kept.revision));
        let before = state(&self.games);
        if let Some(kept) = self.games.back_mut() {
            kept.met = true;
        }
        let is_played = snapshot.sure || is_followed(snapshot);
        if is_played {
            self.follow(at, snapshot);
        } else if snapshot.remembered {
            self.follow(snapshot.began.unwrap_or(at), snapshot);
        }
        self.note(snapshot);
        if state(&self.games) != before {
            self.retry_after = None;
            self.changed = true;
        }
        if let Some(kept) = self.games.back_mut().filter(|_| !is_played) {
            // The board may stay away: what is known is written now.
            kept.due |= kept.is_dirty();
        }
    }

    /// Finds out which game it is.
    fn follow(&mut self, at: SystemTime, snapshot: &Snapshot) {
        let looked_at = (snapshot.game.clone(), snapshot.target.clone());
        if self.seen.as_ref() == Some(&looked_at) {
            return;
        }
        self.seen = Some(looked_at);
        let target = snapshot.target.as_deref();
        let Some(kept) = self.games.back_mut() else {
            self.begin(at, &snapshot.game, snapshot);
            return;
        };
        let leads_on = |game: &Game, plies: usize| {
            let shared = target.and_then(|target| target.common_plies(game));
            shared.is_some_and(|shared| shared > plies)
        };
        if snapshot.game.is_empty() {
            kept.left = true;
            kept.put_back |= !leads_on(&kept.record.game, 0);
            kept.due |= kept.put_back && kept.is_dirty();
            return;
        }
        let game = (*snapshot.game).clone().rebased(&kept.record.game);
        if game.start() != kept.record.game.start() {
            // It may be reported from an earlier position than it was known from.
            let whole = kept.record.game.clone().rebased(&game);
            if whole.start() == game.start() && !whole.is_empty() {
                kept.record.begin_earlier(whole);
                kept.revision += 1;
            }
        }
        let Some(common) = kept.record.game.common_plies(&game) else {
            self.begin(at, &game, snapshot);
            return;
        };
        // What is seen of another game may begin with its first moves: the board was at its start in between.
        let is_another = kept.is_another(identity(snapshot));
        kept.left |= common == 0 || is_another;
        if common == game.len() && common < kept.record.game.len() {
            let led_back = !is_another && leads_on(&kept.record.game, common);
            // A board that takes back ply by ply is still on its way to where the program wants it.
            let on_its_way = target.is_some_and(|target| {
                target.len() < snapshot.game.len() && snapshot.game.continues(target)
            });
            let far_back = kept.record.game.len() - common > MAX_TAKEN_BACK;
            let looks_back = is_another && common > MAX_UNMADE;
            // The board returns to its position, or another move will decide.
            if led_back || looks_back || ((on_its_way || far_back) && !kept.left) {
                return;
            }
        }
        let known = common == kept.record.game.len();
        let goes_on = kept.goes_on_as(&game, common);
        let returns = self.returning(&game, target).is_some() && !known;
        if goes_on
            && !returns
            && let Some(kept) = self.games.back_mut()
        {
            kept.go_on(&game, snapshot);
        } else {
            self.begin(at, &game, snapshot);
        }
    }

    /// The game before the last, if it is the one on the board again, or that the board is led into again.
    fn returning(&self, game: &Game, target: Option<&Game>) -> Option<usize> {
        let before = self.games.len().checked_sub(2)?;
        let record = &self.games[before].record;
        let long = record.game.len() > MAX_UNMADE;
        let led = target.filter(|target| target.continues(game));
        let is_it = led.unwrap_or(game).continues(&record.game);
        (long && !record.is_over() && is_it).then_some(before)
    }

    /// A game other than the last is on the board: the one before that, or a new one.
    fn begin(&mut self, at: SystemTime, game: &Game, snapshot: &Snapshot) {
        if game.is_empty() {
            return;
        }
        if let Some(kept) = self.games.back_mut() {
            kept.due = true;
        }
        if let Some(before) = self.returning(game, snapshot.target.as_deref()) {
            self.games.swap(before, before + 1);
            let kept = &mut self.games[before + 1];
            if kept.record.game.continues(game) {
                // Not all of it is there yet.
                kept.since = identity(snapshot);
                kept.left = false;
                return;
            }
        } else if let Some(kept) = self.games.back_mut().filter(|kept| kept.gives_way_to(game)) {
            kept.begin_anew(at, game);
        } else {
            self.ids += 1;
            let record = Record::new(at, Game::from_start(game.start().clone()));
            self.games.push_back(ArchivedGame::new(self.ids, record));
        }
        if let Some(kept) = self.games.back_mut() {
            kept.go_on(game, snapshot);
        }
        while self.games.len() > 2 && !self.games[0].is_dirty() {
            self.games.pop_front();
        }
        if self.games.len() > MAX_UNWRITTEN {
            self.games.pop_front();
        }
    }

    /// How the game on the board ended. A program reports it for the last move of its own game, which may yet have to
    /// be shown.
    fn ending(&mut self, snapshot: &Snapshot) -> Option<GameEnd> {
        let ahead = |target: &&Arc<Game>| {
            target.len() > snapshot.game.len() && target.continues(&snapshot.game)
        };
        let target = snapshot.target.as_ref().filter(ahead);
        if let (Some(target), Some(end), Some(Judge::Program)) =
            (target, snapshot.ending, snapshot.judge)
        {
            self.announced = Some((target.clone(), end));
            // All of it has been on the board: the hand is taking a move back.
            self.decide(|game| game == &**target);
            return None;
        }
        if snapshot.game.is_empty() {
            // The hand puts up the next game, and does not make the last moves of this one.
            self.decide(|_| true);
            self.announced = None;
        }
        let announced = self.announced.as_ref();
        let announced = announced.filter(|(target, _)| *target == snapshot.game);
        announced.map(|(_, end)| *end).or(snapshot.ending)
    }

    /// Ends the last game as its program has announced, with the program's last moves, if that is a game as `is_so` says.
    fn decide(&mut self, is_so: impl Fn(&Game) -> bool) {
        let Some(((target, end), kept)) = self.announced.as_ref().zip(self.games.back_mut()) else {
            return;
        };
        let game = &kept.record.game;
        if !kept.record.is_over() && is_so(game) && target.continues(game) {
            kept.record.follow(target);
            kept.record.end(*end);
            kept.revision += 1;
            kept.due = true;
        }
    }

    /// Notes what else the snapshot shows of the game.
    fn note(&mut self, snapshot: &Snapshot) {
        let ending = self.ending(snapshot);
        let Some((kept, before)) = self.played(snapshot) else {
            return;
        };
        let record = &mut kept.record;
        let was_over = record.is_over();
        if let Some(end) = ending
            && record.end(end)
        {
            kept.revision += 1;
        }
        for (known, took) in record.took[before..].iter_mut().zip(&*snapshot.took) {
            if took.is_some() && known != took {
                *known = *took;
                kept.revision += 1;
            }
        }
        // Who has the board of a game that is over may be there for the next one.
        if let Some(label) = snapshot.holders.first().filter(|_| !was_over)
            && record.by.last() == Some(&Some(By::Target))
        {
            let name = program(label);
            if record.program.as_ref() != Some(&name) {
                record.program = Some(name);
                kept.revision += 1;
            }
        }
    }

    /// The game that the board holds, and with how many moves before those of the snapshot.
    fn played(&mut self, snapshot: &Snapshot) -> Option<(&mut ArchivedGame, usize)> {
        let kept = self.games.back_mut().filter(|kept| !kept.left)?;
        let game = &kept.record.game;
        // The board may report the game from a later position.
        let before = game.len().checked_sub(snapshot.game.len())?;
        let same = game.moves()[before..] == *snapshot.game.moves()
            && game.position() == snapshot.game.position();
        same.then_some((kept, before))
    }

    /// Names the players of the game in this snapshot, its event and its site, after [`Self::see`] has processed that. A game keeps
    /// what it was given first: those of the next one may be told while the board still has this one.
    pub fn name(&mut self, snapshot: &Snapshot, pairing: &Pairing) {
        let led = snapshot.target.as_deref().is_none_or(|target| {
            let common = snapshot.game.common_plies(target);
            common.is_some_and(|common| snapshot.game.len() <= common + 1)
        });
        let Some((kept, _)) = self.played(snapshot) else {
            return;
        };
        if !led || kept.met && kept.record.is_over() {
            return;
        }
        let record = &mut kept.record;
        let named = |player: &Option<Player>| player.as_ref().map(|player| player.name.clone());
        let players = pairing.players.as_ref().map(named);
        let told = players.as_ref().zip(record.names.as_ref());
        let agrees = |told: &Option<String>, known: &Option<Arc<str>>| {
            known.is_none() || told.as_deref() == known.as_deref()
        };
        let is_its = agrees(told.white.0, told.white.1) && agrees(told.black.0, told.black.1);
        if !is_its {
            return;
        }
        let told = players.zip(record.names.as_mut());
        for (told, known) in [
            (told.white.0, told.white.1),
            (told.black.0, told.black.1),
            (pairing.event.clone(), &mut record.event),
            (pairing.site.clone(), &mut record.site),
        ] {
            if let (Some(told), None) = (told, &known) {
                *known = Some(told.into());
                kept.revision += 1;
            }
        }
    }

    /// The next text to write now. [`Self::written`] must be called before another is returned.
    pub fn poll_write(&mut self, now: Instant) -> Option<Writing> {
        if std::mem::take(&mut self.changed) {
            self.stands_at = Some(now + STANDS_WAIT);
        }
        let waits = [self.write_after, self.retry_after];
        if waits.into_iter().flatten().any(|after| after > now) {
            return None;
        }
        let all = self.every_move || self.stands_at.is_some_and(|at| at <= now);
        self.next(now, |kept| all || kept.is_due())
    }

    /// As [`Self::poll_write`], of the games that have ended only: the board's memory does not have them any more once another one
    /// begins.
    pub fn poll_ended(&mut self, now: Instant) -> Option<Writing> {
        if self.ended_deadline().is_some_and(|after| after > now) {
            return None;
        }
        let last = self.games.back().map(|kept| kept.id);
        self.next(now, |kept| kept.has_ended(last))
    }

    /// The next text to write before the daemon ends, whether or not its time has come.
    pub fn flush(&mut self, now: Instant) -> Option<Writing> {
        self.next(now, |_| true)
    }

    fn next(&mut self, now: Instant, is_due: impl Fn(&ArchivedGame) -> bool) -> Option<Writing> {
        if self.writing.is_some() {
            return None;
        }
        let mut games = self.games.iter();
        let kept = games.find(|kept| kept.is_dirty() && is_due(kept))?;
        self.writing = Some((kept.id, kept.revision));
        // A game that is over needs no gap after it, but then the next one has only begun.
        self.write_after = Some(now + WRITE_GAP);
        Some(Writing {
            over: kept.file.clone(),
            instead_of: kept.instead_of.clone(),
            stem: stem(&kept.record, &self.board),
            text: pgn(&kept.record, &self.heading),
        })
    }

    /// The text was written to the file with this name, or could not be written.
    pub fn written<E>(&mut self, now: Instant, result: Result<String, E>) -> Notice {
        let Some((id, revision)) = self.writing.take() else {
            return Notice::Nothing;
        };
        let was_failing = std::mem::replace(&mut self.failing, result.is_err());
        let Ok(file) = result else {
            self.retry_after = Some(now + RETRY_WAIT);
            return if was_failing {
                Notice::Nothing
            } else {
                Notice::Trouble
            };
        };
        self.retry_after = None;
        if let Some(kept) = self.games.iter_mut().find(|kept| kept.id == id) {
            kept.file = Some(file);
            kept.instead_of = None;
            kept.written = revision;
            kept.due &= kept.is_dirty();
        }
        if was_failing {
            Notice::Mended
        } else {
            Notice::Nothing
        }
    }

    /// Whether the text last returned is still unanswered.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Before this time [`Self::poll_ended`] has nothing.
    pub fn ended_deadline(&self) -> Option<Instant> {
        let last = self.games.back().map(|kept| kept.id);
        let mut games = self.games.iter().filter(|_| self.writing.is_none());
        let waits = games.any(|kept| kept.is_dirty() && kept.has_ended(last));
        self.write_after.max(self.retry_after).filter(|_| waits)
    }

    /// When [`Self::poll_write`] will have something.
    pub fn deadline(&self) -> Option<Instant> {
        let dirty = || self.games.iter().filter(|kept| kept.is_dirty());
        if self.writing.is_some() || dirty().next().is_none() {
            return None;
        }
        let after = self.write_after.max(self.retry_after);
        let is_due = self.every_move || dirty().any(ArchivedGame::is_due);
        after.max(self.stands_at.filter(|_| !is_due))
    }
}

/// What all games of a board have in their tags.
fn heading(board: &BoardName, config: &GamesConfig, zone: TimeZone) -> Heading {
    let given = |text: &Option<TagText>, default: &str| match text {
        Some(text) => Arc::from(text.0.as_str()),
        None => Arc::from(default),
    };
    Heading {
        site: given(&config.site, "?"),
        player: given(&config.player, &format!("Hand on {board}")),
        annotator: format!("BoardBridge {} on {board}", env!("CARGO_PKG_VERSION")).into(),
        zone,
    }
}

fn stem(record: &Record, board: &BoardName) -> String {
    let began = clock(record.began, &TimeZone::UTC, STAMP);
    format!("{began}_{board}")
}

/// The last file of a board that is called `to` from now on, to be written under that name; `None` if its game is over, or the file is
/// not ours.
pub fn renamed(
    last: GameFile,
    config: &GamesConfig,
    from: &BoardName,
    to: &BoardName,
) -> Option<Writing> {
    let zone = TimeZone::system();
    let record = reading::own(&last.text, &heading(from, config, zone.clone()))?;
    (!record.is_over()).then(|| Writing {
        over: None,
        instead_of: Some(last.file),
        stem: stem(&record, to),
        text: pgn(&record, &heading(to, config, zone)),
    })
}

/// The identity of the game that the board holds; `None` while it is on its way to another one, whose identity the snapshot has.
fn identity(snapshot: &Snapshot) -> Option<SystemTime> {
    let is_held = snapshot.played().continues(&snapshot.game);
    snapshot.since.filter(|_| is_held)
}

/// Whether the board's last move was seen being made while no program had the board: then its game may be a guess.
fn is_followed(snapshot: &Snapshot) -> bool {
    let seen = snapshot.by.last() == Some(&Some(By::Hand));
    seen && snapshot.target.is_none() && snapshot.link.is_open()
}
