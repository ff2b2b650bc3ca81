//! From a board's last byte to `bestmove` on the socket, through the whole daemon and through a game of 400 plies, beside what
//! the same way costs without it: the same bytes through a pseudo-terminal into a runtime like the daemon's, and a line
//! over a socket (the baseline of the same run). The difference is what `BoardBridge` adds.
//!
//! With `PYTHON` in the environment, an interpreter with pyserial and python-chess, a bridge as users write it is measured too.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a bench fails by panicking"
)]

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use boardbridge::{chess::game::Game, config::Config, daemon::Daemon, vocabulary::GameEnd};
use shakmaty::Position;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::{Builder, Runtime},
    sync::oneshot,
};
use tokio_serial::{SerialPort, SerialPortBuilderExt, SerialStream};

/// Plies of the game.
const PLIES: usize = 400;
/// Plies in each line of the table.
const PART: usize = 100;
/// Between the board's moves, so that nothing is left to do when the next one is made, no sync either: the slow part of a player.
const PAUSE: Duration = Duration::from_millis(30);
/// A line that has not come by then does not come.
const PATIENCE: Duration = Duration::from_mins(1);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// The board's end of a line.
struct Board {
    runtime: Runtime,
    board: SerialStream,
    _computer: SerialStream,
    name: String,
}

impl Board {
    fn new() -> Self {
        let runtime = runtime();
        let entered = runtime.enter();
        let (board, computer) = SerialStream::pair().unwrap();
        let name = computer.name().unwrap();
        drop(entered);
        Self {
            runtime,
            board,
            _computer: computer,
            name,
        }
    }

    fn sends(&mut self, bytes: &[u8]) {
        let sending = AsyncWriteExt::write_all(&mut self.board, bytes);
        self.runtime.block_on(sending).unwrap();
    }
}

struct Gui {
    input: BufReader<TcpStream>,
    output: TcpStream,
}

impl Gui {
    fn connect(address: SocketAddr) -> Self {
        let output = TcpStream::connect(address).unwrap();
        output.set_nodelay(true).unwrap();
        output.set_read_timeout(Some(PATIENCE)).unwrap();
        let input = BufReader::new(output.try_clone().unwrap());
        Self { input, output }
    }

    fn says(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).unwrap();
    }

    fn hears(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert_ne!(self.input.read_line(&mut line).unwrap(), 0);
        }
    }
}

/// A daemon on a thread of its own, as `boardbridge run` has it, stopped when it is dropped: another one may be given the same port.
struct Running {
    address: SocketAddr,
    ends: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Running {
    fn start(port: &str, state: &str) -> Self {
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n[web]\nlisten = \"off\"\n\
             [state]\ndirectory = {state:?}\n[boards.ucb]\nkind = \"novag-ucb\"\nserial = {{ port = {port:?} }}\n"
        );
        let (sender, address) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            runtime().block_on(async {
                let config = Config::from_text(&text, "the bench").unwrap();
                let daemon = Daemon::start(&config).await.unwrap();
                sender.send(daemon.ports()[0].1).unwrap();
                let _ = stopped.await;
                daemon.stop().await;
            });
        });
        Self {
            address: address.recv().unwrap(),
            ends: Some((stop, thread)),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.ends.take() {
            drop(stop);
            let joined = thread.join();
            if !thread::panicking() {
                joined.unwrap();
            }
        }
    }
}

/// Reads lines from a port and writes one to a socket for each: what any program must do.
fn bare(port: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        runtime().block_on(async {
            let mut socket = tokio::net::TcpStream::from_std(socket).unwrap();
            let mut serial = tokio_serial::new(port, 9600).open_native_async().unwrap();
            let mut buffer = [0; 256];
            while AsyncReadExt::read(&mut serial, &mut buffer)
                .await
                .is_ok_and(|count| count > 0)
            {
                socket.write_all(b"bestmove e2e4\n").await.unwrap();
            }
        });
    });
    address
}

/// A bridge by pyserial and python-chess, ended when it is dropped.
struct Bridge(Child);

