//! The daemon as a unit of systemd, which the test plays: readiness and status, the watchdog, reload, a socket that was
//! opened before, the journal.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    net::{SocketAddr, TcpListener},
    os::{
        fd::{AsFd, OwnedFd},
        linux::net::SocketAddrExt as _,
        unix::{fs::symlink, net},
    },
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, Once, mpsc as sync},
    thread,
    time::Duration,
};

use boardbridge::{
    board::{actor::Actor, core::Core},
    bus::CAPACITY,
    config::Config,
    daemon::{
        Health, memory_limit,
        systemd::{Notify, watch},
    },
    log::{self, journal::Journal, queue},
    system::cgroup::Cgroup,
    transport::{Transport, serial::SerialPort},
    vocabulary::BoardName,
};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use simulators::run::Kind;
use tempfile::TempDir;
use tokio::{
    io::Interest,
    net::{TcpStream, UnixDatagram},
    sync::broadcast,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::support::{
    FAST_CITRINE, Gui, Hand, House, PATIENCE, logged::Logged, ports::unused_address,
};

/// The daemon in a process of its own, and systemd.
struct Service {
    daemon: Logged,
    told: UnixDatagram,
    /// What systemd keeps for it, by name.
    kept: BTreeMap<String, OwnedFd>,
    folder: TempDir,
}

/// The configuration: free ports, no games saved, these boards, each at the link of this name in the folder.
fn text(folder: &Path, uci: &str, boards: &[(&str, &str)]) -> String {
    let mut text = format!(
        "[uci]\nlisten = \"{uci}\"\n[status]\nlisten = \"127.0.0.1:0\"\n[games]\ndirectory = \"off\"\n[state]\ndirectory = \"off\"\n"
    );
    for (name, link) in boards {
        let port = folder.join(link);
        text.push_str(&format!(
            "[boards.{name}]\n{FAST_CITRINE}serial = {{ port = {port:?} }}\n"
        ));
    }
    text
}

/// A datagram, and the descriptor that came with it.
fn received(socket: &UnixDatagram) -> io::Result<(String, Option<OwnedFd>)> {
    let (mut bytes, mut space) = (
        [0; 4096],
        [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))],
    );
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let count = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut bytes)],
        &mut rights,
        flags,
    )?
    .bytes;
    let passed = rights.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut passed) => passed.next(),
        _ => None,
    });
    Ok((String::from_utf8(bytes[..count].to_vec()).unwrap(), passed))
}

/// The name under which a listener is kept.
fn kept(at: SocketAddr) -> String {
    format!("kept {}", at.to_string().replace(':', "_"))
}

const ANY: &str = "127.0.0.1:0";

impl Service {
    /// Starts it with this configuration and this in its environment.
    fn start(folder: TempDir, text: &str, environment: &[(&str, &str)]) -> Self {
        let command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
        Self::by(command, folder, text, environment)
    }

    /// Starts it by this command.
    fn by(mut command: Command, folder: TempDir, text: &str, environment: &[(&str, &str)]) -> Self {
        let file = folder.path().join("bb.toml");
        fs::write(&file, text).unwrap();
        let socket = folder.path().join("notify");
        let _ = fs::remove_file(&socket);
        let told = UnixDatagram::bind(&socket).unwrap();
        command
            .args(["run", "--config"])
            .arg(&file)
            .env_remove("JOURNAL_STREAM")
            .env_remove("WATCHDOG_USEC")
            .env("NOTIFY_SOCKET", &socket)
            .envs(environment.iter().copied());
        Self {
            daemon: Logged::start(&mut command),
            told,
            kept: BTreeMap::new(),
            folder,
        }
    }

    /// It is killed; returns its folder, and this listener that systemd keeps.
    fn killed(mut self, at: SocketAddr) -> (TempDir, SocketAddr, OwnedFd) {
        drop(self.daemon);
        (self.folder, at, self.kept.remove(&kept(at)).unwrap())
    }

    /// systemd starts it again.
    fn again((folder, at, listener): (TempDir, SocketAddr, OwnedFd), text: &str) -> Self {
        let mut service = Self::by(activated(&listener, &kept(at)), folder, text, &[]);
        service.kept.insert(kept(at), listener);
        service
    }

