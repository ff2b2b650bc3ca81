//! A server's round, by what is published of Lichess and not from our code: it reads every game, keeps the rules, and notes who
//! breaks them.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, Position, fen::Fen, san::SanPlus};

const MAX_BODY: usize = 512 * 1024;
const MAX_GAMES: usize = 100;
const MAX_VALUE: usize = 140;
const MAX_PLIES: usize = 600;

/// A game of the round.
#[derive(Clone, Debug, Default)]
pub struct Chapter {
    pub tags: BTreeMap<String, String>,
    pub sans: Vec<String>,
    pub clocks: Vec<Option<String>>,
    /// When it first had so many moves.
    pub arrived: Vec<Duration>,
}

impl Chapter {
    pub fn tag(&self, name: &str) -> &str {
        self.tags.get(name).map_or("", String::as_str)
    }
}

/// What the next requests are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mood {
    Fine,
    /// The connection breaks before the request.
    Cut,
    /// It is taken, and the connection breaks before the answer.
    Unanswered,
    Status(u16),
    /// Each game has an error.
    GameError,
}

/// See the module documentation.
#[derive(Debug)]
pub struct Server {
    pub mood: Mood,
    pub chapters: BTreeMap<String, Chapter>,
    /// When each request came, and how many games it had.
    pub pushes: Vec<(Duration, usize)>,
    pub asked: usize,
    pub delay: u64,
    /// It takes games, and has no answer to what the round is.
    pub is_push_only: bool,
    quiet_until: Duration,
    /// What no client may do.
    pub wrongs: Vec<String>,
}

impl Server {
    pub fn new() -> Self {
        Self {
            mood: Mood::Fine,
            chapters: BTreeMap::new(),
            pushes: Vec::new(),
            asked: 0,
            delay: 0,
            is_push_only: false,
            quiet_until: Duration::ZERO,
            wrongs: Vec::new(),
        }
    }

    fn refuses(&mut self, now: Duration) -> Option<(u16, Value)> {
        if now < self.quiet_until {
            self.wrongs
                .push(format!("asked {now:?} in the silence after 429"));
        }
        let Mood::Status(status) = self.mood else {
            return None;
        };
        if status == 429 {
            self.quiet_until = now + Duration::from_secs(60);
        }
        Some((status, json!({"error": "as the test wants"})))
    }

    /// Answers the question what the round is; `None` if the connection breaks.
    pub fn about(&mut self, now: Duration) -> Option<(u16, Value)> {
        self.asked += 1;
        if self.mood == Mood::Cut {
            return None;
        }
        if self.is_push_only {
            return Some((404, json!({"error": "no such page"})));
        }
        Some(self.refuses(now).unwrap_or_else(|| {
            let round = json!({"id": "aBcDeFgH", "name": "Round 3", "delay": self.delay});
            (200, json!({"round": round, "tour": {"name": "Köln Open"}, "study": {"writeable": true}, "games": []}))
        }))
    }

    /// Answers a push; `None` if the connection breaks.
    pub fn push(&mut self, body: &str, now: Duration) -> Option<(u16, Value)> {
        if let Some((last, _)) = self.pushes.last()
            && now < *last + Duration::from_secs(1)
        {
            self.wrongs.push(format!("pushed {now:?} after {last:?}"));
        }
        if self.mood == Mood::Cut {
            return None;
        }
        if let Some(refused) = self.refuses(now) {
            return Some(refused);
        }
        if body.len() > MAX_BODY {
            self.wrongs.push(format!("{} bytes", body.len()));
            return Some((413, json!({"error": "too large"})));
        }
        let games = split(body);
        self.pushes.push((now, games.len()));
        if games.len() > MAX_GAMES {
            self.wrongs.push(format!("{} games in a push", games.len()));
        }
        let mut told = Vec::new();
        for text in games.into_iter().take(MAX_GAMES) {
            if self.mood == Mood::GameError {
                told.push(json!({"tags": {}, "error": "Cannot parse moves"}));
                continue;
            }
            match self.take(&text, now) {
                Ok(answer) => told.push(answer),
                Err(wrong) => {
                    self.wrongs.push(format!("{wrong}: {text}"));
                    told.push(json!({"tags": {}, "error": wrong}));
                }
            }
        }
        (self.mood != Mood::Unanswered).then(|| (200, json!({ "games": told })))
    }

