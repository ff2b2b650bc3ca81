//! What the system cannot give: a thread, a clock that is right, an answer of a name server or of systemd. The daemon goes
//! on without, panics nowhere, and SIGTERM ends it.

use std::{
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream, UdpSocket},
    os::unix::{fs::PermissionsExt as _, net::UnixDatagram},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use simulators::run::Kind;
use tempfile::TempDir;

use crate::support::{
    Gui, Hand, House, alone,
    logged::Logged,
    process::{PATIENCE, Watch},
};

/// Where Debian installs the library that sets the clock of one program.
const CLOCKS: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];
/// What a daemon whose thread is free answers within, on a loaded machine.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A daemon with a home-made board on the network, and another board at a port that does not exist.
struct Daemon {
    process: Logged,
    hand: Hand,
    folder: TempDir,
}

/// The configuration; `more` comes after it.
fn text(folder: &Path, board: &str, more: &str) -> String {
    let (state, none) = (folder.join("state"), folder.join("none"));
    format!(
        "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[web]\nlisten = \"127.0.0.1:0\"\n\
         [livechess]\nlisten = \"off\"\n[state]\ndirectory = {state:?}\n\
         [boards.far]\nkind = \"swpp\"\ntcp = {{ address = {board:?} }}\n\
         [boards.cable]\nkind = \"novag-ucb\"\nserial = {{ port = {none:?} }}\n{more}"
    )
}

impl Daemon {
    /// Starts it by this command, which ends with the program.
    fn start(command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = House::folder();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let (hand, address) = Hand::listening(Kind::SwppBoard, true);
        let file = folder.path().join("bb.toml");
        fs::write(&file, text(folder.path(), &address, "")).unwrap();
        let mut command = command(folder.path());
        command
            .args(["run", "--config"])
            .arg(&file)
            .env_remove("JOURNAL_STREAM");
        Self {
            process: Logged::start(&mut command),
            hand,
            folder,
        }
    }

    /// A program and the hand play.
    async fn plays(&mut self) -> Gui {
        let mut gui = Gui::connect(self.process.address("uci").await).await;
        let status = self.process.address("status").await;
        let mut watch = Watch::at(status, Some("far")).await;
        gui.says("setoption name Board value far").await;
        gui.asks("").await;
        watch.asks_at(0).await;
        self.hand.answers(&mut gui, "e2e4").await;
        gui
    }

    /// What the API answers for this path.
    async fn answers(&mut self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.process.address("web").await).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        // One that is refused before it was read may be reset.
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    /// SIGTERM ends it, and nothing has panicked.
    async fn ends(mut self) {
        self.process.signal("TERM");
        self.process.ended().await;
        let panicked = |line: &&String| line.contains("panicked");
        assert_eq!(self.process.log.iter().find(panicked), None);
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_boardbridge"))
}

/// The program as a user who may have one thread. Root may have any number, so it is another user then.
fn with_one_thread(folder: &Path) -> Command {
    // Where that user may read it.
    let own = folder.join("boardbridge");
    fs::copy(env!("CARGO_BIN_EXE_boardbridge"), &own).unwrap();
    let limited = ["-c", "ulimit -u 1 && exec \"$0\" \"$@\""];
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = if root {
        let user = (70_000 + std::process::id() % 100_000).to_string();
        let mut command = Command::new("setpriv");
        command.args(["--clear-groups", "--reuid", &user, "--regid", &user, "bash"]);
        command
    } else {
        Command::new("bash")
    };
    command.args(limited).arg(own).env("HOME", folder);
    command
}

#[tokio::test]
async fn without_a_thread_to_be_had_boards_are_played_on_and_what_needs_one_says_so() {
    let mut daemon = Daemon::start(with_one_thread);
    daemon.process.logs("no link: ").await;
    daemon.plays().await;
    let told = |log: &[String]| {
        log.iter()
            .any(|line| line.contains("cable") && line.contains("no thread can be started"))
    };
    assert!(told(&daemon.process.log), "{:#?}", daemon.process.log);
    let answer = daemon.answers("/api/v1/boards").await;
    assert!(answer.contains("\"ply\":1"), "{answer}");
    daemon.ends().await;
}

/// The library that sets the clock of one program.
fn library() -> Option<&'static str> {
    let library = CLOCKS
        .into_iter()
        .find(|library| Path::new(library).exists());
    if library.is_none() {
        println!("skipped: there is no libfaketime");
    }
    library
}

