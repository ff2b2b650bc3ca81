//! The threat table of docs/security.md: each cell is tried on the real program, over real sockets.
//!
//! 127.0.0.2 and those after it stand for other machines where the rule is about addresses alone. Machines of the private
//! network and of the internet are addresses in a network namespace, where the system lets a test have one.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use boardbridge::bus::pairings::Saying;
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{Instant, timeout},
};

use crate::support::{Gui, House, PATIENCE, alone, occupied::occupied};

/// The daemon in a process of its own, with one board that is not connected.
struct Daemon {
    child: Child,
    lines: mpsc::Receiver<String>,
    log: Vec<String>,
    _folder: TempDir,
}

const BOARD: &str = "[boards.one]\nkind = \"novag-ucb\"\nserial = { port = \"/nowhere/one\" }\n";
/// On free ports of this machine.
const PORTS: &str = "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n";

impl Daemon {
    /// With this configuration, a board, and no games kept.
    fn start(text: &str) -> Self {
        Self::with_games(text, "off")
    }

    /// The same, with games kept there.
    fn with_games(text: &str, games: &str) -> Self {
        let folder = House::folder();
        let file = folder.path().join("bb.toml");
        fs::write(
            &file,
            format!("{text}[games]\ndirectory = {games:?}\n[state]\ndirectory = \"off\"\n{BOARD}"),
        )
        .unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(["run", "--config"])
            .arg(&file)
            .env("RUST_LOG", "boardbridge=info")
            .env_remove("JOURNAL_STREAM")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            log: Vec::new(),
            _folder: folder,
        }
    }

    /// On free ports, with this `[web]`.
    fn with_web(web: &str) -> Self {
        Self::start(&format!("{PORTS}[web]\nlisten = \"127.0.0.1:0\"\n{web}"))
    }

    /// Waits until the log has a line with these words.
    fn logs(&mut self, words: &str) -> String {
        if let Some(line) = self.log.iter().find(|line| line.contains(words)) {
            return line.clone();
        }
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("`{words}` is not in the log, but\n{}", self.log.join("\n"));
            };
            self.log.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The port of this service.
    fn address(&mut self, what: &str) -> SocketAddr {
        let line = self.logs(&format!(" {what} listens at "));
        line.split_whitespace().last().unwrap().parse().unwrap()
    }

    async fn gui(&mut self, from: &str) -> Gui {
        let address = self.address("uci");
        Gui::over(connect(from, address).await.unwrap())
    }

    /// `boardbridge release`.
    fn releases(&mut self, board: &str) -> Output {
        let address = self.address("web").to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
        command
            .args(["release", board, "--connect", &address])
            .output()
            .unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            self.log.extend(self.lines.try_iter());
            println!("the daemon's log:\n{}", self.log.join("\n"));
        }
    }
}

/// A connection from this address.
async fn connect(from: &str, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = match to {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0))?;
    socket.connect(to).await
}

/// Everything that comes until the other end closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    // A connection that is reset has ended as well.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut all))
        .await
        .unwrap();
    String::from_utf8(all).unwrap()
}

