//! Reads the whole configuration despite mistakes, so that all of them are reported at once.
//!
//! serde stops at the first. So each mistake is noted and removed, and the rest is read again.

use std::collections::BTreeMap;

use figment::{
    Figment,
    error::Kind,
    providers::{Env, Format, Toml},
    value::Value,
};

use super::{
    Config, ENV_PREFIX,
    board::{self, BoardConfig},
    error::{ConfigError, Location, MAX_MISTAKES, Mistake},
    syntax, words,
};
use crate::{
    driver::{identity::Identity, registry},
    spelling::like,
    vocabulary::{BoardName, MAX_NAME},
};

/// Keys of which a table must have one: without its value the table is incomplete, which is not another mistake.
const WAYS: [&str; 6] = ["serial", "ble", "tcp", "rfcomm", "name", "address"];

/// A mistake: the path of its key, and the problem.
pub(super) type Problem = (Vec<String>, String);

/// Reads a text, named `origin` in messages, and the environment.
///
/// # Errors
/// Every mistake, up to [`MAX_MISTAKES`].
pub(super) fn read(text: &str, origin: &str) -> Result<Config, ConfigError> {
    let mended = syntax::mend(text);
    let mut judge = Judge {
        place: Location::new(&mended.text, origin),
        mistakes: Vec::new(),
        left_out: Vec::new(),
        named: Vec::new(),
        renamed: BTreeMap::new(),
        left: words::LISTS.map(|list| (list, Vec::new())),
    };
    for (line, problem) in &mended.mistakes {
        let mistake = judge.place.line_of(*line, problem);
        judge.mistakes.push(mistake);
    }
    let config = if mended.judged { judge.judged() } else { None };
    match config {
        Some(mut config) if judge.mistakes.is_empty() => {
            config.order = syntax::boards(&mended.text);
            config.left_out = judge.left_out.into_iter().map(Mistake::text).collect();
            Ok(config)
        }
        _ => {
            judge.mistakes.append(&mut judge.left_out);
            Err(ConfigError::wrong(judge.mistakes))
        }
    }
}

