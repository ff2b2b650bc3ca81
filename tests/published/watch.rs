//! `boardbridge watch` as a person and a program use it.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::{TcpListener, TcpStream},
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
};

use boardbridge::front_end::event_stream::MAX_WATCHERS;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{PATIENCE, Program, boardbridge};
use crate::support::schema;

/// A daemon with a Citrine, a UCB that is not plugged in, and the app's address for the Citrine.
struct House {
    daemon: Program,
    board: Program,
    uci: String,
    app: String,
    status: String,
    _folder: TempDir,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = folder.path().join("citrine");
        let mut board = Program::start(
            boardbridge()
                .args(["simulate", "novag-citrine", "--hand-delay", "1ms", "--link"])
                .arg(&port),
            false,
        );
        board.prints("plugged");
        let file = folder.path().join("bb.toml");
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n\
             [boards.citrine]\nkind = \"novag-citrine\"\nserial = {{ port = {port:?} }}\n\
             [boards.spare]\nkind = \"novag-ucb\"\nserial = {{ port = {:?} }}\n\
             [[whitepawn]]\nboard = \"citrine\"\ntcp = {{ listen = \"127.0.0.1:0\" }}\n",
            folder.path().join("nothing")
        );
        fs::write(&file, text).unwrap();
        let mut daemon = Program::start(boardbridge().args(["run", "--config"]).arg(&file), true);
        let mut address = |what: &str| {
            let line = daemon.prints(&format!("{what} listens at"));
            line.split_whitespace().last().unwrap().to_owned()
        };
        let (uci, app, status) = (
            address("uci"),
            address("whitepawn for citrine"),
            address("status"),
        );
        Self {
            daemon,
            board,
            uci,
            app,
            status,
            _folder: folder,
        }
    }

    /// `boardbridge watch`, with these arguments.
    fn watch(&self, more: &[&str]) -> Command {
        let mut command = boardbridge();
        command
            .args(["watch", "--connect", &self.status])
            .args(more);
        command
    }

    /// A GUI that waits for the player's second move on the Citrine.
    fn gui(&mut self) -> Program {
        let mut gui = Program::start(
            boardbridge().args(["uci", "--connect", &self.uci, "--board", "citrine"]),
            false,
        );
        gui.says("position startpos moves d2d4 d7d5\ngo");
        self.board.prints("executed d7d5");
        gui
    }

    /// The app, in a game that waits for the GUI's to end.
    fn app(&mut self) -> Program {
        let app = Program::start(
            boardbridge()
                .args(["simulate", "whitepawn-app", "--connect", &self.app])
                .args(["--game-type", "3", "--seed", "1", "--plays", "black"]),
            false,
        );
        self.daemon.prints("the board is in another game, with");
        app
    }
}

#[test]
fn a_person_sees_boards_and_clients_and_then_what_happens() {
    let mut house = House::new();
    let mut gui = house.gui();
    let _app = house.app();
    let mut idle = Program::start(boardbridge().args(["uci", "--connect", &house.uci]), false);
    idle.says("uci");
    idle.prints("uciok");
    let mut watch = Program::start(&mut house.watch(&[]), false);
    watch.prints("2 boards, 3 clients");
    watch.prints("citrine  up (UCBII V1.09), ");
    watch.prints("  game       last move 1... d5 (d7d5); White to move");
    let with = watch.prints("  with       127.0.0.1:");
    assert!(
        with.contains(", waiting for a move; waiting: the WhitePawn app (tcp "),
        "{with}"
    );
    watch.prints("  do         ");
    watch.prints("spare  no link, ");
    let app = watch.prints("the WhitePawn app (tcp ");
    assert!(
        app.contains("waits for citrine, on Lichess, awaits a move"),
        "{app}"
    );
    watch.prints("; has citrine, awaits a move");
    watch.prints("; on citrine, unless it chooses another board");
    house.board.says("e2e4");
    watch.prints("  citrine  2. e4 (e2e4) by hand");
    idle.says("setoption name Board value spare\nisready");
    watch.prints("  spare    127.0.0.1:");
    gui.says("quit");
    watch.prints(": left: it quit");
    watch.prints("  citrine  the board is with the WhitePawn app (tcp ");
}