/// A request's status and answer.
async fn http(from: &str, to: SocketAddr, request: &str) -> (u16, Value) {
    let mut stream = connect(from, to).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let text = rest(&mut stream).await;
    let status = text
        .split_whitespace()
        .nth(1)
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = status.parse().unwrap();
    let body = text.split_once("\r\n\r\n").unwrap().1;
    let chunked = text.contains("transfer-encoding: chunked");
    let body = if chunked {
        unchunked(body)
    } else {
        body.to_owned()
    };
    (
        status,
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
}

fn unchunked(body: &str) -> String {
    let mut rest = body;
    let mut whole = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole += &after[..length];
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

const RELEASE: &str = "/api/v1/boards/one/release";
const HERE: &str = "Host: 127.0.0.1\r\n";
const JSON: &str = "Host: 127.0.0.1\r\nContent-Type: application/json\r\n";

/// Whether this process is the one with the network of its own; if not, the test is run there, where that is possible.
fn in_a_network(test: &str) -> bool {
    if std::env::var_os("TEST_OF_ITS_OWN_NETWORK").is_some() {
        return true;
    }
    let possible =
        |mut command: Command| command.output().is_ok_and(|output| output.status.success());
    let mut unshare = Command::new("unshare");
    unshare.args(["-rnmpf", "ip", "link", "set", "lo", "up"]);
    if !possible(unshare) {
        println!(
            "skipped: this system lets a test have no network of its own (unshare -rnmpf, ip)"
        );
        return false;
    }
    let addresses = [
        "192.168.77.1",
        "192.168.77.2",
        "192.168.77.3",
        "203.0.113.1",
        "203.0.113.7",
    ];
    let add = addresses.map(|address| format!("ip addr add {address}/32 dev lo && "));
    // A network of the internet that this machine is in, and one whose prefix is too short to be a link's.
    let six = [
        "2001:db8:1:2::1/64",
        "2001:db8:1:2::7/64",
        "2001:db8:9::7/48",
    ];
    let add_six = six.map(|address| format!("ip addr add {address} dev lo; "));
    // As the unit has it (`ProcSubset=pid`), where the system lets a test have that.
    let proc = "mount -t proc -o subset=pid proc /proc 2> /dev/null; ";
    let script = format!(
        "{proc}ip link set lo up && {} {{ {} exec \"$0\" \"$@\"; }}",
        add.concat(),
        add_six.concat()
    );
    let mut command = Command::new("unshare");
    command
        .args(["-rnmpf", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env("TEST_OF_ITS_OWN_NETWORK", "1");
    alone::runs(&mut command, module_path!(), test);
    false
}

const LAN: &str = "192.168.77.2";
const INTERNET: &str = "203.0.113.7";
/// At home with IPv6.
const NEIGHBOUR: &str = "2001:db8:1:2::7";
const INTERNET_6: &str = "2001:db8:9::7";

/// The address of the daemon's machine in the network of a peer.
fn facing(peer: &str) -> IpAddr {
    let own = match peer {
        LAN | "192.168.77.3" => "192.168.77.1",
        INTERNET => "203.0.113.1",
        NEIGHBOUR | INTERNET_6 => "2001:db8:1:2::1",
        _ => return Ipv4Addr::LOCALHOST.into(),
    };
    own.parse().unwrap()
}

/// All ports, open to the network, with this `allow`.
fn open_house(allow: &str) -> String {
    let inline = if allow.is_empty() {
        String::new()
    } else {
        format!(", {}", allow.trim_end())
    };
    let open = |table: &str| format!("[{table}]\nlisten = \"0.0.0.0:0\"\n{allow}");
    let tables = ["uci", "status", "web", "livechess"].map(open).concat();
    format!(
        "{tables}[[whitepawn]]\nboard = \"one\"\ntcp = {{ listen = \"0.0.0.0:0\"{inline} }}\n\
         [boards.two]\nkind = \"novag-ucb\"\nserial = {{ port = \"/nowhere/two\" }}\n\
         uci_listen = {{ listen = \"0.0.0.0:0\"{inline} }}\n"
    )
}

/// Which of its services answer this peer.
async fn answered(daemon: &mut Daemon, peer: &str) -> Vec<&'static str> {
    let mut answered = Vec::new();
    for (what, says) in [
        ("uci", "uci\n".to_owned()),
        ("uci for two", "uci\n".to_owned()),
        ("status", String::new()),
        ("web", get("/api/v1/boards", HERE)),
        ("livechess", get("/api/v1.0/eboards", HERE)),
        ("whitepawn for one", "H0\n".to_owned()),
    ] {
        let to = SocketAddr::new(facing(peer), daemon.address(what).port());
        let mut stream = connect(peer, to).await.unwrap();
        // It may be closed already.
        let _ = stream.write_all(says.as_bytes()).await;
        let mut first = vec![0; 1024];
        let count = timeout(PATIENCE, stream.read(&mut first)).await.unwrap();
        let text = String::from_utf8_lossy(&first[..count.unwrap_or(0)]).into_owned();
        let refused = text.is_empty() || text.contains("may not connect");
        if refused {
            // Closed at once, with one line that says the address and the remedy.
            rest(&mut stream).await;
            let line = daemon.logs(&format!("{peer} may not connect"));
            assert!(line.contains("allow = "), "{line}");
        } else {
            answered.push(what);
        }
    }
    answered
}

const ALL: [&str; 6] = [
    "uci",
    "uci for two",
    "status",
    "web",
    "livechess",
    "whitepawn for one",
];

#[tokio::test]
async fn by_default_only_this_machine_reaches_a_port() {
    let mut daemon = Daemon::start(&open_house("").replace("0.0.0.0:0", "127.0.0.1:0"));
    assert_eq!(answered(&mut daemon, "127.0.0.1").await, ALL);
    // These are the defaults.
    let config = boardbridge::config::Config::from_text("", "the test").unwrap();
    for listen in [
        &config.uci.listen(),
        &config.status.listen(),
        &config.web.listen(),
    ] {
        assert!(listen.to_string().starts_with("127.0.0.1:"), "{listen}");
    }
    if !in_a_network("by_default_only_this_machine_reaches_a_port") {
        return;
    }
    for peer in [LAN, INTERNET] {
        for what in ALL {
            let to = SocketAddr::new(facing(peer), daemon.address(what).port());
            let error = connect(peer, to).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        }
    }
}

#[tokio::test]
async fn a_port_open_to_the_network_serves_private_networks_only() {
    if !in_a_network("a_port_open_to_the_network_serves_private_networks_only") {
        return;
    }
    let mut daemon = Daemon::start(&open_house(""));
    assert_eq!(answered(&mut daemon, LAN).await, ALL);
    assert_eq!(answered(&mut daemon, "127.0.0.1").await, ALL);
    assert_eq!(answered(&mut daemon, INTERNET).await, [""; 0]);
}

#[tokio::test]
async fn the_networks_that_this_machine_is_in_are_private_with_ipv6_too() {
    if !in_a_network("the_networks_that_this_machine_is_in_are_private_with_ipv6_too") {
        return;
    }
    if fs::read_to_string("/proc/self/net/if_inet6").map_or(true, |table| table.is_empty()) {
        println!("skipped: this system has no IPv6");
        return;
    }
    let mut daemon = Daemon::start(&open_house("").replace("0.0.0.0:0", "[::]:0"));
    for peer in [NEIGHBOUR, LAN] {
        assert_eq!(answered(&mut daemon, peer).await, ALL, "{peer}");
    }
    for peer in [INTERNET_6, INTERNET] {
        assert_eq!(answered(&mut daemon, peer).await, [""; 0], "{peer}");
    }
}

#[tokio::test]
async fn a_list_admits_its_networks_and_this_machine() {
    let mut daemon = Daemon::start(&open_house("allow = [\"192.0.2.0/24\"]\n"));
    assert_eq!(answered(&mut daemon, "127.0.0.1").await, ALL);
    assert_eq!(answered(&mut daemon, "127.0.0.2").await, [""; 0]);
    if !in_a_network("a_list_admits_its_networks_and_this_machine") {
        return;
    }
    for (listed, other) in [(INTERNET, LAN), (LAN, INTERNET)] {
        let mut daemon = Daemon::start(&open_house(&format!("allow = [\"{listed}\"]\n")));
        assert_eq!(answered(&mut daemon, listed).await, ALL);
        assert_eq!(answered(&mut daemon, "127.0.0.1").await, ALL);
        assert_eq!(answered(&mut daemon, other).await, [""; 0]);
    }
}

#[tokio::test]
async fn everybody_is_everybody() {
    if !in_a_network("everybody_is_everybody") {
        return;
    }
    let mut daemon = Daemon::start(&open_house("allow = \"everybody\"\n"));
    for peer in ["127.0.0.1", LAN, INTERNET] {
        assert_eq!(answered(&mut daemon, peer).await, ALL, "{peer}");
    }
}

#[tokio::test]
async fn a_chess_program_is_told_why_it_may_not_connect() {
    let mut daemon = Daemon::start(&open_house("allow = [\"192.0.2.0/24\"]\n"));
    let to = daemon.address("uci");
    let mut stream = connect("127.0.0.2", SocketAddr::new(facing(""), to.port()))
        .await
        .unwrap();
    let said = rest(&mut stream).await;
    assert!(
        said.starts_with("info string 127.0.0.2 may not connect: [uci] admits 192.0.2.0/24"),
        "{said}"
    );
    assert!(
        said.contains("allow = [\"192.0.2.0/24\", \"127.0.0.2\"]"),
        "{said}"
    );
}

#[tokio::test]
async fn a_peer_that_is_refused_does_not_fill_the_log() {
    let mut daemon = Daemon::start(&open_house("allow = [\"192.0.2.0/24\"]\n"));
    let port = daemon.address("uci").port();
    let to = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    for _ in 0..2000 {
        let mut stream = connect("127.0.0.2", to).await.unwrap();
        rest(&mut stream).await;
    }
    daemon.logs("too much is logged about 127.0.0.1");
    let bytes: usize = daemon.log.iter().map(String::len).sum();
    assert!(bytes < 128 * 1024, "{bytes}");
}

#[test]
fn every_test_that_the_table_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let table = read("docs/security.md");
    let mut tests = String::new();
    let mut folders = ["src", "tests"].map(|name| root.join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                tests += &fs::read_to_string(path).unwrap();
            }
        }
    }
    let names = table.split('`').skip(1).step_by(2);
    let files = names.clone().filter(|name| name.ends_with(".rs"));
    for file in files {
        let text = read(file);
        assert!(text.contains("test]\n"), "{file}");
    }
    let names = names.filter_map(|name| name.rsplit("::").next());
    let names = names.filter(|name| name.matches('_').count() > 2 && !name.contains('/'));
    let mut count = 0;
    for name in names {
        assert!(tests.contains(&format!("fn {name}()")), "{name}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// The owner plays from 127.0.0.2, a stranger comes from 127.0.0.3.
async fn game_of_the_owner(daemon: &mut Daemon) -> (Gui, Gui) {
    let mut owner = daemon.gui("127.0.0.2").await;
    owner.asks("e2e4").await;
    owner.hears_of("no link").await;
    let mut stranger = daemon.gui("127.0.0.3").await;
    stranger.asks("e2e4").await;
    let told = stranger
        .hears_of("is in another game, with 127.0.0.2:")
        .await;
    assert!(told.contains("`boardbridge release one`"), "{told}");
    (owner, stranger)
}

async fn has_board(daemon: &mut Daemon) -> String {
    let to = daemon.address("web");
    let (status, board) = http("127.0.0.1", to, &get("/api/v1/boards/one", HERE)).await;
    assert_eq!(status, 200, "{board}");
    board["holders"][0].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_game_in_progress_is_not_taken_by_another_address() {
    let mut daemon = Daemon::with_web("");
    let (mut owner, mut stranger) = game_of_the_owner(&mut daemon).await;
    // While the owner awaits the hand, and while the owner's program thinks.
    for awaits in [true, false] {
        if !awaits {
            owner.says("stop").await;
            owner.hears("bestmove").await;
        }
        for moves in ["", "e2e4", "e2e4 e7e5", "d2d4"] {
            stranger.says("ucinewgame").await;
            stranger.asks(moves).await;
            stranger.hears_of("is in another game").await;
            assert!(
                has_board(&mut daemon).await.starts_with("127.0.0.2:"),
                "{moves}"
            );
        }
    }
}

#[tokio::test]
async fn a_game_whose_connection_is_lost_is_kept_for_its_address() {
    let mut daemon = Daemon::with_web("");
    let (owner, mut stranger) = game_of_the_owner(&mut daemon).await;
    drop(owner);
    daemon.logs("a GUI left");
    stranger.asks("d2d4").await;
    stranger.hears_of("(disconnected)").await;
    let mut back = daemon.gui("127.0.0.2").await;
    back.asks("e2e4").await;
    back.hears_of("no link").await;
    assert!(has_board(&mut daemon).await.starts_with("127.0.0.2:"));
}

#[tokio::test]
async fn a_program_that_quits_keeps_nothing() {
    let mut daemon = Daemon::with_web("");
    let (mut owner, mut stranger) = game_of_the_owner(&mut daemon).await;
    owner.says("quit").await;
    stranger.hears_of("no link").await;
    assert!(has_board(&mut daemon).await.starts_with("127.0.0.3:"));
}

#[tokio::test]
async fn whoever_has_a_board_is_put_out_told_so_and_does_not_take_it_back_by_going_on() {
    let mut daemon = Daemon::with_web("");
    let (mut owner, mut stranger) = game_of_the_owner(&mut daemon).await;
    let output = daemon.releases("one");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.starts_with("one: 127.0.0.2:") && said.contains("put out"),
        "{said}"
    );
    owner.hears_of("was put out of the board one").await;
    stranger.hears_of("no link").await;
    assert!(has_board(&mut daemon).await.starts_with("127.0.0.3:"));
    stranger.says("quit").await;
    while stranger.line().await.is_some() {}
    // The board is free now, but not for the game that was put out.
    for moves in ["e2e4", "e2e4 e7e5 g1f3"] {
        owner.says("stop").await;
        owner.asks(moves).await;
        owner.hears_of("was put out of the board one").await;
        assert_eq!(has_board(&mut daemon).await, "", "{moves}");
    }
    owner.says("stop\nucinewgame").await;
    owner.asks("e2e4").await;
    owner.hears_of("no link").await;
    assert!(has_board(&mut daemon).await.starts_with("127.0.0.2:"));
    // Or it connects again.
    assert!(daemon.releases("one").status.success());
    owner.hears_of("was put out").await;
    let mut again = daemon.gui("127.0.0.2").await;
    again.asks("e2e4").await;
    again.hears_of("no link").await;
}

#[tokio::test]
async fn release_says_what_is_wrong() {
    let mut daemon = Daemon::with_web("");
    let output = daemon.releases("one");
    assert!(output.status.success());
    assert_eq!(output.stdout, b"one is free: no program has it\n");
    let output = daemon.releases("two");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("no board named two") && said.contains("one"),
        "{said}"
    );
    let release = |address: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
        let output = command
            .args(["release", "one", "--connect", address])
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, said) = release("127.0.0.1");
    assert!(code == Some(2) && said.contains("127.0.0.1:9660"), "{said}");
    let (code, said) = release("127.0.0.1:1");
    assert!(
        code == Some(1) && said.contains("boardbridge run"),
        "{said}"
    );
    for what in ["uci", "status"] {
        let (code, said) = release(&daemon.address(what).to_string());
        assert!(
            code == Some(1) && said.contains("`[web] listen`"),
            "{what}: {said}"
        );
    }
    drop(daemon);
    let mut daemon = Daemon::with_web("control = \"nobody\"\n");
    let output = daemon.releases("one");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("control = \"local\" under [web]"), "{said}");
}

