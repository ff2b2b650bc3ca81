//! The two simulated ends of the SWPP, over real sockets and real pseudo-terminals.

use std::time::{Duration, Instant};

use boardbridge::transport::serial::SerialPort;
use simulators::{
    HandAction, Report,
    hand::{Next, Player, Plays},
    port::{Happened, Port},
    swpp::{
        Opponent, Order, Place, Seen, Style, SwppBoard, WhitePawnApp, app,
        board::{self, Answer},
        call::Call,
        seen,
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    time::timeout,
};

/// The time limit for anything awaited.
const PATIENCE: Duration = Duration::from_mins(1);
const GAMES: &str = include_str!("../games/lichess.uci");

/// An end of a link, its orders and its output.
struct End<O> {
    orders: mpsc::Sender<O>,
    told: mpsc::UnboundedReceiver<String>,
    log: Vec<String>,
}

impl<O: std::str::FromStr<Err: std::fmt::Debug>> End<O> {
    async fn does(&self, order: &str) {
        assert!(self.orders.send(order.parse().unwrap()).await.is_ok());
    }

    /// Waits for this output, and returns it.
    async fn tells(&mut self, words: &str) -> String {
        loop {
            match timeout(PATIENCE, self.told.recv()).await {
                Ok(Some(told)) => {
                    self.log.push(told.clone());
                    if told.starts_with(words) {
                        return told;
                    }
                }
                _ => panic!("`{words}` was not told, but {:?}", self.log),
            }
        }
    }

    /// Asserts that no output so far begins like this.
    fn has_not_told(&self, words: &[&str]) {
        for told in &self.log {
            assert!(
                !words.iter().any(|word| told.starts_with(word)),
                "{:?}",
                self.log
            );
        }
    }
}

/// A board on a line, with a player who starts once a game is announced.
fn board(mut port: Port, player: Option<Player>) -> End<HandAction> {
    let (orders, mut hand) = mpsc::channel(64);
    let (seen, told) = mpsc::unbounded_channel();
    let own = orders.clone();
    tokio::spawn(async move {
        let mut begun = false;
        while let Ok(Happened::Seen(report)) = port.next(&mut hand).await {
            begun |= report == Report::NewGame;
            if begun
                && let Some(Next::Do(action)) = player.as_ref().map(|p| p.next(port.board()))
                && !matches!(report, Report::Announced(_))
            {
                own.send(action).await.unwrap();
            }
            if seen.send(report.to_string()).is_err() {
                return;
            }
        }
    });
    End {
        orders,
        told,
        log: Vec::new(),
    }
}

fn settings() -> board::Settings {
    board::Settings {
        hand_delay: Some(Duration::ZERO),
        ..board::Settings::default()
    }
}

/// A board on TCP, and its address.
fn on_tcp(settings: board::Settings, player: Option<Player>) -> (End<HandAction>, Place) {
    let port = Port::listening(Box::new(SwppBoard::new(settings)), "127.0.0.1:0").unwrap();
    let place = Place::Tcp(port.name().unwrap());
    (board(port, player), place)
}

/// A board on a pseudo-terminal, and its path.
fn on_pty(settings: board::Settings, player: Option<Player>) -> (End<HandAction>, Place) {
    let port = Port::new(Box::new(SwppBoard::new(settings)), None).unwrap();
    let place = Place::Serial(simulators::serial::SerialPort::new(
        port.name().unwrap(),
        9600,
    ));
    (board(port, player), place)
}

async fn app_of(settings: app::Settings, place: Place, opponent: Option<Opponent>) -> End<Order> {
    let app = WhitePawnApp::new(settings, opponent);
    let mut call = Call::new(app, place).await.unwrap();
    let (orders, mut next) = mpsc::channel(64);
    let (seen, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                what = call.next() => if seen.send(what.to_string()).is_err() { return },
                order = next.recv() => match order {
                    Some(order) => call.order(order),
                    None => return,
                },
            }
        }
    });
    End {
        orders,
        told,
        log: Vec::new(),
    }
}

async fn app(place: Place, opponent: Option<Opponent>) -> End<Order> {
    app_of(app::Settings::default(), place, opponent).await
}

