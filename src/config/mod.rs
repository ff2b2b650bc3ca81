//! The configuration: TOML, every key overridable from the environment, every mistake reported with its file, line,
//! key and remedy.

pub mod board;
pub(crate) mod conflicts;
pub mod error;
#[cfg(target_os = "linux")]
pub mod lichess;
pub mod link;
pub mod livechess;
mod mistakes;
pub mod opponent;
mod syntax;
#[cfg(target_os = "linux")]
pub mod transport;
pub mod value;
pub mod web;
pub mod whitepawn;
pub(crate) mod words;

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use serde::Deserialize;

#[cfg(target_os = "linux")]
pub use self::lichess::LichessConfig;
use self::mistakes::Problem;
pub use self::{
    board::BoardConfig, error::ConfigError, link::LinkConfig, livechess::LiveChessConfig,
    opponent::OpponentConfig, value::Listen, web::WebConfig, whitepawn::WhitePawnConfig,
};
pub use crate::default_ports::{DEFAULT_STATUS, DEFAULT_UCI, DEFAULT_WEB};
use crate::{
    door::Allow,
    pgn::settings::GamesConfig,
    regular_file::read,
    state::settings::StateConfig,
    vocabulary::{BoardName, MAX_BOARDS},
};

/// The default path of the configuration.
pub const DEFAULT_FILE: &str = "/etc/boardbridge/boardbridge.toml";
/// The longest configuration, in bytes: 64 boards with every key and its comment take some 100 KiB.
pub const MAX_FILE: u64 = 1024 * 1024;
/// The prefix of environment variables: `BOARDBRIDGE_UCI__LISTEN` overrides `uci.listen`.
pub const ENV_PREFIX: &str = "BOARDBRIDGE_";

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
    /// What survives a restart.
    #[serde(default)]
    pub state: StateConfig,
    /// The API.
    #[serde(default)]
    pub web: WebConfig,
    /// The boards for pages such as lichess.org's.
    #[serde(default)]
    pub livechess: LiveChessConfig,
    /// Where games are saved.
    #[serde(default)]
    pub games: GamesConfig,
    /// Every board, by name.
    #[serde(default)]
    pub boards: BTreeMap<BoardName, BoardConfig>,
    /// Their names in the order of the file; those of the environment are not in it.
    #[serde(skip)]
    pub order: Vec<String>,
    /// Whether the table of boards is written, if only an empty one.
    #[serde(skip)]
    pub says_boards: bool,
    /// What names a board that is not there, and is left out: a line each, with its place and the problem.
    #[serde(skip)]
    pub left_out: Vec<String>,
    /// Boards played through the `WhitePawn` app.
    #[serde(default)]
    pub whitepawn: Vec<WhitePawnConfig>,
    /// Boards that play each other.
    #[serde(default)]
    pub link: Vec<LinkConfig>,
    /// Boards with an engine, or two hands.
    #[serde(default)]
    pub opponent: Vec<OpponentConfig>,
    /// Games on Lichess.
    #[cfg(target_os = "linux")]
    #[serde(default)]
    pub lichess: Option<LichessConfig>,
}

/// `[uci]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [uci]")]
pub struct UciConfig {
    /// Address and port, or `off`.
    pub listen: Listen,
    /// Who may connect.
    pub allow: Allow,
}

impl Default for UciConfig {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_UCI),
            allow: Allow::default(),
        }
    }
}

/// `[status]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [status]")]
pub struct StatusConfig {
    /// Address and port, or `off`.
    pub listen: Listen,
    /// Who may connect.
    pub allow: Allow,
}

impl Default for StatusConfig {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_STATUS),
            allow: Allow::default(),
        }
    }
}

