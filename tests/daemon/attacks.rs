//! Attacks and accidents: no client can stop the daemon, fill its disk, lock others out or write to the terminal.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, Read, Write as _},
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use boardbridge::{
    log::queue::{LAST_WAIT, MAX_LINES},
    text::escape::is_plain,
};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use simulators::run::Kind;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{Duration, sleep, timeout},
};

use crate::support::{FAST_CITRINE, Gui, Hand, House, PATIENCE, process::Watch};

/// A daemon with two boards that are not connected, in a process of its own.
struct Target {
    child: Child,
    log: mpsc::Receiver<Vec<u8>>,
    uci: SocketAddr,
    status: SocketAddr,
    web: SocketAddr,
    _folder: TempDir,
}

/// A kept game on the board `one`.
const KEPT: &str = "2026-11-21_153012_one_1.pgn";

impl Target {
    fn start(level: &str) -> Self {
        Self::begin(level, false, None)
    }

    /// One that keeps what survives a restart.
    fn keeping() -> Self {
        Self::begin("info", true, None)
    }

    /// One with a kept game of so many plies.
    fn with_game(plies: usize) -> Self {
        let moves = ["Nf3", "Nf6", "Ng1", "Ng8"].into_iter().cycle();
        let moves: Vec<&str> = moves.take(plies).collect();
        let text = format!("[White \"A\"]\n\n{} *\n", moves.join("\n"));
        Self::begin("info", false, Some(&text))
    }

    fn begin(level: &str, keeps: bool, game: Option<&str>) -> Self {
        let folder = House::folder();
        let file = folder.path().join("bb.toml");
        let board = |name: &str| {
            let port = folder.path().join(name);
            format!("[boards.{name}]\nkind = \"novag-ucb\"\nserial = {{ port = {port:?} }}\n")
        };
        let games = folder.path().join("games");
        let games = match game {
            Some(game) => {
                fs::create_dir(&games).unwrap();
                fs::write(games.join(KEPT), game).unwrap();
                games.display().to_string()
            }
            None => "off".to_owned(),
        };
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[web]\nlisten = \"127.0.0.1:0\"\n\
             [livechess]\nlisten = \"off\"\n[games]\ndirectory = {games:?}\n{}{}",
            board("one"),
            board("two")
        );
        fs::write(&file, text).unwrap();
        let state = folder.path().join("state");
        let state = if keeps {
            state.as_os_str()
        } else {
            "off".as_ref()
        };
        let mut child = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(["run", "--config"])
            .arg(&file)
            .env("BOARDBRIDGE_STATE__DIRECTORY", state)
            .env("RUST_LOG", level)
            .env_remove("JOURNAL_STREAM")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut ports = BTreeMap::new();
        while ports.len() < 3 {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).unwrap() > 0);
            if let Some((before, address)) = line.split_once(" listens at ") {
                let what = before.rsplit(' ').next().unwrap();
                ports.insert(what.to_owned(), address.trim_end().parse().unwrap());
            }
        }
        let [uci, status, web] = ["uci", "status", "web"].map(|what| ports[what]);
        // The log is read on, so that the daemon never waits for it to be.
        let (sender, log) = mpsc::channel();
        thread::spawn(move || {
            let mut log = Vec::new();
            let _ = errors.read_to_end(&mut log);
            let _ = sender.send(log);
        });
        Self {
            child,
            log,
            uci,
            status,
            web,
            _folder: folder,
        }
    }

    /// The most memory it has used, in bytes.
    fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib: u64 = line
            .unwrap()
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .unwrap();
        kib * 1024
    }

    /// Bytes that it has written, to disks and to its log.
    fn written(&self) -> u64 {
        let counts = fs::read_to_string(format!("/proc/{}/io", self.child.id())).unwrap();
        let count = counts.lines().find_map(|line| line.strip_prefix("wchar: "));
        count.unwrap().parse().unwrap()
    }

    /// Stops it; returns its whole log.
    fn log(mut self) -> Vec<u8> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        self.log.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A game of this many plies.
fn long_game(plies: usize) -> String {
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8"].into_iter().cycle();
    let moves: Vec<&str> = moves.take(plies).collect();
    format!("position startpos moves {}\n", moves.join(" "))
}

