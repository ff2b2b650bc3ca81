//! The daemon in a process of its own, with a Bluetooth of its own.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use serde_json::Value;
use simulators::bluez::Bluez;
use tempfile::TempDir;
use tokio::time::timeout;

pub use super::PATIENCE;
use super::{
    Gui,
    kept::{Read, games_in, kept_in},
    logged::Logged,
};

/// The result of this, with a time limit.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(PATIENCE, future).await {
        Ok(done) => done,
        Err(_) => panic!("in vain: {what}"),
    }
}

/// The program, with this bus as the system's Bluetooth.
pub fn boardbridge(bluez: &Bluez) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .env("BOARDBRIDGE_STATE__DIRECTORY", "off")
        .env("RUST_LOG", "boardbridge=debug")
        .env("DBUS_SYSTEM_BUS_ADDRESS", bluez.address())
        .env_remove("JOURNAL_STREAM");
    command
}

/// See the module documentation.
pub struct Process {
    daemon: Logged,
    folder: TempDir,
    /// It keeps what survives a restart; each start has this limit on the size of its files, in kilobytes.
    keeps: Option<Option<u32>>,
    bus: String,
}

impl Process {
    /// Starts it with these boards and front-ends, in addition to its two servers on free ports.
    pub fn start(bluez: &Bluez, more: &str) -> Self {
        Self::begin(bluez, more, None)
    }

    /// The same, and it keeps what survives a restart.
    pub fn keeping(bluez: &Bluez, more: &str) -> Self {
        Self::begin(bluez, more, Some(None))
    }

    /// The same, on a disk that takes files of this many kilobytes.
    pub fn keeping_little(bluez: &Bluez, more: &str, kilobytes: u32) -> Self {
        Self::begin(bluez, more, Some(Some(kilobytes)))
    }

    fn begin(bluez: &Bluez, more: &str, keeps: Option<Option<u32>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bb.toml");
        let games = kept_in(&folder.path().join("games"));
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[web]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n{games}{more}"
        );
        fs::write(&file, text).unwrap();
        let bus = bluez.address();
        Self {
            daemon: Logged::start(&mut command(folder.path(), keeps, &bus)),
            folder,
            keeps,
            bus,
        }
    }

    /// Ends it by this signal (`KILL`, `TERM`), and starts it again, on a disk with room. `between` may change its folder.
    pub fn again(&mut self, signal: &str, between: impl FnOnce(&Path)) {
        self.daemon.signal(signal);
        self.daemon.ends();
        between(self.folder.path());
        self.keeps = self.keeps.map(|_| None);
        let mut command = command(self.folder.path(), self.keeps, &self.bus);
        self.daemon.restart(&mut command);
    }

    /// The log so far.
    pub fn log(&self) -> &[String] {
        &self.daemon.log
    }

    /// Waits for a new line of the log with these words.
    pub async fn logs(&mut self, words: &str) -> String {
        self.daemon.logs(words).await
    }

    /// Waits until it listens for this, and returns the address.
    pub async fn address(&mut self, what: &str) -> SocketAddr {
        self.daemon.address(what).await
    }

    /// Its folder, with `games` and `state`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stops it by SIGTERM; returns the archived games.
    pub async fn kept(&mut self) -> Vec<Read> {
        self.daemon.signal("TERM");
        self.daemon.ended().await;
        games_in(&self.folder.path().join("games"))
    }

    /// A GUI connected to it.
    pub async fn gui(&mut self) -> Gui {
        Gui::connect(self.address("uci").await).await
    }

    /// A watcher of its only board.
    pub async fn watch(&mut self) -> Watch {
        self.watch_of(None).await
    }

    /// A watcher of this one of its boards.
    pub async fn watch_of(&mut self, board: Option<&'static str>) -> Watch {
        Watch::at(self.address("status").await, board).await
    }
}