impl Config {
    /// Reads a file and the environment.
    ///
    /// # Errors
    /// Every mistake, with its place and what would be right.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        Self::load_with(file, |variable| std::env::var_os(variable))
    }

    /// The same, with folders left out where these variables of the environment have them.
    ///
    /// # Errors
    /// Every mistake, with its place and what would be right.
    pub fn load_with(
        file: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let bytes = read(file, MAX_FILE).map_err(|source| ConfigError::Unreadable {
            file: file.to_owned(),
            source,
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            ConfigError::not_utf8(file, error.as_bytes(), good)
        })?;
        let mut config = Self::from_text(&text, &file.display().to_string())?;
        config.state.settle(&variable);
        config.games.settle(&variable);
        Ok(config)
    }

    /// Reads a text, named `origin` in messages, and the environment.
    ///
    /// # Errors
    /// Every mistake, with its place and what would be right.
    pub fn from_text(text: &str, origin: &str) -> Result<Self, ConfigError> {
        mistakes::read(text, origin)
    }

    /// Takes out what names a board that is not there: one missing board keeps no other from playing. `known`: whether a
    /// board with this name exists, even one with mistakes.
    fn leave_out(&mut self, known: impl Fn(&BoardName) -> bool) -> Vec<Problem> {
        let mut left_out = Vec::new();
        let mut lacks = |path: &[&str], board: &BoardName| {
            let lacks = !known(board);
            if lacks {
                let path = path.iter().map(ToString::to_string).collect();
                let problem = format!("there is no [boards.{board}]: this is left out");
                left_out.push((path, problem));
            }
            lacks
        };
        let mut number = 0..;
        let mut next = || number.next().unwrap_or_default().to_string();
        self.whitepawn
            .retain(|entry| !lacks(&["whitepawn", &next(), "board"], &entry.board));
        let mut number = 0..;
        let mut next = || number.next().unwrap_or_default().to_string();
        self.link.retain(|entry| {
            let number = next();
            let mut boards = entry.boards.iter();
            !boards.any(|board| lacks(&["link", &number, "boards"], board))
        });
        let mut number = 0..;
        let mut next = || number.next().unwrap_or_default().to_string();
        self.opponent
            .retain(|entry| !lacks(&["opponent", &next(), "board"], &entry.board));
        #[cfg(target_os = "linux")]
        self.lichess
            .take_if(|entry| lacks(&["lichess", "board"], &entry.board));
        self.livechess
            .board
            .take_if(|board| lacks(&["livechess", "board"], board));
        self.web
            .broadcast
            .players
            .retain(|board, _| !lacks(&["web", "broadcast", "players", board.as_str()], board));
        left_out
    }

    /// Checks what the types cannot.
    fn problems(&self) -> Vec<Problem> {
        let path = |parts: &[&str]| parts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut problems = Vec::new();
        if self.boards.len() > MAX_BOARDS {
            let problem = format!(
                "there are {} boards: at most {MAX_BOARDS}",
                self.boards.len()
            );
            problems.push((path(&["boards"]), problem));
        }
        for (name, board) in &self.boards {
            for (key, problem) in board.problems() {
                let start = ["boards", name.as_str()];
                problems.push((path(&[&start[..], &key].concat()), problem));
            }
        }
        let web = self.web.problems().into_iter();
        problems.extend(web.map(|(key, problem)| (path(&["web", key]), problem)));
        let livechess = self.livechess.problems().into_iter();
        problems.extend(livechess.map(|(key, problem)| (path(&["livechess", key]), problem)));
        self.check_serial_ports(&mut problems);
        self.check_listeners(&mut problems);
        self.check_whitepawn(&mut problems);
        conflicts::check(self, &mut problems);
        self.check_links(&mut problems);
        self.check_opponents(&mut problems);
        #[cfg(target_os = "linux")]
        if let Some(lichess) = &self.lichess {
            let wrong = lichess.problems().into_iter();
            problems.extend(wrong.map(|(key, problem)| (path(&["lichess", key]), problem)));
            let board = &lichess.board;
            // A link has its board all the time. An opponent, an app or a program makes way.
            if self.link.iter().any(|link| link.boards.contains(board)) {
                let problem = format!(
                    "{board} is in a [[link]] already: a board has one opponent, name another board in one of the two"
                );
                problems.push((path(&["lichess", "board"]), problem));
            }
        }
        problems
    }

    /// One address, one listener.
    fn check_listeners(&self, problems: &mut Vec<Problem>) {
        let path = |parts: &[&str]| parts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut taken = vec![("uci".to_owned(), &self.uci.listen)];
        let status = path(&["status", "listen"]);
        let status = Some((status, "status".to_owned(), &self.status.listen));
        // A default port that is taken is only a warning.
        let web = self.web.listen.as_ref();
        let web = web.map(|listen| (path(&["web", "listen"]), "web".to_owned(), listen));
        let livechess = self.livechess.listen.as_ref().map(|listen| {
            let key = path(&["livechess", "listen"]);
            (key, "livechess".to_owned(), listen)
        });
        let ports =
            status
                .into_iter()
                .chain(web)
                .chain(livechess)
                .chain(self.boards.iter().filter_map(|(name, board)| {
                    let key = path(&["boards", name.as_str(), "uci_listen"]);
                    let listen = &board.uci_listen.as_ref()?.listen;
                    Some((key, format!("board {name}"), listen))
                }));
        let apps = self
            .whitepawn
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| {
                let key = path(&["whitepawn", &index.to_string(), "tcp", "listen"]);
                let what = format!("[[whitepawn]] of {}", entry.board);
                Some((key, what, &entry.tcp.as_ref()?.listen))
            });
        for (key, what, listen) in ports.chain(apps) {
            if let Some((other, _)) = taken
                .iter()
                .find(|(_, other)| conflicts::clash(other, listen))
            {
                let problem = format!("{listen} is already taken by {other}: give it another port");
                problems.push((key, problem));
            }
            taken.push((what, listen));
        }
    }

    /// One serial port, one use.
    fn check_serial_ports(&self, problems: &mut Vec<Problem>) {
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
                problems.push((key.into_iter().chain(rest).collect(), problem));
            }
        }
    }

    /// A board has one opponent.
    fn check_links(&self, problems: &mut Vec<Problem>) {
        let mut taken: Vec<&BoardName> = Vec::new();
        for (index, entry) in self.link.iter().enumerate() {
            let path = |key: &str| vec!["link".to_owned(), index.to_string(), key.to_owned()];
            let wrong = entry.problems().into_iter();
            let mut wrong: Vec<Problem> = wrong.map(|(key, text)| (path(key), text)).collect();
            for board in &entry.boards {
                if taken.contains(&board) {
                    let problem =
                        format!("{board} is in another [[link]] already: a board has one opponent");
                    wrong.push((path("boards"), problem));
                }
            }
            // One problem per key is enough.
            wrong.dedup_by(|later, earlier| later.0 == earlier.0);
            problems.extend(wrong);
            taken.extend(&entry.boards);
        }
    }

    /// A board has one opponent.
    fn check_opponents(&self, problems: &mut Vec<Problem>) {
        for (index, entry) in self.opponent.iter().enumerate() {
            let path = |key: &str| {
                let key = key.split('.').map(str::to_owned);
                let start = ["opponent".to_owned(), index.to_string()];
                start.into_iter().chain(key).collect::<Vec<_>>()
            };
            let board = &entry.board;
            let earlier = &self.opponent[..index];
            let problem = if earlier.iter().any(|other| other.board == *board) {
                Some(format!(
                    "{board} is in another [[opponent]] already: a board has one opponent"
                ))
            } else if self.link.iter().any(|link| link.boards.contains(board)) {
                Some(format!(
                    "{board} is in a [[link]] already: a board has one opponent"
                ))
            } else {
                None
            };
            problems.extend(problem.map(|problem| (path("board"), problem)));
            let wrong = entry.problems().into_iter();
            problems.extend(wrong.map(|(key, problem)| (path(&key), problem)));
        }
    }

    fn check_whitepawn(&self, problems: &mut Vec<Problem>) {
        for (index, entry) in self.whitepawn.iter().enumerate() {
            let path = |key: &[&str]| {
                let start = ["whitepawn".to_owned(), index.to_string()];
                let key = key.iter().map(ToString::to_string);
                start.into_iter().chain(key).collect()
            };
            let wrong = entry.problems().into_iter();
            problems.extend(wrong.map(|(key, problem)| (path(&key), problem)));
        }
    }
}