struct Judge<'a> {
    place: Location<'a>,
    mistakes: Vec<Mistake>,
    /// What names a board that is not there: a mistake only among others.
    left_out: Vec<Mistake>,
    /// The keys with mistakes, and whether the key exists at all.
    named: Vec<(Vec<String>, bool)>,
    /// Boards with invalid names, by the substitutes they have while the rest is read.
    renamed: BTreeMap<String, String>,
    /// For repeatable tables: the numbers of those that were not removed.
    left: [(&'static str, Vec<usize>); words::LISTS.len()],
}

impl Judge<'_> {
    fn judged(&mut self) -> Option<Config> {
        let figment = Figment::from(Toml::string(self.place.text()))
            .merge(Env::prefixed(ENV_PREFIX).split("__"));
        let mut value: Value = match figment.extract() {
            Ok(value) => value,
            Err(error) => {
                self.name(&[], error.to_string(), true);
                return None;
            }
        };
        let names = self.rename_boards(&mut value);
        for (list, left) in &mut self.left {
            let length = value.find_ref(list).and_then(Value::as_array);
            *left = (0..length.map_or(0, <[Value]>::len)).collect();
        }
        let mut config = self.extracted(&mut value)?;
        config.says_boards = value.find_ref("boards").is_some();
        let known = |name: &BoardName| names.iter().any(|known| known == name.as_str());
        // With the numbers that entries have before any is left out.
        let problems = config.problems().into_iter();
        let problems = problems.map(|(path, problem)| (self.original(&path), problem));
        let problems = problems.filter(|(path, _)| !self.has_gap(path));
        let problems: Vec<Problem> = problems.take(MAX_MISTAKES + 1).collect();
        for (path, problem) in problems {
            self.name(&path, problem, true);
        }
        for (path, problem) in config.leave_out(known).into_iter().take(MAX_MISTAKES) {
            let path = self.original(&path);
            self.left_out.push(self.place.at(&path, problem));
        }
        Some(config)
    }

    /// Reports the boards with invalid names, and gives them substitutes. Returns all that were reported.
    fn rename_boards(&mut self, value: &mut Value) -> Vec<String> {
        let Some(Value::Dict(_, boards)) = at(value, &["boards".to_owned()]) else {
            return Vec::new();
        };
        let names: Vec<String> = boards.keys().cloned().collect();
        for name in &names {
            let Err(error) = name.parse::<BoardName>() else {
                continue;
            };
            if self.mistakes.len() > MAX_MISTAKES {
                break;
            }
            let better = better_name(name);
            let free = |name: &String| !boards.contains_key(name);
            let numbered = (2..MAX_MISTAKES + 3).map(|number| format!("{better}{number}"));
            if let Some(other) = std::iter::once(better.clone()).chain(numbered).find(free)
                && let Some(board) = boards.remove(name)
            {
                boards.insert(other.clone(), board);
                self.renamed.insert(other, name.clone());
            }
            let path = ["boards".to_owned(), name.clone()];
            self.name(
                &path,
                format!("{error}, for instance [boards.{better}]"),
                true,
            );
        }
        names
    }

    /// The readable part, after mistakes were reported and removed.
    fn extracted(&mut self, value: &mut Value) -> Option<Config> {
        while self.mistakes.len() <= MAX_MISTAKES {
            let error = match boards(value).and_then(|()| Ok(value.deserialize()?)) {
                Ok(config) => return Some(config),
                Err(error) => figment::Error::into_iter(*error).next()?,
            };
            let mut path = error.path.clone();
            let mut wrong = path.clone();
            let mut is_key = true;
            let problem = if let Some((head, problem)) = words::one_bracket(&path) {
                wrong.truncate(head);
                problem
            } else {
                match &error.kind {
                    Kind::UnknownField(name, known) => {
                        if path.last() != Some(name) {
                            path.push(name.clone());
                        }
                        wrong.clone_from(&path);
                        is_key = false;
                        let make = make_of(value, &path);
                        let known = board::keys(&path, make).unwrap_or(known.to_vec());
                        let given = at(value, &path).map(|given| given.clone());
                        words::no_such_key(&path, make, given.as_ref(), &known)
                    }
                    Kind::UnknownVariant(name, known) => words::no_such_value(&path, name, known),
                    Kind::MissingField(name) => {
                        path.push(name.to_string());
                        words::missing(name)
                    }
                    Kind::InvalidType(found, wanted) | Kind::InvalidValue(found, wanted) => {
                        words::unfit(&path, found, wanted)
                    }
                    Kind::Message(text) => text.clone(),
                    other => other.to_string(),
                }
            };
            let path = self.original(&path);
            let missing = matches!(error.kind, Kind::MissingField(_));
            if !(missing && self.was_taken_out(&path)) {
                self.name(&path, problem, is_key);
            }
            self.take_out(value, &wrong)?;
        }
        None
    }

    fn name(&mut self, path: &[String], problem: String, is_key: bool) {
        self.mistakes.push(self.place.at(path, problem));
        self.named.push((path.to_vec(), is_key));
    }

    /// The path as in the text.
    fn original(&self, path: &[String]) -> Vec<String> {
        let mut path = path.to_vec();
        if let [table, entry, ..] = &mut path[..] {
            let left = self.left.iter().find(|(list, _)| list == table);
            let number = left.and_then(|(_, left)| left.get(entry.parse::<usize>().ok()?));
            let name = self.renamed.get(entry).filter(|_| table == "boards");
            if let Some(original) = number.map(usize::to_string).or(name.cloned()) {
                *entry = original;
            }
        }
        path
    }

    /// Whether a key is missing only because it, or one spelled like it, was removed.
    fn was_taken_out(&self, path: &[String]) -> bool {
        self.named.iter().any(|(named, is_key)| {
            let mistyped = match (named.split_last(), path.split_last()) {
                (Some((name, table)), Some((key, of))) => {
                    !is_key && table == of && !like(name, &[key]).is_empty()
                }
                _ => false,
            };
            mistyped || named.starts_with(path)
        })
    }

    /// Whether this may be wrong only because something already reported was removed.
    fn has_gap(&self, table: &[String]) -> bool {
        // The keys of a link depend on each other.
        if let [list, number, _] = table
            && list == "link"
        {
            return self
                .named
                .iter()
                .any(|(named, _)| named.starts_with(&[list.clone(), number.clone()]));
        }
        self.named.iter().any(|(named, is_key)| {
            let inside = named.strip_prefix(table).and_then(<[String]>::first);
            inside.is_some_and(|key| !is_key || WAYS.contains(&key.as_str()))
        })
    }

    /// Removes a value; from a list, the whole list. `None` if it is missing.
    fn take_out(&mut self, value: &mut Value, path: &[String]) -> Option<()> {
        let (last, table) = path.split_last()?;
        match at(value, table)? {
            Value::Dict(_, entries) => entries.remove(last).map(drop),
            Value::Array(_, entries) => {
                let index: usize = last.parse().ok()?;
                let list = self.left.iter_mut().find(|(list, _)| table == [*list]);
                let Some((_, left)) = list else {
                    return self.take_out(value, table);
                };
                if index >= entries.len() || index >= left.len() {
                    return None;
                }
                entries.remove(index);
                left.remove(index);
                Some(())
            }
            _ => None,
        }
    }
}

/// The value at a path.
fn at<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, part| match value {
        Value::Dict(_, entries) => entries.get_mut(part),
        Value::Array(_, entries) => entries.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Reads the boards alone: from within the whole configuration, serde would report a mistake in one without its path.
fn boards(value: &mut Value) -> Result<(), Box<figment::Error>> {
    let Some(Value::Dict(_, boards)) = at(value, &["boards".to_owned()]) else {
        return Ok(());
    };
    for (name, value) in boards {
        BoardConfig::read(value).map_err(|error| board::within(&["boards", name], *error))?;
    }
    Ok(())
}

/// The make of the board that this path belongs to.
fn make_of(value: &mut Value, path: &[String]) -> Option<&'static Identity> {
    match path {
        [boards, board, ..] if boards == "boards" => {
            let kind = [boards.clone(), board.clone(), "kind".to_owned()];
            registry::make(at(value, &kind)?.as_str()?)
        }
        _ => None,
    }
}

/// The substitute for an invalid name.
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