impl Bridge {
    fn start(python: &OsStr, port: &str) -> (Self, SocketAddr) {
        let mut bridge = Command::new(python)
            .args(["benches/python_bridge.py", port])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(bridge.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let port: u16 = line.trim().parse().unwrap();
        (Self(bridge), ([127, 0, 0, 1], port).into())
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A long game that no rule ends, the same in every run.
fn game() -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut game = Game::standard();
    while game.len() < PLIES {
        let mut moves = game.position().legal_moves();
        // Moves that every board writes alike.
        moves.retain(|m| !m.is_promotion() && !m.is_castle() && !m.is_en_passant());
        // In time for the rule of 75 moves, and not before, so that pieces are left.
        let due = game.position().halfmoves() > 80;
        if moves.iter().any(|m| m.is_zeroing() == due) {
            moves.retain(|m| m.is_zeroing() == due);
        }
        let mut next = game.clone();
        next.push(moves[random.usize(..moves.len())]);
        let goes_on = !next
            .position()
            .legal_moves()
            .iter()
            .all(|m| m.is_promotion());
        if goes_on && GameEnd::by_rules(&next).is_none() {
            game = next;
        }
    }
    game.uci_moves().map(|m| m.to_string()).collect()
}

/// What the process has sent toward its disks, in bytes.
fn written() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap();
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    line.unwrap().trim().parse().unwrap()
}

/// The median and the 99th of a hundred, in microseconds.
fn of(times: &mut [Duration]) -> (u128, u128) {
    times.sort();
    let at = |hundredth: usize| times[times.len() * hundredth / 100].as_micros();
    (at(50), at(99))
}

/// Plays the game: each time from the last byte of the hand's move to `bestmove`, and the bytes written for all of it.
fn play(state: &str, moves: &[String]) -> (Vec<Duration>, u64) {
    let mut board = Board::new();
    let daemon = Running::start(&board.name, state);
    let mut gui = Gui::connect(daemon.address);
    gui.says("debug on\nucinewgame\nposition startpos\ngo\n");
    // The event, not the request to put the pieces up.
    gui.hears("debug ucb: new game\n");
    // As programs are: they do not ask for every event in words.
    gui.says("debug off\n");
    thread::sleep(PAUSE);
    let (mut stated, mut times) = ("position startpos moves".to_owned(), Vec::new());
    let before = written();
    for m in moves {
        thread::sleep(PAUSE);
        let line = format!("M{m}\r\n");
        let begin = Instant::now();
        board.sends(line.as_bytes());
        gui.hears("bestmove");
        times.push(begin.elapsed());
        stated = format!("{stated} {m}");
        // Answered behind what it follows. Whose turn it is may be told half a second later, for it was told a moment ago: a rest that the
        // baseline has not.
        gui.says(&format!("{stated}\ngo\nisready\n"));
        gui.hears("readyok");
    }
    (times, written() - before)
}

/// Each time from the last byte of a move to `bestmove`, where nothing has to be said in between.
fn relayed(mut board: Board, address: SocketAddr, moves: &[String]) -> Vec<Duration> {
    let mut gui = Gui::connect(address);
    let mut times = Vec::new();
    for m in moves {
        thread::sleep(PAUSE);
        let line = format!("M{m}\r\n");
        let begin = Instant::now();
        board.sends(line.as_bytes());
        gui.hears("bestmove");
        times.push(begin.elapsed());
    }
    times
}

fn main() {
    let moves = game();
    let board = Board::new();
    let address = bare(board.name.clone());
    let (baseline, worst) = of(&mut relayed(board, address, &moves));
    println!(
        "from a board's last byte to bestmove, in us     median  p99   ratio of medians, of p99"
    );
    println!("without BoardBridge                             {baseline:6} {worst:5}");
    let row = |name: &str, (median, p99): (u128, u128)| {
        println!(
            "{name:47} {median:6} {p99:5} {:7.2} {:7.2}",
            median as f64 / baseline as f64,
            p99 as f64 / worst as f64
        );
    };
    if let Some(python) = std::env::var_os("PYTHON") {
        let board = Board::new();
        let (_bridge, address) = Bridge::start(&python, &board.name);
        row(
            "a bridge in Python",
            of(&mut relayed(board, address, &moves)),
        );
    }
    let folder = tempfile::tempdir_in(
        std::env::var_os("BENCH_FOLDER").map_or_else(|| Path::new("target").to_owned(), Into::into),
    )
    .unwrap();
    for (name, state) in [
        ("state off", "off"),
        ("state kept", folder.path().to_str().unwrap()),
    ] {
        let (mut times, bytes) = play(state, &moves);
        for (part, times) in times.chunks_mut(PART).enumerate() {
            let plies = format!("{name}, plies {} to {}", part * PART + 1, (part + 1) * PART);
            row(&plies, of(times));
        }
        println!("{name}, bytes to the disk a ply: {}", bytes / PLIES as u64);
    }
}