/// Everything that one computer can do to the daemon's memory.
#[tokio::test]
async fn no_machine_makes_the_daemon_larger_than_its_unit_allows() {
    let target = Target::start("info");
    let mut player = Gui::connect(target.uci).await;
    player.asks("").await;
    let game = long_game(2000);
    let mut attackers = Vec::new();
    for number in 0..250 {
        let (uci, status) = (target.uci, target.status);
        let game = game.clone();
        attackers.push(tokio::spawn(async move {
            // Nothing is read, and next to nothing kept by the kernel meanwhile.
            let connect = async |address| {
                let socket = TcpSocket::new_v4()?;
                socket.set_recv_buffer_size(4096)?;
                socket.connect(address).await
            };
            let mut left = Vec::new();
            let attack = async {
                left.push(connect(status).await?);
                let mut stream = connect(uci).await?;
                let board = if number % 2 == 0 { "one" } else { "two" };
                let chosen = format!(
                    "setoption name UCI_InfoJSON value true\nsetoption name Board value {board}\n"
                );
                stream.write_all(chosen.as_bytes()).await?;
                stream.write_all(game.as_bytes()).await?;
                stream.write_all(b"go\n").await?;
                // Some say more than the daemon used to take, most say less.
                let asked = "uci\n".repeat(400 + 10 * (number % 50));
                stream.write_all(asked.as_bytes()).await?;
                stream.write_all(&[b'x'; 60_000]).await?;
                left.push(stream);
                io::Result::Ok(())
            };
            let _ = timeout(Duration::from_secs(4), attack).await;
            left
        }));
    }
    let mut left = Vec::new();
    for attacker in attackers {
        left.push(attacker.await.unwrap());
    }
    player.says("isready").await;
    player.hears("readyok").await;
    let (peak, most) = (target.peak(), boardbridge::daemon::memory_limit(2));
    println!("{} KiB of {} KiB", peak / 1024, most / 1024);
    // A quarter is for what the kernel keeps of the connections.
    assert!(peak < most / 4 * 3, "{} KiB", peak / 1024);
}

#[tokio::test]
async fn idle_connections_shut_nobody_out() {
    let target = Target::start("info");
    let mut player = Gui::connect(target.uci).await;
    player.asks("").await;
    player.hears_of("no link").await;
    let mut idle = Vec::new();
    for _ in 0..256 {
        idle.push(TcpStream::connect(target.uci).await.unwrap());
        idle.push(TcpStream::connect(target.status).await.unwrap());
    }
    // They keep their places while they may still be about to say something. A program tries again, as the relay does.
    let is_served = async || {
        let mut gui = Gui::connect(target.uci).await;
        // One that is turned away is closed.
        let _ = gui.tries("uci\n").await;
        while let Some(line) = gui.line().await {
            if line == "uciok" {
                return true;
            }
        }
        false
    };
    let served = async { while !is_served().await {} };
    timeout(PATIENCE, served).await.unwrap();
    let mut watcher = Gui::connect(target.status).await;
    watcher.hears_of("\"daemon\"").await;
    // The client that plays has kept its place.
    player.says("isready").await;
    player.hears("readyok").await;
}

/// A program that is a second late with its first word is served all the same.
#[tokio::test]
async fn a_burst_of_connections_costs_no_program_its_place_in_its_first_seconds() {
    let target = Target::start("info");
    let mut silent = Gui::connect(target.uci).await;
    let mut idle = Gui::connect(target.uci).await;
    idle.says("uci").await;
    idle.hears("uciok").await;
    let mut burst = Vec::new();
    for _ in 0..200 {
        burst.push(TcpStream::connect(target.uci).await.unwrap());
    }
    // All of them have been dealt with.
    let mut last = Gui::connect(target.uci).await;
    last.hears_of("try again later").await;
    silent.says("uci").await;
    silent.hears("uciok").await;
    idle.says("isready").await;
    idle.hears("readyok").await;
}

#[tokio::test]
async fn a_client_cannot_fill_the_log_and_others_are_still_in_it() {
    let target = Target::start("info");
    let mut gui = Gui::connect(target.uci).await;
    let turns = "setoption name Board value two\nsetoption name Board value one\n".repeat(20_000);
    let mut written = 0;
    while written < turns.len() {
        let end = turns.len().min(written + 64 * 1024);
        gui.bytes(&turns.as_bytes()[written..end]).await;
        written = end;
    }
    gui.says("isready").await;
    gui.hears("readyok").await;
    // So do positions, which the board tells of.
    let mut other = Gui::connect(target.uci).await;
    for number in 0..2000 {
        let text = format!("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 {number}\ngo\nstop");
        other.says(&text).await;
    }
    other.says("isready").await;
    other.hears("readyok").await;
    let log = String::from_utf8(target.log()).unwrap();
    assert!(log.len() < 512 * 1024, "{} bytes", log.len());
    assert!(log.contains("too much is logged about 127.0.0.1"), "{log}");
    assert!(log.contains("stopping"), "{log}");
}