fn player(line: usize, plays: Plays) -> Player {
    Player::of_game(GAMES, line, plays).unwrap()
}

const WRONG: [&str; 6] = ["fault", "refused", "lost", "astray", "jammed", "failed"];

async fn plays_a_whole_game(
    ends: impl Fn(Option<Player>) -> (End<HandAction>, Place),
    line: usize,
) {
    for (hand, other) in [(Plays::White, Plays::Black), (Plays::Black, Plays::White)] {
        let (mut board, place) = ends(Some(player(line, hand)));
        let opponent = Opponent::new(player(line, other), Duration::ZERO, 3);
        let mut app = app(place, Some(opponent)).await;
        app.tells("ended").await;
        board.tells("ended").await;
        board.has_not_told(&WRONG);
        app.has_not_told(&WRONG);
        let moves = app
            .log
            .iter()
            .filter(|told| told.starts_with("sent") || told.starts_with("made"));
        let length = GAMES.lines().nth(line - 1).unwrap().split(' ').count();
        assert_eq!(moves.count(), length);
    }
}

#[tokio::test]
async fn a_whole_game_is_played_over_tcp_by_either_colour() {
    plays_a_whole_game(|player| on_tcp(settings(), player), 1).await;
}

#[tokio::test]
async fn a_whole_game_is_played_over_a_pseudo_terminal_by_either_colour() {
    plays_a_whole_game(|player| on_pty(settings(), player), 2).await;
}

#[tokio::test]
async fn a_short_line_jams_the_app_until_it_is_connected_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = Place::Tcp(listener.local_addr().unwrap().to_string());
    let mut app = app(place, None).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut greeting = [0; 9];
    stream.read_exact(&mut greeting).await.unwrap();
    assert_eq!(&greeting, b"H0010023\n");
    stream.write_all(b"H101     1.2\n").await.unwrap();
    app.tells("ready").await;
    app.does("new-game 2 Y").await;
    stream.write_all(b"\nMB e2e4\n").await.unwrap();
    app.tells("jammed").await;
    app.does("connect").await;
    app.tells("connected").await;
    app.has_not_told(&["made", "fault"]);
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.read_exact(&mut greeting).await.unwrap();
    stream.write_all(b"H101     1.2\nMB e2e4\n").await.unwrap();
    app.tells("made e2e4").await;
}

#[tokio::test]
async fn a_dumb_board_is_asked_four_times_and_given_up() {
    let dumb = board::Settings {
        answer: Answer::Never,
        ..settings()
    };
    let (mut board, place) = on_tcp(dumb, None);
    let begun = Instant::now();
    let mut app = app(place, None).await;
    app.tells("gave-up").await;
    assert!(begun.elapsed() >= app::SETTLE + seen::HANDSHAKE_WAIT * 4);
    for _ in 0..4 {
        board.tells("greeted 010023").await;
    }
    app.does("new-game 2 Y").await;
    app.tells("refused the handshake is not done").await;
}

#[tokio::test]
async fn a_board_that_answers_late_is_asked_again_and_found() {
    let late = board::Settings {
        answer: Answer::Late(seen::HANDSHAKE_WAIT + Duration::from_millis(100)),
        ..settings()
    };
    let (mut board, place) = on_pty(late, None);
    let mut app = app(place, None).await;
    app.tells("asked 2").await;
    app.tells("ready protocol 01 version `1.2` serial `MY_SERIAL`")
        .await;
    app.does("new-game 1 N").await;
    app.does("e2e4").await;
    board.tells("announced 1N").await;
    board.tells("executed e2e4").await;
    app.has_not_told(&WRONG);
}

#[tokio::test]
async fn a_version_that_is_too_short_fails_the_handshake() {
    let short = board::Settings {
        answer: Answer::Short,
        serial: String::new(),
        ..settings()
    };
    let (_board, place) = on_tcp(short, None);
    app(place, None).await.tells("failed H1 is too short").await;
}