/// The daemon on the configuration in this folder.
fn command(folder: &Path, keeps: Option<Option<u32>>, bus: &str) -> Command {
    let program = env!("CARGO_BIN_EXE_boardbridge");
    let mut command = match keeps.flatten() {
        None => Command::new(program),
        Some(kilobytes) => {
            let mut command = Command::new("bash");
            let script = format!("ulimit -f {kilobytes}; exec \"$0\" \"$@\"");
            command.args(["-c", &script, program]);
            command
        }
    };
    let state = folder.join("state");
    command
        .env("RUST_LOG", "boardbridge=debug")
        .env("DBUS_SYSTEM_BUS_ADDRESS", bus)
        .env_remove("JOURNAL_STREAM")
        .env(
            "BOARDBRIDGE_STATE__DIRECTORY",
            if keeps.is_some() {
                state.as_os_str()
            } else {
                "off".as_ref()
            },
        )
        .args(["run", "--config"])
        .arg(folder.join("bb.toml"));
    command
}

/// A daemon's event stream.
pub struct Watch {
    stream: Gui,
    board: Option<&'static str>,
    plies: usize,
    /// The last of them.
    last: String,
    advice: String,
    /// The moves of the game it is led to.
    target: Vec<String>,
}

impl Watch {
    /// The event stream at this address, of this board or of the only one.
    pub async fn at(address: SocketAddr, board: Option<&'static str>) -> Self {
        Self {
            stream: Gui::connect(address).await,
            board,
            plies: 0,
            last: String::new(),
            advice: String::new(),
            target: Vec::new(),
        }
    }

    /// Waits until the board is led to a game that ends with this move.
    pub async fn is_led_to(&mut self, m: &str) {
        loop {
            let event = self.next().await;
            let target = match event["event"].as_str() {
                Some("target") => &event["game"],
                Some("snapshot") => &event["target"],
                _ => continue,
            };
            if target.as_str().is_some_and(|game| game.ends_with(m)) {
                return;
            }
        }
    }

    /// The moves of the game it is led to.
    pub fn target(&self) -> &[String] {
        &self.target
    }

    /// Waits until the board is led to a game of more plies.
    pub async fn is_led_beyond(&mut self, plies: usize) {
        while self.target.len() <= plies {
            self.next().await;
        }
    }

    /// The next event, or null for one of another board.
    async fn next(&mut self) -> Value {
        let line = self.stream.line().await.unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        if self.board.is_some_and(|board| event["board"] != board) {
            return Value::Null;
        }
        let words = |key: &str| event[key].as_str().unwrap().to_owned();
        let ply = || usize::try_from(event["ply"].as_u64().unwrap()).unwrap();
        match event["event"].as_str().unwrap() {
            "snapshot" => {
                let game = words("game");
                let moves = moves_of(&game);
                self.plies = moves.len();
                self.last = moves.last().cloned().unwrap_or_default();
                self.target = moves_of(event["target"].as_str().unwrap_or_default());
                self.advice = words("advice");
            }
            "target" => self.target = moves_of(event["game"].as_str().unwrap_or_default()),
            // A board that cannot be asked is given the game it is led to.
            "set-up" => {
                self.plies = self.target.len();
                self.last = self.target.last().cloned().unwrap_or_default();
            }
            "moved" => {
                self.plies = ply();
                self.last = words("uci");
            }
            "took-back" => self.plies = ply() - 1,
            "new-game" => self.plies = 0,
            "advice" => self.advice = words("text"),
            // It says nothing of what was advised before.
            "disconnected" => self.advice.clear(),
            _ => {}
        }
        event
    }

    /// Waits until the board has this many plies.
    pub async fn knows(&mut self, plies: usize) {
        while self.plies != plies {
            self.next().await;
        }
    }

    /// Waits until the player is told to move after this many plies, or to make the last shown move and then one of
    /// their own.
    pub async fn asks_at(&mut self, plies: usize) {
        let shown = |watch: &Self| {
            format!(
                "shown: {}. Make it if you have not, then your move.",
                watch.last
            )
        };
        while self.plies != plies
            || !(self.advice.ends_with("to move on the board") || self.advice == shown(self))
        {
            self.next().await;
        }
    }

    /// Waits for an event with these words.
    pub async fn tells(&mut self, words: &str) {
        while !self.next().await["text"]
            .as_str()
            .is_some_and(|text| text.contains(words))
        {}
    }
}

/// The moves of a game in words: `startpos moves e2e4`.
fn moves_of(game: &str) -> Vec<String> {
    let moves = game.split_whitespace().skip_while(|word| *word != "moves");
    moves.skip(1).map(str::to_owned).collect()
}