#[tokio::test]
async fn few_addresses_do_not_fill_all_slots() {
    if !in_a_network("few_addresses_do_not_fill_all_slots") {
        return;
    }
    let mut daemon = Daemon::start(&open_house(""));
    let to = SocketAddr::new(facing(LAN), daemon.address("uci").port());
    let mut busy = Vec::new();
    // One machine, and then a second: all but one of their programs wait for the board.
    for (attacker, other) in [(LAN, "192.168.77.3"), ("192.168.77.3", "127.0.0.1")] {
        for _ in 0..100 {
            let mut stream = connect(attacker, to).await.unwrap();
            // The ones that are turned away are closed.
            let _ = stream.write_all(b"position startpos\ngo\n").await;
            busy.push(stream);
        }
        let to = SocketAddr::new(facing(other), to.port());
        let mut owner = Gui::over(connect(other, to).await.unwrap());
        owner.says("uci").await;
        owner.hears("uciok").await;
    }
    let to = SocketAddr::new(facing(LAN), daemon.address("web").port());
    let mut idle = Vec::new();
    for _ in 0..50 {
        idle.push(connect(LAN, to).await.unwrap());
    }
    let host = "Host: 192.168.77.1\r\n";
    let (status, _) = http("192.168.77.3", to, &get("/api/v1/boards", host)).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn programs_that_join_one_game_make_room_for_one_with_a_board_of_its_own() {
    if !in_a_network("programs_that_join_one_game_make_room_for_one_with_a_board_of_its_own") {
        return;
    }
    let three = "[boards.three]\nkind = \"novag-ucb\"\nserial = { port = \"/nowhere/three\" }\n";
    let mut daemon = Daemon::start(&format!("{}{three}", open_house("")));
    let port = daemon.address("uci").port();
    let mut joined = Vec::new();
    for (attacker, board, count) in [(LAN, "one", 48), ("192.168.77.3", "two", 16)] {
        let to = SocketAddr::new(facing(attacker), port);
        for _ in 0..count {
            let mut gui = Gui::over(connect(attacker, to).await.unwrap());
            gui.says(&format!("setoption name Board value {board}"))
                .await;
            gui.asks("").await;
            gui.hears_of("no link").await;
            joined.push(gui);
        }
    }
    let to = SocketAddr::new(facing("127.0.0.1"), port);
    for _ in 0..10 {
        let mut owner = Gui::over(connect("127.0.0.1", to).await.unwrap());
        owner.says("setoption name Board value three").await;
        owner.asks("").await;
        owner.hears_of("no link").await;
        joined.push(owner);
    }
    // Whoever began a game, and the second one in it, have kept their places.
    for at in [0, 1, 48, 49, 64] {
        joined[at].says("isready").await;
        joined[at].hears("readyok").await;
    }
}

#[tokio::test]
async fn pages_that_stay_open_shut_nobody_out() {
    let mut daemon = Daemon::with_web("");
    let to = daemon.address("web");
    let mut open = Vec::new();
    for last in 2..6 {
        for _ in 0..20 {
            let mut page = connect(&format!("127.0.0.{last}"), to).await.unwrap();
            let text = format!("GET /api/v1/events HTTP/1.1\r\n{HERE}\r\n");
            // One that is told to make room is closed.
            let _ = page.write_all(text.as_bytes()).await;
            open.push(page);
        }
    }
    let (status, _) = http("127.0.0.9", to, &get("/api/v1/boards", HERE)).await;
    assert_eq!(status, 200);
}

/// The head of an answer.
async fn head(to: SocketAddr, path: &str) -> String {
    let mut stream = connect("127.0.0.1", to).await.unwrap();
    let request = get(path, HERE);
    stream.write_all(request.as_bytes()).await.unwrap();
    let text = rest(&mut stream).await;
    text.split("\r\n\r\n").next().unwrap().to_lowercase()
}

#[tokio::test]
async fn the_page_runs_only_its_own_script() {
    let mut daemon = Daemon::with_web("");
    let to = daemon.address("web");
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/words.js", "text/javascript"),
        ("/board.js", "text/javascript"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/pair.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let head = head(to, path).await;
        assert!(head.starts_with("http/1.1 200"), "{head}");
        for line in [
            kind,
            "default-src 'none'; script-src 'self'; style-src 'self'",
            "manifest-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
        ] {
            assert!(head.contains(line), "{path}: no {line} in {head}");
        }
    }
}

#[tokio::test]
async fn whoever_may_connect_sees_boards_and_games_and_no_other_file() {
    let folder = House::folder();
    let games = folder.path().join("games");
    fs::create_dir(&games).unwrap();
    let game = "2026-11-21_153012_one_1.pgn";
    fs::write(games.join(game), "[White \"A\"]\n\n1. e4 *\n").unwrap();
    fs::write(games.join("2026-11-21_153013_one_1.txt"), "secret").unwrap();
    fs::write(folder.path().join("2026-11-21_153013_one_1.pgn"), "secret").unwrap();
    let link = "2026-11-21_153014_one_1.pgn";
    std::os::unix::fs::symlink("/etc/passwd", games.join(link)).unwrap();
    let web = format!("{PORTS}[web]\nlisten = \"127.0.0.1:0\"\ncontrol = \"nobody\"\n");
    let mut daemon = Daemon::with_games(&web, &games.display().to_string());
    let to = daemon.address("web");
    let (status, list) = http("127.0.0.1", to, &get("/api/v1/games", HERE)).await;
    assert_eq!((status, &list[0]["file"]), (200, &game.into()), "{list}");
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert!(
        head(to, &format!("/api/v1/games/{game}"))
            .await
            .contains("200 ok")
    );
    for file in [
        "2026-11-21_153013_one_1.txt",
        "2026-11-21_153013_one_1.pgn",
        "..%2f2026-11-21_153013_one_1.pgn",
        "2026-11-21_153013_..%2fone_1.pgn",
        "%2fetc%2fpasswd",
        ".one.lock",
        "2026-11-21_153012_one_1.pgn%00",
        "2026-11-21_1530é2_one_1.pgn",
    ] {
        let (status, answer) = http(
            "127.0.0.1",
            to,
            &get(&format!("/api/v1/games/{file}"), HERE),
        )
        .await;
        assert_eq!(status, 404, "{file}: {answer}");
    }
    let (status, answer) = http(
        "127.0.0.1",
        to,
        &get(&format!("/api/v1/games/{link}"), HERE),
    )
    .await;
    assert!(status == 500 && answer["error"].is_string(), "{answer}");
}

#[tokio::test]
async fn one_address_does_not_keep_the_app_of_another_out() {
    let app = "[[whitepawn]]\nboard = \"one\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let mut daemon = Daemon::with_web(app);
    let to = daemon.address("whitepawn for one");
    let mut app = Gui::over(connect("127.0.0.2", to).await.unwrap());
    let mut idle = Vec::new();
    for _ in 0..30 {
        idle.push(connect("127.0.0.3", to).await.unwrap());
    }
    rest(&mut idle[0]).await;
    app.says("H0").await;
    app.hears("H1").await;
}

#[tokio::test]
async fn only_this_machine_controls_unless_the_file_says_otherwise() {
    for (control, here, other) in [
        ("", 200, 403),
        ("control = \"local\"\n", 200, 403),
        ("control = \"allowed\"\n", 200, 200),
        ("control = \"nobody\"\n", 403, 403),
    ] {
        let mut daemon = Daemon::with_web(control);
        let to = daemon.address("web");
        for (peer, wanted) in [("127.0.0.1", here), ("127.0.0.2", other)] {
            let (status, answer) = http(peer, to, &post(RELEASE, JSON, "{}")).await;
            assert_eq!(status, wanted, "{control}{peer}: {answer}");
            assert_eq!(wanted == 403, answer["error"].is_string(), "{answer}");
            // No one plays there who could be told: the right to ask comes first.
            let refused = if wanted == 200 { 409 } else { 403 };
            for button in Saying::ALL {
                let path = format!("/api/v1/boards/one/{button}");
                let (status, answer) = http(peer, to, &post(&path, JSON, "{}")).await;
                assert_eq!(status, refused, "{control}{peer} {button}: {answer}");
            }
            let piece = post("/api/v1/boards/one/promotion", JSON, "{\"piece\": \"n\"}");
            assert_eq!(http(peer, to, &piece).await.0, refused);
            // There is no account.
            for ask in [
                "withdraw", "accept", "decline", "resign", "berserk", "login", "logout",
            ] {
                let ask = post(&format!("/api/v1/lichess/{ask}"), JSON, "{}");
                let (status, answer) = http(peer, to, &ask).await;
                assert_eq!(status == 403, wanted == 403, "{ask}: {answer}");
            }
            for (ask, what) in [
                ("seek", "{\"time\": \"10+0\"}"),
                ("challenge", "{\"user\": \"anna\", \"time\": \"10+0\"}"),
                ("computer", "{\"level\": 1, \"time\": \"10+0\"}"),
            ] {
                let ask = post(&format!("/api/v1/lichess/{ask}"), JSON, what);
                let (status, answer) = http(peer, to, &ask).await;
                assert_eq!(status == 403, wanted == 403, "{ask}: {answer}");
            }
            let (_, settings) = http(peer, to, &get("/api/v1/settings", HERE)).await;
            assert_eq!(settings["may_control"], wanted == 200, "{settings}");
            // All may look.
            let (status, boards) = http(peer, to, &get("/api/v1/boards", HERE)).await;
            assert_eq!((status, &boards[0]["board"]), (200, &"one".into()));
        }
    }
}

/// `[web]` as the package has it, on a free port.
fn packaged_web() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/boardbridge.toml");
    let text = fs::read_to_string(file).unwrap();
    let web = text.split("[web]\n").nth(1).unwrap();
    let web = web.split("\n[").next().unwrap();
    assert!(web.contains("\n# listen = \"0.0.0.0:9660\"\n"), "{web}");
    let with_port = web.replace("# listen = \"0.0.0.0:9660\"", "listen = \"0.0.0.0:0\"");
    format!("{PORTS}[web]\n{with_port}")
}