/// The program with a clock of its own.
fn with_a_clock(library: &str) -> Command {
    let mut command = program();
    command
        .env("LD_PRELOAD", library)
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("DONT_FAKE_MONOTONIC", "1");
    command
}

#[tokio::test]
async fn a_clock_that_no_date_has_room_for_stops_no_game() {
    let Some(library) = library() else { return };
    for (shift, date) in [
        ("-60y", "1970-01-01T00:00:00"),
        ("+9000y", "9999-12-31T23:59:59"),
    ] {
        let mut daemon = Daemon::start(|_| {
            let mut command = with_a_clock(library);
            command.env("FAKETIME", shift);
            command
        });
        daemon.plays().await;
        let mut stream = Gui::connect(daemon.process.address("status").await).await;
        stream.hears_of(date).await;
        let answer = daemon.answers("/api/v1/boards").await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 503") && answer.contains("set it"),
            "{answer}"
        );
        let lost = |line: &&String| line.contains("cannot be kept");
        assert_eq!(daemon.process.log.iter().find(lost), None);
        daemon.ends().await;
    }
}

/// A connection to the API that stays open.
struct Open(BufReader<TcpStream>);

impl Open {
    fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    fn asks(&mut self, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
    }

    /// Reads up to a line with these words; `false` if the connection ends before.
    fn hears(&mut self, words: &str) -> bool {
        let mut line = String::new();
        loop {
            line.clear();
            match self.0.read_line(&mut line) {
                Ok(0) => return false,
                Ok(_) if line.contains(words) => return true,
                Ok(_) => {}
                // What it has not read when it closes may reset the connection.
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                    return false;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_clock_that_becomes_impossible_ends_the_connections_that_are_open_and_nothing_else() {
    let Some(library) = library() else { return };
    for shift in ["-60y", "+9000y"] {
        let folder = House::folder();
        let clock = folder.path().join("clock");
        fs::write(&clock, "+0").unwrap();
        let mut daemon = Daemon::start(|_| {
            let mut command = with_a_clock(library);
            command
                .env("FAKETIME_TIMESTAMP_FILE", &clock)
                .env("FAKETIME_NO_CACHE", "1");
            command
        });
        let web = daemon.process.address("web").await;
        let (mut page, mut idle) = (Open::at(web), Open::at(web));
        page.asks("/api/v1/events");
        assert!(page.hears("\"event\":\"daemon\""));
        idle.asks("/api/v1/boards/far");
        assert!(idle.hears("200 OK"));
        fs::write(&clock, shift).unwrap();
        idle.asks("/api/v1/boards/far");
        assert!(!idle.hears("200 OK"), "{shift}");
        daemon.plays().await;
        assert!(!page.hears("e2e4"), "{shift}");
        let answer = daemon.answers("/api/v1/boards").await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 503"),
            "{answer}"
        );
        fs::write(&clock, "+0").unwrap();
        let answer = daemon.answers("/api/v1/boards").await;
        assert!(answer.contains("\"ply\":1"), "{answer}");
        daemon.ends().await;
    }
}

#[tokio::test]
async fn a_systemd_that_takes_nothing_holds_up_nothing() {
    let folder = House::folder();
    let path = folder.path().join("notify");
    let systemd = UnixDatagram::bind(&path).unwrap();
    let filler = UnixDatagram::unbound().unwrap();
    filler.connect(&path).unwrap();
    filler.set_nonblocking(true).unwrap();
    let full = loop {
        if let Err(error) = filler.send(b"STATUS=of another") {
            break error.kind();
        }
    };
    assert_eq!(full, ErrorKind::WouldBlock);
    let mut daemon = Daemon::start(|_| {
        let mut command = program();
        command
            .env("NOTIFY_SOCKET", &path)
            .env("WATCHDOG_USEC", "600000");
        command
    });
    let mut gui = daemon.plays().await;
    let began = Instant::now();
    let mut longest = Duration::ZERO;
    while began.elapsed() < Duration::from_secs(4) {
        let asked = Instant::now();
        gui.says("isready").await;
        gui.hears("readyok").await;
        longest = longest.max(asked.elapsed());
    }
    assert!(longest < AT_ONCE, "{longest:?}");
    daemon.ends().await;
    drop(systemd);
}

/// Whether this process has the network and the files of its own in which a name server is silent; if not, the test is run there,
/// where that is possible.
fn with_a_silent_name_server(test: &str) -> bool {
    if std::env::var_os("TEST_OF_ITS_OWN_NETWORK").is_some() {
        return true;
    }
    let folder = House::folder();
    let [resolv, switch] = ["resolv.conf", "nsswitch.conf"].map(|name| folder.path().join(name));
    fs::write(
        &resolv,
        "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n",
    )
    .unwrap();
    fs::write(&switch, "hosts: files dns\n").unwrap();
    let own = "ip link set lo up && mount --bind \"$0\" /etc/resolv.conf && mount --bind \"$1\" /etc/nsswitch.conf";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rnm", "sh", "-c", script]);
        command.arg(&resolv).arg(&switch);
        command
    };
    if !unshare(own)
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!(
            "skipped: this system lets a test have no network and files of its own (unshare -rnm, ip, mount)"
        );
        return false;
    }
    let mut command = unshare(&format!("{own} && shift && exec \"$@\""));
    command
        .arg(std::env::current_exe().unwrap())
        .env("TEST_OF_ITS_OWN_NETWORK", "1");
    alone::runs(&mut command, module_path!(), test);
    false
}

/// A name server that answers nothing.
fn silent() -> UdpSocket {
    let server = UdpSocket::bind("127.0.0.1:53").unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    server
}

#[tokio::test]
async fn a_start_that_waits_for_a_name_server_is_ended_by_sigterm() {
    if !with_a_silent_name_server("a_start_that_waits_for_a_name_server_is_ended_by_sigterm") {
        return;
    }
    let server = silent();
    let folder = House::folder();
    let file = folder.path().join("bb.toml");
    fs::write(
        &file,
        "[uci]\nlisten = \"board.example:9670\"\n[state]\ndirectory = \"off\"\n",
    )
    .unwrap();
    let mut process = Logged::start(
        program()
            .args(["run", "--config"])
            .arg(&file)
            .env_remove("JOURNAL_STREAM"),
    );
    // It is asked, so the start waits.
    server.recv(&mut [0; 512]).unwrap();
    process.signal("TERM");
    process.ended().await;
}

#[tokio::test]
async fn a_reload_that_waits_for_a_name_server_holds_up_nothing_and_is_given_up() {
    if !with_a_silent_name_server(
        "a_reload_that_waits_for_a_name_server_holds_up_nothing_and_is_given_up",
    ) {
        return;
    }
    let server = silent();
    let mut daemon = Daemon::start(|_| program());
    let mut gui = daemon.plays().await;
    let file = daemon.folder.path().join("bb.toml");
    let text = fs::read_to_string(&file).unwrap();
    let with_name = text.replacen("127.0.0.1:0", "board.example:9670", 1);
    assert_ne!(text, with_name);
    fs::write(&file, with_name).unwrap();
    daemon.process.signal("HUP");
    server.recv(&mut [0; 512]).unwrap();
    gui.says("isready").await;
    gui.hears("readyok").await;
    daemon.process.logs("was not looked up within").await;
    gui.says("isready").await;
    gui.hears("readyok").await;
    daemon.ends().await;
}
