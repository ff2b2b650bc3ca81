//! From the `WhitePawn` app's H0 to the board's H1 over TCP, while every board of the daemon sends all it can, beside an
//! answer without `BoardBridge` in the same run (the baseline): the app waits 200 ms, and 50 ms is our word.
//!
//! One of the boards is a Neo, on a Bluetooth made of D-Bus. Which one that is a process reads from the environment, so the
//! bench starts itself again.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    collections::BTreeSet,
    env,
    fmt::Write as _,
    io::{BufRead, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Command, exit},
    sync::mpsc,
    thread,
    time::Duration,
};

use boardbridge::{
    bus::News,
    config::Config,
    daemon::Daemon,
    driver::neo::codec::{EVENTS, OCCUPANCY},
    vocabulary::Event,
};
use criterion::{Criterion, criterion_group};
use simulators::{
    bluez::{ADAPTER, Bluez, bus_address},
    neo::{Neo, Settings},
    radio::ADDRESS,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::{Builder, Runtime},
};
use tokio_serial::{SerialPort, SerialStream};

/// The variable that says which Bluetooth there is.
const BUS: &str = "DBUS_SYSTEM_BUS_ADDRESS";
/// Where the simulated one is to be, in the process that measures.
const SOCKET: &str = "HANDSHAKE_BENCH_SOCKET";
/// How often a noisy board speaks.
const BEAT: Duration = Duration::from_millis(10);
/// What boards on a line say, again and again.
const BOARDS: [(&str, &[u8]); 5] = [
    ("novag-citrine", b"M   1   e2-e4\r\nT   1   e2-e4\r\n"),
    ("novag-ucb", b"Me2e4\r\nT\r\n"),
    ("novag-citrine", b"M   1   e2-e4\r\nT   1   e2-e4\r\n"),
    ("novag-ucb", b"Me2e4\r\nT\r\n"),
    ("swpp", b"H101     1.2\nMB e2e4\n"),
];

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
                tokio::time::sleep(BEAT).await;
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

/// A Neo in whose reach a hand never rests: ten times what a real one sends.
fn restless() {
    let socket = env::var(SOCKET).unwrap();
    let bluez = Bluez::start_at(Path::new(&socket)).unwrap();
    let board = bluez
        .host(ADAPTER, ADDRESS, Neo::new(Settings::default()))
        .unwrap();
    thread::spawn(move || {
        let control = bluez.control();
        for beat in 0_u64.. {
            thread::sleep(BEAT);
            let (what, value) = match beat % 3 {
                0 => (EVENTS, "e2u".to_owned()),
                1 => (EVENTS, "e2d".to_owned()),
                _ => (OCCUPANCY, "1100001100000011".repeat(4)),
            };
            control
                .notify(board.address(), what, value.into_bytes())
                .unwrap();
        }
    });
}

/// A daemon on a thread of its own, all of its boards busy; where its app connects.
fn daemon() -> SocketAddr {
    let mut text = "[uci]\nlisten = \"off\"\n[status]\nlisten = \"off\"\n".to_owned();
    for (number, (kind, line)) in BOARDS.into_iter().enumerate() {
        let port = noisy(line);
        write!(
            text,
            "[boards.b{number}]\nkind = \"{kind}\"\nserial = {{ port = {port:?} }}\n"
        )
        .unwrap();
    }
    restless();
    text.push_str("[boards.neo]\nkind = \"miko-neo\"\nble = { name = \"Square Off Neo\" }\n");
    text.push_str("[[whitepawn]]\nboard = \"b0\"\ntcp = { listen = \"127.0.0.1:0\" }\n");
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async {
            let config = Config::from_text(&text, "the bench").unwrap();
            let daemon = Daemon::start(&config).await.unwrap();
            let mut events = daemon.bus().subscribe();
            // Every board is heard.
            let mut silent: BTreeSet<String> =
                config.boards.keys().map(ToString::to_string).collect();
            while !silent.is_empty() {
                let News::Published(told) = events.next().await else {
                    continue;
                };
                let is_link =
                    |event: &Event| matches!(event, Event::Connected | Event::Disconnected { .. });
                if let Some(board) = told.board()
                    && !told.events.iter().all(is_link)
                {
                    silent.remove(board.as_str());
                }
            }
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
        ("BoardBridge, six boards busy", busy),
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
/// Runs it in a process that has a Bluetooth of its own.
fn main() {
    if env::var_os(SOCKET).is_some() {
        benches();
        Criterion::default().configure_from_args().final_summary();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("bus");
    let status = Command::new(env::current_exe().unwrap())
        .args(env::args_os().skip(1))
        .env(SOCKET, &socket)
        .env(BUS, bus_address(&socket))
        .status()
        .unwrap();
    drop(folder);
    exit(status.code().unwrap_or(1));
}
