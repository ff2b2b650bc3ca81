//! `[[opponent]]`: the other side of a board: an engine, or the same hand.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;

use super::value::from_home;
use crate::{
    durations::span,
    opponent::settings::{
        EngineSettings, Go, Hand, MAX_OPTION, MAX_OPTIONS, Memory, OptionValue, PATIENCE, Program,
        is_plain,
    },
    vocabulary::BoardName,
};

/// The shortest patience: an engine needs a moment to start.
const MIN_PATIENCE: Duration = Duration::from_secs(1);

/// `[[opponent]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[opponent]]")]
pub struct OpponentConfig {
    /// The board.
    pub board: BoardName,
    /// The engine's program; without one two people play.
    pub engine: Option<Program>,
    /// Its options.
    pub options: Option<BTreeMap<String, OptionValue>>,
    /// The limit of its search.
    pub go: Option<Go>,
    /// What the hand plays.
    pub hand: Option<Hand>,
    /// The time for the first answer, and for those that `go` does not limit.
    #[serde(default, with = "patience")]
    pub patience: Option<Duration>,
    /// The memory it may take in the service.
    pub memory: Option<Memory>,
}

/// A duration that may be left out.
mod patience {
    use super::{Duration, span};
    use serde::Deserializer;

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        span::deserialize(deserializer).map(Some)
    }
}

impl OpponentConfig {
    /// The engine, and what the hand plays against it.
    pub fn engine(&self) -> Option<(EngineSettings, Hand)> {
        let options = self.options.clone().unwrap_or_default();
        let usual = || Memory::for_options(&options);
        let settings = EngineSettings {
            program: self.engine.clone()?,
            memory: self.memory.unwrap_or_else(usual),
            options,
            go: self.go.clone().unwrap_or_default(),
            patience: self.patience.unwrap_or(PATIENCE),
        };
        Some((settings, self.hand.unwrap_or_default()))
    }

    /// What is played, for `boardbridge check`. `limits`: whether memory is limited here.
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

    /// Checks what the types cannot: returns the key, relative to the entry, and the problem.
    pub(super) fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        let given = [
            ("options", self.options.is_some()),
            ("go", self.go.is_some()),
            ("hand", self.hand.is_some()),
            ("patience", self.patience.is_some()),
            ("memory", self.memory.is_some()),
        ];
        let path = self.engine.as_ref().map(|engine| engine.path.as_path());
        let unusable = path.and_then(unusable);
        problems.extend(unusable.map(|problem| ("engine".to_owned(), problem)));
        let needless = |(_, given): &(_, bool)| *given && self.engine.is_none();
        problems.extend(given.into_iter().filter(needless).map(|(key, _)| {
            let problem = "needs `engine`: without one two people play".to_owned();
            (key.to_owned(), problem)
        }));
        let options = self.options.iter().flatten();
        if options.clone().count() > MAX_OPTIONS {
            let problem = format!("has at most {MAX_OPTIONS} options");
            problems.push(("options".to_owned(), problem));
        }
        for (name, _) in options {
            if name.is_empty() || !is_plain(name) {
                let problem = format!(
                    "{name:?} is not the name of an option: one line of at most {MAX_OPTION} bytes"
                );
                problems.push(("options".to_owned(), problem));
            }
        }
        if self
            .patience
            .is_some_and(|patience| patience < MIN_PATIENCE)
        {
            let problem = "is too short: at least \"1s\"".to_owned();
            problems.push(("patience".to_owned(), problem));
        }
        problems
    }
}

/// Why this cannot be the path of an engine's program, whatever is there.
fn unusable(engine: &std::path::Path) -> Option<String> {
    let name = engine.display();
    if let Some(problem) = from_home(engine) {
        return Some(problem);
    }
    if !engine.is_absolute() {
        return Some(format!(
            "`{name}` is not a whole path: write for instance \"/usr/games/stockfish\""
        ));
    }
    None
}