    /// Waits for a new line of the log with these words.
    async fn logs(&mut self, words: &str) -> String {
        self.daemon.logs(words).await
    }

    /// What systemd is told next, but for what it has to keep, which it does.
    async fn tells(&mut self) -> String {
        loop {
            let told = timeout(
                PATIENCE,
                self.told
                    .async_io(Interest::READABLE, || received(&self.told)),
            );
            let told = told.await.unwrap_or_else(|_| panic!("nothing was told"));
            let (text, passed) = told.unwrap();
            let name = || text.split_once("FDNAME=").unwrap().1.to_owned();
            match text.lines().next().unwrap() {
                "FDSTORE=1" => drop(self.kept.insert(name(), passed.unwrap())),
                "FDSTOREREMOVE=1" => drop(self.kept.remove(&name())),
                "BARRIER=1" => drop(passed.unwrap()),
                _ => return text,
            }
        }
    }

    /// Waits until systemd is told something with these words; returns it.
    async fn tells_of(&mut self, words: &str) -> String {
        loop {
            let told = self.tells().await;
            if told.contains(words) {
                return told;
            }
        }
    }

    /// Stops it, and waits for its end.
    async fn stop(&mut self) {
        self.daemon.signal("TERM");
        self.daemon.ended().await;
    }

    async fn uci(&mut self) -> SocketAddr {
        let line = self.logs("uci listens at").await;
        line.split_whitespace().last().unwrap().parse().unwrap()
    }

    /// Writes another configuration and reloads; waits until that is done.
    async fn reload(&mut self, text: &str) {
        fs::write(self.folder.path().join("bb.toml"), text).unwrap();
        self.daemon.signal("HUP");
        let reloading = self.tells_of("RELOADING=1").await;
        let (_, usec) = reloading.split_once("MONOTONIC_USEC=").unwrap();
        assert!(usec.trim().parse::<u64>().unwrap() > 0);
        self.tells_of("READY=1").await;
    }
}

#[tokio::test]
async fn systemd_is_told_when_all_is_ready_what_goes_on_and_when_it_ends() {
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let text = text(
        folder.path(),
        ANY,
        &[("citrine", "citrine"), ("lost", "lost")],
    );
    let mut service = Service::start(folder, &text, &[]);
    assert_eq!(service.tells().await, "READY=1");
    // Every listener is up by then.
    let uci = service.uci().await;
    let mut gui = Gui::connect(uci).await;
    service.tells_of("STATUS=2 boards, 1 up").await;
    gui.asks("").await;
    let status = service.tells_of("plays on citrine").await;
    assert!(
        status.starts_with("STATUS=2 boards, 1 up; 127.0.0.1:"),
        "{status}"
    );
    service
        .reload(&text.replace("[games]", "[games]\nplayer = \"Anna\""))
        .await;
    let status = service.tells_of("STATUS").await;
    assert_eq!(status, "STATUS=2 boards, 1 up; Anna plays on citrine");
    service.daemon.signal("TERM");
    service.tells_of("STOPPING=1").await;
    service.daemon.ended().await;
}

#[tokio::test]
async fn systemd_may_name_an_abstract_socket() {
    let name = format!("boardbridge-test-{}", std::process::id());
    let address = net::SocketAddr::from_abstract_name(&name).unwrap();
    let told = net::UnixDatagram::bind_addr(&address).unwrap();
    told.set_nonblocking(true).unwrap();
    let folder = House::folder();
    let text = text(folder.path(), ANY, &[]);
    let at = format!("@{name}");
    let mut service = Service::start(folder, &text, &[("NOTIFY_SOCKET", &at)]);
    service.told = UnixDatagram::from_std(told).unwrap();
    assert_eq!(service.tells().await, "READY=1");
}

#[tokio::test]
async fn the_watchdog_is_fed_while_a_board_is_away() {
    let folder = House::folder();
    let text = text(folder.path(), ANY, &[("lost", "lost")]);
    let mut service = Service::start(folder, &text, &[("WATCHDOG_USEC", "600000")]);
    for _ in 0..4 {
        service.tells_of("WATCHDOG=1").await;
    }
}

