//! `[[opponent]]`: the other side of a board: an engine, or the same hand. How an engine is started and asked, and what the
//! hand plays.

use std::{collections::BTreeMap, fmt, io, ops::RangeInclusive, path::PathBuf, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use shakmaty::{ByColor, Color};

use crate::{
    front_end::pgn_text::TagText,
    text::{
        durations::span,
        toml_value::{Wrong, from_home},
    },
    vocabulary::BoardName,
};

/// The time that an engine has for an answer where nothing else limits it.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// The shortest patience: an engine needs a moment to start.
const MIN_PATIENCE: Duration = Duration::from_secs(1);
/// Options of an engine: Stockfish has some twenty.
pub const MAX_OPTIONS: usize = 64;
/// The longest name or text of an option, and the longest argument, in bytes: a path.
pub const MAX_OPTION: usize = 1024;
/// Arguments of an engine: lc0 takes some twenty.
pub const MAX_ARGUMENTS: usize = 64;
/// The memory that an engine may take beside its hash table, in MiB. Stockfish 15 takes 135 with its default hash table of 16,
/// later ones 200.
pub const ENGINE_MEMORY: u64 = 512;
/// The memory that an engine may take for each of its threads, in MiB. Stockfish 15 takes some 20.
pub const THREAD_MEMORY: u64 = 24;
/// The memory that the configuration may give an engine, in MiB: no engine starts in less, no machine has more.
const MEMORY: RangeInclusive<u64> = 32..=1024 * 1024;

/// `[[opponent]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[opponent]]")]
pub struct OpponentConfig {
    /// The board.
    pub board: BoardName,
    /// The engine's program; without one two people play.
    pub engine: Option<Program>,
    /// Its options.
    #[serde(default, deserialize_with = "options")]
    pub options: Option<BTreeMap<String, OptionValue>>,
    /// The limit of its search.
    pub go: Option<Go>,
    /// What the hand plays.
    pub hand: Option<Hand>,
    /// The time for the first answer, and for those that `go` does not limit.
    #[serde(default, deserialize_with = "patience")]
    pub patience: Option<Duration>,
    /// The memory it may take in the service.
    pub memory: Option<MemoryLimit>,
    /// The name of the one who plays White, of two people.
    pub white: Option<TagText>,
    /// The name of the one who plays Black, of two people.
    pub black: Option<TagText>,
}

fn options<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, OptionValue>>, D::Error> {
    let options = BTreeMap::deserialize(deserializer)?;
    if options.len() > MAX_OPTIONS {
        return Err(de::Error::custom(format!(
            "has at most {MAX_OPTIONS} options"
        )));
    }
    let is_name = |name: &&String| !name.is_empty() && is_plain(name);
    if let Some(name) = options.keys().find(|name| !is_name(name)) {
        return Err(de::Error::custom(format!(
            "{name:?} is not the name of an option: one line of at most {MAX_OPTION} bytes"
        )));
    }
    Ok(Some(options))
}

fn patience<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let patience = span::deserialize(deserializer)?;
    if patience < MIN_PATIENCE {
        return Err(de::Error::custom("is too short: at least \"1s\""));
    }
    Ok(Some(patience))
}

impl OpponentConfig {
    /// The engine, and what the hand plays against it.
    pub fn engine(&self) -> Option<(EngineSettings, Hand)> {
        let options = self.options.clone().unwrap_or_default();
        let usual = || MemoryLimit::for_options(&options);
        let settings = EngineSettings {
            program: self.engine.clone()?,
            memory: self.memory.unwrap_or_else(usual),
            options,
            go: self.go.clone().unwrap_or_default(),
            patience: self.patience.unwrap_or(PATIENCE),
        };
        Some((settings, self.hand.unwrap_or_default()))
    }

    /// The names of two people.
    pub fn names(&self) -> ByColor<Option<String>> {
        ByColor {
            white: TagText::text(self.white.as_ref()),
            black: TagText::text(self.black.as_ref()),
        }
    }

    /// The opponent in words, for `boardbridge check`. `limits`: whether memory is limited here.
    pub fn in_words(&self, limits: bool) -> String {
        let Some((engine, hand)) = self.engine() else {
            return "two players".to_owned();
        };
        let hand = match hand {
            Hand::White => "White",
            Hand::Black => "Black",
            Hand::Alternate => "White and Black in turns",
        };
        let memory = if limits {
            format!("; in the service at most {} of memory", engine.memory)
        } else {
            String::new()
        };
        let (program, go) = (engine.program, engine.go.words());
        format!("{program} (go {go}{memory}), you play {hand}")
    }

