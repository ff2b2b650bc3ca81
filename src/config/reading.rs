//! Reads the whole configuration despite mistakes, so that all of them are reported at once.
//!
//! serde stops at the first mistake of a section. So each one is named and taken out, and the rest of the section is read again.

use std::collections::{BTreeMap, BTreeSet};

use figment::{
    Figment,
    error::Kind,
    providers::Env,
    value::{Dict, Value},
};
use serde::de::DeserializeOwned;

use super::{
    Config, ENV_PREFIX,
    document::Document,
    error::{ConfigError, MAX_MISTAKES, Mistake},
    key::Key,
    mistakes, syntax,
};
#[cfg(target_os = "linux")]
use crate::front_end::mqtt::settings::{REMOTE, RemoteConfig};
use crate::{
    board::settings::{self as board, BoardConfig},
    driver::registry,
    text::spelling::like,
    vocabulary::{BoardName, MAX_NAME},
};

/// The ways to a board or an app: each is a table.
const WAYS: [&str; 4] = ["serial", "ble", "tcp", "rfcomm"];
/// The keys that name a Bluetooth board: it has one of them.
const ADDRESSES: [&str; 2] = ["name", "address"];
/// What serde calls one of several words.
const WORDS: &str = "enum ";
/// The mark that editors on Windows put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a text, named `origin` in messages, and the environment. `add` may add boards, and says what it left out.
///
/// # Errors
/// Every mistake, up to [`MAX_MISTAKES`].
pub(super) fn read(
    text: &str,
    origin: &str,
    add: impl FnOnce(&mut Config) -> Vec<String>,
) -> Result<Config, ConfigError> {
    parse(text, origin, Scope::Main(add))
}

/// Reads a part of a configuration, whose entries may name boards that are elsewhere.
///
/// # Errors
/// Every mistake, up to [`MAX_MISTAKES`].
pub(super) fn read_part(text: &str, origin: &str) -> Result<Config, ConfigError> {
    parse(text, origin, Scope::<fn(&mut Config) -> Vec<String>>::Part)
}

/// What a text is.
enum Scope<A> {
    /// The main file, with the environment, and what is added to it.
    Main(A),
    /// A part.
    Part,
}

