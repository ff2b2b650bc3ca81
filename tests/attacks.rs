//! Attacks and accidents: no client can stop the daemon, fill its disk, lock others out or write to the terminal.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod support;

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};

use support::{Gui, House, PATIENCE};
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
    time::{Duration, timeout},
};

/// A daemon with two boards that are not connected, in a process of its own.
struct Target {
    child: Child,
    log: mpsc::Receiver<Vec<u8>>,
    uci: SocketAddr,
    status: SocketAddr,
    _folder: TempDir,
}

impl Target {
    fn start(level: &str) -> Self {
        let folder = House::folder();
        let file = folder.path().join("bb.toml");
        let board = |name: &str| {
            let port = folder.path().join(name);
            format!("[boards.{name}]\nkind = \"novag-ucb\"\nserial = {{ port = {port:?} }}\n")
        };
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[games]\ndirectory = \"off\"\n{}{}",
            board("one"),
            board("two")
        );
        fs::write(&file, text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(["run", "--config"])
            .arg(&file)
            .env("BOARDBRIDGE_STATE__DIRECTORY", "off")
            .env("RUST_LOG", level)
            .env_remove("JOURNAL_STREAM")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut port = |what: &str| {
            let mut line = String::new();
            while !line.contains(&format!("{what} listens at")) {
                line.clear();
                assert!(errors.read_line(&mut line).unwrap() > 0);
            }
            let address = line.trim_end().rsplit_once(' ').unwrap().1;
            address.parse().unwrap()
        };
        let (uci, status) = (port("uci"), port("status"));
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
        let nasty = "\u{1b}[2J\u{9b}31m\u{7}\u{8}\u{7f}";
        gui.says(&format!("setoption name Board value {nasty}"))
            .await;
        gui.says(&format!("position fen {nasty}")).await;
        gui.says(&format!("position startpos moves {nasty}")).await;
        gui.bytes(b"\xff\x1b[2J\n").await;
        gui.says(&format!("{nasty}\ngo\nisready")).await;
        gui.hears("readyok").await;
        let log = String::from_utf8(target.log()).unwrap();
        let control = log.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{level}: {log:?}");
    }
}