#[tokio::test]
async fn what_clients_say_reaches_no_terminal_as_it_is() {
    for level in ["info", "debug"] {
        let target = Target::start(level);
        let mut gui = Gui::connect(target.uci).await;
        let nasty =
            "\u{1b}[2J\u{9b}31m\u{7}\u{8}\u{7f}\u{202e}\u{2028}\u{2066}\u{61c}\u{200f}\u{200b}";
        gui.says(&format!("setoption name Board value {nasty}"))
            .await;
        gui.says(&format!("position fen {nasty}")).await;
        gui.says(&format!("position startpos moves {nasty}")).await;
        gui.bytes(b"\xff\x1b[2J\n").await;
        gui.says(&format!("{nasty}\ngo\nisready")).await;
        gui.hears("readyok").await;
        let log = String::from_utf8(target.log()).unwrap();
        let control = log.chars().find(|c| !is_plain(*c) && *c != '\n');
        assert_eq!(control, None, "{level}: {log:?}");
    }
}

/// Somebody in the place of the daemon: answers every request of HTTP by this, and sends it to whoever is silent.
fn impostor(http: &'static str, stream: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut visitor in listener.incoming().map_while(Result::ok) {
            visitor
                .set_read_timeout(Some(Duration::from_millis(300)))
                .unwrap();
            let mut asked = [0; 4096];
            let answer = match visitor.read(&mut asked) {
                Ok(1..) => format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{http}",
                    http.len()
                ),
                _ => stream.to_owned(),
            };
            // A program that wants no more has left.
            let _ = visitor.write_all(answer.as_bytes());
        }
    });
    address
}

/// Names that a server gives, and what a daemon says: raw in JSON, as a server may send them.
const STEERING: &str = "x\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\u{2029}\u{2066}\u{2069}\u{61c}\u{200e}\u{200f}\u{200b}\u{feff}y";

#[test]
fn what_a_server_says_reaches_no_terminal_as_it_is() {
    let name = serde_json::Value::from(STEERING).to_string();
    let objects = format!(
        r#"{{"released": [{name}], "user": {name}, "url": {name}, "board": {name}, "connected": true, "problem": {name},
           "games": [{{"id": {name}, "opponent": {name}, "speed": {name}, "on_board": true}}], "challenges": [], "last": {name}}}"#
    );
    let objects = objects.replace('\n', " ");
    let refusal = format!("{{\"error\": {name}}}");
    let line = format!(
        "{}\n",
        format!(
            r#"{{"event": "snapshot", "at": "2026-11-21T08:53:00.300Z", "board": {name}, "id": {name}, "link": "up", "game": {name},
               "advice": {name}, "holders": [{name}], "waiting": [{name}], "transport": {name}, "why": {name}, "guidance": []}}"#
        )
        .replace('\n', " ")
    );
    let good = impostor(objects.leak(), line.leak()).to_string();
    let bad = impostor(refusal.leak(), "\u{1b}[2J\u{202e}\n").to_string();
    for words in [
        vec!["release", "one"],
        vec!["lichess", "status"],
        vec!["watch"],
        vec!["watch", "--json"],
    ] {
        for at in [&good, &bad] {
            let output = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
                .args(&words)
                .args(["--connect", at])
                .output()
                .unwrap();
            for text in [output.stdout, output.stderr] {
                let text = String::from_utf8(text).unwrap();
                let raw = text.chars().find(|c| !is_plain(*c) && *c != '\n');
                assert_eq!(raw, None, "{words:?}: {text:?}");
                if at == &good && words == ["release", "one"] && !text.is_empty() {
                    assert!(text.contains(r"\u{202e}"), "{text}");
                }
            }
        }
    }
}

