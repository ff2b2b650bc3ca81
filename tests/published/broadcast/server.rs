//! A round of a broadcast, as the server that polls it keeps it: which game of one poll is which of the poll before. From
//! what is known of Lichess, not from our code.

use std::collections::BTreeMap;

/// The tags it keeps.
const KEPT: [&str; 16] = [
    "White",
    "WhiteElo",
    "WhiteTitle",
    "Black",
    "BlackElo",
    "BlackTitle",
    "Event",
    "Site",
    "Round",
    "Board",
    "TimeControl",
    "Result",
    "Termination",
    "Annotator",
    "GameId",
    "Variant",
];
/// The longest value of a tag.
const MAX_VALUE: usize = 140;

/// How a server tells games apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// By `GameId` alone, where both games have one.
    Id,
    /// By `Event`, `Site`, the number of the round and of the board, and the names.
    Tags,
    /// By `Event`, `Site`, `Round` and the names, all as they are written.
    Words,
}

/// A game as it came, or as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Game {
    pub tags: BTreeMap<String, String>,
    /// Words of the movetext: SAN.
    pub moves: Vec<String>,
    /// The comments of each move.
    pub comments: Vec<String>,
}

impl Game {
    /// A tag's value; what stands for nothing is nothing.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let value = self.tags.get(name)?;
        let none = ["", "?", "unknown"].contains(&&*value.to_lowercase());
        (!none).then_some(&**value)
    }

    fn names(&self) -> Option<(&str, &str)> {
        let two_letters = |name: &&str| name.chars().count() > 1 && name.to_lowercase() != "bye";
        let name = |color| self.tag(color).filter(two_letters);
        Some((name("White")?, name("Black")?))
    }

    /// The numbers in `[Round "x.y"]`.
    fn round(&self) -> (Option<u32>, Option<u32>) {
        let round = self.tag("Round").unwrap_or_default();
        let mut numbers = round.split('.').map(|number| number.parse().ok());
        let (round, board) = (numbers.next().flatten(), numbers.next().flatten());
        let named = self.tag("Board").and_then(|board| board.parse().ok());
        (round, named.or(board))
    }

    fn is(&self, other: &Self, rules: Rules) -> bool {
        let same = |tags: &[&str]| tags.iter().all(|tag| self.tag(tag) == other.tag(tag));
        let players = self.names() == other.names();
        match (rules, self.tag("GameId"), other.tag("GameId")) {
            (Rules::Id, Some(this), Some(that)) => this == that,
            (Rules::Words, ..) => same(&["Event", "Site", "Round"]) && players,
            _ => same(&["Event", "Site"]) && players && self.round() == other.round(),
        }
    }
}

/// The games of a text.
pub fn games(pgn: &str) -> Vec<Game> {
    let mut games = Vec::new();
    let mut tags_ended = true;
    for line in pgn.lines() {
        assert!(line.chars().count() < 256, "{line}");
        if let Some(tag) = line.strip_prefix('[') {
            if tags_ended {
                games.push(Game::default());
                tags_ended = false;
            }
            let (name, value) = tag.split_once(" \"").unwrap();
            let value = value.strip_suffix("\"]").unwrap();
            assert!(value.chars().count() <= MAX_VALUE, "{line}");
            let value = value.replace("\\\"", "\"").replace("\\\\", "\\");
            if KEPT.contains(&name) {
                let game: &mut Game = games.last_mut().unwrap();
                assert_eq!(game.tags.insert(name.to_owned(), value), None, "{pgn}");
            }
        } else {
            tags_ended = true;
            if let Some(game) = games.last_mut() {
                words(game, line);
            }
        }
    }
    games
}

fn words(game: &mut Game, mut line: &str) {
    while let Some(word) = line.split_whitespace().next() {
        line = line.trim_start();
        if let Some(comment) = line.strip_prefix('{') {
            let (comment, rest) = comment.split_once('}').unwrap();
            *game.comments.last_mut().unwrap() = comment.to_owned();
            line = rest;
        } else {
            line = &line[word.len()..];
            let is_move = word.starts_with(|c: char| c.is_ascii_alphabetic());
            if is_move {
                game.moves.push(word.to_owned());
                game.comments.push(String::new());
            }
        }
    }
}

/// The round.
#[derive(Debug)]
pub struct Round {
    rules: Rules,
    /// Its games in the order they came.
    pub chapters: Vec<Game>,
}

impl Round {
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            chapters: Vec::new(),
        }
    }

    /// Takes what it was answered.
    pub fn polls(&mut self, pgn: &str) {
        let games = games(pgn);
        for (index, game) in games.iter().enumerate() {
            // Such a game would be dropped without a word.
            assert!(game.names().is_some(), "no names: {pgn}");
            let alike = games[..index]
                .iter()
                .any(|other| game.is(other, self.rules));
            assert!(!alike, "two games are one by {:?}: {pgn}", self.rules);
            let is_it = |chapter: &&mut Game| chapter.is(game, self.rules);
            match self.chapters.iter_mut().find(is_it) {
                Some(chapter) => *chapter = game.clone(),
                None => self.chapters.push(game.clone()),
            }
        }
    }

    /// The players and moves of each game.
    pub fn shows(&self) -> Vec<String> {
        let shown = self.chapters.iter().map(|game| {
            let (white, black) = game.names().unwrap();
            format!("{white} - {black}: {}", game.moves.join(" "))
        });
        shown.collect()
    }
}

/// Rounds on servers of every age, which poll the same address.
#[derive(Debug)]
pub struct Viewers(Vec<Round>);

impl Viewers {
    pub fn new() -> Self {
        Self(
            [Rules::Id, Rules::Tags, Rules::Words]
                .map(Round::new)
                .into(),
        )
    }

    pub fn poll(&mut self, pgn: &str) {
        for round in &mut self.0 {
            round.polls(pgn);
        }
    }

    /// Each of them shows exactly these games.
    pub fn show(&self, wanted: &[&str]) {
        for round in &self.0 {
            assert_eq!(round.shows(), wanted, "by {:?}", round.rules);
        }
    }

    /// The newest server's games.
    pub fn games(&self) -> &[Game] {
        &self.0[0].chapters
    }
}