    /// Checks what the types cannot.
    pub fn problems(&self) -> Vec<Wrong> {
        if let Some(engine) = &self.engine {
            let problem = engine.impossible().map(|problem| ("engine", problem));
            let names = [
                ("white", self.white.is_some()),
                ("black", self.black.is_some()),
            ];
            let names = names.into_iter().filter(|(_, given)| *given);
            let needless = |(key, _)| {
                let words = "is for two people: beside an engine, your name is `player` in [games]";
                (key, words.to_owned())
            };
            return problem.into_iter().chain(names.map(needless)).collect();
        }
        let given = [
            ("options", self.options.is_some()),
            ("go", self.go.is_some()),
            ("hand", self.hand.is_some()),
            ("patience", self.patience.is_some()),
            ("memory", self.memory.is_some()),
        ];
        let needless = given.into_iter().filter(|(_, given)| *given);
        let problem = || "needs `engine`: without one two people play".to_owned();
        needless.map(|(key, _)| (key, problem())).collect()
    }
}

/// What the hand plays against an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hand {
    /// White.
    #[default]
    White,
    /// Black.
    Black,
    /// White in the first game, then in turns.
    Alternate,
}

/// How an engine is started and asked.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSettings {
    /// The program to start.
    pub program: Program,
    /// Its options.
    pub options: BTreeMap<String, OptionValue>,
    /// The limit of its search.
    pub go: Go,
    /// The time for the first answer, for an answer where `go` does not limit it, and for everything else.
    pub patience: Duration,
    /// The memory it may take.
    pub memory: MemoryLimit,
}

/// An engine's file and its arguments. In the configuration: a path, or a list that begins with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// Its command-line arguments.
    pub arguments: Vec<String>,
}

impl<P: Into<PathBuf>> From<P> for Program {
    fn from(path: P) -> Self {
        Self {
            path: path.into(),
            arguments: Vec::new(),
        }
    }
}

impl Program {
    /// Why the path is invalid, whatever file is there.
    fn impossible(&self) -> Option<String> {
        let name = self.path.display();
        let whole =
            || format!("`{name}` is not a whole path: write for instance \"/usr/games/stockfish\"");
        let problem = || from_home(&self.path).unwrap_or_else(whole);
        (!self.path.is_absolute()).then(problem)
    }

    /// Why the engine cannot be started, judging by its file, and what to do.
    pub fn unusable(&self) -> Option<String> {
        let name = self.path.display();
        match self.path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(format!(
                "there is no {name}: install the engine (sudo apt install stockfish), or correct the path"
            )),
            Err(error) => Some(format!("{name} cannot be read: {error}")),
            Ok(found) if !found.is_file() => {
                Some(format!("{name} is not a program: name the engine's file"))
            }
            Ok(found) if !is_executable(&found) => Some(format!(
                "{name} is not executable: chmod +x {name}, if it is the engine"
            )),
            Ok(_) => None,
        }
    }
}

#[cfg(unix)]
fn is_executable(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {argument}"))
    }
}

impl<'de> Deserialize<'de> for Program {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Program;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a path in quotes, or a list of a path and arguments, such as [\"/usr/bin/lc0\", \"--threads=2\"]",
                )
            }

            fn visit_str<E: de::Error>(self, path: &str) -> Result<Program, E> {
                Ok(path.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<Program, A::Error> {
                let path = words.next_element::<String>()?;
                let path = path.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let mut program = Program::from(path);
                while let Some(word) = words.next_element::<String>()? {
                    if program.arguments.len() == MAX_ARGUMENTS || !is_plain(&word) {
                        return Err(de::Error::custom(format!(
                            "has to be a path and at most {MAX_ARGUMENTS} arguments, each one line of at most {MAX_OPTION} bytes"
                        )));
                    }
                    program.arguments.push(word);
                }
                Ok(program)
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// The memory an engine may take, in MiB; in the configuration a text such as "512M" or "2G".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(u64);

impl MemoryLimit {
    /// The memory that an engine with these options needs.
    pub fn for_options(options: &BTreeMap<String, OptionValue>) -> Self {
        let number = |wanted: &str| {
            let is_wanted = |(name, _): &(&String, _)| name.eq_ignore_ascii_case(wanted);
            let number = match options.iter().find(is_wanted) {
                Some((_, OptionValue::Spin(number))) => u64::try_from(*number).ok(),
                Some((_, OptionValue::Text(number))) => number.trim().parse().ok(),
                _ => None,
            };
            number.unwrap_or(0)
        };
        let threads = number("threads").saturating_mul(THREAD_MEMORY);
        let more = number("hash").saturating_add(threads);
        Self(ENGINE_MEMORY.saturating_add(more).min(*MEMORY.end()))
    }

    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.0 * 1024 * 1024
    }
}

impl fmt::Display for MemoryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.0)
    }
}

