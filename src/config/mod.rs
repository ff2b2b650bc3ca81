//! The configuration: TOML, every key overridable from the environment, every mistake named with its file, line,
//! key and remedy.

pub mod board;
pub mod error;
pub mod games;
pub mod link;
mod shared;
pub mod value;
pub mod whitepawn;
mod words;

use std::{collections::BTreeMap, fs, path::Path};

use figment::{
    Figment,
    providers::{Env, Format, Toml},
};
use serde::Deserialize;

pub use self::{
    board::{BoardConfig, BoardKind},
    error::ConfigError,
    games::GamesConfig,
    link::LinkConfig,
    value::Listen,
    whitepawn::WhitePawnConfig,
};
use crate::board::name::BoardName;

/// Where the daemon looks for its configuration.
pub const DEFAULT_FILE: &str = "/etc/boardbridge/boardbridge.toml";
/// What a variable in the environment begins with: `BOARDBRIDGE_UCI__LISTEN` overrides `uci.listen`.
pub const ENV_PREFIX: &str = "BOARDBRIDGE_";
/// The UCI port for every board.
pub const DEFAULT_UCI: &str = "127.0.0.1:9670";
/// The event stream.
pub const DEFAULT_STATUS: &str = "127.0.0.1:9680";
/// Boards in one configuration: what a daemon with its memory bound can hold with room to spare.
pub const MAX_BOARDS: usize = 64;

/// The whole configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The UCI port for every board.
    #[serde(default)]
    pub uci: UciConfig,
    /// The event stream for `boardbridge watch`.
    #[serde(default)]
    pub status: StatusConfig,
    /// Where games are kept.
    #[serde(default)]
    pub games: GamesConfig,
    /// Every board, by name.
    #[serde(default)]
    pub boards: BTreeMap<BoardName, BoardConfig>,
    /// Boards played for the `WhitePawn` app.
    #[serde(default)]
    pub whitepawn: Vec<WhitePawnConfig>,
    /// Boards that play each other.
    #[serde(default)]
    pub link: Vec<LinkConfig>,
}

/// `[uci]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [uci]")]
pub struct UciConfig {
    /// Address and port, or `off`.
    pub listen: Listen,
}

impl Default for UciConfig {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_UCI),
        }
    }
}

/// `[status]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [status]")]
pub struct StatusConfig {
    /// Address and port, or `off`.
    pub listen: Listen,
}

impl Default for StatusConfig {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_STATUS),
        }
    }
}

