//! The configuration: TOML, every key overridable from the environment, every mistake reported with its file, line,
//! key and remedy.
//!
//! Each room has its section: struct, defaults and what is wrong with it, in its `settings.rs`. Here is the tree of them:
//! `document` is the text with the line of each key, `syntax` repairs what is not TOML in it, `reading` makes the tree and
//! names every mistake, in the words of `mistakes`; `clashes` are mistakes between sections; `added` is what was added from the page, and `key` what can be set there.

pub mod added;
mod clashes;
mod document;
pub mod error;
mod key;
mod mistakes;
mod reading;
mod syntax;

use std::{collections::BTreeMap, ffi::OsString, fmt, path::Path};

pub use self::{error::ConfigError, key::Key};
#[cfg(target_os = "linux")]
use crate::discovery::settings::DiscoveryConfig;
#[cfg(target_os = "linux")]
use crate::front_end::{
    broadcast::settings::{BroadcastConfig, MAX_BROADCASTS},
    lichess::settings::LichessConfig,
    mqtt::settings::{MqttConfig, RemoteConfig},
};
use crate::{
    board::settings::BoardConfig,
    front_end::{
        event_stream::settings::StatusConfig, link::settings::LinkConfig,
        livechess::settings::LiveChessConfig, opponent::settings::OpponentConfig,
        pgn::settings::GamesConfig, uci::settings::UciConfig, web::settings::WebConfig,
        whitepawn::settings::WhitePawnConfig,
    },
    net::door::Served,
    state::settings::StateConfig,
    system::regular_file::read,
    text::toml_value::Wrong,
    vocabulary::{AppWay, BoardName, MAX_BOARDS},
};

/// The default path of the configuration.
pub const DEFAULT_FILE: &str = "/etc/boardbridge/boardbridge.toml";
/// The longest configuration, in bytes: 64 boards with every key and its comment take some 100 KiB.
pub const MAX_FILE: u64 = 1024 * 1024;
/// The prefix of environment variables: `BOARDBRIDGE_UCI__LISTEN` overrides `uci.listen`.
pub const ENV_PREFIX: &str = "BOARDBRIDGE_";

/// A mistake: its key with dots, where entries of repeatable tables have their numbers from 0, and the problem.
type Problem = (String, String);

/// The whole configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The UCI port for every board.
    pub uci: UciConfig,
    /// The event stream for `boardbridge watch`.
    pub status: StatusConfig,
    /// What survives a restart.
    pub state: StateConfig,
    /// The API.
    pub web: WebConfig,
    /// The boards for pages such as lichess.org's.
    pub livechess: LiveChessConfig,
    /// Where games are saved.
    pub games: GamesConfig,
    /// Every board, by name.
    pub boards: BTreeMap<BoardName, BoardConfig>,
    /// Their names in the order of the file, then those that were added; those of the environment are not in it.
    pub order: Vec<String>,
    /// Whether the table of boards is written, if only an empty one.
    pub says_boards: bool,
    /// The keys that are written, of those that can be set on the page.
    pub written: Vec<Key>,
    /// Entries that name a missing board and are left out: a line each, with its place and the problem.
    pub left_out: Vec<String>,
    /// Boards played through the `WhitePawn` app.
    pub whitepawn: Vec<WhitePawnConfig>,
    /// The ways for the app that were chosen on the page.
    pub apps: Vec<AppWay>,
    /// Boards that play each other.
    pub link: Vec<LinkConfig>,
    /// Boards with an engine, or two hands.
    pub opponent: Vec<OpponentConfig>,
    /// Games on Lichess.
    #[cfg(target_os = "linux")]
    pub lichess: Option<LichessConfig>,
    /// Where games on Lichess are played, as was chosen on the page.
    pub lichess_chosen: Option<BoardName>,
    /// Boards on a broker.
    #[cfg(target_os = "linux")]
    pub mqtt: Option<MqttConfig>,
    /// Boards of other daemons, by the names they have here.
    #[cfg(target_os = "linux")]
    pub remotes: BTreeMap<BoardName, RemoteConfig>,
    /// Rounds of broadcasts to which running games are pushed.
    #[cfg(target_os = "linux")]
    pub broadcast: Vec<BroadcastConfig>,
    /// What comes by itself when it is plugged in, and who is found by whom.
    #[cfg(target_os = "linux")]
    pub discovery: DiscoveryConfig,
    /// The boards that were added from the page or a terminal: they are not in the main file.
    pub added: Vec<BoardName>,
    /// What names the opponents and links that were started from there: a board, or two with a dot between them.
    pub plays: Vec<String>,
}