#[tokio::test]
async fn the_watchdog_is_off_without_its_time_or_for_another_process() {
    for environment in [("WATCHDOG_PID", "1"), ("WATCHDOG_USEC", "never")] {
        let folder = House::folder();
        let text = text(folder.path(), ANY, &[]);
        let usec = ("WATCHDOG_USEC", "1000");
        let mut service = Service::start(folder, &text, &[usec, environment]);
        service.tells_of("READY=1").await;
        service.uci().await;
        service.daemon.signal("TERM");
        // Nothing was told between.
        while let told = service.tells().await
            && !told.contains("STOPPING=1")
        {
            assert!(!told.contains("WATCHDOG"), "{told}");
        }
    }
}

/// Lines of this process's log from now on.
fn log_lines() -> sync::Receiver<String> {
    static READERS: Mutex<Vec<sync::Sender<String>>> = Mutex::new(Vec::new());
    static BEGUN: Once = Once::new();
    struct Tee;
    impl io::Write for Tee {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let line = String::from_utf8_lossy(bytes).into_owned();
            READERS
                .lock()
                .unwrap()
                .retain(|reader| reader.send(line.clone()).is_ok());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    BEGUN.call_once(|| {
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(|| Tee)
            .init();
    });
    let (sender, lines) = sync::channel();
    READERS.lock().unwrap().push(sender);
    lines
}

/// Waits for a line of this process's log with these words.
fn logged(lines: &sync::Receiver<String>, words: &[&str]) -> String {
    loop {
        let line = lines.recv_timeout(PATIENCE).unwrap();
        if words.iter().all(|word| line.contains(word)) {
            return line;
        }
    }
}

/// A board whose port does not exist, with a task that does not run yet.
fn board(name: &BoardName) -> Box<Actor> {
    let (events, called) = (broadcast::channel(CAPACITY).0, name.clone());
    let text = "[boards.ucb]\nkind = \"novag-ucb\"\nserial = { port = \"/dev/no-such-port\" }\n";
    let config = Config::from_text(text, "the test").unwrap();
    let make = move || {
        let driver = config.boards[&"ucb".parse().unwrap()].driver();
        Core::new(called.clone(), driver, Duration::from_secs(3))
    };
    let transport = Transport::Serial(SerialPort::new("/dev/no-such-port", 9600));
    Actor::new(name.clone(), make, transport, None, events).0
}

/// systemd's end of a socket, and ours.
fn notify() -> (net::UnixDatagram, Notify) {
    let (systemd, ours) = net::UnixDatagram::pair().unwrap();
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
    (systemd, Notify::to(ours))
}

/// Waits for the next feeding of the watchdog.
fn fed(systemd: &net::UnixDatagram) {
    let mut buffer = [0; 64];
    let count = systemd.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..count], b"WATCHDOG=1");
}

/// Takes the feedings so far, and asserts that there is none for longer than systemd grants.
fn starves(systemd: &net::UnixDatagram, limit: Duration) {
    let mut buffer = [0; 64];
    systemd.set_nonblocking(true).unwrap();
    while systemd.recv(&mut buffer).is_ok() {}
    systemd.set_nonblocking(false).unwrap();
    systemd.set_read_timeout(Some(limit * 2)).unwrap();
    assert!(systemd.recv(&mut buffer).is_err());
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
}

const LIMIT: Duration = Duration::from_millis(600);

#[test]
fn a_board_task_that_does_not_answer_stops_the_feeding_and_is_named() {
    let lines = log_lines();
    let (systemd, notify) = notify();
    let health = Health::default();
    let (begin, begun) = sync::channel();
    let (well, hangs): (BoardName, BoardName) = ("well".parse().unwrap(), "hangs".parse().unwrap());
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let daemon = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let first = board(&well);
            health.expect(well, first.pulse());
            tokio::spawn(first.run(stopped.clone()));
            tokio::spawn(watch(notify, LIMIT, health.clone()));
            tokio::task::spawn_blocking(move || begun.recv().unwrap())
                .await
                .unwrap();
            // Its task is there, and waits for something else than its commands.
            let second = board(&hangs);
            health.expect(hangs.clone(), second.pulse());
            stopped.cancelled().await;
        });
    });
    fed(&systemd);
    fed(&systemd);
    begin.send(()).unwrap();
    logged(&lines, &["board=hangs", "has not answered"]);
    starves(&systemd, LIMIT);
    stop.cancel();
    daemon.join().unwrap();
}

