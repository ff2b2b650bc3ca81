//! Those who mean harm: addresses on every port, a board, a far peer and an engine that send what they like.

use std::{
    fmt::Write as _,
    fs, io,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    time::{sleep, timeout},
};

/// The daemon's address on the network of our own.
const OWN: &str = "192.168.77.1";
/// How many addresses mean harm.
pub const ADDRESSES: u8 = 10;
/// Connections of each at once.
const EACH: usize = 2;
/// How long one of them stays at most.
const STAYS: Duration = Duration::from_secs(6);
/// The pause between two bursts of a board, a peer or an engine.
const PAUSE: Duration = Duration::from_millis(20);

/// Gives this process, which has a network of its own, the addresses.
pub fn network() -> io::Result<()> {
    let mut script = format!("ip link set lo up && ip addr add {OWN}/32 dev lo");
    for number in 0..ADDRESSES {
        let _ = write!(script, " && ip addr add {}/32 dev lo", address(number));
    }
    let status = Command::new("sh").args(["-c", &script]).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("the network of our own has no addresses"))
    }
}

fn address(number: u8) -> String {
    format!("192.168.77.{}", 10 + number)
}

/// The boards, the engine and the link that mean harm, as configuration.
pub async fn residents(folder: &Path) -> io::Result<String> {
    let (board, lent, peer) = (babbler().await?, babbler().await?, babbler().await?);
    let engine = folder.join("hostile-engine");
    let script = "#!/bin/sh\nwhile printf 'id name \\033[2J\\nuciok\\nreadyok\\nbestmove a1a1\\ninfo string %0999d\\n' 0; do sleep 0.02; done\n";
    fs::write(&engine, script)?;
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755))?;
    Ok(format!(
        "[boards.hostile]\nkind = \"swpp\"\ntcp = {{ address = \"{board}\" }}\n\
         [boards.lent]\nkind = \"swpp\"\ntcp = {{ address = \"{lent}\" }}\n\
         [[opponent]]\nboard = \"hostile\"\nengine = {:?}\n\
         [[link]]\nboards = [\"lent\"]\nwith = \"tcp:{peer}\"\n",
        engine.display().to_string()
    ))
}

/// Answers everybody by what is not asked.
async fn babbler() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut visitor, _)) = listener.accept().await {
            tokio::spawn(async move {
                while visitor.write_all(&words("one")).await.is_ok() {
                    sleep(PAUSE).await;
                }
            });
        }
    });
    Ok(address)
}

/// What somebody says who means harm to this board.
fn words(board: &str) -> Vec<u8> {
    let moves = ["e2e4", "d2d4", "g1f3", "a1a8", "e7e8q"][fastrand::usize(..5)];
    let text = match fastrand::u8(..14) {
        0 => format!(
            "uci\nsetoption name Board value {board}\nucinewgame\nposition startpos moves {moves}\ngo\n"
        ),
        1 => {
            format!("setoption name Board value {board}\nposition startpos\ngo\nstop\n").repeat(20)
        }
        2 => "ucinewgame\nposition startpos\ngo\nstop\n".repeat(50),
        3 => "uci\n".repeat(500),
        4 => format!("H0\nNG\nMA{moves}\nMB{moves}\nMA {moves}\n"),
        5 => "H0\n".repeat(200),
        6 => format!(
            "POST /api/v1/boards/{board}/release HTTP/1.1\r\nHost: {OWN}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
        ),
        7 => "GET /api/v1/boards HTTP/1.1\r\nHost: evil.example\r\n\r\nposition startpos\ngo\n"
            .to_owned(),
        8 => "GET /api/v1/events HTTP/1.1\r\nHost: 192.168.77.1\r\n\r\n".to_owned(),
        9 => "x".repeat(200_000),
        10 => format!(
            "position startpos moves {}\ngo\n",
            "g1f3 g8f6 f3g1 f6g8 ".repeat(500)
        ),
        11 => "\u{1b}[2J\u{202e}\u{2028}\n".repeat(100),
        12 => String::new(),
        _ => {
            // A greeting of TLS that has lines in it.
            let mut hello = vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
            hello
                .extend(format!("\nuci\nsetoption name Board value {board}\ngo\nH0\nNG\n").bytes());
            hello.extend((0..200).map(|_| fastrand::u8(..)));
            return hello;
        }
    };
    text.into_bytes()
}

/// Lets all addresses at all these ports, for ever; counts their connections.
pub fn crowd(ports: &[u16], boards: &[String], count: &Arc<AtomicU64>) {
    for number in 0..ADDRESSES {
        for _ in 0..EACH {
            let (ports, boards) = (ports.to_vec(), boards.to_vec());
            let count = count.clone();
            tokio::spawn(async move {
                loop {
                    let port = ports[fastrand::usize(..ports.len())];
                    let board = &boards[fastrand::usize(..boards.len())];
                    if let Ok(stream) = connect(number, port).await {
                        count.fetch_add(1, Ordering::Relaxed);
                        // Refused, closed or held out: all the same.
                        let _ = timeout(STAYS, visit(stream, board)).await;
                    }
                    sleep(Duration::from_millis(fastrand::u64(200..2000))).await;
                }
            });
        }
    }
}

async fn connect(number: u8, port: u16) -> io::Result<TcpStream> {
    let parse = |text: String| text.parse::<SocketAddr>().map_err(io::Error::other);
    let socket = TcpSocket::new_v4()?;
    socket.bind(parse(format!("{}:0", address(number)))?)?;
    socket.connect(parse(format!("{OWN}:{port}"))?).await
}

/// One in two reads nothing.
async fn visit(mut stream: TcpStream, board: &str) -> io::Result<()> {
    let reads = fastrand::bool();
    let mut answer = vec![0; 4096];
    for _ in 0..fastrand::u8(1..6) {
        stream.write_all(&words(board)).await?;
        if reads
            && let Ok(read) = timeout(Duration::from_millis(200), stream.read(&mut answer)).await
        {
            read?;
        }
    }
    sleep(Duration::from_millis(fastrand::u64(..2000))).await;
    Ok(())
}