impl Config {
    /// Reads a file and the environment.
    ///
    /// # Errors
    /// Every mistake, with its place and what would be right.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        Self::load_with(file, |variable| std::env::var_os(variable))
    }

    /// The same; these variables of the environment name the folders that the file leaves out.
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
        reading::read(&text, &file.display().to_string(), |config| {
            config.state.settle(&variable);
            config.games.settle(&variable);
            #[cfg(target_os = "linux")]
            if let Some(folder) = file.parent() {
                for entry in &mut config.broadcast {
                    entry.settle(folder);
                }
            }
            let state = config.state.path().map(Path::to_owned);
            state.map_or_else(Vec::new, |state| added::add_to(config, &state))
        })
    }

    /// Reads a text, named `origin` in messages, and the environment.
    ///
    /// # Errors
    /// Every mistake, with its place and what would be right.
    pub fn from_text(text: &str, origin: &str) -> Result<Self, ConfigError> {
        reading::read(text, origin, |_| Vec::new())
    }

    /// The boards' names in the order of the file and of their adding, then those of the environment.
    pub fn names(&self) -> Vec<BoardName> {
        let mut names: Vec<BoardName> = self.all_boards().map(|(name, _)| name.clone()).collect();
        let place = |name: &BoardName| self.order.iter().position(|known| known == name.as_str());
        names.sort_by_key(|name| place(name).unwrap_or(self.order.len()));
        names
    }

    /// Whether this key is written.
    pub fn says(&self, key: Key) -> bool {
        self.written.contains(&key)
    }

    /// The keys of this table that are written, of those that can be set on the page.
    pub fn written_of(&self, table: &str) -> Vec<&'static str> {
        let of = self.written.iter().filter(|key| key.table == table);
        of.map(|key| key.name).collect()
    }

    /// Where games on Lichess are played: at the board that is named, else at the one that was chosen on the page, else at the first
    /// one; but not at one in a link, unless it is named.
    #[cfg(target_os = "linux")]
    pub fn lichess_board(&self) -> Option<BoardName> {
        let named = self.lichess.as_ref().and_then(|entry| entry.board.clone());
        let is_linked = |name: &BoardName| self.link.iter().any(|link| link.boards.contains(name));
        named.or_else(|| {
            let mut free = self.names();
            free.retain(|name| !is_linked(name));
            let chosen = free
                .iter()
                .find(|name| self.lichess_chosen.as_ref() == Some(*name));
            chosen.or(free.first()).cloned()
        })
    }

    /// Tells each board that is meant to be the only one on USB what names the others.
    fn name_others(&mut self) {
        let named = self.boards.values().filter_map(|board| {
            let name = board.hid.as_ref()?.name()?;
            Some((board.make.kind, name))
        });
        let named: Vec<_> = named.collect();
        for board in self.boards.values_mut() {
            let kind = board.make.kind;
            if let Some(hid) = board.hid.as_mut().filter(|hid| hid.is_only()) {
                let others = named.iter().filter(|(other, _)| *other == kind);
                hid.others = others.map(|(_, name)| name.clone()).collect();
            }
        }
    }

    /// Checks what the types cannot.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let count = self.all_boards().count();
        if count > MAX_BOARDS {
            let problem = format!("there are {count} boards: at most {MAX_BOARDS}");
            problems.push(("boards".to_owned(), problem));
        }
        let mut of = |section: &str, entry: &dyn fmt::Display, wrong: Vec<Wrong>| {
            problems.extend(wrong.into_iter().map(|(key, problem)| {
                let key = format!("{section}.{entry}.{key}");
                (key.trim_end_matches('.').to_owned(), problem)
            }));
        };
        for (name, board) in &self.boards {
            of("boards", name, board.problems());
        }
        for (number, entry) in self.whitepawn.iter().enumerate() {
            of("whitepawn", &number, entry.problems());
        }
        for (number, entry) in self.link.iter().enumerate() {
            of("link", &number, entry.problems());
        }
        for (number, entry) in self.opponent.iter().enumerate() {
            of("opponent", &number, entry.problems());
        }
        #[cfg(target_os = "linux")]
        if let Some(mqtt) = &self.mqtt {
            problems.extend(
                mqtt.problems()
                    .into_iter()
                    .map(|(key, problem)| (format!("mqtt.{key}"), problem)),
            );
        }
        #[cfg(target_os = "linux")]
        if self.broadcast.len() > MAX_BROADCASTS {
            let problem = format!(
                "there are {} broadcasts: at most {MAX_BROADCASTS}",
                self.broadcast.len()
            );
            problems.push(("broadcast".to_owned(), problem));
        }
        problems.extend(clashes::all(self));
        problems
    }

    /// The name of every board, and its UCI port if it has one of its own.
    pub fn all_boards(&self) -> impl Iterator<Item = (&BoardName, Option<&Served>)> {
        let own = self.boards.iter();
        let own = own.map(|(name, board)| (name, board.uci_listen.as_ref()));
        #[cfg(target_os = "linux")]
        let own = own.chain(
            self.remotes
                .iter()
                .map(|(name, board)| (name, board.uci_listen.as_ref())),
        );
        own
    }

    /// What is wrong if the main file names no board any more, though it did in this configuration before, and does not say that it
    /// means that.
    pub fn cut_off(&self, before: &Self) -> Option<&'static str> {
        let own = |config: &Self| -> Vec<BoardName> {
            let all = config.all_boards().map(|(name, _)| name.clone());
            all.filter(|name| !config.added.contains(name)).collect()
        };
        let own_before = own(before);
        // A copy of one that was added may go: the board stays.
        let is_there = |name: &BoardName| self.all_boards().any(|(there, _)| there == name);
        let lost = !own_before.is_empty() && !own_before.iter().any(is_there);
        (lost && own(self).is_empty() && !self.says_boards).then_some(
            "the main file no longer has any board, as if it were empty or cut off. If that is intended, write [boards] into it, or restart BoardBridge",
        )
    }

    /// Removes entries that name a missing board, so that the other boards can be played. `known`: whether a board with this
    /// name exists, even one with mistakes.
    fn leave_out(&mut self, known: impl Fn(&BoardName) -> bool) -> Vec<Problem> {
        let mut left_out = Vec::new();
        let mut has = |key: String, board: &BoardName| {
            let has = known(board);
            if !has {
                let problem = format!("there is no [boards.{board}]: this is left out");
                left_out.push((key, problem));
            }
            has
        };
        retain(&mut self.whitepawn, |number, entry| {
            has(format!("whitepawn.{number}.board"), &entry.board)
        });
        retain(&mut self.link, |number, entry| {
            let mut boards = entry.boards.iter();
            boards.all(|board| has(format!("link.{number}.boards"), board))
        });
        retain(&mut self.opponent, |number, entry| {
            has(format!("opponent.{number}.board"), &entry.board)
        });
        #[cfg(target_os = "linux")]
        if let Some(board) = self.lichess.as_ref().and_then(|entry| entry.board.as_ref()) {
            // It stays: without it, a login would bring games to another board.
            has("lichess.board".to_owned(), board);
        }
        #[cfg(target_os = "linux")]
        for (number, entry) in self.broadcast.iter_mut().enumerate() {
            if let Some(boards) = &mut entry.boards {
                boards.retain(|board| has(format!("broadcast.{number}.boards"), board));
            }
        }
        self.livechess
            .board
            .take_if(|board| !has("livechess.board".to_owned(), board));
        self.web
            .broadcast
            .players
            .retain(|board, _| has(format!("web.broadcast.players.{board}"), board));
        left_out
    }
}

/// Keeps the entries for which this holds, given the number of each.
fn retain<T>(entries: &mut Vec<T>, mut keeps: impl FnMut(usize, &T) -> bool) {
    let mut number = 0..;
    entries.retain(|entry| keeps(number.next().unwrap_or_default(), entry));
}
