//! Shared by the integration tests: the daemon in this process, on real sockets and real pseudo-terminals, with
//! simulated boards and players controlled by the test.

#![allow(dead_code, reason = "each room uses a part of it")]

pub mod alone;
pub mod http;
pub mod kept;
pub mod lichess;
pub mod logged;
pub mod occupied;
pub mod phone;
pub mod ports;
pub mod process;
pub mod program;
pub mod schema;

use std::{
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use boardbridge::{
    bus::BoardHandle,
    chess::game::Game,
    config::Config,
    daemon::{Daemon, Inherited, systemd::Notify},
    system::cgroup::Cgroup,
    vocabulary::{Advice, Event, Snapshot},
};
use shakmaty::Color;
use simulators::{
    HandAction, Report, SimulatedBoard,
    bluez::{ADAPTER, Bluez, serial_device::SerialDevice},
    port::{Happened, Port},
    radio::{self, RadioBoard},
    run::{Kind, Settings, board, radio_board},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{broadcast, mpsc},
    task::yield_now,
    time::{sleep, timeout},
};

/// The time limit for anything awaited: only a test that fails waits so long, whatever else the machine does.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// How many times faster than real the simulated boards are.
pub const SPEED: f64 = 20.0;
/// The same by Bluetooth LE: what comes sooner after the last is taken for delayed.
const SPEED_BY_RADIO: f64 = 4.0;
/// A hand by lamps waits for so long: those of a move that was just made may still be lit.
const SEEN: Duration = Duration::from_millis(1500);
/// How often somebody looks at such a board.
const LOOK: Duration = Duration::from_millis(5);

/// Pacing for a Citrine of this speed.
pub const FAST_CITRINE: &str = "kind = \"novag-citrine\"\ncommand_gap = \"55ms\"\nsecond_send = \"60ms\"\n\
     second_send_capture = \"200ms\"\nmove_wait = \"50ms\"\nsetup_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
/// A DGT board for quick hands. Its clock shows the moves.
pub const FAST_DGT: &str = "kind = \"dgt\"\nsettle = \"100ms\"\n";
/// The only Chessnut Air in range.
pub const AIR_IN_RANGE: &str =
    "kind = \"chessnut\"\nsettle = \"100ms\"\nble = { name = \"Chessnut Air\" }\n";
/// The only Pegasus in range.
pub const PEGASUS_IN_RANGE: &str = "kind = \"dgt-pegasus\"\nkey = \"53494D4B4559\"\nsettle = \"100ms\"\n\
     ble = { name = \"DGT_Pegasus\" }\n";
/// Pacing for a UCB of this speed.
pub const FAST_UCB: &str = "kind = \"novag-ucb\"\nline_gap = \"50ms\"\nmove_wait = \"400ms\"\n\
     setup_wait = \"400ms\"\ncorrection_wait = \"150ms\"\n";

/// A short game in which both sides castle, both capture, and this one gives mate.
pub fn mate_by(color: Color) -> Game {
    let moves = color.fold_wb(
        "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8 f3g5 f6e4 d1h5 a7a6 h5h7",
        "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8 f3e5 f6g4 a2a3 d8h4 a3a4 h4h2",
    );
    let mut game = Game::standard();
    game.play_uci(moves.split(' ')).unwrap();
    game
}

fn simulated(kind: Kind, executes: bool) -> Box<dyn SimulatedBoard> {
    let settings = Settings {
        speed: SPEED,
        hand_delay: executes.then_some(Duration::ZERO),
        ..Settings::of(kind)
    };
    board(&settings).unwrap()
}

/// A simulated board with a player controlled by the test.
pub struct Hand {
    orders: mpsc::Sender<HandAction>,
    reports: mpsc::Receiver<Report>,
}

impl Hand {
    /// Plugs a board in under `link`. A player who executes shown moves by themselves does so at once.
    pub fn new(kind: Kind, link: PathBuf, executes: bool) -> Self {
        Self::of(simulated(kind, executes), link)
    }

    /// Plugs this board in under `link`.
    pub fn of(board: Box<dyn SimulatedBoard>, link: PathBuf) -> Self {
        Self::at(Port::new(board, Some(link)).unwrap())
    }

    /// Puts a board on the network, and returns its address.
    pub fn listening(kind: Kind, executes: bool) -> (Self, String) {
        let port = Port::listening(simulated(kind, executes), "127.0.0.1:0").unwrap();
        let address = port.name().unwrap();
        (Self::at(port), address)
    }

    /// Switches a board on that is reached by Bluetooth Classic, as this device.
    pub fn on_air(board: Box<dyn SimulatedBoard>, device: SerialDevice) -> Self {
        Self::at(Port::on_air(board, device))
    }

    /// Switches a board on that is reached by Bluetooth LE. Its player executes shown moves by themselves.
    pub fn in_range(bluez: &Bluez, kind: Kind) -> Self {
        let settings = Settings {
            speed: SPEED_BY_RADIO,
            hand_delay: Some(SEEN),
            ..Settings::of(kind)
        };
        let board = radio_board(&settings).unwrap();
        let board = bluez.host(ADAPTER, radio::ADDRESS, board).unwrap();
        let (orders, mut hand) = mpsc::channel::<HandAction>(64);
        let (seen, reports) = mpsc::channel(4096);
        tokio::spawn(async move {
            while !seen.is_closed() {
                while let Ok(order) = hand.try_recv() {
                    board.with(|board| board.order(Instant::now(), order));
                }
                while let Some(report) = board.with(RadioBoard::look) {
                    let _ = seen.send(report).await;
                }
                sleep(LOOK).await;
            }
        });
        Self { orders, reports }
    }

    fn at(mut port: Port) -> Self {
        let (orders, mut hand) = mpsc::channel(64);
        let (seen, reports) = mpsc::channel(4096);
        tokio::spawn(async move {
            while let Ok(Happened::Seen(report)) = port.next(&mut hand).await {
                if seen.send(report).await.is_err() {
                    return;
                }
            }
        });
        Self { orders, reports }
    }

    /// Orders the player, in the words of `boardbridge simulate`.
    pub async fn does(&self, order: &str) {
        self.orders.send(order.parse().unwrap()).await.unwrap();
    }

    /// Makes the move that a program awaits, which is its answer.
    pub async fn answers(&self, gui: &mut Gui, m: &str) {
        self.does(m).await;
        gui.hears(&format!("bestmove {m}")).await;
    }

    /// Makes a move, of which the app is told and of nothing before it.
    pub async fn tells(&self, app: &mut Gui, m: &str) {
        self.does(m).await;
        app.hears_next(&format!("MB {m}")).await;
    }

    /// Waits for this event on the board; returns the events before it.
    pub async fn sees(&mut self, wanted: &str) -> Vec<String> {
        self.sees_one_of(&[wanted]).await
    }

    /// Waits for one of these events on the board; returns the events before it.
    pub async fn sees_one_of(&mut self, wanted: &[&str]) -> Vec<String> {
        let mut before = Vec::new();
        loop {
            let report = match timeout(PATIENCE, self.reports.recv()).await {
                Ok(Some(report)) => report.to_string(),
                _ => panic!("`{wanted:?}` was not seen on the board, but {before:?}"),
            };
            if wanted.iter().any(|wanted| report.starts_with(wanted)) {
                return before;
            }
            before.push(report);
        }
    }

    /// Waits for the next event on the board.
    pub async fn sees_next(&mut self) -> String {
        match timeout(PATIENCE, self.reports.recv()).await {
            Ok(Some(report)) => report.to_string(),
            _ => panic!("nothing was seen on the board"),
        }
    }

    /// The events since then, at once.
    pub fn seen(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.reports.try_recv().ok())
            .map(|r| r.to_string())
            .collect()
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("seen on the board: {:?}", self.seen());
        }
    }
}