#[tokio::test]
async fn the_packaged_page_answers_the_private_network_with_how_to_pair_and_strangers_with_403() {
    if !in_a_network(
        "the_packaged_page_answers_the_private_network_with_how_to_pair_and_strangers_with_403",
    ) {
        return;
    }
    let mut daemon = Daemon::start(&packaged_web());
    let port = daemon.address("web").port();
    let at = |peer: &str| SocketAddr::new(facing(peer), port);
    let (here, code) = http("127.0.0.1", at(""), &post("/api/v1/pair/code", JSON, "{}")).await;
    assert_eq!(here, 200, "{code}");
    let body = serde_json::json!({ "code": code["code"], "name": "x" }).to_string();
    for path in ["/", "/api/v1/boards", "/api/v1/events", "/api/v1/settings"] {
        let (status, answer) = http(INTERNET, at(INTERNET), &get(path, HERE)).await;
        assert_eq!(
            (status, answer.to_string().contains("may not connect")),
            (403, true)
        );
        let status = match path {
            "/" => 200,
            _ => 403,
        };
        let mut stream = connect(LAN, at(LAN)).await.unwrap();
        stream.write_all(get(path, HERE).as_bytes()).await.unwrap();
        let text = rest(&mut stream).await;
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {text}"
        );
    }
    let (status, answer) = http(INTERNET, at(INTERNET), &post("/api/v1/pair", JSON, &body)).await;
    assert_eq!(status, 403, "{answer}");
    // A flood from one machine keeps no other one out.
    const NOISY: &str = "192.168.77.3";
    for nth in 0..100 {
        let wrong = post("/api/v1/pair", JSON, "{\"code\": \"x\", \"name\": \"x\"}");
        let (status, answer) = http(NOISY, at(NOISY), &wrong).await;
        assert_eq!(status, if nth < 4 { 403 } else { 429 }, "{nth}: {answer}");
    }
    let (status, answer) = http(LAN, at(LAN), &post("/api/v1/pair", JSON, &body)).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn a_page_of_another_site_does_nothing_here() {
    for control in ["allowed", "local", "nobody"] {
        nothing_for_a_page_of_another_site(control).await;
    }
}