#[test]
fn a_board_task_that_keeps_the_thread_stops_the_feeding_and_is_named() {
    let lines = log_lines();
    let (systemd, notify) = notify();
    let health = Health::default();
    let (begin, begun) = sync::channel();
    let (release, released) = sync::channel::<()>();
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let daemon = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            tokio::spawn(watch(notify, LIMIT, health.clone()));
            tokio::task::spawn_blocking(move || begun.recv().unwrap())
                .await
                .unwrap();
            let blocks = async move { released.recv().unwrap() };
            tokio::spawn(health.watched("blocks".parse().unwrap(), blocks));
            stopped.cancelled().await;
        });
    });
    fed(&systemd);
    begin.send(()).unwrap();
    logged(&lines, &["nothing has run for", "the board blocks"]);
    starves(&systemd, LIMIT);
    release.send(()).unwrap();
    // Once it lets go, all is well.
    fed(&systemd);
    stop.cancel();
    daemon.join().unwrap();
}

#[tokio::test]
async fn a_file_with_a_mistake_changes_nothing_and_is_named() {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let good = text(folder.path(), ANY, &[("citrine", "citrine")]);
    let mut service = Service::start(folder, &good, &[]);
    let mut gui = Gui::connect(service.uci().await).await;
    service.tells_of("READY=1").await;
    gui.begins().await;
    let bad = good
        .replace("novag-citrine", "novag-lemon")
        .replace(ANY, "127.0.0.1:1");
    let line = 1 + bad.lines().position(|line| line.contains("lemon")).unwrap();
    service.reload(&bad).await;
    let said = service.logs("lemon").await;
    assert!(
        said.contains(&format!("bb.toml:{line}: boards.citrine.kind")),
        "{said}"
    );
    service.logs("the configuration stays as it was").await;
    // A port that another program has is no better.
    let taken = TcpListener::bind(ANY).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let unfit = good
        .replacen(ANY, &address, 1)
        .replace("[boards.citrine]", "[boards.other]");
    service.reload(&unfit).await;
    service.logs("the configuration stays as it was").await;
    hand.answers(&mut gui, "e2e4").await;
    assert!(
        !service
            .daemon
            .log
            .iter()
            .any(|line| line.contains("no link"))
    );
}

#[tokio::test]
async fn an_empty_or_cut_file_takes_no_board_away_unless_it_says_so() {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let good = text(folder.path(), ANY, &[("citrine", "citrine")]);
    // What was added is no board of the file.
    let state = folder.path().join("state");
    let good = good.replace(
        "[state]\ndirectory = \"off\"",
        &format!("[state]\ndirectory = {state:?}"),
    );
    let added = "[boards.added]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n";
    fs::create_dir_all(state.join("boards.d")).unwrap();
    fs::write(state.join("boards.d/added.toml"), added).unwrap();
    let mut service = Service::start(folder, &good, &[]);
    let mut gui = Gui::connect(service.uci().await).await;
    service.tells_of("READY=1").await;
    gui.begins().await;
    let (cut, _) = good.split_once("[boards").unwrap();
    for lost in ["", "# nothing\n", cut] {
        service.reload(lost).await;
        let said = service.logs("no longer has any board").await;
        assert!(said.contains("the configuration stays as it was"), "{said}");
    }
    hand.answers(&mut gui, "e2e4").await;
    service.reload(&format!("{cut}[boards]\n")).await;
    service.logs("no longer in the configuration").await;
}

#[tokio::test]
async fn what_is_missing_keeps_no_other_board_from_playing_and_is_told_everywhere() {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let boards = [("citrine", "citrine"), ("other", "other")];
    let good = text(folder.path(), ANY, &boards);
    let missing = "[[opponent]]\nboard = \"other\"\nengine = \"/nowhere/fish\"\n\
        [[whitepawn]]\nboard = \"nowhere\"\ntcp = { listen = \"127.0.0.1:0\" }\n";
    let mut service = Service::start(folder, &format!("{good}{missing}"), &[]);
    let words = ["there is no [boards.nowhere]", "there is no /nowhere/fish"];
    let uci = service.uci().await;
    let status = service.logs("status listens at").await;
    let status: SocketAddr = status.split_whitespace().last().unwrap().parse().unwrap();
    service.logs(words[0]).await;
    service.tells_of("READY=1").await;
    service.tells_of(words[0]).await;
    for words in words {
        let mut watcher = Gui::connect(status).await;
        watcher.hears_of(words).await;
    }
    let mut gui = Gui::connect(uci).await;
    gui.begins().await;
    hand.answers(&mut gui, "e2e4").await;
}