#[tokio::test]
async fn the_strict_app_takes_no_move_of_a_sloppy_board() {
    let sloppy = board::Settings {
        style: Style::Sloppy,
        ..settings()
    };
    let (board, place) = on_tcp(sloppy, None);
    let mut app = app(place, None).await;
    app.tells("fault a serial number").await;
    app.tells("ready").await;
    app.does("new-game 2 Y").await;
    app.tells("new-game 2Y").await;
    board.does("e2e4").await;
    assert_eq!(
        app.tells("fault").await,
        r"fault not exactly MB: `MBe2e4\r`"
    );
}

#[tokio::test]
async fn the_strict_board_takes_no_move_of_a_sloppy_app() {
    let (mut board, place) = on_pty(settings(), None);
    let sloppy = app::Settings {
        style: Style::Sloppy,
        ..app::Settings::default()
    };
    let mut app = app_of(sloppy, place, None).await;
    app.tells("ready").await;
    app.does("new-game 2 N").await;
    app.does("e2e4").await;
    board.tells("fault not exactly H0").await;
    board.tells("fault not exactly NG").await;
    board.tells("fault not exactly MA").await;
}

#[tokio::test]
async fn the_newest_connection_wins() {
    let (mut board, place) = on_tcp(settings(), None);
    let Place::Tcp(address) = &place else {
        panic!("{place:?}");
    };
    let mut older = TcpStream::connect(address).await.unwrap();
    older.write_all(b"H0010023\nMA e2").await.unwrap();
    board.tells("greeted").await;
    let mut app = app(place.clone(), None).await;
    app.tells("ready").await;
    app.has_not_told(&["failed", "fault"]);
    board.tells("greeted").await;
    board.has_not_told(&["fault"]);
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, older.read_to_end(&mut rest)).await;
    // Closed or reset: the older one has ended, with what it had been answered.
    if read.unwrap().is_ok() {
        assert_eq!(rest, b"H101     1.2MY_SERIAL\n");
    }
}

#[tokio::test]
async fn a_cable_that_is_put_back_is_found_at_the_same_place() {
    let (mut board, place) = on_tcp(settings(), None);
    let Place::Tcp(address) = place.clone() else {
        panic!("{place:?}");
    };
    let mut app = app(place, None).await;
    app.tells("ready").await;
    board.does("unplug").await;
    app.tells("disconnected").await;
    app.does("connect").await;
    app.tells("refused connect").await;
    board.does("plug").await;
    assert_eq!(board.tells("plugged").await, format!("plugged {address}"));
    app.does("connect").await;
    app.tells("ready").await;
}

#[tokio::test]
async fn what_was_sent_before_hanging_up_arrives() {
    let (mut board, place) = on_tcp(settings(), None);
    let mut app = app(place, None).await;
    app.tells("ready").await;
    for order in ["new-game 0 Y", "e2e4", "end 0", "hang-up", "connect"] {
        app.does(order).await;
    }
    board.tells("ended 0").await;
    board.tells("executed e2e4").await;
    app.tells("hung-up").await;
    app.tells("ready").await;
}

#[tokio::test]
async fn the_app_waits_at_a_pseudo_terminal_of_its_own() {
    let mut app = app(Place::Pty(None), None).await;
    let connected = app.tells("connected").await;
    let port = SerialPort::new(connected.split_whitespace().last().unwrap(), 9600);
    let mut port = port.open().await.unwrap();
    let mut greeting = [0; 9];
    let read = timeout(PATIENCE, port.read_exact(&mut greeting)).await;
    read.unwrap().unwrap();
    assert_eq!(&greeting, b"H0010023\n");
    port.write_all(b"H101     1.2\n").await.unwrap();
    app.tells("ready protocol 01 version `1.2` serial ``").await;
}

#[test]
fn seen_and_orders_are_worded_alike() {
    let order: Order = "new-game 3 N".parse().unwrap();
    let Order::NewGame(new) = order else {
        panic!("{order:?}");
    };
    assert_eq!(Seen::NewGame(new).to_string(), "new-game 3N");
    for wrong in ["new-game 4 Y", "new-game 1", "end 5", "end", "e9e4", "jump"] {
        assert!(wrong.parse::<Order>().is_err(), "{wrong}");
    }
}