impl Config {
    /// Reads a file and the environment.
    ///
    /// # Errors
    /// The first mistake found, with its place and what would be right.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(file).map_err(|source| ConfigError::Unreadable {
            file: file.to_owned(),
            source,
        })?;
        let mut config = Self::from_text(&text, &file.display().to_string())?;
        config.games.settle(|variable| std::env::var_os(variable));
        Ok(config)
    }

    /// Reads a text, named `origin` in messages, and the environment.
    ///
    /// # Errors
    /// The first mistake found, with its place and what would be right.
    pub fn from_text(text: &str, origin: &str) -> Result<Self, ConfigError> {
        let place = error::Place::new(text, origin);
        place.syntax()?;
        let figment =
            Figment::from(Toml::string(text)).merge(Env::prefixed(ENV_PREFIX).split("__"));
        let kind = |board: &str| figment.extract_inner(&format!("boards.{board}.kind")).ok();
        let config: Self = figment
            .extract()
            .map_err(|error| place.extraction(error, kind))?;
        config
            .check()
            .map_err(|(path, problem)| place.at(&path, problem))?;
        Ok(config)
    }

    /// What the types cannot say. The key's path comes with the problem.
    fn check(&self) -> Result<(), (Vec<String>, String)> {
        let path = |parts: &[&str]| parts.iter().map(ToString::to_string).collect();
        if self.boards.len() > MAX_BOARDS {
            let problem = format!(
                "there are {} boards: at most {MAX_BOARDS}",
                self.boards.len()
            );
            return Err((path(&["boards"]), problem));
        }
        for (name, board) in &self.boards {
            board.check().map_err(|(key, problem)| {
                let mut parts = vec!["boards", name.as_str()];
                parts.extend(key);
                (path(&parts), problem)
            })?;
        }
        self.check_serial_ports()?;
        let mut taken = vec![("uci".to_owned(), &self.uci.listen)];
        let status = vec!["status".to_owned(), "listen".to_owned()];
        let ports = std::iter::once((status, "status".to_owned(), &self.status.listen)).chain(
            self.boards.iter().filter_map(|(name, board)| {
                let key = path(&["boards", name.as_str(), "uci_listen"]);
                Some((key, format!("board {name}"), board.uci_listen.as_ref()?))
            }),
        );
        let apps = self
            .whitepawn
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| {
                let key = path(&["whitepawn", &index.to_string(), "tcp", "listen"]);
                let what = format!("[[whitepawn]] of {}", entry.board);
                Some((key, what, &entry.tcp.as_ref()?.listen))
            });
        let ports = ports.chain(apps);
        for (key, what, listen) in ports {
            if let Some((other, _)) = taken.iter().find(|(_, other)| shared::clash(other, listen)) {
                return Err((
                    key,
                    format!("{listen} is already taken by {other}: give it another port"),
                ));
            }
            taken.push((what, listen));
        }
        self.check_whitepawn()?;
        shared::check(self)?;
        self.check_links()
    }

    /// One serial port, one use.
    fn check_serial_ports(&self) -> Result<(), (Vec<String>, String)> {
        let boards = self.boards.iter().map(|(name, board)| {
            let key = ["boards".to_owned(), name.to_string()];
            (key, format!("board {name}"), board.serial.as_ref())
        });
        let apps = self.whitepawn.iter().enumerate().map(|(index, entry)| {
            let key = ["whitepawn".to_owned(), index.to_string()];
            let what = format!("[[whitepawn]] of {}", entry.board);
            (key, what, entry.serial.as_ref())
        });
        let mut taken: BTreeMap<&str, String> = BTreeMap::new();
        for (key, what, serial) in boards.chain(apps) {
            let Some(port) = serial.map(|serial| serial.port.as_str()) else {
                continue;
            };
            if let Some(other) = taken.insert(port, what) {
                let problem = format!("{port} is already the port of {other}: one port, one board");
                let rest = ["serial".to_owned(), "port".to_owned()];
                return Err((key.into_iter().chain(rest).collect(), problem));
            }
        }
        Ok(())
    }

    /// A board has one opponent.
    fn check_links(&self) -> Result<(), (Vec<String>, String)> {
        let mut taken: Vec<&BoardName> = Vec::new();
        for (index, entry) in self.link.iter().enumerate() {
            let path = |key: &str| vec!["link".to_owned(), index.to_string(), key.to_owned()];
            entry
                .check()
                .map_err(|(key, problem)| (path(key), problem))?;
            for board in &entry.boards {
                if !self.boards.contains_key(board) {
                    return Err((path("boards"), format!("there is no [boards.{board}]")));
                }
                if taken.contains(&board) {
                    let problem =
                        format!("{board} is in another [[link]] already: a board has one opponent");
                    return Err((path("boards"), problem));
                }
                taken.push(board);
            }
        }
        Ok(())
    }

    fn check_whitepawn(&self) -> Result<(), (Vec<String>, String)> {
        for (index, entry) in self.whitepawn.iter().enumerate() {
            let path = |key: Vec<&str>| {
                let start = ["whitepawn".to_owned(), index.to_string()];
                start
                    .into_iter()
                    .chain(key.into_iter().map(str::to_owned))
                    .collect()
            };
            if !self.boards.contains_key(&entry.board) {
                let problem = format!("there is no [boards.{}]", entry.board);
                return Err((path(vec!["board"]), problem));
            }
            entry
                .check()
                .map_err(|(key, problem)| (path(key), problem))?;
        }
        Ok(())
    }
}