#[tokio::test]
async fn a_reload_touches_only_what_has_changed() {
    let folder = House::folder();
    let path = folder.path().to_owned();
    let hand = |name: &str| Hand::new(Kind::NovagCitrine, path.join(name), true);
    let (mut kept, mut moved, mut gone) = (hand("kept"), hand("moved"), hand("gone"));
    let _new = hand("new");
    let before = [("gone", "gone"), ("kept", "kept"), ("moved", "moved")];
    let mut service = Service::start(folder, &text(&path, ANY, &before), &[]);
    let uci = service.uci().await;
    let status = service.logs("status listens at").await;
    let status = status.split_whitespace().last().unwrap().parse().unwrap();
    let mut watcher = Gui::connect(status).await;
    watcher
        .hears_of(r#""boards":["gone","kept","moved"]"#)
        .await;
    service.tells_of("READY=1").await;
    let mut guis = Vec::new();
    for name in ["kept", "moved", "gone"] {
        let mut gui = Gui::connect(uci).await;
        gui.says(&format!("setoption name Board value {name}"))
            .await;
        gui.asks("e2e4 e7e5").await;
        guis.push(gui);
    }
    for hand in [&mut kept, &mut moved, &mut gone] {
        hand.sees("executed e7e5").await;
    }
    // The same board under another name of its port, another board, and one fewer.
    let other_name: PathBuf = fs::read_link(path.join("moved")).unwrap();
    symlink(other_name, path.join("elsewhere")).unwrap();
    let after = [("kept", "kept"), ("moved", "elsewhere"), ("new", "new")];
    service.reload(&text(&path, ANY, &after)).await;
    watcher.hears_of(r#""boards":["kept","moved","new"]"#).await;
    let [on_kept, on_moved, on_gone] = &mut guis[..] else {
        panic!()
    };
    on_gone.hears_of("gone has been taken out").await;
    on_gone.hears("bestmove 0000").await;
    on_gone.says("go").await;
    on_gone.hears_of("there is no board named gone").await;
    // The untouched board and its game do not notice; the program is told of the new board when it asks.
    // What the program was told before the board's port was open does not count.
    on_kept.hears_of("shown: e7e5").await;
    let heard = on_kept.log.len();
    kept.answers(on_kept, "g1f3").await;
    assert!(
        !on_kept.log[heard..]
            .iter()
            .any(|line| line.contains("no link"))
    );
    on_kept.says("uci").await;
    let boards = on_kept.hears("option name Board").await;
    assert!(
        boards.ends_with("default kept var kept var moved var new"),
        "{boards}"
    );
    // The game goes on on the board that was opened again: the pending `go` is answered.
    service.logs("/elsewhere").await;
    moved.answers(on_moved, "g1f3").await;
    on_moved.shows(&mut moved, "e2e4 e7e5 g1f3 b8c6").await;
    // A board that comes back is there again for the program that was left without.
    service.reload(&text(&path, ANY, &before)).await;
    on_gone.hears_of("the board gone is there now").await;
    on_gone.asks("e2e4 e7e5").await;
    gone.answers(on_gone, "g1f3").await;
    service.stop().await;
    let of_kept = service
        .daemon
        .log
        .iter()
        .filter(|line| line.contains("name=kept"));
    let connected = of_kept.filter(|line| line.contains(": connected"));
    assert_eq!(connected.count(), 1);
    let removed = |line: &&String| line.contains("no longer in the configuration");
    let removed: Vec<_> = service.daemon.log.iter().filter(removed).collect();
    // The one, and in the end those that it came back in place of.
    assert!(removed[0].contains("gone"), "{removed:?}");
}

#[tokio::test]
async fn a_listener_moves_when_its_address_changes_and_only_then() {
    let folder = House::folder();
    let path = folder.path().to_owned();
    let (first, second) = (unused_address(), unused_address());
    let boards = [("lost", "lost")];
    let mut service = Service::start(folder, &text(&path, &first.to_string(), &boards), &[]);
    assert_eq!(service.uci().await, first);
    service.tells_of("READY=1").await;
    let mut gui = Gui::connect(first).await;
    let mut of_board = text(&path, &first.to_string(), &boards);
    of_board.push_str(&format!("uci_listen = \"{second}\"\n"));
    service.reload(&of_board).await;
    // The board got a port of its own; the others stay, with their connections.
    let mut alone = Gui::connect(second).await;
    alone.says("uci").await;
    alone.hears("uciok").await;
    gui.has_not_heard("info").await;
    // The two change places.
    let swapped = of_board
        .replace(&second.to_string(), "THERE")
        .replace(&first.to_string(), &second.to_string())
        .replace("THERE", &first.to_string());
    service.reload(&swapped).await;
    while gui.line().await.is_some() {}
    service.logs(&format!("uci listens at {second}")).await;
    service
        .logs(&format!("uci for lost listens at {first}"))
        .await;
}

/// A command that starts the daemon with this listener, as systemd does: the third descriptor, for this process.
fn activated(listener: &impl AsFd, name: &str) -> Command {
    let mut command = Command::new("sh");
    let script = "exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\"";
    command
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_boardbridge")])
        .env("LISTEN_FDNAMES", name)
        .stdin(listener.as_fd().try_clone_to_owned().unwrap());
    command
}

#[tokio::test]
async fn a_program_that_connects_while_the_service_restarts_is_served_after_that() {
    let listener = TcpListener::bind(ANY).unwrap();
    let address = listener.local_addr().unwrap();
    // Whether the configuration names the port or leaves it open.
    for uci in [ANY.to_owned(), address.to_string()] {
        let folder = House::folder();
        let text = text(folder.path(), &uci, &[("lost", "lost")]);
        let mut early = Gui::connect(address).await;
        early.says("uci").await;
        let mut service = Service::by(activated(&listener, "uci"), folder, &text, &[]);
        assert_eq!(service.uci().await, address);
        early.hears("uciok").await;
        service.stop().await;
        // Its own connection ended with it; the door stays open.
        while early.line().await.is_some() {}
        TcpStream::connect(address).await.unwrap();
    }
}

#[tokio::test]
async fn a_program_that_connects_while_a_killed_service_is_away_is_served_after_that() {
    for uci in [
        unused_address().to_string(),
        format!("localhost:{}", unused_address().port()),
    ] {
        let folder = House::folder();
        let text = text(folder.path(), &uci, &[("lost", "lost")]);
        let mut service = Service::start(folder, &text, &[]);
        let address = service.uci().await;
        service.tells_of("READY=1").await;
        for _ in 0..2 {
            let away = service.killed(address);
            let mut early = Gui::connect(address).await;
            early.says("uci").await;
            service = Service::again(away, &text);
            assert_eq!(service.uci().await, address);
            early.hears("uciok").await;
            service.tells_of("READY=1").await;
        }
    }
}

#[tokio::test]
async fn what_is_kept_open_is_what_the_configuration_has_now() {
    let (first, second) = (unused_address(), unused_address());
    let everywhere = SocketAddr::from(([0, 0, 0, 0], first.port()));
    let folder = House::folder();
    let text = text(folder.path(), &first.to_string(), &[]);
    let mut service = Service::start(folder, &text, &[]);
    service.tells_of("READY=1").await;
    assert!(service.kept.contains_key(&kept(first)));
    // The whole machine's address instead of one, which cannot both be had.
    service
        .reload(&text.replace(&first.to_string(), &everywhere.to_string()))
        .await;
    service.logs(&format!("uci listens at {everywhere}")).await;
    assert!(
        service.kept.contains_key(&kept(everywhere)) && !service.kept.contains_key(&kept(first))
    );
    // It was changed while it was away: another service has that port.
    let changed = text
        .replace(&first.to_string(), &second.to_string())
        .replace(
            "[status]\nlisten = \"127.0.0.1:0\"",
            &format!("[status]\nlisten = \"{first}\""),
        );
    let mut service = Service::again(service.killed(everywhere), &changed);
    service.tells_of("READY=1").await;
    let names = [first, second].map(kept);
    assert!(names.iter().all(|name| service.kept.contains_key(name)));
    assert!(!service.kept.contains_key(&kept(everywhere)));
    service.logs(&format!("uci listens at {second}")).await;
    service.logs(&format!("status listens at {first}")).await;
}

#[tokio::test]
async fn the_door_stays_open_while_only_who_may_come_changes() {
    let folder = House::folder();
    let at = unused_address();
    let text = text(folder.path(), &at.to_string(), &[]);
    let mut service = Service::start(folder, &text, &[]);
    service.tells_of("READY=1").await;
    let only = text.replace("[status]", "allow = [\"10.0.0.7\"]\n[status]");
    service.reload(&only).await;
    service.logs("the port for uci has stayed open").await;
    let mut gui = Gui::connect(at).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
}

#[tokio::test]
async fn an_address_that_is_served_is_not_given_to_another_service() {
    let folder = House::folder();
    let at = unused_address();
    let text = text(folder.path(), &at.to_string(), &[]);
    let mut service = Service::start(folder, &text, &[]);
    service.tells_of("READY=1").await;
    // The same address in other words.
    let status = format!("[status]\nlisten = \"[::ffff:127.0.0.1]:{}\"", at.port());
    let both = text.replace("[status]\nlisten = \"127.0.0.1:0\"", &status);
    service.reload(&both).await;
    service.logs("the configuration stays as it was").await;
    let mut gui = Gui::connect(at).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
}

#[tokio::test]
async fn a_reload_does_not_close_a_port_that_the_socket_unit_keeps_from_its_new_address() {
    let listener = TcpListener::bind(ANY).unwrap();
    let at = listener.local_addr().unwrap();
    let folder = House::folder();
    let text = text(folder.path(), &at.to_string(), &[]);
    let mut service = Service::by(activated(&listener, "uci"), folder, &text, &[]);
    assert_eq!(service.uci().await, at);
    service.tells_of("READY=1").await;
    let everywhere = format!("0.0.0.0:{}", at.port());
    service
        .reload(&text.replace(&at.to_string(), &everywhere))
        .await;
    let told = service.logs("the configuration stays as it was").await;
    assert!(told.contains("boardbridge.socket has that port"), "{told}");
    let mut gui = Gui::connect(at).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
}

/// The files of a control group, without a kernel behind them.
#[tokio::test]
async fn the_limit_on_the_daemons_memory_changes_with_its_boards_and_not_with_a_reload_that_fails()
{
    let folder = House::folder();
    let cgroup = Cgroup::at(folder.path().to_owned()).unwrap();
    let limit = folder.path().join("daemon/memory.max");
    let limit = || fs::read_to_string(&limit).unwrap().parse::<u64>().unwrap();
    let names = ["one", "two", "three", "four", "five", "six"];
    let boards = names.map(|name| (name, FAST_CITRINE));
    let mut house = House::grouped(folder, &boards, "", cgroup).await;
    assert_eq!(limit(), memory_limit(6));
    let taken = TcpListener::bind(ANY).unwrap();
    let text = format!("[uci]\nlisten = \"{}\"\n", taken.local_addr().unwrap());
    let fails = Config::from_text(&text, "the test").unwrap();
    assert!(house.daemon.reload(&fails).await.is_err());
    assert_eq!(limit(), memory_limit(6));
    house.reloads(&boards[..5], "").await;
    assert_eq!(limit(), memory_limit(5));
    house.reloads(&boards, "").await;
    assert_eq!(limit(), memory_limit(6));
}

#[tokio::test]
async fn the_configured_address_applies_where_the_socket_unit_has_another() {
    let listener = TcpListener::bind(ANY).unwrap();
    let activated_at = listener.local_addr().unwrap();
    let wanted = unused_address();
    let folder = House::folder();
    let text = text(folder.path(), &wanted.to_string(), &[]);
    let mut service = Service::by(activated(&listener, "uci"), folder, &text, &[]);
    let said = service.logs("boardbridge.socket listens at").await;
    assert!(
        said.contains(&activated_at.to_string()) && said.contains(&wanted.to_string()),
        "{said}"
    );
    assert_eq!(service.uci().await, wanted);
    let mut gui = Gui::connect(wanted).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
    service.stop().await;
    // A socket of another name is not ours.
    let folder = House::folder();
    let text = self::text(folder.path(), ANY, &[]);
    let mut service = Service::by(activated(&listener, "else"), folder, &text, &[]);
    service.logs("the socket `else` is not used").await;
    assert_ne!(service.uci().await, activated_at);
}

#[test]
fn the_journal_gets_entries_with_fields_and_no_more_than_the_budget() {
    let folder = House::folder();
    let socket = folder.path().join("journal");
    let journal = net::UnixDatagram::bind(&socket).unwrap();
    journal.set_nonblocking(true).unwrap();
    let (subscriber, log) = log::to_journal(EnvFilter::new("info"), Journal::at(&socket).unwrap());
    let entry = || {
        log.flush();
        let mut buffer = [0; 8192];
        let count = journal.recv(&mut buffer).ok()?;
        Some(String::from_utf8(buffer[..count].to_vec()).unwrap())
    };
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!("board", name = %"citrine").in_scope(|| {
            tracing::warn!("two\nlines \u{1b}[31m");
        });
        assert_eq!(
            entry().unwrap(),
            "MESSAGE=board{name=citrine}: two\\nlines \\u{1b}[31m\nPRIORITY=4\nSYSLOG_IDENTIFIER=boardbridge\n\
             BOARD=citrine\n"
        );
        let peer = "192.168.1.20:40110";
        tracing::info_span!("client", id = 3, %peer).in_scope(|| {
            tracing::info!(board = %"neo", "the GUI chose a board");
        });
        let told = entry().unwrap();
        assert!(
            told.ends_with("BOARD=neo\nCLIENT=192.168.1.20:40110\n"),
            "{told}"
        );
        tracing::info_span!("link", boards = %"one two").in_scope(|| tracing::error!("broken"));
        let told = entry().unwrap();
        assert!(told.contains("PRIORITY=3\n"), "{told}");
        assert!(told.ends_with("BOARD=one\nBOARD=two\n"), "{told}");
        tracing::info_span!("board", name = %"noisy").in_scope(|| {
            let mut entries = 0;
            for _ in 0..1000 {
                tracing::info!("{}", "x".repeat(1000));
                while let Some(told) = entry() {
                    entries += 1;
                    assert!(!told.contains('\u{1b}'));
                }
            }
            // 64 KiB, and the line that says so.
            assert!((50..70).contains(&entries), "{entries}");
        });
    });
}

