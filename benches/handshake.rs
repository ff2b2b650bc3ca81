//! From the `WhitePawn` app's H0 to the board's H1 over TCP, while every board of the daemon sends all it can, beside an
//! answer without `BoardBridge` in the same run (the baseline): the app waits 200 ms, and 50 ms is our word.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use boardbridge::{config::Config, daemon::Daemon};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::{Builder, Runtime},
};
use tokio_serial::{SerialPort, SerialStream};

/// Boards of the daemon, half of each make.
const BOARDS: usize = 4;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A board that never stops talking, and does not listen. Its port's name.
fn noisy(line: &'static [u8]) -> String {
    let (sender, name) = mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async {
            let (mut board, computer) = SerialStream::pair().unwrap();
            sender.send(computer.name().unwrap()).unwrap();
            let mut buffer = [0; 1024];
            loop {
                // As fast as the fastest line: 58 bytes in 10 ms are 57600 baud.
                tokio::time::sleep(Duration::from_millis(10)).await;
                let lines = line.repeat(58 / line.len());
                AsyncWriteExt::write_all(&mut board, &lines).await.unwrap();
                let _ = tokio::time::timeout(
                    Duration::ZERO,
                    AsyncReadExt::read(&mut board, &mut buffer),
                )
                .await;
            }
        });
    });
    name.recv().unwrap()
}

/// A daemon on a thread of its own, all of its boards busy; where its app connects.
fn daemon() -> SocketAddr {
    let mut text = "[uci]\nlisten = \"off\"\n[status]\nlisten = \"off\"\n".to_owned();
    for number in 0..BOARDS {
        let (kind, line): (_, &[u8]) = match number % 2 {
            0 => ("novag-citrine", b"M   1   e2-e4\r\nT   1   e2-e4\r\n"),
            _ => ("novag-ucb", b"Me2e4\r\nT\r\n"),
        };
        let port = noisy(line);
        write!(
            text,
            "[boards.b{number}]\nkind = \"{kind}\"\nserial = {{ port = {port:?} }}\n"
        )
        .unwrap();
    }
    text.push_str("[[whitepawn]]\nboard = \"b0\"\ntcp = { listen = \"127.0.0.1:0\" }\n");
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async {
            let config = Config::from_text(&text, "the bench").unwrap();
            let daemon = Daemon::start(&config).await.unwrap();
            sender.send(daemon.ports()[0].1).unwrap();
            std::future::pending::<()>().await;
        });
    });
    address.recv().unwrap()
}

/// Answers every line by one: what any program must do.
fn bare() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        runtime().block_on(async {
            let mut socket = tokio::net::TcpStream::from_std(socket).unwrap();
            let mut buffer = [0; 256];
            while socket.read(&mut buffer).await.is_ok_and(|count| count > 0) {
                socket.write_all(b"H101     1.2bare\n").await.unwrap();
            }
        });
    });
    address
}

/// One handshake after the other.
fn shake_hands(app: &mut BufReader<TcpStream>, line: &mut String) {
    line.clear();
    app.get_mut().write_all(b"H0010023\n").unwrap();
    app.read_line(line).unwrap();
    assert!(line.starts_with("H101"), "{line}");
}

fn handshake(c: &mut Criterion) {
    let mut group = c.benchmark_group("H0 to H1");
    group
        .sample_size(50)
        .measurement_time(Duration::from_secs(4));
    let busy = daemon();
    for (name, address) in [
        ("baseline: without BoardBridge", bare()),
        ("BoardBridge, four boards busy", busy),
    ] {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut app = BufReader::new(stream);
        let mut line = String::new();
        group.bench_function(name, |b| b.iter(|| shake_hands(&mut app, &mut line)));
    }
    group.finish();
}

criterion_group!(benches, handshake);
criterion_main!(benches);