/// The daemon in this process.
pub struct House {
    pub daemon: Daemon,
    pub folder: TempDir,
}

impl House {
    /// A folder for the boards' ports, before the daemon.
    pub fn folder() -> TempDir {
        tempfile::tempdir().unwrap()
    }

    /// Starts the daemon on boards given as name, keys; the port of each is a link of its name in the folder.
    pub async fn start(folder: TempDir, boards: &[(&str, &str)]) -> Self {
        Self::with(folder, boards, "").await
    }

    /// The same, with more configuration after it.
    pub async fn with(folder: TempDir, boards: &[(&str, &str)], more: &str) -> Self {
        let config = Self::config(&folder, boards, more);
        let daemon = Daemon::start(&config).await.unwrap();
        Self { daemon, folder }
    }

    /// The same, in this control group.
    pub async fn grouped(
        folder: TempDir,
        boards: &[(&str, &str)],
        more: &str,
        cgroup: Cgroup,
    ) -> Self {
        let config = Self::config(&folder, boards, more);
        let inherited = Inherited::new(Notify::default(), Some(cgroup));
        let daemon = Daemon::start_with(&config, inherited).await.unwrap();
        Self { daemon, folder }
    }

    /// The same, on a bus that holds one publication, while others are published all the time: every consumer lags.
    pub async fn lagging(folder: TempDir, boards: &[(&str, &str)], more: &str) -> Self {
        let config = Self::config(&folder, boards, more);
        let bus = broadcast::channel(1).0;
        let daemon = Daemon::start_on(&config, bus).await.unwrap();
        let bus = daemon.bus().clone();
        tokio::spawn(async move {
            loop {
                for board in bus.boards().into_iter().chain(bus.boards()) {
                    board.publisher.publish(vec![Event::Mended], None);
                }
                yield_now().await;
                sleep(Duration::from_micros(200)).await;
            }
        });
        Self { daemon, folder }
    }

