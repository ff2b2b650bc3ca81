//! The relay between a GUI and daemons that come and go: the real program with a daemon played by the test, with the
//! real daemon, and its logic alone on a clock that only the test moves.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use boardbridge::front_end::uci::{
    command::ALIVE,
    relay::session::{
        ALIVE_EVERY, ANSWER_WAIT, Action, GREETING_WAIT, MAX_OPTIONS, PATIENCE as UCI_WAIT, QUIET,
        RelayConversation, WRONG_WAIT,
    },
};
use proptest::prelude::*;

use crate::support::{
    ports::unused_address,
    program::{PATIENCE, Program, boardbridge},
};

const GREETING: &str =
    "id name a daemon\noption name Board type combo default citrine var citrine var ucb\nuciok\n";

/// A listener of the test.
struct Place {
    listener: TcpListener,
    address: String,
}

impl Place {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        Self { listener, address }
    }

    fn relay(&self, more: &[&str]) -> Program {
        let mut command = boardbridge();
        command.args(["uci", "--connect", &self.address]).args(more);
        Program::start(&mut command, false)
    }

    /// Accepts the next connection.
    fn accept(&self) -> Far {
        self.listener.set_nonblocking(true).unwrap();
        let until = Instant::now() + PATIENCE;
        let stream = loop {
            match self.listener.accept() {
                Ok((stream, _)) => break stream,
                Err(_) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
                Err(error) => panic!("no relay connects: {error}"),
            }
        };
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Far {
            reader: BufReader::new(stream.try_clone().unwrap()),
            stream,
            log: Vec::new(),
        }
    }

    /// Accepts the next connection, with its introduction done.
    fn daemon(&self) -> Far {
        let mut far = self.accept();
        far.hears("uci");
        far.says(GREETING);
        far
    }
}

/// The daemon's end of a connection.
struct Far {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    log: Vec<String>,
}

impl Far {
    fn says(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
            panic!("no more lines after {:?}", self.log);
        }
        let line = line.trim_end().to_owned();
        self.log.push(line.clone());
        line
    }

    fn hears(&mut self, wanted: &str) {
        while self.line() != wanted {}
    }

    /// Everything received up to an `isready` of the relay's or the GUI's.
    fn hears_all(&mut self) -> Vec<String> {
        self.hears("isready");
        self.log[..self.log.len() - 1].to_vec()
    }
}

fn answers(gui: &Program) -> Vec<&str> {
    let lines = gui.log.iter().map(String::as_str);
    lines.filter(|line| line.starts_with("bestmove")).collect()
}

#[test]
fn a_game_is_stated_again_to_the_next_daemon_and_its_go_is_answered_once() {
    let place = Place::new();
    let mut gui = place.relay(&["--board", "ucb"]);
    gui.says("uci");
    let mut first = place.daemon();
    gui.prints("uciok");
    gui.says("setoption name Promotion value rook\nsetoption name Promotion value knight\nsetoption name Board ready");
    gui.says("position startpos moves e2e4 e7e5\ngo searchmoves g1f3 d2d4 wtime 1000");
    first.hears("go searchmoves g1f3 d2d4 wtime 1000");
    assert!(first.log.contains(&"setoption name Board ready".to_owned()));
    // Half a line is none.
    first.says("bestmove g1");
    drop(first);
    gui.prints("info string BoardBridge at 127.0.0.1");
    let mut second = place.daemon();
    gui.prints("info string BoardBridge answers at");
    second.hears("go searchmoves g1f3 d2d4 wtime 1000");
    assert_eq!(
        second.log,
        [
            "setoption name Board value ucb",
            "uci",
            "setoption name Promotion value knight",
            "position startpos moves e2e4 e7e5",
            "go searchmoves g1f3 d2d4 wtime 1000"
        ]
    );
    second.says("bestmove g1f3\nbestmove g1f3\ninfo string behind\n");
    gui.prints("info string behind");
    assert_eq!(answers(&gui), ["bestmove g1f3"]);
    let introductions = gui.log.iter().filter(|line| *line == "uciok");
    assert_eq!(introductions.count(), 1, "{:?}", gui.log);
    // An answered search is not asked for again.
    drop(second);
    let mut third = place.daemon();
    third.hears("position startpos moves e2e4 e7e5");
    gui.says("quit");
    third.hears("quit");
    assert!(!third.log.iter().any(|line| line.starts_with("go")));
}