#[tokio::test]
async fn the_log_is_plain_text_where_standard_error_is_not_the_journal() {
    let folder = House::folder();
    let text = text(folder.path(), ANY, &[]);
    // Inherited from a service, but standard error goes to this test.
    let mut service = Service::start(folder, &text, &[("JOURNAL_STREAM", "9:12345")]);
    let line = service.logs("uci listens at").await;
    assert!(line.starts_with("20") && line.contains(" INFO "), "{line}");
}

#[test]
fn a_journal_that_takes_no_more_holds_up_nothing_and_hears_later_what_was_left_out() {
    let folder = House::folder();
    let socket = folder.path().join("journal");
    let journal = net::UnixDatagram::bind(&socket).unwrap();
    let (subscriber, log) = log::to_journal(EnvFilter::new("debug"), Journal::at(&socket).unwrap());
    let lines = queue::MAX_LINES * 2;
    tracing::subscriber::with_default(subscriber, || {
        for number in 0..lines {
            tracing::info!("line {number}.");
        }
    });
    journal.set_read_timeout(Some(PATIENCE)).unwrap();
    let next = || {
        let mut buffer = [0; 8192];
        let count = journal.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..count].to_vec()).unwrap()
    };
    let mut read = 0;
    let left_out = loop {
        let entry = next();
        if entry.starts_with(&format!("MESSAGE=line {read}.\n")) {
            read += 1;
        } else {
            break entry;
        }
    };
    let told = format!(
        "MESSAGE={} lines were left out here: the log was not read\nPRIORITY=4\n",
        lines - read
    );
    assert!(left_out.starts_with(&told), "{left_out}");
    assert!(read >= queue::MAX_LINES, "{read}");
    log.say("the next line");
    assert!(next().starts_with("MESSAGE=the next line\n"));
}