    /// Reloads the configuration.
    pub async fn reloads(&mut self, boards: &[(&str, &str)], more: &str) {
        let config = Self::config(&self.folder, boards, more);
        self.daemon.reload(&config).await.unwrap();
    }

    fn config(folder: &TempDir, boards: &[(&str, &str)], more: &str) -> Config {
        let mut text = "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n\
                        [web]\nlisten = \"127.0.0.1:0\"\n[livechess]\nlisten = \"127.0.0.1:0\"\n"
            .to_owned();
        for (name, keys) in boards {
            let port = folder.path().join(name);
            text.push_str(&format!(
                "[boards.{name}]\n{keys}serial = {{ port = {port:?} }}\n"
            ));
        }
        text.push_str(more);
        Config::from_text(&text, "the test").unwrap()
    }

    /// One Citrine, with a player who executes shown moves by themselves.
    pub async fn with_citrine() -> (Self, Hand) {
        let folder = Self::folder();
        let hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
        (
            Self::start(folder, &[("citrine", FAST_CITRINE)]).await,
            hand,
        )
    }

    /// One UCB, with a player who executes shown moves by themselves if `executes`.
    pub async fn with_ucb(executes: bool) -> (Self, Hand) {
        let folder = Self::folder();
        let hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), executes);
        (Self::start(folder, &[("ucb", FAST_UCB)]).await, hand)
    }

    /// Either, with a player who executes shown moves by themselves.
    pub async fn with_citrine_or_ucb(is_citrine: bool) -> (Self, Hand) {
        if is_citrine {
            Self::with_citrine().await
        } else {
            Self::with_ucb(true).await
        }
    }

    /// The same as [`House::with_citrine`], with a program.
    pub async fn with_citrine_and_gui() -> (Self, Hand, Gui) {
        Self::and_gui(Self::with_citrine().await).await
    }

    /// The same as [`House::with_ucb`], with a program.
    pub async fn with_ucb_and_gui(executes: bool) -> (Self, Hand, Gui) {
        Self::and_gui(Self::with_ucb(executes).await).await
    }

    /// The same as [`House::with_citrine_or_ucb`], with a program.
    pub async fn with_citrine_or_ucb_and_gui(is_citrine: bool) -> (Self, Hand, Gui) {
        Self::and_gui(Self::with_citrine_or_ucb(is_citrine).await).await
    }

    async fn and_gui((house, hand): (Self, Hand)) -> (Self, Hand, Gui) {
        let gui = house.gui().await;
        (house, hand, gui)
    }

    pub fn address(&self, what: &str) -> SocketAddr {
        let port = self
            .daemon
            .ports()
            .into_iter()
            .find(|(port, _)| port.to_string() == what);
        port.unwrap_or_else(|| panic!("no port for {what}")).1
    }

    /// Waits until a board has this position.
    pub async fn until(&self, board: &str, stands: impl Fn(&Snapshot) -> bool) {
        until(&self.daemon.bus().board(board).unwrap(), stands).await;
    }

    /// Waits until the daemon is sure of this many plies on a board.
    pub async fn knows(&self, board: &str, plies: usize) {
        self.until(board, |state| state.sure && state.game.len() == plies)
            .await;
    }

    /// Waits until this many clients have a board.
    pub async fn awaits(&self, board: &str, holders: usize) {
        self.until(board, |state| state.holders.len() == holders)
            .await;
    }

    /// Waits until the player is told to move on a board, or to make the last shown move and then one of their own.
    pub async fn asks_for_a_move(&self, board: &str) {
        let asked = self.until(board, |snapshot| {
            let last = snapshot.target.as_ref().and_then(|target| target.last());
            let told = match snapshot.advice {
                Advice::YourMove(_) => true,
                Advice::Make(m) | Advice::Shown { m, .. } => {
                    Some(m) == last && snapshot.game.last() == last
                }
                _ => false,
            };
            told && snapshot.awaiting
        });
        asked.await;
    }

    pub async fn gui(&self) -> Gui {
        Gui::connect(self.address("uci")).await
    }
}

