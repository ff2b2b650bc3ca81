//! From a board's last byte to the request that tells Lichess the hand's move, through the whole daemon, which keeps the move on the
//! disk before. The server is a bare one: it answers what is asked, and shows each move.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use boardbridge::{chess::game::Game, config::Config, daemon::Daemon};
use tokio::{
    io::AsyncWriteExt,
    runtime::{Builder, Runtime},
};
use tokio_serial::{SerialPort, SerialStream};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A server that says nothing of its own accord.
struct Server {
    address: SocketAddr,
    /// When each move came.
    moves: mpsc::Receiver<Instant>,
    game: Arc<Mutex<Option<TcpStream>>>,
}

fn chunk(stream: &mut TcpStream, text: &str) {
    let bytes = format!("{:x}\r\n{text}\n\r\n", text.len() + 1);
    stream.write_all(bytes.as_bytes()).unwrap();
}

fn state(moves: &str) -> String {
    format!(
        "{{\"type\":\"gameState\",\"moves\":\"{moves}\",\"wtime\":900000,\"btime\":900000,\"winc\":0,\"binc\":0,\"status\":\"started\"}}"
    )
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (moved, moves) = mpsc::channel();
        let game = Arc::new(Mutex::new(None));
        let shown = game.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (moved, shown) = (moved.clone(), shown.clone());
                thread::spawn(move || answer(stream.unwrap(), &moved, &shown));
            }
        });
        Self {
            address,
            moves,
            game,
        }
    }

    fn shows(&self, moves: &str) {
        let mut game = self.game.lock().unwrap();
        chunk(game.as_mut().unwrap(), &state(moves));
    }
}

fn answer(mut output: TcpStream, moved: &mpsc::Sender<Instant>, shown: &Mutex<Option<TcpStream>>) {
    output.set_nodelay(true).unwrap();
    let mut input = BufReader::new(output.try_clone().unwrap());
    loop {
        let mut first = String::new();
        if input.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let at = Instant::now();
        let mut length = 0;
        loop {
            let mut line = String::new();
            input.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        input.read_exact(&mut vec![0; length]).unwrap();
        let stream = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        if first.contains("/stream/event") {
            output.write_all(stream.as_bytes()).unwrap();
            let start = "{\"type\":\"gameStart\",\"game\":{\"gameId\":\"Game0001\",\"fullId\":\"x\",\"color\":\"white\"}}";
            chunk(&mut output, start);
            beats(&mut output);
            return;
        }
        if first.contains("/game/stream/") {
            output.write_all(stream.as_bytes()).unwrap();
            let full = format!(
                "{{\"type\":\"gameFull\",\"id\":\"Game0001\",\"state\":{}}}",
                state("")
            );
            chunk(&mut output, &full);
            *shown.lock().unwrap() = Some(output.try_clone().unwrap());
            beats(&mut output);
            return;
        }
        if first.contains("/move/") {
            moved.send(at).unwrap();
        }
        let done = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
        output.write_all(done.as_bytes()).unwrap();
    }
}

/// Empty lines, as long as someone listens.
fn beats(output: &mut TcpStream) {
    while output.write_all(b"1\r\n\n\r\n").is_ok() {
        thread::sleep(Duration::from_secs(5));
    }
}

fn daemon(port: &str, server: SocketAddr) {
    let folder = tempfile::tempdir().unwrap();
    let (state, token) = (folder.path().join("state"), folder.path().join("token"));
    fs::write(&token, "lip_bench").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let text = format!(
        "[uci]\nlisten = \"off\"\n[status]\nlisten = \"off\"\n[web]\nlisten = \"off\"\n[state]\ndirectory = {state:?}\n\
         [boards.ucb]\nkind = \"novag-ucb\"\nmove_wait = \"50ms\"\nline_gap = \"10ms\"\nserial = {{ port = {port:?} }}\n\
         [lichess]\nboard = \"ucb\"\nurl = \"http://{server}\"\ntoken_file = {token:?}\n"
    );
    thread::spawn(move || {
        runtime().block_on(async {
            let config = Config::from_text(&text, "the bench").unwrap();
            let _daemon = Daemon::start(&config).await.unwrap();
            std::future::pending::<()>().await;
        });
        drop(folder);
    });
}

/// A game without captures, in which no position stands five times.
fn game() -> Game {
    let mut moves = Vec::new();
    for rank in [2, 3] {
        for file in ["a", "d", "e", "f", "g", "h"] {
            moves.push(format!("{file}{rank}{file}{}", rank + 1));
            moves.push(format!("{file}{}{file}{}", 9 - rank, 8 - rank));
            for _ in 0..2 {
                moves.extend(["b1c3", "b8c6", "c3b1", "c6b8"].map(str::to_owned));
            }
        }
    }
    let mut game = Game::standard();
    game.play_uci(moves.iter().map(String::as_str)).unwrap();
    game
}

fn main() {
    let runtime = runtime();
    let entered = runtime.enter();
    let (mut board, computer) = SerialStream::pair().unwrap();
    let name = computer.name().unwrap();
    drop(entered);
    let server = Server::new();
    daemon(&name, server.address);
    while server.game.lock().unwrap().is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    let mut sends = |text: &str| {
        let sending = AsyncWriteExt::write_all(&mut board, text.as_bytes());
        runtime.block_on(sending).unwrap();
    };
    // A board that acknowledges nothing is given time.
    let pause = || thread::sleep(Duration::from_millis(400));
    sends("N\r\n");
    pause();
    let moves: Vec<String> = game().uci_moves().map(|m| m.to_string()).collect();
    let mut took = Vec::new();
    for ply in (0..moves.len()).step_by(2) {
        let begin = Instant::now();
        sends(&format!("M{}\r\n", moves[ply]));
        let wait = Duration::from_secs(20);
        took.push(server.moves.recv_timeout(wait).unwrap() - begin);
        server.shows(&moves[..=ply].join(" "));
        server.shows(&moves[..ply + 2].join(" "));
        pause();
    }
    took.sort_unstable();
    let at = |part: usize| took[(took.len() - 1) * part / 100];
    println!(
        "from the board's last byte to the request, {} moves: median {:?}, 90 % {:?}, longest {:?}",
        took.len(),
        at(50),
        at(90),
        at(100)
    );
    drop(computer);
}