/// SIGTERM ends it, within the time that the end waits for a reader, and some for a slow machine.
async fn ends(child: &mut Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    let ended = async {
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let status = timeout(LAST_WAIT + Duration::from_secs(9), ended).await;
    assert!(status.unwrap().success(), "SIGTERM ends it");
}

/// Lines at debug level that take more than the 64 KiB of a pipe.
const MORE_THAN_A_PIPE: usize = 2000;

/// A daemon with a Citrine, at debug level, whose log is read as far as the test reads it.
struct Unread<R> {
    child: Child,
    log: BufReader<R>,
    gui: Gui,
    watch: Watch,
    hand: Hand,
    moves: Vec<&'static str>,
    _folder: TempDir,
}

impl<R: Read> Unread<R> {
    async fn start(log: R, stderr: impl Into<Stdio>) -> Self {
        let folder = House::folder();
        let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
        let (file, port) = (folder.path().join("bb.toml"), folder.path().join("citrine"));
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[games]\ndirectory = \"off\"\n[state]\ndirectory = \"off\"\n\
             [boards.citrine]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n"
        );
        fs::write(&file, text).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(["run", "--config"])
            .arg(&file)
            .env("BOARDBRIDGE_WEB__LISTEN", "off")
            .env("BOARDBRIDGE_LIVECHESS__LISTEN", "off")
            .env("RUST_LOG", "boardbridge=debug")
            .env_remove("JOURNAL_STREAM")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let mut log = BufReader::new(log);
        let mut port = |what: &str| -> SocketAddr {
            let mut line = String::new();
            while !line.contains(&format!("{what} listens at")) {
                line.clear();
                assert!(log.read_line(&mut line).unwrap() > 0);
            }
            line.trim_end().rsplit_once(' ').unwrap().1.parse().unwrap()
        };
        let (uci, status) = (port("uci"), port("status"));
        let mut unread = Self {
            child,
            log,
            gui: Gui::connect(uci).await,
            watch: Watch::at(status, None).await,
            hand,
            moves: Vec::new(),
            _folder: folder,
        };
        unread.plays("e2e4", "e7e5").await;
        unread
    }

    /// The hand makes a move, and the program answers.
    async fn plays(&mut self, by_hand: &'static str, reply: &'static str) {
        let before = self.moves.join(" ");
        self.gui.asks(&before).await;
        self.watch.asks_at(self.moves.len()).await;
        self.hand.does(by_hand).await;
        self.gui.hears(&format!("bestmove {by_hand}")).await;
        self.moves.extend([by_hand, reply]);
        self.gui.asks(&self.moves.join(" ")).await;
        self.hand.sees(&format!("executed {reply}")).await;
        self.gui.says("stop").await;
        self.gui.hears("bestmove").await;
    }

    /// Makes the daemon log so many lines, and plays meanwhile.
    async fn goes_on_unread(&mut self, lines: usize) {
        for (by_hand, reply) in [("g1f3", "b8c6"), ("f1c4", "f8c5"), ("c2c3", "g8f6")] {
            for _ in 0..lines / 3 {
                self.gui.says("isready").await;
                self.gui.hears("readyok").await;
            }
            self.plays(by_hand, reply).await;
        }
    }

    /// SIGTERM ends it.
    async fn stops(&mut self) {
        ends(&mut self.child).await;
    }
}

impl<R> Drop for Unread<R> {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A terminal: its screen, and the end for a program.
fn terminal() -> (fs::File, fs::File) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let terminal = fs::File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    (screen.into(), terminal)
}

#[tokio::test]
async fn a_log_that_nobody_reads_holds_up_neither_the_game_nor_the_end() {
    let (reader, writer) = io::pipe().unwrap();
    let mut daemon = Unread::start(reader, writer).await;
    daemon.goes_on_unread(MORE_THAN_A_PIPE).await;
    daemon.stops().await;
}

#[tokio::test]
async fn a_terminal_on_which_nothing_is_read_holds_up_neither_the_game_nor_the_end() {
    let (screen, terminal) = terminal();
    let mut daemon = Unread::start(screen, terminal).await;
    daemon.goes_on_unread(MORE_THAN_A_PIPE).await;
    daemon.stops().await;
}

#[tokio::test]
async fn a_reader_of_the_log_that_comes_back_is_told_how_much_was_left_out_and_gets_the_last_words()
{
    let (reader, writer) = io::pipe().unwrap();
    let mut daemon = Unread::start(reader, writer).await;
    daemon.goes_on_unread(3 * MAX_LINES).await;
    let (mut line, mut before) = (String::new(), 0);
    while !line.contains("lines were left out here: the log was not read") {
        line.clear();
        assert!(daemon.log.read_line(&mut line).unwrap() > 0);
        before += 1;
    }
    assert!(before > MAX_LINES / 2, "{before}");
    let count = line.split(" lines were").next().unwrap();
    let count: usize = count.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(count > MAX_LINES / 2, "{line}");
    // It flows again.
    daemon.plays("d2d3", "d7d6").await;
    daemon.stops().await;
    let mut rest = String::new();
    daemon.log.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("d2d3"), "{rest}");
    assert!(rest.contains(" stopping\n"), "{rest}");
}

/// Orders to a simulated hand: what is printed about them takes many times the 64 KiB of a pipe.
const ORDERS: usize = 10_000;

/// A simulation whose output is read up to its first line and no further. Killed when it is dropped.
struct Simulation {
    child: Child,
    /// Its end of the output: open, so that somebody could still read.
    _output: Box<dyn Read>,
    first: String,
}