/// Waits until a board stands so.
pub async fn until(board: &BoardHandle, stands: impl Fn(&Snapshot) -> bool) {
    let mut feed = board.feed();
    let stood = async { while !stands(&feed.next().await.1) {} };
    timeout(PATIENCE, stood).await.unwrap();
}

/// A GUI on a TCP connection.
pub struct Gui {
    lines: Lines<BufReader<OwnedReadHalf>>,
    output: OwnedWriteHalf,
    /// Everything received, for messages.
    pub log: Vec<String>,
}

impl Gui {
    pub async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    pub fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        let (input, output) = stream.into_split();
        Self {
            lines: BufReader::new(input).lines(),
            output,
            log: Vec::new(),
        }
    }

    pub async fn says(&mut self, text: &str) {
        self.bytes(format!("{text}\n").as_bytes()).await;
    }

    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.tries(bytes).await.unwrap();
    }

    /// The same on a connection that may be closed.
    pub async fn tries(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.output.write_all(bytes.as_ref()).await
    }

    /// The next line; `None` at the end of the connection.
    pub async fn line(&mut self) -> Option<String> {
        let line = timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("no line came; before: {:?}", self.log));
        // A connection that is reset has ended as well.
        let line = line.unwrap_or(None)?;
        self.log.push(line.clone());
        Some(line)
    }

    /// Waits for a line that begins like this, and returns it.
    pub async fn hears(&mut self, wanted: &str) -> String {
        loop {
            match self.line().await {
                Some(line) if line.starts_with(wanted) => return line,
                Some(_) => {}
                None => panic!(
                    "`{wanted}` did not come before the end; before: {:?}",
                    self.log
                ),
            }
        }
    }

    /// Waits for a line that has these words.
    pub async fn hears_of(&mut self, words: &str) -> String {
        loop {
            match self.line().await {
                Some(line) if line.contains(words) => return line,
                Some(_) => {}
                None => panic!(
                    "`{words}` did not come before the end; before: {:?}",
                    self.log
                ),
            }
        }
    }

    /// Asserts that the next line is this one.
    pub async fn hears_next(&mut self, wanted: &str) {
        let line = self.line().await;
        assert_eq!(line.as_deref(), Some(wanted), "{:?}", self.log);
    }

    /// Every `bestmove` so far.
    pub fn answers(&self) -> Vec<&str> {
        self.log
            .iter()
            .filter_map(|line| line.strip_prefix("bestmove "))
            .collect()
    }

    /// Asserts that no line up to the answer to `isready` begins like this.
    pub async fn has_not_heard(&mut self, unwanted: &str) {
        self.says("isready").await;
        loop {
            let line = self.line().await.unwrap();
            assert!(!line.starts_with(unwanted), "{:?}", self.log);
            if line == "readyok" {
                return;
            }
        }
    }

    /// Asks for the first move of a game, until the hand is to make it.
    pub async fn begins(&mut self) {
        self.asks("").await;
        self.hears_of("White to move").await;
    }

    /// Asks for a move in a game whose last move the player executes.
    pub async fn shows(&mut self, hand: &mut Hand, moves: &str) {
        self.asks(moves).await;
        let last = moves.rsplit(' ').next().unwrap();
        hand.sees(&format!("executed {last}")).await;
    }

    /// The app makes a move, which the player executes.
    pub async fn moves(&mut self, hand: &mut Hand, m: &str) {
        self.says(&format!("MA {m}")).await;
        hand.sees(&format!("executed {m}")).await;
    }

    /// A position, and `go`.
    pub async fn asks(&mut self, moves: &str) {
        let moves = if moves.is_empty() {
            String::new()
        } else {
            format!(" moves {moves}")
        };
        self.says(&format!(
            "position startpos{moves}\ngo wtime 60000 btime 60000"
        ))
        .await;
    }
}