fn parse<A: FnOnce(&mut Config) -> Vec<String>>(
    text: &str,
    origin: &str,
    scope: Scope<A>,
) -> Result<Config, ConfigError> {
    let mended = syntax::mend(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    let in_line = |(line, problem): (usize, String)| Mistake::in_line(origin, line, &problem);
    let mistakes = mended.mistakes.into_iter().map(in_line).collect();
    let Some(document) = mended.document else {
        return Err(ConfigError::wrong(mistakes));
    };
    let mut reader = Reader {
        document: &document,
        origin,
        mistakes,
        named: Vec::new(),
        original: BTreeMap::new(),
        sections: Vec::new(),
    };
    let mut figment = Figment::from(&document);
    if let Scope::Main(_) = scope {
        figment = figment.merge(Env::prefixed(ENV_PREFIX).split("__"));
    }
    let given: Dict = figment.extract().map_err(|error| {
        let mistake = Mistake::in_line(origin, 1, &error.to_string());
        ConfigError::wrong(vec![mistake])
    })?;
    let boards = given.get("boards").and_then(Value::as_dict).cloned();
    let mut config = reader.config(given);
    reader.check(&config);
    let added = match scope {
        Scope::Main(add) if reader.mistakes.is_empty() => add(&mut config),
        Scope::Main(_) => Vec::new(),
        Scope::Part if reader.mistakes.is_empty() => return Ok(config),
        Scope::Part => return Err(ConfigError::wrong(reader.mistakes)),
    };
    // With the numbers that entries have before any is left out.
    let others = config.added.clone();
    let known = |name: &BoardName| {
        let boards = boards.as_ref();
        others.contains(name) || boards.is_some_and(|boards| boards.contains_key(name.as_str()))
    };
    let left_out = config.leave_out(known).into_iter().take(MAX_MISTAKES);
    let left_out = left_out.map(|(key, problem)| reader.mistake(&reader.in_text(&key), &problem));
    let left_out: Vec<Mistake> = left_out.collect();
    if !reader.mistakes.is_empty() {
        reader.mistakes.extend(left_out);
        return Err(ConfigError::wrong(reader.mistakes));
    }
    let left_out = left_out.into_iter().map(|mistake| mistake.text);
    config.left_out = left_out.chain(added).collect();
    config.order = document.names("boards");
    let added = config.added.iter().map(ToString::to_string);
    config.order.extend(added);
    config.name_others();
    Ok(config)
}

/// Whether this key is written.
fn says(given: &Dict, key: Key) -> bool {
    let table = given.get(key.table);
    table.is_some_and(|table| table.find_ref(key.name).is_some())
}

struct Reader<'a> {
    document: &'a Document,
    origin: &'a str,
    /// One more than [`MAX_MISTAKES`] at most.
    mistakes: Vec<Mistake>,
    /// The keys with mistakes, as in the text, and whether the key exists at all.
    named: Vec<(Vec<String>, bool)>,
    /// What entries are called in the text, by their table and what they are called in the [`Config`]: boards with invalid
    /// names have substitutes, and entries of repeatable tables are counted without those that cannot be read.
    original: BTreeMap<(&'static str, String), String>,
    /// The sections there are.
    sections: Vec<&'static str>,
}

impl Reader<'_> {
    fn config(&mut self, mut given: Dict) -> Config {
        #[cfg(target_os = "linux")]
        let remotes = self.remotes(&mut given);
        let config = Config {
            says_boards: given.contains_key("boards"),
            written: Key::ALL
                .into_iter()
                .filter(|key| says(&given, *key))
                .collect(),
            uci: self.table(&mut given, "uci").unwrap_or_default(),
            status: self.table(&mut given, "status").unwrap_or_default(),
            state: self.table(&mut given, "state").unwrap_or_default(),
            web: self.table(&mut given, "web").unwrap_or_default(),
            livechess: self.table(&mut given, "livechess").unwrap_or_default(),
            games: self.table(&mut given, "games").unwrap_or_default(),
            boards: self.boards(&mut given),
            whitepawn: self.list(&mut given, "whitepawn"),
            apps: Vec::new(),
            link: self.list(&mut given, "link"),
            opponent: self.list(&mut given, "opponent"),
            #[cfg(target_os = "linux")]
            lichess: self.table(&mut given, "lichess"),
            lichess_chosen: None,
            #[cfg(target_os = "linux")]
            mqtt: self.table(&mut given, "mqtt"),
            #[cfg(target_os = "linux")]
            remotes,
            #[cfg(target_os = "linux")]
            broadcast: self.list(&mut given, "broadcast"),
            #[cfg(target_os = "linux")]
            discovery: self.table(&mut given, "discovery").unwrap_or_default(),
            added: Vec::new(),
            plays: Vec::new(),
            order: Vec::new(),
            left_out: Vec::new(),
        };
        for (name, value) in given {
            let problem = mistakes::no_such_key(&name, None, Some(&value), &self.sections);
            self.name(&[name], &problem, false);
        }
        config
    }

    /// Reads a table that appears once.
    fn table<T: DeserializeOwned>(&mut self, given: &mut Dict, name: &'static str) -> Option<T> {
        let value = self.section(given, name)?;
        self.single(&[name], value, plain)
    }

    /// Reads the entries of a repeatable table.
    fn list<T: DeserializeOwned>(&mut self, given: &mut Dict, name: &'static str) -> Vec<T> {
        let mut read = Vec::new();
        match self.section(given, name) {
            None => {}
            Some(Value::Array(_, entries)) => {
                for (number, entry) in entries.into_iter().enumerate() {
                    let number = number.to_string();
                    let here = (name, read.len().to_string());
                    read.extend(self.value(&[name, &number], entry, plain));
                    self.original.insert(here, number);
                }
            }
            Some(_) => {
                let problem = format!("write [[{name}]], with two brackets");
                self.name(&[name], &problem, true);
            }
        }
        read
    }

    /// Reads and takes out the boards of other daemons. Those with invalid names are left to be named with the others.
    #[cfg(target_os = "linux")]
    fn remotes(&mut self, given: &mut Dict) -> BTreeMap<BoardName, RemoteConfig> {
        let mut read = BTreeMap::new();
        let Some(Value::Dict(_, boards)) = given.get_mut("boards") else {
            return read;
        };
        let is_remote =
            |value: &Value| value.find_ref("kind").and_then(Value::as_str) == Some(REMOTE);
        let remotes = boards.extract_if(.., |name, value| {
            is_remote(value) && name.parse::<BoardName>().is_ok()
        });
        for (text, value) in remotes.collect::<Vec<_>>() {
            let board = self.single(&["boards", &text], value, plain);
            if let (Ok(name), Some(board)) = (text.parse(), board) {
                read.insert(name, board);
            }
        }
        read
    }

    /// Reads the boards; those with invalid names get substitutes.
    fn boards(&mut self, given: &mut Dict) -> BTreeMap<BoardName, BoardConfig> {
        let mut read = BTreeMap::new();
        let given = match self.section(given, "boards") {
            None => return read,
            Some(Value::Dict(_, given)) => given,
            Some(other) => {
                let right = "written as tables: [boards.citrine]";
                self.name(
                    &["boards"],
                    &mistakes::unfit(&other.to_actual(), right),
                    true,
                );
                return read;
            }
        };
        for (text, value) in &given {
            let name = text.parse::<BoardName>().or_else(|error| {
                let better = better_name(text);
                let problem = format!("{error}, for instance [boards.{better}]");
                self.name(&["boards", text], &problem, true);
                let numbered = (2..MAX_MISTAKES + 3).map(|number| format!("{better}{number}"));
                let mut names = std::iter::once(better.clone()).chain(numbered);
                let taken = |name: &String| {
                    let substitute = ("boards", name.clone());
                    given.contains_key(name) || self.original.contains_key(&substitute)
                };
                let name = names.find(|name| !taken(name)).unwrap_or(better);
                let substitute = ("boards", name.clone());
                self.original.insert(substitute, text.clone());
                name.parse()
            });
            let board = self.single(&["boards", text], value.clone(), BoardConfig::read);
            if let (Ok(name), Some(board)) = (name, board) {
                read.insert(name, board);
            }
        }
        read
    }

    fn section(&mut self, given: &mut Dict, name: &'static str) -> Option<Value> {
        self.sections.push(name);
        given.remove(name)
    }

    /// Reads a table that is not repeatable, without its mistakes.
    fn single<T>(&mut self, place: &[&str], value: Value, read: Read<T>) -> Option<T> {
        if matches!(value, Value::Array(..)) {
            let head = place.join(".");
            let problem = format!("there is only one: write [{head}], with one bracket");
            self.name(&[place, &["0"]].concat(), &problem, true);
            return None;
        }
        self.value(place, value, read)
    }

    /// Reads the value in this place, without its mistakes.
    fn value<T>(&mut self, place: &[&str], mut value: Value, read: Read<T>) -> Option<T> {
        let kind = value.find_ref("kind").and_then(Value::as_str);
        // The keys of a remote board are few, and serde knows them.
        let is_board = place[0] == "boards" && kind != Some("remote");
        let make = kind.filter(|_| is_board).and_then(registry::make);
        // serde would take a list for the table.
        for way in WAYS {
            if matches!(value.find_ref(way), Some(Value::Array(..))) {
                take_out(&mut value, &[way.to_owned()])?;
                let problem = "is one table in braces, not a list".to_owned();
                self.name(&[place, &[way]].concat(), &problem, true);
            }
        }
        while self.mistakes.len() <= MAX_MISTAKES {
            let error = match read(&value) {
                Ok(read) => return Some(read),
                Err(error) => *error,
            };
            let mut key = error.path;
            let mut wrong = key.clone();
            let mut exists = true;
            let problem = match &error.kind {
                Kind::UnknownField(name, known) => {
                    exists = false;
                    if key.last() != Some(name) {
                        key.push(name.clone());
                    }
                    wrong.clone_from(&key);
                    let known = match &key[..] {
                        [_] if is_board => board::keys(make, None),
                        [ble, _] if is_board && ble == "ble" => board::keys(make, Some("ble")),
                        _ => known.to_vec(),
                    };
                    let given = at(&mut value, &key).cloned();
                    mistakes::no_such_key(name, make, given.as_ref(), &known)
                }
                Kind::UnknownVariant(name, known) => mistakes::no_such_value(&key, name, known),
                Kind::MissingField(name) => {
                    let table = key.last().cloned();
                    key.push(name.to_string());
                    mistakes::missing(name, table.as_deref())
                }
                Kind::InvalidType(found, right) | Kind::InvalidValue(found, right) => {
                    let is_word = right.starts_with(WORDS);
                    if let Some(given) = at(&mut value, &wrong).filter(|_| is_word) {
                        // Read again as a word, it is told which there are.
                        *given = mistakes::stands(found).into();
                        continue;
                    }
                    mistakes::unfit(found, right)
                }
                Kind::Message(text) => text.clone(),
                other => other.to_string(),
            };
            let key: Vec<String> = place.iter().map(ToString::to_string).chain(key).collect();
            let missing = matches!(error.kind, Kind::MissingField(_));
            if !(missing && self.was_taken_out(&key)) {
                self.name(&key, &problem, exists);
            }
            take_out(&mut value, &wrong)?;
        }
        None
    }

    /// Names what the types cannot find.
    fn check(&mut self, config: &Config) {
        let mut problems = config.problems();
        // One problem for each key is enough.
        let mut keys = BTreeSet::new();
        problems.retain(|(key, _)| keys.insert(key.clone()) && !self.has_gap(&self.in_text(key)));
        for (key, problem) in problems {
            self.name(&self.in_text(&key), &problem, true);
        }
    }

    /// Notes a mistake. `exists`: whether there is such a key at all.
    fn name<T: ToString>(&mut self, path: &[T], problem: &str, exists: bool) {
        if self.mistakes.len() <= MAX_MISTAKES {
            let path: Vec<String> = path.iter().map(ToString::to_string).collect();
            self.mistakes.push(self.mistake(&path, problem));
            self.named.push((path, exists));
        }
    }

    /// A mistake with its place, in the text or in the environment.
    fn mistake(&self, path: &[String], problem: &str) -> Mistake {
        let key = mistakes::key(path);
        let variable = format!("{ENV_PREFIX}{}", path.join("__").to_ascii_uppercase());
        // It may be in one for a whole table, or for a part of it.
        let holds = |whole: &str, part: &str| {
            let rest = part.strip_prefix(whole);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
        };
        let mut set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let set = set.find(|name| {
            name.starts_with(ENV_PREFIX) && (holds(name, &variable) || holds(&variable, name))
        });
        if let Some(variable) = set {
            let text = format!("environment variable {variable} ({key}): {problem}");
            return Mistake { line: 0, text };
        }
        let line = self.document.line(path);
        Mistake::in_line(self.origin, line, &format!("{key}: {problem}"))
    }

    /// The path in the text of this key of the [`Config`].
    fn in_text(&self, key: &str) -> Vec<String> {
        let mut path: Vec<String> = key.split('.').map(str::to_owned).collect();
        if let [table, entry, ..] = &mut path[..] {
            let same = |((list, name), _): &(&(&str, String), _)| list == table && name == entry;
            if let Some((_, original)) = self.original.iter().find(same) {
                entry.clone_from(original);
            }
        }
        path
    }

    /// Whether a key is missing only because it, or one spelled like it, was taken out.
    fn was_taken_out(&self, path: &[String]) -> bool {
        self.named.iter().any(|(named, exists)| {
            let mistyped = match (named.split_last(), path.split_last()) {
                (Some((name, table)), Some((key, of))) => {
                    !exists && table == of && !like(name, &[key]).is_empty()
                }
                _ => false,
            };
            mistyped || named.starts_with(path)
        })
    }

    /// Whether this may be wrong only because something already named was taken out.
    fn has_gap(&self, table: &[String]) -> bool {
        let mut named = self.named.iter();
        // The keys of a link depend on each other.
        if let [list, _, _] = table
            && list == "link"
        {
            return named.any(|(named, _)| named.starts_with(&table[..2]));
        }
        named.any(|(named, exists)| {
            let inside = named.strip_prefix(table).and_then(<[String]>::first);
            // A table without the value of its way or address is incomplete, which is not another mistake.
            let is_needed = |key: &str| WAYS.contains(&key) || ADDRESSES.contains(&key);
            inside.is_some_and(|key| !exists || is_needed(key))
        })
    }
}