impl Simulation {
    fn start(arguments: &[&str], output: impl Read + 'static, stdout: impl Into<Stdio>) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .arg("simulate")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .spawn()
            .unwrap();
        let mut output = BufReader::with_capacity(1, output);
        let mut first = String::new();
        assert!(output.read_line(&mut first).unwrap() > 0);
        Self {
            child,
            _output: Box::new(output),
            first,
        }
    }

    /// It takes these many orders, and more words that are none.
    fn takes_orders(&mut self) {
        let mut input = self.child.stdin.take().unwrap();
        let (sender, taken) = mpsc::channel();
        thread::spawn(move || {
            for _ in 0..ORDERS {
                input.write_all(b"take-back\nno order\n").unwrap();
            }
            sender.send(input).unwrap();
        });
        self.child.stdin = Some(taken.recv_timeout(PATIENCE).unwrap());
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_simulated_board_whose_output_nobody_reads_plays_on_and_ends_when_told() {
    let board = ["swpp-board", "--listen", "127.0.0.1:0"];
    let (reader, writer) = io::pipe().unwrap();
    let (screen, terminal) = terminal();
    for mut simulation in [
        Simulation::start(&board, reader, writer),
        Simulation::start(&board, screen, terminal),
    ] {
        simulation.takes_orders();
        let address = simulation.first.trim_end().rsplit(' ').next().unwrap();
        let mut app = TcpStream::connect(address).await.unwrap();
        app.write_all(b"H0010023\n").await.unwrap();
        let mut answer = [0; 2];
        let answered = timeout(PATIENCE, app.read_exact(&mut answer));
        answered.await.unwrap().unwrap();
        assert_eq!(&answer, b"H1");
        ends(&mut simulation.child).await;
    }
}

#[tokio::test]
async fn simulations_whose_output_nobody_reads_take_orders_and_end_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("app");
    for arguments in [
        &["novag-citrine"][..],
        &["miko-neo"],
        &["whitepawn-app", "--link", link.to_str().unwrap()],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        let mut simulation = Simulation::start(arguments, reader, writer);
        simulation.takes_orders();
        ends(&mut simulation.child).await;
    }
}

/// Two games in a loop, as fast as they are taken: each line changes what is kept.
#[tokio::test]
async fn a_client_does_not_wear_out_the_disk() {
    let target = Target::keeping();
    let mut gui = Gui::connect(target.uci).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
    let before = target.written();
    let games = [long_game(400), long_game(401)];
    for round in 0..600 {
        gui.says(&format!("ucinewgame\n{}go\nstop", games[round % 2]))
            .await;
    }
    gui.says("isready").await;
    gui.hears("readyok").await;
    let written = target.written() - before;
    println!("{} KiB written", written / 1024);
    // What a value may write at once, in the log and again when that is moved.
    assert!(written < 2 * boardbridge::state::EACH.at_once, "{written}");
}

/// Asks for the moves of the kept game, over a connection whose kernel keeps next to nothing; returns it with the beginning of
/// the answer.
async fn asks_for_moves(target: &Target) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(target.web).await.unwrap();
    let request = format!(
        "GET /api/v1/games/{KEPT}/moves HTTP/1.1\r\nHost: {}\r\n\r\n",
        target.web
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut begun = vec![0; 200];
    let read = timeout(PATIENCE, stream.read_exact(&mut begun));
    read.await.unwrap().unwrap();
    (stream, String::from_utf8(begun).unwrap())
}

#[tokio::test]
async fn a_kept_file_with_an_endless_game_takes_little_memory() {
    let target = Target::with_game(65_000);
    let before = target.peak();
    let (_stream, begun) = asks_for_moves(&target).await;
    assert!(begun.starts_with("HTTP/1.1 409"), "{begun}");
    let taken = target.peak() - before;
    println!("{} KiB", taken / 1024);
    assert!(taken < 8 * 1024 * 1024, "{} KiB", taken / 1024);
}

#[tokio::test]
async fn answers_that_no_one_reads_take_little_memory() {
    let target = Target::with_game(2000);
    // The first answer takes what is read of the program itself for it, too.
    drop(asks_for_moves(&target).await);
    let before = target.peak();
    let mut unread = Vec::new();
    for _ in 0..boardbridge::front_end::web::MAX_CONNECTIONS_EACH {
        let (stream, begun) = asks_for_moves(&target).await;
        assert!(begun.starts_with("HTTP/1.1 200"), "{begun}");
        unread.push(stream);
    }
    let taken = target.peak() - before;
    println!("{} KiB", taken / 1024);
    assert!(taken < 10 * 1024 * 1024, "{} KiB", taken / 1024);
}