#[test]
fn a_new_game_is_announced_again_only_until_a_daemon_has_taken_it() {
    let place = Place::new();
    let mut gui = place.relay(&[]);
    let mut first = place.daemon();
    gui.says("position startpos moves a2a3\nucinewgame");
    first.hears("ucinewgame");
    drop(first);
    gui.prints("info string BoardBridge at");
    // Nothing of the game before it.
    let mut second = place.daemon();
    gui.says("position startpos\ngo");
    second.hears("isready");
    drop(second);
    // It may not have read this.
    let mut third = place.daemon();
    assert_eq!(
        third.hears_all(),
        ["uci", "ucinewgame", "position startpos", "go"]
    );
    third.says("readyok\ninfo string taken\n");
    gui.prints("info string taken");
    drop(third);
    let mut fourth = place.daemon();
    fourth.hears("go");
    assert_eq!(fourth.log, ["uci", "position startpos", "go"]);
    assert_eq!(answers(&gui), [""; 0]);
    assert!(
        !gui.log.iter().any(|line| line == "readyok"),
        "{:?}",
        gui.log
    );
}

#[test]
fn without_a_daemon_the_gui_is_answered_and_told_why() {
    let place = Place::new();
    let mut gui = place.relay(&[]);
    gui.says("uci");
    let mut far = place.daemon();
    gui.prints("uciok");
    gui.says("position startpos\ngo infinite\nisready");
    far.hears("isready");
    drop(far);
    // What the daemon owes, the relay gives.
    gui.prints("readyok");
    drop(place);
    gui.says("isready\nstop");
    gui.prints("readyok");
    gui.prints("bestmove 0000");
    gui.says("go");
    gui.prints("info string waiting: BoardBridge ");
    gui.says("position startpos moves e2e4");
    gui.prints("bestmove 0000");
    gui.says("uci");
    gui.prints("option name Board type combo default citrine var citrine var ucb");
    gui.prints("uciok");
    let began = Instant::now();
    assert_eq!(gui.ends(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_gui_that_starts_before_the_daemon_is_introduced_with_the_reason_and_plays_when_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let mut command = boardbridge();
    command.args(["uci", "--connect", &address, "--board", "citrine"]);
    let mut gui = Program::start(&mut command, false);
    gui.says("uci\nisready");
    gui.prints("info string BoardBridge cannot be reached at 127.0.0.1");
    gui.prints("option name Board type combo default citrine var citrine");
    gui.prints("uciok");
    gui.prints("readyok");
    gui.says("ucinewgame\nposition startpos\ngo");
    let mut board = citrine(folder.path());
    let _daemon = daemon(folder.path(), &address);
    gui.prints("White to move");
    board.says("e2e4");
    gui.prints("bestmove e2e4");
}

#[test]
fn a_line_that_no_daemon_takes_is_refused_in_words() {
    let place = Place::new();
    let mut gui = place.relay(&[]);
    gui.says("uci");
    let mut far = place.daemon();
    gui.prints("uciok");
    gui.says(&format!(
        "position startpos moves {}",
        "e2e4 ".repeat(20_000)
    ));
    gui.prints("info string a line of 100024 bytes was ignored: 65536 is the limit");
    gui.says("position startpos");
    far.hears("position startpos");
    // The relay asks `uci` itself, if it is connected before the program has.
    far.log.retain(|line| line != ALIVE);
    far.log.dedup();
    assert_eq!(far.log, ["uci", "position startpos"]);
}

#[test]
fn with_no_daemon_the_end_of_the_input_ends_it_at_once() {
    let began = Instant::now();
    let output = boardbridge()
        .args(["uci", "--connect", "127.0.0.1:1"])
        .stdin(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn an_address_without_a_port_is_said_to_the_gui_and_ends_it() {
    for command in ["uci", "watch"] {
        let output = boardbridge()
            .args([command, "--connect", "raspberrypi"])
            .stdin(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        let told = String::from_utf8(output.stderr).unwrap();
        let port = if command == "uci" { 9670 } else { 9680 };
        let words = format!("`raspberrypi` lacks the port: write for instance raspberrypi:{port}");
        assert!(told.contains(&words), "{told}");
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(shown.contains(&words), command == "uci", "{shown}");
    }
}

/// Both commands, which are connected to something else that says this, tell what it is.
fn is_told_as(said: &str, words: &str) {
    let place = Place::new();
    let mut gui = place.relay(&[]);
    let mut at_gui = place.accept();
    let place = Place::new();
    let mut command = boardbridge();
    command.args(["watch", "--connect", &place.address]);
    let mut watch = Program::start(&mut command, true);
    let mut at_watch = place.accept();
    at_gui.says(said);
    if said.starts_with('{') {
        at_watch.hears("uci");
        at_watch.says(GREETING);
        let line = watch.prints("is a port for chess programs");
        assert!(line.contains("`[status] listen`"), "{line}");
    } else {
        at_watch.says(said);
        watch.prints(words);
    }
    let line = gui.prints(words);
    assert!(line.contains("`[uci] listen`"), "{line}");
}

#[test]
fn what_is_at_a_wrong_port_is_said() {
    thread::scope(|scope| {
        for (said, words) in [
            (
                "{\"event\":\"daemon\"}\n",
                "is the event stream, which `boardbridge watch` shows",
            ),
            ("HTTP/1.1 400 Bad Request\r\n", "a web server answers at"),
            ("220 mail\r\n", "it says `220 mail`"),
            ("", "says nothing, as the port for the WhitePawn app does"),
        ] {
            scope.spawn(move || is_told_as(said, words));
        }
    });
}

// With the real daemon.

fn citrine(folder: &Path) -> Program {
    let mut command = boardbridge();
    command
        .args(["simulate", "novag-citrine", "--hand-delay", "1ms", "--link"])
        .arg(folder.join("citrine"));
    let mut board = Program::start(&mut command, false);
    board.prints("plugged");
    board
}

fn daemon(folder: &Path, address: &str) -> Program {
    let file: PathBuf = folder.join("bb.toml");
    let text = format!(
        "[uci]\nlisten = {address:?}\n[status]\nlisten = \"off\"\n[games]\ndirectory = \"off\"\n[state]\ndirectory = \"off\"\n[boards.citrine]\n\
         kind = \"novag-citrine\"\nserial = {{ port = {:?} }}\n",
        folder.join("citrine")
    );
    fs::write(&file, text).unwrap();
    let mut daemon = Program::start(boardbridge().args(["run", "--config"]).arg(&file), true);
    daemon.prints("uci listens at");
    daemon
}

fn terminate(mut daemon: Program) {
    let id = daemon.child.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    assert!(daemon.child.wait().unwrap().success());
}

#[test]
fn a_game_goes_on_through_stops_and_kills_of_the_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let mut board = citrine(folder.path());
    // While the daemon is away, nobody else is given its port.
    let address = unused_address().to_string();
    let mut first = daemon(folder.path(), &address);
    let mut command = boardbridge();
    command.args(["uci", "--connect", &address]);
    let mut gui = Program::start(&mut command, false);
    gui.says("ucinewgame\nposition startpos\ngo");
    gui.prints("White to move");
    terminate(first);
    gui.prints("info string BoardBridge at");
    first = daemon(folder.path(), &address);
    gui.prints("White to move");
    board.says("e2e4");
    gui.prints("bestmove e2e4");
    gui.says("position startpos moves e2e4 e7e5\ngo");
    board.prints("executed e7e5");
    // Killed, and waited for: until then it has the port.
    drop(first);
    gui.prints("info string BoardBridge at");
    // Made while nothing listens.
    board.says("g1f3");
    board.prints("made g1f3");
    let _daemon = daemon(folder.path(), &address);
    gui.prints("bestmove g1f3");
    assert_eq!(answers(&gui), ["bestmove e2e4", "bestmove g1f3"]);
}

#[test]
fn a_daemon_that_stops_does_not_answer_a_go() {
    let folder = tempfile::tempdir().unwrap();
    let _board = citrine(folder.path());
    let daemon = daemon(folder.path(), "127.0.0.1:0");
    let line = daemon.log.last().unwrap().clone();
    let mut stream = TcpStream::connect(line.split_whitespace().last().unwrap()).unwrap();
    stream
        .write_all(b"position startpos\ngo\nisready\n")
        .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "readyok"));
    terminate(daemon);
    let rest: Vec<String> = lines.collect();
    assert!(
        rest.iter()
            .any(|line| line.starts_with("info string BoardBridge is being stopped"))
            && !rest.iter().any(|line| line.starts_with("bestmove")),
        "{rest:?}"
    );
}

// The rules alone.

/// A GUI, a clock, and any daemon that the test makes.
struct Desk {
    talk: RelayConversation,
    now: Instant,
    said: Vec<String>,
    sent: Vec<String>,
    others: Vec<Action>,
}

impl Desk {
    fn new() -> Self {
        let now = Instant::now();
        let mut desk = Self {
            talk: RelayConversation::new("pi:9670", None, now),
            now,
            said: Vec::new(),
            sent: Vec::new(),
            others: Vec::new(),
        };
        desk.act();
        assert_eq!(desk.others, [Action::Connect]);
        desk
    }

    /// With a daemon.
    fn up() -> Self {
        let mut desk = Self::new();
        desk.meets();
        desk
    }

    fn meets(&mut self) {
        self.talk.connected(self.now);
        for line in GREETING.lines() {
            self.hears(line);
        }
    }

    fn act(&mut self) {
        while let Some(action) = self.talk.poll_action() {
            match action {
                Action::Say(line) => self.said.push(line),
                Action::Send(line) => self.sent.push(line),
                other => self.others.push(other),
            }
        }
    }

    fn gui(&mut self, line: &str) {
        self.talk.gui_line(line, self.now);
        self.act();
    }

    fn hears(&mut self, line: &str) {
        self.talk.daemon_line(line, self.now);
        self.act();
    }

    /// Advances the time to the next deadline that is not about a sign of life; returns how long that was.
    fn waits(&mut self) -> Duration {
        let before = self.now;
        loop {
            let (sent, others) = (self.sent.len(), self.others.len());
            self.now = self.talk.deadline().unwrap();
            self.talk.timeout(self.now);
            self.act();
            let is_sign = self.sent.get(sent).is_some_and(|line| line == ALIVE);
            if is_sign {
                self.sent.remove(sent);
            }
            if !is_sign || self.sent.len() > sent || self.others.len() > others {
                return self.now - before;
            }
        }
    }

    fn count(&self, head: &str) -> usize {
        self.said
            .iter()
            .filter(|line| line.starts_with(head))
            .count()
    }
}

#[test]
fn a_daemon_that_falls_silent_is_asked_and_then_given_up() {
    let mut desk = Desk::up();
    desk.gui("position startpos");
    desk.gui("go");
    assert_eq!(desk.waits(), QUIET);
    assert_eq!(desk.sent.last().unwrap(), "isready");
    desk.hears("readyok");
    assert_eq!(desk.waits(), QUIET);
    assert_eq!(desk.waits(), ANSWER_WAIT);
    assert_eq!(desk.others.last(), Some(&Action::HangUp));
    assert_eq!(
        desk.count("info string BoardBridge at pi:9670 does not answer"),
        1
    );
    assert_eq!(desk.count("readyok"), 0, "the GUI has not asked");
    desk.waits();
    assert_eq!(desk.others.last(), Some(&Action::Connect));
    desk.sent.clear();
    desk.meets();
    assert_eq!(desk.sent, ["uci", "position startpos", "go"]);
}

#[test]
fn a_daemon_has_a_sign_of_life_at_once_and_again_and_again() {
    let mut desk = Desk::new();
    assert_eq!(desk.talk.deadline(), None, "nobody hears it");
    desk.meets();
    desk.sent.clear();
    for _ in 0..5 {
        desk.now = desk.talk.deadline().unwrap();
        desk.talk.timeout(desk.now);
        desk.act();
        assert_eq!(desk.sent, [ALIVE]);
        desk.sent.clear();
        assert_eq!(desk.talk.deadline(), Some(desk.now + ALIVE_EVERY));
    }
}

#[test]
fn a_ponderhit_is_said_again_behind_its_go() {
    let mut desk = Desk::up();
    desk.gui("debug on");
    desk.gui("position startpos moves e2e4 e7e5");
    desk.gui("go ponder wtime 1000");
    desk.gui("ponderhit");
    desk.talk.closed(desk.now);
    desk.waits();
    desk.sent.clear();
    desk.meets();
    assert_eq!(
        desk.sent,
        [
            "uci",
            "debug on",
            "position startpos moves e2e4 e7e5",
            "go ponder wtime 1000",
            "ponderhit"
        ]
    );
}

#[test]
fn a_stop_that_a_dead_daemon_has_is_answered_within_a_bounded_time() {
    let mut desk = Desk::up();
    desk.gui("go infinite");
    desk.gui("stop");
    assert_eq!(desk.count("bestmove"), 0);
    assert_eq!(desk.waits(), ANSWER_WAIT);
    assert_eq!(desk.count("bestmove 0000"), 1);
    desk.waits();
    desk.sent.clear();
    desk.meets();
    assert_eq!(desk.sent, ["uci"], "it is not searched for again");
}

#[test]
fn the_answer_that_crosses_a_stop_is_the_only_one() {
    let mut desk = Desk::up();
    desk.gui("go");
    desk.gui("stop");
    desk.hears("bestmove e2e4");
    desk.gui("position startpos moves e2e4 e7e5");
    desk.gui("go");
    desk.talk.closed(desk.now);
    desk.act();
    assert_eq!(desk.count("bestmove"), 1);
}

#[test]
fn a_wrong_port_is_told_once_and_asked_seldom() {
    let mut desk = Desk::new();
    for _ in 0..3 {
        desk.talk.connected(desk.now);
        desk.hears("{\"event\":\"daemon\"}");
        assert_eq!(desk.waits(), WRONG_WAIT);
    }
    assert_eq!(desk.count("info string"), 1);
}

#[test]
fn a_connection_to_a_service_that_restarts_waits_for_it() {
    let mut desk = Desk::new();
    desk.gui("uci");
    desk.talk.connected(desk.now);
    desk.act();
    assert_eq!(desk.waits(), UCI_WAIT);
    desk.hears("uciok");
    assert_eq!(desk.count("info string BoardBridge answers at pi:9670"), 1);
    // Without an answer it is another service's port, and left alone for long.
    let mut desk = Desk::new();
    desk.talk.connected(desk.now);
    assert_eq!(desk.waits(), GREETING_WAIT);
    assert_eq!(desk.others.last(), Some(&Action::HangUp));
    assert_eq!(desk.waits(), WRONG_WAIT);
}

#[test]
fn attempts_back_off_and_each_reason_is_told_once() {
    let mut desk = Desk::new();
    let mut waits = Vec::new();
    for attempt in 0..10 {
        let why = ["refused", "no such machine"][attempt % 2];
        desk.talk.failed(why.to_owned(), desk.now);
        waits.push(desk.waits().as_millis());
    }
    assert_eq!(waits[..6], [250, 500, 1000, 2000, 4000, 5000]);
    assert_eq!(desk.count("info string"), 2);
    desk.meets();
    assert_eq!(desk.count("info string BoardBridge answers at pi:9670"), 1);
}

#[test]
fn uci_without_a_daemon_is_answered_in_time() {
    let mut desk = Desk::new();
    desk.gui("uci");
    desk.gui("isready");
    assert!(desk.said.is_empty());
    assert_eq!(desk.waits(), UCI_WAIT);
    let at = |line: &str| desk.said.iter().position(|said| said == line).unwrap();
    assert!(at("uciok") < at("readyok"));
    assert!(desk.said[0].starts_with("info string BoardBridge at pi:9670 has not answered yet"));
    desk.meets();
    assert_eq!(desk.count("uciok"), 1);
    assert_eq!(
        desk.said.last().unwrap(),
        "info string BoardBridge answers at pi:9670; the option Board is one of: citrine, ucb"
    );
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut desk = Desk::up();
    for number in 0..2 * MAX_OPTIONS {
        desk.gui(&format!("setoption name X{number} value 1"));
    }
    desk.gui(&format!("setoption name Long value {}", "x".repeat(5000)));
    desk.talk.closed(desk.now);
    desk.waits();
    desk.sent.clear();
    desk.meets();
    assert_eq!(desk.sent.len(), 1 + MAX_OPTIONS);
}

/// A daemon as far as the relay sees it.
#[derive(Default)]
struct Model {
    greeted: bool,
    position: Option<String>,
    searching: bool,
    new_games: usize,
    /// Sent and not read by the relay yet.
    out: Vec<String>,
}

impl Model {
    fn takes(&mut self, line: &str) {
        let word = line.split(' ').next().unwrap();
        let ends = matches!(word, "stop" | "position" | "go" | "ucinewgame");
        if ends && std::mem::take(&mut self.searching) {
            self.out.push("bestmove 0000".to_owned());
        }
        match word {
            "uci" => {
                self.out.extend(GREETING.lines().map(str::to_owned));
                self.greeted = true;
            }
            "isready" => self.out.push("readyok".to_owned()),
            "position" => self.position = Some(line.to_owned()),
            "ucinewgame" => self.new_games += 1,
            "go" => self.searching = true,
            _ => {}
        }
    }
}

proptest! {
    /// Whatever happens to daemons and whenever, each `go` has one answer or is being searched for in the GUI's
    /// position.
    #[test]
    fn any_history_of_daemons_leaves_the_gui_with_one_answer_a_go(steps in prop::collection::vec(0_u8..12, 1..120)) {
        let mut desk = Desk::new();
        let mut daemon: Option<Model> = None;
        let (mut goes, mut asked, mut position) = (0, 0, None);
        let mut searching = false;
        let settle = |desk: &mut Desk, daemon: &mut Option<Model>, reads: bool| {
            if let Some(model) = daemon {
                for line in desk.sent.drain(..) {
                    model.takes(&line);
                }
                if reads {
                    for line in std::mem::take(&mut model.out) {
                        desk.hears(&line);
                    }
                }
            } else {
                desk.sent.clear();
            }
        };
        for (number, step) in steps.iter().enumerate() {
            match step {
                0 => { desk.gui("isready"); asked += 1; }
                1 | 2 => {
                    let line = format!("position startpos moves {number}");
                    desk.gui(&line);
                    (position, searching) = (Some(line), false);
                }
                3 | 4 => { desk.gui("go"); goes += 1; searching = true; }
                5 => { desk.gui("stop"); searching = false; }
                6 => { desk.gui("ucinewgame"); (position, searching) = (None, false); }
                7 if daemon.is_none() => {
                    if desk.others.last() != Some(&Action::Connect) { desk.waits(); }
                    desk.talk.connected(desk.now);
                    desk.act();
                    desk.others.clear();
                    daemon = Some(Model::default());
                }
                // The daemon takes what was sent, and is heard or not.
                8 => settle(&mut desk, &mut daemon, false),
                9 => settle(&mut desk, &mut daemon, true),
                10 => if let Some(model) = &mut daemon && std::mem::take(&mut model.searching) {
                    // Before what was said meanwhile has come.
                    model.out.push("bestmove e2e4".to_owned());
                },
                _ => if daemon.take().is_some() {
                    desk.talk.closed(desk.now);
                    desk.act();
                    desk.sent.clear();
                },
            }
            prop_assert!(desk.count("bestmove") <= goes);
            prop_assert!(desk.count("readyok") <= asked);
        }
        if daemon.is_none() {
            if desk.others.last() != Some(&Action::Connect) { desk.waits(); }
            desk.talk.connected(desk.now);
            desk.act();
            daemon = Some(Model::default());
        }
        while !desk.sent.is_empty() || daemon.as_ref().is_some_and(|model| !model.out.is_empty()) {
            settle(&mut desk, &mut daemon, true);
        }
        let model = daemon.unwrap();
        let open = usize::from(searching && model.searching);
        prop_assert_eq!(desk.count("bestmove") + open, goes, "{:?}", desk.said);
        prop_assert_eq!(desk.count("readyok"), asked);
        if position.is_some() {
            prop_assert_eq!(model.position, position);
        }
        prop_assert!(model.new_games <= 1 + steps.iter().filter(|step| **step == 6).count());
    }
}