#[test]
fn every_line_for_programs_is_of_the_schema() {
    let mut house = House::new();
    let mut watch = Program::start(&mut house.watch(&["--json"]), false);
    watch.prints("\"snapshot\"");
    let mut gui = house.gui();
    let app = house.app();
    house.board.says("e2e4");
    gui.prints("bestmove e2e4");
    gui.says("position startpos moves d2d4 d7d5 e2e4 c7c5\ngo");
    house.board.prints("executed c7c5");
    gui.says("quit");
    watch.prints("the board is with the WhitePawn app");
    let mut late = Program::start(&mut house.watch(&["--json"]), false);
    late.prints("\"client-snapshot\"");
    drop(app);
    watch.prints("left: ");
    late.prints("left: ");
    let schema = schema::events();
    for line in watch.log.iter().chain(&late.log) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(schema.check(&line), Ok(()));
    }
    let told = |log: &[String], words: &str| log.iter().any(|line| line.contains(words));
    assert!(told(&watch.log, "\"san\":\"e4\""), "{:?}", watch.log);
    assert!(told(&late.log, "\"state\":\"has\""), "{:?}", late.log);
}

#[test]
fn one_board_is_watched_alone() {
    let house = House::new();
    let mut watch = Program::start(&mut house.watch(&["--json", "--board", "spare"]), false);
    watch.prints("\"snapshot\"");
    let mut gui = Program::start(
        boardbridge().args(["uci", "--connect", &house.uci, "--board", "citrine"]),
        false,
    );
    gui.says("position startpos\ngo");
    gui.prints("White to move");
    gui.says("setoption name Board value spare\nposition startpos\nisready");
    gui.prints("readyok");
    watch.prints("the board is with 127.0.0.1");
    let others = watch
        .log
        .iter()
        .filter(|line| line.contains("\"board\":\"citrine\""));
    assert_eq!(others.count(), 0, "{:?}", watch.log);
}