async fn nothing_for_a_page_of_another_site(control: &str) {
    let mut daemon = Daemon::with_web(&format!(
        "control = {control:?}\nhosts = [\"chess.example\"]\n"
    ));
    let to = daemon.address("web");
    let refuses_all = control == "nobody";
    for (headers, wanted) in [
        // DNS rebinding: its own name, which leads here now.
        (
            "Host: evil.example\r\nContent-Type: application/json\r\n",
            403,
        ),
        (
            "Host: 127.0.0.1.evil.example\r\nContent-Type: application/json\r\n",
            403,
        ),
        ("Content-Type: application/json\r\n", 400),
        // A page's script, a sandboxed page, another port of this machine.
        (
            "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Type: application/json\r\n",
            403,
        ),
        (
            "Host: 127.0.0.1\r\nOrigin: null\r\nContent-Type: application/json\r\n",
            403,
        ),
        (
            "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1:8000\r\nContent-Type: application/json\r\n",
            403,
        ),
        // A form.
        ("Host: 127.0.0.1\r\nContent-Type: text/plain\r\n", 400),
        ("Host: 127.0.0.1\r\n", 400),
        // The API's own.
        (
            "Host: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Type: application/json\r\n",
            200,
        ),
        (
            "Host: chess.example\r\nContent-Type: application/json; charset=utf-8\r\n",
            200,
        ),
    ] {
        let (status, answer) = http("127.0.0.1", to, &post(RELEASE, headers, "{}")).await;
        let wanted = if refuses_all && headers.contains("Host") {
            403
        } else {
            wanted
        };
        assert_eq!(status, wanted, "{headers}{answer}");
    }
    for headers in [
        "Host: evil.example\r\n",
        "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n",
    ] {
        for path in [
            "/",
            "/api/v1/boards",
            "/api/v1/events",
            "/api/v1/games",
            "/api/v1/live.pgn",
            "/api/v1/settings",
        ] {
            let (status, answer) = http("127.0.0.1", to, &get(path, headers)).await;
            assert!(status == 403 && answer["error"].is_string(), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_page_speaks_neither_uci_nor_swpp() {
    let app = "[[whitepawn]]\nboard = \"one\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let mut daemon = Daemon::with_web(app);
    for (what, logged) in [
        ("uci", "it speaks HTTP: the API"),
        ("whitepawn for one", "closed: it speaks HTTP"),
    ] {
        let to = daemon.address(what);
        let page = "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\n";
        let text = post("/", page, "uci\nposition startpos\ngo\nH0\nNG1N\n");
        let mut stream = connect("127.0.0.1", to).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(rest(&mut stream).await, "", "{what}");
        daemon.logs(logged);
        assert_eq!(has_board(&mut daemon).await, "", "{what}");
    }
}

/// The beginning of TLS, with a session ticket that the server of a page has chosen.
fn client_hello(ticket: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let mut extension = [&[0, 0x23][..], &length(ticket), ticket].concat();
    extension.splice(0..0, length(&extension));
    let mut hello = vec![3, 3];
    hello.extend((0..32).map(|at: u8| at.wrapping_mul(91)));
    hello.extend([0, 0, 2, 0xc0, 0x2f, 1, 0]);
    hello.extend(extension);
    let hello = [&[1, 0][..], &length(&hello), &hello].concat();
    [&[0x16, 3, 1][..], &length(&hello), &hello].concat()
}

#[tokio::test]
async fn a_session_ticket_of_tls_speaks_neither_uci_nor_swpp() {
    let app = "[[whitepawn]]\nboard = \"one\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let mut daemon = Daemon::with_web(&format!("[livechess]\nlisten = \"127.0.0.1:0\"\n{app}"));
    let lines = "\nuci\nposition startpos\ngo\nH0010023\nNG1N\n";
    let request = post(RELEASE, JSON, "{}");
    let tickets = [
        lines.to_owned(),
        // Longer than any line of SWPP, and of UCI.
        format!("{}{lines}", "x".repeat(300)),
        format!("\r\n{request}\r\n{request}"),
        // Without an end of the line: what follows may come later.
        "x".repeat(100),
    ];
    for what in ["uci", "whitepawn for one", "status", "web", "livechess"] {
        let to = daemon.address(what);
        for ticket in &tickets {
            let mut stream = connect("127.0.0.1", to).await.unwrap();
            // It may be closed before it has taken everything.
            let _ = stream.write_all(&client_hello(ticket.as_bytes())).await;
            let mut said = Vec::new();
            // A connection that is reset has ended as well.
            let _ = timeout(PATIENCE, stream.read_to_end(&mut said))
                .await
                .unwrap_or_else(|_| panic!("{what} stays open"));
            let said = String::from_utf8_lossy(&said);
            assert!(!said.contains("uciok") && !said.contains("H1"), "{said}");
            assert!(!said.contains(" 200 "), "{said}");
        }
        assert_eq!(has_board(&mut daemon).await, "", "{what}");
    }
    // Of STUN, as a page's WebRTC sends it.
    for what in ["uci", "whitepawn for one"] {
        let to = daemon.address(what);
        let mut stream = connect("127.0.0.1", to).await.unwrap();
        let stun = format!("\0\u{3}\0\u{40}!\u{12}$B{lines}");
        let _ = stream.write_all(stun.as_bytes()).await;
        assert_eq!(rest(&mut stream).await, "", "{what}");
    }
    assert_eq!(has_board(&mut daemon).await, "");
}

#[tokio::test]
async fn a_program_that_begins_in_an_unusual_way_is_served() {
    let app = "[[whitepawn]]\nboard = \"one\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let mut daemon = Daemon::with_web(app);
    for (what, word, answer) in [
        ("uci", "uci", "uciok"),
        ("whitepawn for one", "H0010023", "H1"),
    ] {
        let to = daemon.address(what);
        for begins in [
            &b"\xef\xbb\xbf"[..],
            b"\r\n\n  \t\r\n",
            b"hello\nwhat is this?\n",
            b"xyzzy 1 2 3\r\n",
            b"caf\xc3\xa9\r\n",
            // PuTTY's options of telnet.
            b"\xff\xfb\x1f\xff\xfb\x20\xff\xfb\x18\xff\xfb\x27\xff\xfd\x01\xff\xfb\x03\xff\xfd\x03",
        ] {
            for end in ["\n", "\r\n"] {
                let mut gui = Gui::over(connect("127.0.0.1", to).await.unwrap());
                gui.bytes(&[begins, word.as_bytes(), end.as_bytes()].concat())
                    .await;
                gui.hears(answer).await;
            }
        }
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_is_answered_with_words() {
    let mut daemon = Daemon::with_web("");
    let to = daemon.address("web");
    for (request, wanted, words) in [
        (
            get("/api/v1/boards/two", HERE),
            404,
            "no board named two: take one of one",
        ),
        (get("/nowhere", HERE), 404, "/api/v1/boards"),
        (get("/api/v1/games?after=x", HERE), 400, "?before="),
        (post("/api/v1/boards/one/dance", JSON, "{}"), 404, "page"),
        (
            post("/api/v1/boards/one/promotion", JSON, "{\"piece\": \"k\"}"),
            400,
            "`q`",
        ),
        (
            post("/api/v1/boards/one/draw", JSON, "{}"),
            409,
            "one is free",
        ),
        (get("/api/v1/boards/%ff", HERE), 400, "not text"),
        (get(RELEASE, HERE), 405, "POST"),
        (post("/api/v1/boards", JSON, "{}"), 405, "GET"),
        (
            post("/api/v1/boards/two/release", JSON, "{}"),
            404,
            "no board named two",
        ),
        (post(RELEASE, JSON, "{\"all\": true}"), 400, "all"),
        (post(RELEASE, JSON, "[]"), 400, "{}"),
        (post(RELEASE, JSON, ""), 400, "{}"),
        (post(RELEASE, JSON, &" ".repeat(5000)), 413, "4096 bytes"),
    ] {
        let (status, answer) = http("127.0.0.1", to, &request).await;
        let error = answer["error"].as_str().unwrap();
        assert!(
            status == wanted && error.contains(words),
            "{request}{status} {answer}"
        );
    }
}

#[tokio::test]
async fn a_request_without_end_is_given_up() {
    let mut daemon = Daemon::with_web("");
    let to = daemon.address("web");
    let began = Instant::now();
    let mut silent = connect("127.0.0.1", to).await.unwrap();
    let mut head = connect("127.0.0.1", to).await.unwrap();
    head.write_all(b"GET /api/v1/boards HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        .await
        .unwrap();
    let mut body = connect("127.0.0.1", to).await.unwrap();
    let text = format!("POST {RELEASE} HTTP/1.1\r\n{JSON}Content-Length: 100\r\n\r\n{{");
    body.write_all(text.as_bytes()).await.unwrap();
    let mut long = connect("127.0.0.1", to).await.unwrap();
    let text = format!("GET /{} HTTP/1.1\r\n{HERE}\r\n", "x".repeat(100_000));
    // It is refused before it is read whole.
    let _ = long.write_all(text.as_bytes()).await;
    assert!(!rest(&mut long).await.contains("200 OK"));
    assert!(rest(&mut body).await.contains("408"));
    rest(&mut head).await;
    rest(&mut silent).await;
    assert!(
        began.elapsed() < Duration::from_secs(25),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn the_app_keeps_its_game_from_another_address() {
    let app = "[[whitepawn]]\nboard = \"one\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let mut daemon = Daemon::with_web(app);
    let to = daemon.address("whitepawn for one");
    let mut app = Gui::over(connect("127.0.0.2", to).await.unwrap());
    app.says("H0").await;
    app.hears("H1").await;
    // Without a game the newest app is the one.
    let mut other = Gui::over(connect("127.0.0.3", to).await.unwrap());
    other.says("H0").await;
    other.hears("H1").await;
    drop(app);
    let mut app = Gui::over(connect("127.0.0.2", to).await.unwrap());
    app.says("H0").await;
    app.hears("H1").await;
    app.says("NG1N").await;
    daemon.logs("begins");
    let mut stranger = Gui::over(connect("127.0.0.3", to).await.unwrap());
    stranger.says("H0").await;
    assert_eq!(stranger.line().await, None);
    daemon.logs("the app of another address has a game on the board");
    // Put out, it no longer keeps its place.
    assert!(daemon.releases("one").status.success());
    daemon.logs("put out of the board");
    let mut stranger = Gui::over(connect("127.0.0.3", to).await.unwrap());
    stranger.says("H0").await;
    stranger.hears("H1").await;
}

#[tokio::test]
async fn a_default_port_that_is_taken_is_a_warning_and_a_configured_one_an_error() {
    let sections = ["uci", "status", "web", "livechess"];
    for (section, taken) in sections.into_iter().zip([9670, 9680, 9660, 1982]) {
        let taken = format!("127.0.0.1:{taken}");
        let _taken = occupied(&taken);
        let others = sections.into_iter().filter(|other| *other != section);
        let others: String = others
            .map(|other| format!("[{other}]\nlisten = \"127.0.0.1:0\"\n"))
            .collect();
        let mut daemon = Daemon::start(&others);
        let line = daemon.logs(&format!("{section} cannot listen at {taken}"));
        assert!(line.contains("WARN"), "{line}");
        let (other, hello) = match section {
            "uci" => ("web", "GET /api/v1/boards HTTP/1.1\nHost: localhost\n"),
            _ => ("uci", "uci"),
        };
        let address = daemon.address(other);
        let mut client = Gui::over(connect("127.0.0.1", address).await.unwrap());
        client.says(hello).await;
        client
            .hears(if other == "uci" {
                "uciok"
            } else {
                "HTTP/1.1 200"
            })
            .await;
        let own = format!("[{section}]\nlisten = \"{taken}\"\n");
        let mut daemon = Daemon::start(&(others + &own));
        daemon.logs(&format!("boardbridge: {section} cannot listen at {taken}"));
        assert_eq!(daemon.child.wait().unwrap().code(), Some(1));
    }
}

#[tokio::test]
async fn the_apps_default_port_that_is_taken_is_a_warning_too() {
    let _taken = occupied("127.0.0.1:9690");
    let app = |tcp| format!("{PORTS}[[whitepawn]]\nboard = \"one\"\ntcp = {tcp}\n");
    let mut daemon = Daemon::start(&app("{}"));
    let line = daemon.logs("whitepawn for one cannot listen at 127.0.0.1:9690");
    assert!(line.contains("WARN"), "{line}");
    daemon.address("uci");
    let mut daemon = Daemon::start(&app("{ listen = \"127.0.0.1:9690\" }"));
    daemon.logs("boardbridge: whitepawn for one cannot listen at 127.0.0.1:9690");
    assert_eq!(daemon.child.wait().unwrap().code(), Some(1));
}
