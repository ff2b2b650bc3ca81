//! A hall in one daemon: home-made boards over TCP and as many chess programs, a move a second each, then five. For each number of
//! boards: the daemon's memory, its processor time, and how long a move takes from the board's bytes to `bestmove`; every move
//! is checked to arrive once. The daemon is the real program in a process of its own; boards and programs are sockets of this one.
//!
//! `cargo bench --bench hall -- [BOARDS…]`, 1, 100, 300 and 1000 if none are named.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a bench fails by panicking"
)]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use boardbridge::chess::game::Game;
use boardbridge::vocabulary::GameEnd;
use shakmaty::Position;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};

/// How long moves are measured at each rate.
const LASTS: Duration = Duration::from_secs(10);
/// Moves of the hand a second.
const RATES: [u32; 2] = [1, 5];
/// The longest wait for anything.
const WAIT: Duration = Duration::from_secs(60);
/// Plies of the game; every second one is the hand's.
const PLIES: usize = 400;

type Reader = BufReader<OwnedReadHalf>;

/// A line of the daemon.
async fn line(reader: &mut Reader) -> String {
    let mut line = String::new();
    let read = timeout(WAIT, reader.read_line(&mut line)).await;
    assert_ne!(read.expect("no line in time").unwrap(), 0, "closed");
    line
}

async fn line_with(reader: &mut Reader, words: &str) -> String {
    loop {
        let line = line(reader).await;
        if line.contains(words) {
            return line;
        }
    }
}

/// A long game that no rule ends, the same in every run.
fn game() -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut game = Game::standard();
    while game.len() < PLIES {
        let mut moves = game.position().legal_moves();
        moves.retain(|m| !m.is_promotion() && !m.is_castle() && !m.is_en_passant());
        let due = game.position().halfmoves() > 80;
        if moves.iter().any(|m| m.is_zeroing() == due) {
            moves.retain(|m| m.is_zeroing() == due);
        }
        let mut next = game.clone();
        next.push(moves[random.usize(..moves.len())]);
        let legal = next.position().legal_moves();
        if !legal.iter().all(|m| m.is_promotion()) && GameEnd::by_rules(&next).is_none() {
            game = next;
        }
    }
    game.uci_moves().map(|m| m.to_string()).collect()
}

/// The address of a board: all of them listen at one port, each at an address of its own.
fn address(board: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 1, (board / 250) as u8, (board % 250 + 1) as u8)
}

/// A board after its handshake, and the program that plays on it.
struct Table {
    from_board: Reader,
    to_board: OwnedWriteHalf,
    from_daemon: Reader,
    to_daemon: OwnedWriteHalf,
    played: usize,
    stated: String,
}

/// The daemon, killed when it is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Daemon {
    fn start(config: &Path) -> Self {
        let daemon = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(["run", "--config"])
            .arg(config)
            .env("RUST_LOG", "warn")
            .stdout(Stdio::null())
            .stderr(fs::File::create(config.with_extension("log")).unwrap())
            .spawn();
        Self(daemon.unwrap())
    }

    /// Resident memory, in KiB.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.unwrap()
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .unwrap()
    }

    /// Processor time so far, in hundredths of a second (Linux's `USER_HZ` on every machine).
    fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Answers handshakes until the daemon connects for good, then hands the board over.
async fn greet(stream: TcpStream, boards: mpsc::UnboundedSender<(IpAddr, Reader, OwnedWriteHalf)>) {
    stream.set_nodelay(true).unwrap();
    let at = stream.local_addr().unwrap().ip();
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    line_with(&mut reader, "H0").await;
    writer
        .write_all(format!("H101     1.0{at}\n").as_bytes())
        .await
        .unwrap();
    let _ = boards.send((at, reader, writer));
}

impl Table {
    /// A program begins a game on its board.
    async fn begin(&mut self, name: &str) {
        let text =
            format!("uci\nsetoption name Board value {name}\nucinewgame\nposition startpos\ngo\n");
        self.to_daemon.write_all(text.as_bytes()).await.unwrap();
        line_with(&mut self.from_board, "NG").await;
    }

    /// The hand makes its move; from its bytes to `bestmove`. Then the program answers, and the board is shown that.
    async fn turn(&mut self, game: &[String]) -> Duration {
        let (hand, answer) = (&game[self.played], &game[self.played + 1]);
        let text = format!("MB {hand}\n");
        let begin = Instant::now();
        self.to_board.write_all(text.as_bytes()).await.unwrap();
        let told = line_with(&mut self.from_daemon, "bestmove").await;
        let took = begin.elapsed();
        assert_eq!(told.trim(), format!("bestmove {hand}"));
        write!(self.stated, " {hand} {answer}").unwrap();
        let text = format!("position startpos moves{}\ngo\n", self.stated);
        self.to_daemon.write_all(text.as_bytes()).await.unwrap();
        let shown = line_with(&mut self.from_board, "MA").await;
        assert_eq!(shown.trim(), format!("MA {answer}"));
        self.played += 2;
        took
    }
}