#[test]
fn a_board_that_is_not_there_is_said_with_those_that_are() {
    let house = House::new();
    let output = house.watch(&["--board", "silver"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "boardbridge: there is no board named silver; there is: citrine, spare\n"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_at_once() {
    let house = House::new();
    for more in [&["--json"][..], &[]] {
        let mut watch = house.watch(more).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(watch.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        // Nothing happens on any board after this.
        drop(output);
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(watch.wait().unwrap()));
        let status = ended.recv_timeout(PATIENCE).unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn the_end_of_the_daemon_is_said() {
    let mut house = House::new();
    let mut command = house.watch(&[]);
    let mut watch = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(watch.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("spare  ") {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0);
    }
    house.daemon.child.kill().unwrap();
    let Output { status, stderr, .. } = watch.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(0));
    let said = String::from_utf8(stderr).unwrap();
    assert!(
        said.contains("has ended; watch again when it runs"),
        "{said}"
    );
}

/// The daemon keeps running.
#[test]
fn a_watcher_that_gives_way_to_newer_ones_is_told_so() {
    for more in [&["--json"][..], &[]] {
        let house = House::new();
        let mut watch = house.watch(more);
        let watch = watch.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut watch = watch.spawn().unwrap();
        let mut output = BufReader::new(watch.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        let newer: Vec<_> = (0..MAX_WATCHERS)
            .map(|_| TcpStream::connect(&house.status).unwrap())
            .collect();
        let last = output.lines().last().unwrap().unwrap();
        assert!(last.contains("another watcher: at most 32"), "{last}");
        let Output { status, stderr, .. } = watch.wait_with_output().unwrap();
        assert_eq!(status.code(), Some(0));
        assert_eq!(String::from_utf8(stderr).unwrap(), "");
        drop(newer);
    }
}

#[test]
fn whoever_watches_before_there_is_a_daemon_is_told_how_to_start_it() {
    let Output { status, stderr, .. } = boardbridge()
        .args(["watch", "--connect", "127.0.0.1:1"])
        .output()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    let said = String::from_utf8(stderr).unwrap();
    for words in [
        "cannot be reached at 127.0.0.1:1: ",
        "`boardbridge run`",
        "--connect HOST:PORT",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn what_is_no_event_stream_is_told_from_one() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"220 a mail server\r\n").unwrap();
    });
    let Output { status, stderr, .. } = boardbridge()
        .args(["watch", "--connect", &address])
        .output()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    let said = String::from_utf8(stderr).unwrap();
    assert!(
        said.contains("is not BoardBridge: it says `220 a mail server`"),
        "{said}"
    );
}

#[test]
fn what_others_say_reaches_no_terminal_as_it_is() {
    let line = "{\"event\":\"client\",\"client\":\"a\u{9b}31m\",\"text\":\"b\u{7f}\\u001b[2J\"}\n";
    for more in [&["--json"][..], &[]] {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap().to_string();
        thread::spawn(move || {
            let (mut stream, _) = other.accept().unwrap();
            std::io::Write::write_all(&mut stream, line.as_bytes()).unwrap();
        });
        let Output { stdout, .. } = boardbridge()
            .args(["watch", "--connect", &address])
            .args(more)
            .output()
            .unwrap();
        let said = String::from_utf8(stdout).unwrap();
        assert!(said.contains("31m"), "{said:?}");
        assert!(!said.trim_end().contains(char::is_control), "{said:?}");
        if !more.is_empty() {
            let value: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(value, serde_json::from_str::<Value>(line).unwrap());
        }
    }
}

#[test]
fn a_way_of_the_app_that_is_shut_is_named_with_its_board_its_cause_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("ttyGS0");
    let file = folder.path().join("bb.toml");
    let text = format!(
        "[uci]\nlisten = \"off\"\n[status]\nlisten = \"127.0.0.1:0\"\n[games]\ndirectory = \"off\"\n[state]\ndirectory = \"off\"\n\
         [boards.spare]\nkind = \"novag-ucb\"\nserial = {{ port = {:?} }}\n\
         [[whitepawn]]\nboard = \"spare\"\nserial = {{ port = {port:?} }}\n\
         [[whitepawn]]\nboard = \"spare\"\nble = {{}}\n",
        folder.path().join("nothing")
    );
    fs::write(&file, text).unwrap();
    let mut command = boardbridge();
    command
        .env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus")
        .args(["run", "--config"])
        .arg(&file);
    let mut daemon = Program::start(&mut command, true);
    let status = daemon.prints("status listens at");
    let status = status.split_whitespace().last().unwrap().to_owned();
    // Both ways are tried at once; which one is told first is chance.
    let mut ways = vec!["way=serial ", "way=ble "];
    while !ways.is_empty() {
        let line = daemon.prints("the app cannot ");
        assert!(line.contains("whitepawn{board=spare way="), "{line}");
        let left = ways.len();
        ways.retain(|way| !line.contains(way));
        assert!(ways.len() < left, "told twice: {line}");
    }
    let watch = |more: &[&str]| {
        let mut command = boardbridge();
        command.args(["watch", "--connect", &status]).args(more);
        Program::start(&mut command, false)
    };
    let mut person = watch(&[]);
    let missing = person.prints("): cannot connect: there is no ");
    assert!(
        missing.contains("`sudo systemctl status boardbridge-gadget` says why")
            && missing.ends_with("; using spare"),
        "{missing}"
    );
    person.prints("(ble BoardBridge): cannot connect: Bluetooth does not answer");
    let mut program = watch(&["--json"]);
    let line = program.prints("client-snapshot");
    let line: Value = serde_json::from_str(&line).unwrap();
    let why = line["why"].as_str().unwrap();
    assert!(
        why.starts_with("there is no ") && line["since"].is_null(),
        "{line}"
    );
    let _app = Program::start(
        boardbridge()
            .args(["simulate", "whitepawn-app", "--link"])
            .arg(&port),
        false,
    );
    person.prints("): can connect now");
    let line = daemon.prints("is open for the app");
    assert!(line.contains("whitepawn{board=spare way=serial "), "{line}");
    person.prints("): connected by ");
    watch(&[]).prints("): connected since ");
}