impl<'de> Deserialize<'de> for MemoryLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = |unit: char| text.strip_suffix(unit)?.parse::<u64>().ok();
        let mebibytes = number('M').or_else(|| number('G')?.checked_mul(1024));
        let fits = mebibytes.filter(|mebibytes| MEMORY.contains(mebibytes));
        fits.map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "`{}` is not an amount of memory from 32M to 1024G: write for instance \"512M\" or \"2G\"",
                text.escape_default()
            ))
        })
    }
}

/// The value of an engine's option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// `true` or `false`.
    Check(bool),
    /// A number.
    Spin(i64),
    /// A text.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(value) => value.fmt(f),
            Self::Spin(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// Whether a text may be sent to an engine within a line.
pub fn is_plain(text: &str) -> bool {
    text.len() <= MAX_OPTION && !text.chars().any(char::is_control)
}

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = OptionValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, a whole number or a text in quotes")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<OptionValue, E> {
                Ok(OptionValue::Check(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<OptionValue, E> {
                Ok(OptionValue::Spin(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<OptionValue, E> {
                i64::try_from(value)
                    .map(OptionValue::Spin)
                    .map_err(|_| E::custom(format!("{value} is too large")))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<OptionValue, E> {
                if !is_plain(value) {
                    return Err(E::custom(format!(
                        "has to be one line of at most {MAX_OPTION} bytes"
                    )));
                }
                Ok(OptionValue::Text(value.to_owned()))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// The limit of a search: what follows `go`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Go(String);

impl Go {
    /// The words.
    pub fn words(&self) -> &str {
        &self.0
    }

    /// The number after this word.
    fn number(&self, word: &str) -> Option<u64> {
        let mut words = self.0.split_whitespace();
        words.find(|found| *found == word)?;
        words.next()?.parse().ok()
    }

    /// How long this side may take for a move, if that is limited.
    pub fn time(&self, turn: Color) -> Option<Duration> {
        let clock = turn.fold_wb("wtime", "btime");
        let millis = self.number("movetime").or_else(|| self.number(clock))?;
        Some(Duration::from_millis(millis))
    }
}

impl Default for Go {
    fn default() -> Self {
        Self("movetime 1000".to_owned())
    }
}

/// The words that limit a search, each with a number after it.
const LIMITS: [&str; 9] = [
    "movetime",
    "depth",
    "nodes",
    "mate",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
];
/// The largest number after one of them: a day, in milliseconds; more nodes than an engine visits in that time.
const MAX_LIMIT: u64 = 1_000_000_000_000;

impl<'de> Deserialize<'de> for Go {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_limit = |pair: &[&str]| {
            pair.len() == 2
                && LIMITS.contains(&pair[0])
                && pair[1]
                    .parse()
                    .is_ok_and(|n: u64| (1..=MAX_LIMIT).contains(&n))
        };
        if words.is_empty() || !words.chunks(2).all(is_limit) {
            return Err(de::Error::custom(format!(
                "`{}` does not limit a search: write for instance \"movetime 1000\" (milliseconds), \"depth 8\" or \"nodes \
                 100000\"; allowed here, each with a number: {}",
                text.escape_default(),
                LIMITS.join(", ")
            )));
        }
        Ok(Self(words.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::{IntoDeserializer, value::Error};

    use super::*;

    fn go(text: &str) -> Result<Go, Error> {
        Go::deserialize(IntoDeserializer::<Error>::into_deserializer(text))
    }

    #[test]
    fn a_limit_of_time_is_the_time_for_a_move() {
        let time = |text: &str, color| go(text).unwrap().time(color);
        assert_eq!(
            time("depth 20 movetime 700", Color::White),
            Some(Duration::from_millis(700))
        );
        assert_eq!(
            time("wtime 1000 btime 2000", Color::Black),
            Some(Duration::from_secs(2))
        );
        assert_eq!(time("nodes 5000", Color::White), None);
    }

    #[test]
    fn a_search_without_an_end_is_refused() {
        for text in [
            "",
            "infinite",
            "movetime",
            "depth x",
            "depth 0",
            "ponder 1",
            "depth 1\nquit 2",
        ] {
            assert!(go(text).is_err(), "{text}");
        }
    }
}
