//! From a board's last byte to `bestmove` on the socket, through the whole daemon, beside what the same way costs
//! without it: the same bytes through a pseudo-terminal into a runtime like the daemon's, and a line over a
//! socket (the baseline of the same run). The difference is what `BoardBridge` adds.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use boardbridge::{config::Config, daemon::Daemon};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::{Builder, Runtime},
};
use tokio_serial::{SerialPort, SerialPortBuilderExt, SerialStream};

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

/// A daemon on a thread of its own, as `boardbridge run` has it: each move is kept on the disk before it is told.
fn daemon(port: &str) -> SocketAddr {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_owned();
    let text = format!(
        "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n[web]\nlisten = \"off\"\n\
         [state]\ndirectory = {state:?}\n[boards.ucb]\nkind = \"novag-ucb\"\nserial = {{ port = {port:?} }}\n"
    );
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async {
            let config = Config::from_text(&text, "the bench").unwrap();
            let daemon = Daemon::start(&config).await.unwrap();
            sender.send(daemon.ports()[0].1).unwrap();
            std::future::pending::<()>().await;
        });
        drop(folder);
    });
    address.recv().unwrap()
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

fn latency(c: &mut Criterion) {
    let mut group = c.benchmark_group("last byte to bestmove");
    group
        .sample_size(50)
        .measurement_time(Duration::from_secs(4));

    let mut board = Board::new();
    let mut gui = Gui::connect(bare(board.name.clone()));
    group.bench_function("baseline: without BoardBridge", |b| {
        b.iter(|| {
            board.sends(b"Me2e4\r\n");
            gui.hears("bestmove");
        });
    });

    let mut board = Board::new();
    let mut gui = Gui::connect(daemon(&board.name));
    gui.says("debug on\nposition startpos\n");
    gui.hears("debug ucb: new game");
    group.bench_function("BoardBridge", |b| {
        b.iter_custom(|iterations| {
            let mut total = Duration::ZERO;
            for _ in 0..iterations {
                board.sends(b"N\r\n");
                gui.hears("debug ucb: new game");
                gui.says("ucinewgame\nposition startpos\ngo\n");
                gui.hears("info string ucb: White to move");
                let begin = Instant::now();
                board.sends(b"Me2e4\r\n");
                gui.hears("bestmove e2e4");
                total += begin.elapsed();
            }
            total
        });
    });
    group.finish();
}

criterion_group!(benches, latency);
criterion_main!(benches);