    fn take(&mut self, text: &str, now: Duration) -> Result<Value, String> {
        let mut chapter = read(text)?;
        for color in ["White", "Black"] {
            let name = chapter.tag(color).to_owned();
            let letters = name.chars().filter(|c| c.is_alphabetic()).count();
            let is_none = ["?", "unknown"].contains(&&*name.to_lowercase());
            if (letters < 2 || is_none) && chapter.tag(&format!("{color}FideId")).is_empty() {
                return Err(format!("dropped without a word: {color} has no name"));
            }
        }
        let id = chapter.tag("GameId").to_owned();
        if id.is_empty() {
            return Err("without GameId".to_owned());
        }
        let answer = json!({"tags": chapter.tags, "moves": chapter.sans.len()});
        if let Some(known) = self.chapters.get(&id) {
            chapter.arrived = known.arrived.clone();
        }
        while chapter.arrived.len() < chapter.sans.len() {
            chapter.arrived.push(now);
        }
        self.chapters.insert(id, chapter);
        Ok(answer)
    }

    /// The chapter of the game on this board, the last one.
    pub fn chapter(&self, board: &str) -> &Chapter {
        let of = |(id, _): &(&String, &Chapter)| id.starts_with(&format!("{board}-"));
        let all: Vec<_> = self.chapters.iter().filter(of).collect();
        all.last()
            .unwrap_or_else(|| panic!("no game of {board}: {:?}", self.chapters.keys()))
            .1
    }
}

fn split(body: &str) -> Vec<String> {
    let mut games: Vec<String> = Vec::new();
    let mut was_tag = false;
    for line in body.lines() {
        let is_tag = line.starts_with('[');
        if is_tag && !was_tag {
            games.push(String::new());
        }
        if let Some(game) = games.last_mut() {
            game.push_str(line);
            game.push('\n');
        }
        was_tag = is_tag;
    }
    games
}

fn read(text: &str) -> Result<Chapter, String> {
    let mut chapter = Chapter::default();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
        let tag = line
            .strip_prefix('[')
            .and_then(|tag| tag.strip_suffix("\"]"));
        let (name, value) = tag
            .and_then(|tag| tag.split_once(" \""))
            .ok_or("not a tag")?;
        if value.chars().count() > MAX_VALUE {
            return Err(format!("{name} is too long"));
        }
        let value = value.replace("\\\"", "\"").replace("\\\\", "\\");
        if chapter.tags.insert(name.to_owned(), value).is_some() {
            return Err(format!("{name} twice"));
        }
    }
    let mut position = match (
        chapter.tags.get("SetUp").map(String::as_str),
        chapter.tags.get("FEN"),
    ) {
        (None, None) => Chess::default(),
        (Some("1"), Some(fen)) => {
            let fen: Fen = fen.parse().map_err(|_| "no FEN")?;
            let mode = if chapter.tags.contains_key("Variant") {
                CastlingMode::Chess960
            } else {
                CastlingMode::Standard
            };
            fen.into_position(mode).map_err(|_| "no position")?
        }
        _ => return Err("SetUp and FEN go together".to_owned()),
    };
    let mut result = None;
    let movetext: String = lines.collect::<Vec<_>>().join(" ");
    let mut rest = movetext.as_str();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        if result.is_some() {
            return Err("something after the result".to_owned());
        }
        if let Some(comment) = rest.strip_prefix('{') {
            let (comment, after) = comment.split_once('}').ok_or("an open comment")?;
            let left = comment
                .strip_prefix("[%clk ")
                .and_then(|c| c.strip_suffix(']'));
            *chapter.clocks.last_mut().ok_or("a comment before a move")? = left.map(str::to_owned);
            rest = after;
            continue;
        }
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        match word {
            "*" | "1-0" | "0-1" | "1/2-1/2" => result = Some(word),
            number if number.ends_with('.') => {}
            san => {
                let m: SanPlus = san.parse().map_err(|_| format!("{san} is no move"))?;
                let m = m
                    .san
                    .to_move(&position)
                    .map_err(|_| format!("{san} is illegal"))?;
                position.play_unchecked(m);
                chapter.sans.push(san.to_owned());
                chapter.clocks.push(None);
            }
        }
    }
    if chapter.sans.len() > MAX_PLIES {
        return Err("too many plies".to_owned());
    }
    if result != Some(chapter.tag("Result")) {
        return Err("the result is not that of the tag".to_owned());
    }
    Ok(chapter)
}