async fn measure(count: usize, kept: bool, game: &Arc<Vec<String>>) {
    let folder = tempfile::tempdir_in(
        std::env::var_os("BENCH_FOLDER").map_or_else(|| Path::new("target").to_owned(), Into::into),
    )
    .unwrap();
    let (uci, listener) = (free_port(), TcpListener::bind("0.0.0.0:0").await.unwrap());
    let port = listener.local_addr().unwrap().port();
    let place = |name: &str| match kept {
        true => format!("{:?}", folder.path().join(name)),
        false => "\"off\"".to_owned(),
    };
    let mut text = format!(
        "[uci]\nlisten = \"127.0.0.1:{uci}\"\n[status]\nlisten = \"off\"\n[web]\nlisten = \"off\"\n[livechess]\nlisten = \"off\"\n\
         [state]\ndirectory = {}\n[games]\ndirectory = {}\n",
        place("state"),
        place("games")
    );
    for board in 0..count {
        let at = address(board);
        write!(text, "[boards.b{board}]\nkind = \"swpp\"\nmove_wait = \"10ms\"\ntcp = {{ address = \"{at}:{port}\" }}\n").unwrap();
    }
    let file = folder.path().join("hall.toml");
    fs::write(&file, text).unwrap();
    let (sender, mut boards) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(greet(stream, sender.clone()));
        }
    });
    let began = Instant::now();
    let daemon = Daemon::start(&file);
    let uci: SocketAddr = ([127, 0, 0, 1], uci).into();
    while TcpStream::connect(uci).await.is_err() {
        sleep(Duration::from_millis(1)).await;
    }
    let listens = began.elapsed();
    let mut greeted = BTreeMap::new();
    let mut first = None;
    while greeted.len() < count {
        let (at, reader, writer) = boards.recv().await.unwrap();
        first.get_or_insert_with(|| began.elapsed());
        greeted.insert(at, (reader, writer));
    }
    let all = began.elapsed();
    sleep(Duration::from_secs(1)).await;
    let with_boards = daemon.memory();
    let mut tables = Vec::new();
    for board in 0..count {
        let (from_board, to_board) = greeted.remove(&address(board).into()).unwrap();
        let program = TcpStream::connect(uci).await.unwrap();
        program.set_nodelay(true).unwrap();
        let (from_daemon, to_daemon) = program.into_split();
        let mut table = Table {
            from_board,
            to_board,
            from_daemon: BufReader::new(from_daemon),
            to_daemon,
            played: 0,
            stated: String::new(),
        };
        table.begin(&format!("b{board}")).await;
        tables.push(table);
    }
    sleep(Duration::from_secs(1)).await;
    let with_programs = daemon.memory();
    for rate in RATES {
        let (ticks, begin) = (daemon.ticks(), tokio::time::Instant::now());
        let every = Duration::from_secs(1) / rate;
        let times = Arc::new(Mutex::new((Vec::new(), 0_usize)));
        let mut playing = JoinSet::new();
        for (board, mut table) in tables.drain(..).enumerate() {
            let (game, times) = (game.clone(), times.clone());
            playing.spawn(async move {
                let mut at = begin + every.mul_f64(board as f64 / count as f64);
                while at < begin + LASTS && table.played + 2 < game.len() {
                    sleep_until(at).await;
                    let late = at.elapsed() > every;
                    let took = table.turn(&game).await;
                    let mut times = times.lock().unwrap();
                    times.0.push(took);
                    times.1 += usize::from(late);
                    at += every;
                }
                (board, table)
            });
        }
        let mut back = BTreeMap::new();
        while let Some(table) = playing.join_next().await {
            let (board, table) = table.unwrap();
            back.insert(board, table);
        }
        tables.extend(back.into_values());
        let lasted = begin.elapsed();
        let (mut times, late) = std::mem::take(&mut *times.lock().unwrap());
        times.sort();
        let at = |hundredth: usize| times[times.len() * hundredth / 100].as_secs_f64() * 1000.0;
        println!(
            "{count:5} {:4} {rate:4} {:7} {:7.2} {:7.2} {:8.2} {late:6} {:5.0} {:9} {:9} {:9} {:7} {:7} {:7}",
            if kept { "kept" } else { "off" },
            times.len(),
            at(50),
            at(99),
            times[times.len() - 1].as_secs_f64() * 1000.0,
            (daemon.ticks() - ticks) as f64 / lasted.as_secs_f64(),
            with_boards,
            with_programs,
            daemon.memory(),
            listens.as_millis(),
            first.unwrap_or_default().as_millis(),
            all.as_millis(),
        );
    }
    if std::env::var_os("BENCH_LOG").is_some() {
        print!(
            "{}",
            fs::read_to_string(file.with_extension("log")).unwrap()
        );
    }
}

fn main() {
    let named = std::env::args().filter_map(|word| word.parse().ok());
    let mut counts: Vec<usize> = named.collect();
    if counts.is_empty() {
        counts = vec![1, 100, 300, 1000];
    }
    let game = Arc::new(game());
    println!(
        "load before: {}",
        fs::read_to_string("/proc/loadavg").unwrap().trim()
    );
    println!(
        "                                  ms to bestmove                      KiB resident                ms to\n\
         boards state a s   moves  median     p99      max   late  CPU%    boards  programs    played listens   first     all"
    );
    for kept in [false, true] {
        for &count in &counts {
            let game = game.clone();
            let measured = thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(measure(count, kept, &game));
            });
            measured.join().unwrap();
        }
    }
}