/// How a section is read, or the first mistake in it, with its path.
type Read<T> = fn(&Value) -> Result<T, Box<figment::Error>>;

/// By serde alone.
fn plain<T: DeserializeOwned>(value: &Value) -> Result<T, Box<figment::Error>> {
    Ok(value.deserialize()?)
}

/// The value at a path.
fn at<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, part| match value {
        Value::Dict(_, entries) => entries.get_mut(part),
        Value::Array(_, entries) => entries.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Removes a value; from a list, the whole list. `None` if nothing else is left.
fn take_out(value: &mut Value, path: &[String]) -> Option<()> {
    let (last, table) = path.split_last()?;
    match at(value, table)? {
        Value::Dict(_, entries) => entries.remove(last).map(drop),
        Value::Array(..) => take_out(value, table),
        _ => None,
    }
}

/// A valid name in place of this one.
fn better_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let parts = name.split(|c| !plain(c)).filter(|part| !part.is_empty());
    let better = parts.collect::<Vec<_>>().join("-");
    // With room for a number after it.
    match better.get(..MAX_NAME - 4).unwrap_or(&better) {
        "" => "board".to_owned(),
        // A keyword of UCI.
        better if better.parse::<BoardName>().is_err() => format!("{better}-board"),
        better => better.to_owned(),
    }
}
