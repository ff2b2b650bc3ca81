//! Boards for pages by `LiveChess`: a client that does what lichess.org's script does, step by step, plays whole games on
//! simulated boards; every call and its errors; which pages may connect; the relay.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use boardbridge::{
    chess::game::{Game, uci},
    front_end::livechess::{relay, server::MAX_CALL},
};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use shakmaty::{Chess, Color, Position, Square, san::San};
use simulators::{
    bluez::{ADAPTER, Bluez, address::Address},
    neo::{self, Hand as NeoHand, Neo},
    run::Kind,
};
use tokio::{
    io::AsyncReadExt,
    net::{TcpSocket, TcpStream},
    sync::mpsc,
    time::{timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};

use crate::support::{FAST_CITRINE, FAST_UCB, Hand, House, PATIENCE, http, process::Process};

/// En passant, a promotion with capture, both castlings.
const GAME: &str =
    "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6 d6c7 b8c6 c7d8q c6d8 g1f3 e7e6 f1e2 f8e7 e1g1 e8g8";
/// A game that ends by mate.
const MATE: &str = "e2e4 e7e5 g1f3 d7d6 f1c4 c8g4 b1c3 g7g6 f3e5 g4d1 c4f7 e8e7 c3d5";
const HOME_MADE: &str = "kind = \"swpp\"\nmove_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";

type Ws = WebSocketStream<TcpStream>;

async fn socket(address: SocketAddr, origin: Option<&str>) -> Result<Ws, Error> {
    let mut request = "ws://localhost/api/v1.0".into_client_request().unwrap();
    if let Some(origin) = origin {
        let headers = request.headers_mut();
        headers.insert("origin", origin.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    client_async(request, stream)
        .await
        .map(|(socket, _)| socket)
}

/// From 127.0.`from`, which stands for another machine.
async fn socket_from(from: [u8; 2], address: SocketAddr) -> Ws {
    let stream = TcpSocket::new_v4().unwrap();
    let [third, last] = from;
    stream.bind(([127, 0, third, last], 0).into()).unwrap();
    let stream = stream.connect(address).await.unwrap();
    let request = "ws://localhost/api/v1.0".into_client_request().unwrap();
    client_async(request, stream).await.unwrap().0
}

fn placement(position: &Chess) -> String {
    let fen = boardbridge::chess::game::fen(position).to_string();
    fen.split(' ').next().unwrap().to_owned()
}

/// The server of the game: what the page posts is played there.
struct Lichess {
    game: Game,
    me: Color,
    posted: Vec<String>,
}

impl Lichess {
    fn new(me: Color) -> Self {
        Self {
            game: Game::standard(),
            me,
            posted: Vec::new(),
        }
    }
}

/// lichess.org's page.
struct Page {
    socket: Ws,
    /// Which of the boards it takes: the real one takes the first.
    pick: usize,
    serial: Option<String>,
    last_board: String,
    attached: bool,
    list: Vec<String>,
    position: Chess,
    /// Moves it has taken over.
    plies: usize,
    /// How many times it has said "illegal move".
    illegal: usize,
    matches: Vec<bool>,
}

impl Page {
    async fn open(address: SocketAddr, pick: usize) -> Self {
        let socket = socket(address, Some("https://lichess.org")).await.unwrap();
        Self::over(socket, pick).await
    }

    async fn over(socket: Ws, pick: usize) -> Self {
        let mut page = Self {
            socket,
            pick,
            serial: None,
            last_board: String::new(),
            attached: false,
            list: Vec::new(),
            position: Chess::new(),
            plies: 0,
            illegal: 0,
            matches: Vec::new(),
        };
        page.says(json!({ "id": 1, "call": "eboards" })).await;
        page
    }

    async fn says(&mut self, call: Value) {
        let text = call.to_string();
        self.socket.send(Message::text(text)).await.unwrap();
    }

    async fn hears(&mut self) -> Value {
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await;
            match message.unwrap().unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Takes one message, as the script does.
    async fn step(&mut self, lichess: &mut Lichess) {
        let message = self.hears().await;
        assert!(message["time"].is_u64(), "{message}");
        if message["response"] == "call" && message["id"] == 1 {
            let board = &message["param"][self.pick];
            assert_ne!(board["serialnr"], "0");
            self.serial = Some(board["serialnr"].as_str().unwrap().to_owned());
            let param = json!({ "serialnr": self.serial });
            let param = json!({ "feed": "eboardevent", "id": 1, "param": param });
            let call = json!({ "id": 2, "call": "subscribe", "param": param });
            self.says(call).await;
        }
        if message["response"] == "feed" {
            let param = &message["param"];
            assert_eq!(param["serialnr"].as_str(), self.serial.as_deref());
            if let Some(board) = param["board"].as_str() {
                self.last_board = board.to_owned();
            }
            if let Some(sans) = param["san"].as_array() {
                assert!(self.attached, "san before setup: {message}");
                self.matches.push(param["match"].as_bool().unwrap());
                let sans = sans.iter().map(|san| san.as_str().unwrap().to_owned());
                self.sans(sans.collect(), lichess);
            }
        }
        if !self.attached && self.last_board == placement(lichess.game.position()) {
            self.attach(lichess).await;
        }
    }

    async fn attach(&mut self, lichess: &Lichess) {
        let fen = lichess.game.fen().to_string();
        let param = json!({ "id": 1, "method": "setup", "param": { "fen": fen } });
        self.says(json!({ "id": 3, "call": "call", "param": param }))
            .await;
        self.attached = true;
        self.list = Vec::new();
        self.position = lichess.game.position().clone();
        self.plies = lichess.game.len();
    }

    fn sans(&mut self, sans: Vec<String>, lichess: &mut Lichess) {
        let before = std::mem::replace(&mut self.list, sans);
        let common = before
            .iter()
            .zip(&self.list)
            .filter(|(a, b)| a == b)
            .count();
        let is_step = self.list.len() <= before.len() + 1;
        let grows_or_shrinks = common == before.len().min(self.list.len());
        assert!(is_step && grows_or_shrinks, "{before:?} {:?}", self.list);
        for san in self.list.iter().skip(before.len()) {
            let san: San = san.parse().unwrap();
            let Ok(m) = san.to_move(&self.position) else {
                self.illegal += 1;
                continue;
            };
            if self.position.turn() == lichess.me {
                lichess.posted.push(uci(m).to_string());
                assert!(lichess.game.push(m));
            } else if lichess.game.last() != Some(m) || lichess.game.len() != self.plies + 1 {
                self.illegal += 1;
                continue;
            }
            self.position.play_unchecked(m);
            self.plies += 1;
        }
    }

    async fn until(&mut self, lichess: &mut Lichess, so: impl Fn(&Self) -> bool) {
        // In all: pings come before any one message is late.
        let deadline = Instant::now() + PATIENCE;
        while !so(self) {
            let step = timeout_at(deadline.into(), self.step(lichess)).await;
            assert!(step.is_ok(), "{:?} {:?}", self.list, self.matches);
        }
    }
}

/// A daemon with one board.
async fn house(kind: Kind) -> (House, Hand, &'static str) {
    let (board, keys) = match kind {
        Kind::NovagCitrine => ("citrine", FAST_CITRINE),
        Kind::NovagUcb => ("ucb", FAST_UCB),
        _ => ("diy", HOME_MADE),
    };
    let folder = House::folder();
    let hand = Hand::new(kind, folder.path().join(board), true);
    (House::start(folder, &[(board, keys)]).await, hand, board)
}

fn moves(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// The hand makes the moves from this ply on: the player's own, and the opponent's once it has moved on the server.
async fn plays(
    page: &mut Page,
    lichess: &mut Lichess,
    (house, hand, board): (&House, &Hand, &str),
    moves: &[&str],
) {
    // From then on no move is lost, not even while the board begins a new game.
    page.until(lichess, |page| page.matches.last() == Some(&true))
        .await;
    for m in moves {
        let plies = lichess.game.len();
        let asked = |state: &boardbridge::vocabulary::Snapshot| {
            state.awaiting && state.sure && state.game.position() == lichess.game.position()
        };
        house.until(board, asked).await;
        if lichess.game.turn() != lichess.me {
            lichess.game.play_uci([*m]).unwrap();
        }
        hand.does(m).await;
        page.until(lichess, |page| page.plies > plies).await;
    }
}

#[tokio::test]
async fn whole_games_are_played_on_a_page_with_every_kind_of_move() {
    for (kind, game, me) in [
        (Kind::NovagCitrine, GAME, Color::White),
        (Kind::NovagCitrine, MATE, Color::Black),
        (Kind::NovagUcb, GAME, Color::Black),
        (Kind::SwppBoard, GAME, Color::White),
    ] {
        let (house, mut hand, board) = house(kind).await;
        let mut page = Page::open(house.address("livechess"), 0).await;
        let mut lichess = Lichess::new(me);
        if kind == Kind::SwppBoard {
            house.until(board, |state| state.link.is_open()).await;
            page.until(&mut lichess, |page| page.matches.last() == Some(&true))
                .await;
            // It acknowledges nothing: a hand that moves before the board has heard of the game is forgotten.
            hand.sees("new-game").await;
        }
        plays(
            &mut page,
            &mut lichess,
            (&house, &hand, board),
            &moves(game),
        )
        .await;
        let mine = moves(game);
        let mine = mine.iter().skip(usize::from(me.is_black())).step_by(2);
        assert!(lichess.posted.iter().eq(mine), "{:?}", lichess.posted);
        assert_eq!(page.illegal, 0);
        page.until(&mut lichess, |page| page.matches.last() == Some(&true))
            .await;
    }
}

#[tokio::test]
async fn a_reloaded_page_goes_on_and_posts_no_move_twice() {
    let (house, hand, board) = house(Kind::NovagCitrine).await;
    let address = house.address("livechess");
    let game = moves(GAME);
    let mut lichess = Lichess::new(Color::White);
    // Half-dead sockets stay behind.
    let mut before = Vec::new();
    for chunk in game.chunks(5) {
        let mut page = Page::open(address, 0).await;
        plays(&mut page, &mut lichess, (&house, &hand, board), chunk).await;
        assert_eq!(page.illegal, 0);
        before.push(page);
    }
    assert_eq!(lichess.game.len(), game.len());
    assert_eq!(lichess.posted.len(), game.len() / 2);
    house.until(board, |state| state.places.len() == 1).await;
}

#[tokio::test]
async fn of_pages_that_come_and_go_only_the_last_is_remembered() {
    let (house, _hand, board) = house(Kind::NovagCitrine).await;
    house.until(board, |state| state.link.is_open()).await;
    let runtime = tokio::runtime::Handle::current().metrics();
    let before = runtime.num_alive_tasks();
    for _ in 0..100 {
        let mut page = Page::open(house.address("livechess"), 0).await;
        let mut lichess = Lichess::new(Color::White);
        page.until(&mut lichess, |page| page.attached).await;
    }
    let remembered = async {
        while runtime.num_alive_tasks() > before + 1 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, remembered).await.unwrap();
    house.until(board, |state| state.places.len() == 1).await;
}

#[tokio::test]
async fn two_pages_play_on_two_boards() {
    let folder = House::folder();
    let citrine = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let ucb = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let keys = [("citrine", FAST_CITRINE), ("ucb", FAST_UCB)];
    let house = House::start(folder, &keys).await;
    let address = house.address("livechess");
    let mut first = Page::open(address, 0).await;
    let mut second = Page::open(address, 1).await;
    let (mut white, mut black) = (Lichess::new(Color::White), Lichess::new(Color::Black));
    let (game, mate) = (moves(GAME), moves(MATE));
    tokio::join!(
        plays(&mut first, &mut white, (&house, &citrine, "citrine"), &game),
        plays(&mut second, &mut black, (&house, &ucb, "ucb"), &mate),
    );
    assert_eq!(first.serial.as_deref(), Some("citrine"));
    assert_eq!((first.illegal, second.illegal), (0, 0));
    assert_eq!((white.posted.len(), black.posted.len()), (8, 6));
}

#[tokio::test]
async fn a_move_taken_back_is_published_as_a_shorter_list_first() {
    let (house, hand, board) = house(Kind::NovagCitrine).await;
    let mut page = Page::open(house.address("livechess"), 0).await;
    let mut lichess = Lichess::new(Color::White);
    plays(
        &mut page,
        &mut lichess,
        (&house, &hand, board),
        &["e2e4", "e7e5"],
    )
    .await;
    hand.does("take-back").await;
    page.until(&mut lichess, |page| page.list.len() == 1).await;
    house
        .until(board, |state| state.awaiting && state.game.len() == 1)
        .await;
    hand.does("e7e6").await;
    page.until(&mut lichess, |page| page.list.len() == 2).await;
    assert_eq!(page.list, ["e4", "e6"]);
}

#[tokio::test]
async fn a_page_without_set_up_sees_the_first_moves_and_a_program_goes_on_with_that_game() {
    for kind in [Kind::NovagCitrine, Kind::NovagUcb, Kind::SwppBoard] {
        let (house, hand, board) = house(kind).await;
        house.until(board, |state| state.link.is_open()).await;
        let mut page = Page::open(house.address("livechess"), 0).await;
        // It sets nothing up.
        page.attached = true;
        let mut lichess = Lichess::new(Color::White);
        page.until(&mut lichess, |page| !page.last_board.is_empty())
            .await;
        for m in ["e2e4", "e7e5"] {
            lichess.game.play_uci([m]).unwrap();
            hand.does(m).await;
            let seen = placement(lichess.game.position());
            page.until(&mut lichess, |page| page.last_board == seen)
                .await;
        }
        let mut gui = house.gui().await;
        gui.asks("e2e4 e7e5").await;
        house
            .until(board, |state| state.awaiting && state.game.len() == 2)
            .await;
        hand.answers(&mut gui, "g1f3").await;
    }
}

#[tokio::test]
async fn a_piece_on_a_wrong_square_is_no_move() {
    let (house, mut hand, board) = house(Kind::NovagUcb).await;
    let mut page = Page::open(house.address("livechess"), 0).await;
    let mut lichess = Lichess::new(Color::White);
    plays(
        &mut page,
        &mut lichess,
        (&house, &hand, board),
        &["e2e4", "e7e5"],
    )
    .await;
    page.until(&mut lichess, |page| page.matches.last() == Some(&true))
        .await;
    // The page has stated its game with the last move.
    house
        .until(board, |state| state.awaiting && state.sure)
        .await;
    hand.does("wrong g1g3").await;
    page.until(&mut lichess, |page| page.matches.last() == Some(&false))
        .await;
    // A UCB does not tell that its pieces were put right: it is given the position.
    hand.sees("set-up").await;
    house
        .until(board, |state| state.awaiting && state.sure)
        .await;
    hand.does("g1f3").await;
    page.until(&mut lichess, |page| page.plies > 2).await;
    plays(&mut page, &mut lichess, (&house, &hand, board), &["b8c6"]).await;
    assert_eq!(page.list, ["e4", "e5", "Nf3", "Nc6"]);
    assert_eq!(lichess.posted, ["e2e4", "g1f3"]);
}

#[tokio::test]
async fn a_page_only_watches_a_board_that_is_in_another_game() {
    let (house, hand, _) = house(Kind::NovagCitrine).await;
    let mut gui = house.gui().await;
    gui.asks("").await;
    house.awaits("citrine", 1).await;
    let mut page = Page::open(house.address("livechess"), 0).await;
    let mut lichess = Lichess::new(Color::White);
    page.until(&mut lichess, |page| page.serial.is_some()).await;
    page.says(json!({"id": 3, "call": "call", "param":
        {"id": 1, "method": "setup", "param": {"fen": "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"}}}))
        .await;
    page.attached = true;
    page.until(&mut lichess, |page| !page.matches.is_empty())
        .await;
    house.asks_for_a_move("citrine").await;
    hand.answers(&mut gui, "e2e4").await;
    page.until(&mut lichess, |page| page.last_board.contains("4P3"))
        .await;
    assert!(page.list.is_empty());
    assert!(!page.matches.contains(&true));
}

#[tokio::test]
async fn a_page_of_another_address_does_not_take_the_place_of_the_one_that_plays() {
    let (house, hand, board) = house(Kind::NovagCitrine).await;
    let address = house.address("livechess");
    let game = moves(GAME);
    let mut lichess = Lichess::new(Color::White);
    let mut owner = Page::over(socket_from([0, 2], address).await, 0).await;
    plays(&mut owner, &mut lichess, (&house, &hand, board), &game[..2]).await;
    let mut strange = Lichess::new(Color::White);
    strange.game = lichess.game.clone();
    let mut stranger = Page::over(socket_from([0, 3], address).await, 0).await;
    stranger
        .until(&mut strange, |page| !page.matches.is_empty())
        .await;
    house.until(board, |state| state.waiting.len() == 1).await;
    plays(
        &mut owner,
        &mut lichess,
        (&house, &hand, board),
        &game[2..4],
    )
    .await;
    assert!(!stranger.matches.contains(&true));
    // Nor after it is gone.
    drop(owner);
    house.until(board, |state| state.waiting.len() == 1).await;
    let mut owner = Page::over(socket_from([0, 2], address).await, 0).await;
    plays(
        &mut owner,
        &mut lichess,
        (&house, &hand, board),
        &game[4..6],
    )
    .await;
}

#[tokio::test]
async fn pages_that_are_gone_do_not_use_up_what_keeps_a_board_for_its_address() {
    let (house, hand, board) = house(Kind::NovagCitrine).await;
    let address = house.address("livechess");
    let mut lichess = Lichess::new(Color::White);
    let mut owner = Page::over(socket_from([0, 2], address).await, 0).await;
    plays(&mut owner, &mut lichess, (&house, &hand, board), &["e2e4"]).await;
    for last in 0..64 {
        let mut gone = Page::over(socket_from([1, last], address).await, 0).await;
        let mut strange = Lichess::new(Color::White);
        strange.game = lichess.game.clone();
        gone.until(&mut strange, |page| page.attached).await;
        drop(gone);
    }
    house.until(board, |state| state.places.len() == 65).await;
    drop(owner);
    house
        .until(board, |state| {
            state
                .holders
                .iter()
                .any(|name| name.to_string().contains("(disconnected)"))
        })
        .await;
}

#[tokio::test]
async fn every_call_has_its_answer_and_every_mistake_an_error() {
    let (house, _hand, board) = house(Kind::NovagCitrine).await;
    house.until(board, |state| state.link.is_open()).await;
    let mut page = Page::open(house.address("livechess"), 0).await;
    let list = page.hears().await;
    assert_eq!(
        list["param"][0],
        json!({"serialnr": "citrine", "source": "BoardBridge", "state": "ACTIVE", "battery": null, "comment": null,
               "board": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "flipped": false, "clock": null})
    );
    let subscribe = |id: u64| {
        json!({"id": 7, "call": "subscribe", "param":
               {"feed": "eboardevent", "id": id, "param": {"serialnr": "citrine"}}})
    };
    page.says(subscribe(5)).await;
    let answer = page.hears().await;
    assert_eq!(
        (&answer["response"], &answer["id"], &answer["param"]),
        (&json!("call"), &json!(7), &Value::Null)
    );
    let feed = page.hears().await;
    assert_eq!(
        (&feed["response"], &feed["id"]),
        (&json!("feed"), &json!(5))
    );
    let param = feed["param"].as_object().unwrap();
    let keys: Vec<&String> = param.keys().collect();
    assert_eq!(keys, ["board", "clock", "flipped", "serialnr"]);
    // Calls may come back to back.
    page.says(json!({"id": 8, "call": "sources", "param": null}))
        .await;
    page.says(json!({"id": 9, "call": "call", "param": {"id": 5, "method": "flip", "param": {"flip": true}}}))
        .await;
    page.says(json!({"id": 10, "call": "unsubscribe", "param": {"id": 5}}))
        .await;
    assert_eq!(page.hears().await["param"], json!(["BoardBridge"]));
    assert_eq!(page.hears().await["id"], 9);
    assert_eq!(page.hears().await["param"]["flipped"], true);
    assert_eq!(page.hears().await["id"], 10);
    for (call, words) in [
        (
            json!({"id": 11, "call": "nonsense"}),
            "unknown call: nonsense",
        ),
        (
            json!({"id": 11, "call": "call", "param": {"id": 5, "method": "setup"}}),
            "no feed 5",
        ),
        (json!({"id": 11, "call": "subscribe"}), "eboardevent"),
        (json!({"id": 11}), "a call is a JSON object"),
        (json!([1, 2]), "a call is a JSON object"),
    ] {
        page.says(call).await;
        let error = page.hears().await;
        assert_eq!(error["response"], "error");
        assert!(
            error["param"]["message"].as_str().unwrap().contains(words),
            "{error}"
        );
    }
    page.says(subscribe(6)).await;
    page.hears().await;
    page.hears().await;
    for fen in ["x", "8/8/8/8/8/8/8/8 w - - 0 1"] {
        let param = json!({"id": 6, "method": "setup", "param": {"fen": fen}});
        page.says(json!({"id": 12, "call": "call", "param": param}))
            .await;
        assert_eq!(page.hears().await["response"], "error");
    }
    page.says(json!({"id": 13, "call": "x".repeat(MAX_CALL)}))
        .await;
    let ended = timeout(PATIENCE, page.socket.next()).await.unwrap();
    assert!(!matches!(ended, Some(Ok(Message::Text(_)))), "{ended:?}");
}

#[tokio::test]
async fn a_piece_that_slides_on_a_neo_is_published_once_where_it_stops() {
    let bluez = Bluez::start().unwrap();
    let settings = neo::Settings {
        suffix: "001".to_owned(),
        speed: crate::support::SPEED,
        hand_delay: Some(Duration::from_millis(20)),
        strict: false,
        ..neo::Settings::default()
    };
    let address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
    let board = bluez.host(ADAPTER, address, Neo::new(settings)).unwrap();
    let text = "[boards.neo]\nkind = \"miko-neo\"\nsettle = \"2s\"\ncorrection_wait = \"150ms\"\n\
                ble = { name = \"Square Off Neo\" }\n";
    let mut process = Process::start(&bluez, text);
    let mut watch = process.watch().await;
    let address = process.address("livechess").await;
    let mut page = Page::open(address, 0).await;
    let mut lichess = Lichess::new(Color::White);
    page.until(&mut lichess, |page| {
        page.attached && !page.matches.is_empty()
    })
    .await;
    watch.asks_at(0).await;
    let pawn = Color::White.pawn();
    for touch in [
        NeoHand::Lift(Square::E2),
        NeoHand::Put(Square::E3, pawn),
        NeoHand::Lift(Square::E3),
        NeoHand::Put(Square::E4, pawn),
    ] {
        board.with(|neo| neo.hand(Instant::now(), touch));
    }
    page.until(&mut lichess, |page| page.plies == 1).await;
    assert_eq!(page.list, ["e4"]);
    assert_eq!(lichess.posted, ["e2e4"]);
}

async fn get(address: SocketAddr, path: &str, headers: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    http::answer(address, &request).await.unwrap()
}

#[tokio::test]
async fn boards_are_listed_in_the_order_of_the_file() {
    let folder = House::folder();
    let _hands = ["b", "c", "a"].map(|name| {
        let port = folder.path().join(name);
        Hand::new(Kind::NovagCitrine, port, true)
    });
    let boards = ["b", "c", "a"].map(|name| (name, FAST_CITRINE));
    let mut house = House::start(folder, &boards).await;
    let listed = async |house: &House| {
        let host = "Host: localhost\r\n";
        let text = get(house.address("livechess"), "/api/v1.0/eboards", host).await;
        let at = |name: &str| text.find(&format!("\"serialnr\": \"{name}\"")).unwrap();
        let mut names = ["a", "b", "c"];
        names.sort_by_key(|name| at(name));
        names
    };
    assert_eq!(listed(&house).await, ["b", "c", "a"]);
    let boards = ["a", "c", "b"].map(|name| (name, FAST_CITRINE));
    house.reloads(&boards, "").await;
    assert_eq!(listed(&house).await, ["a", "c", "b"]);
}

#[tokio::test]
async fn pages_of_other_sites_are_refused_and_programs_are_not() {
    let (house, _hand, _) = house(Kind::NovagCitrine).await;
    let address = house.address("livechess");
    for origin in [
        None,
        Some("https://lichess.org"),
        Some("https://www.chess.com"),
    ] {
        socket(address, origin).await.unwrap();
    }
    for origin in ["https://evil.example", "null", "http://lichess.org"] {
        let refused = socket(address, Some(origin)).await;
        assert!(
            matches!(&refused, Err(Error::Http(answer)) if answer.status() == 403),
            "{refused:?}"
        );
    }
    let list = get(address, "/api/v1.0/eboards", "Host: localhost:1982\r\n").await;
    assert!(list.starts_with("HTTP/1.1 200"), "{list}");
    let body = list.split("\r\n\r\n").nth(1).unwrap();
    let list: Value = serde_json::from_str(body).unwrap();
    assert_eq!(list[0]["serialnr"], "citrine");
    let rebound = get(address, "/api/v1.0/eboards", "Host: evil.example:1982\r\n").await;
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
}

#[tokio::test]
async fn a_page_plays_through_the_relay() {
    let (house, hand, board) = house(Kind::NovagCitrine).await;
    let far = house.address("livechess").to_string();
    let (lines, mut said) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        relay::run("127.0.0.1:0", &far, move |line| drop(lines.send(line))).await
    });
    let line = timeout(PATIENCE, said.recv()).await.unwrap().unwrap();
    let near = line.split([' ', ',']).nth(2).unwrap().parse().unwrap();
    let mut page = Page::open(near, 0).await;
    let mut lichess = Lichess::new(Color::White);
    plays(
        &mut page,
        &mut lichess,
        (&house, &hand, board),
        &["e2e4", "e7e5"],
    )
    .await;
    assert_eq!(lichess.posted, ["e2e4"]);
    // Without a daemon it says so, and goes on.
    house.daemon.stop().await;
    drop(page);
    let mut stream = TcpStream::connect(near).await.unwrap();
    let line = timeout(PATIENCE, said.recv()).await.unwrap().unwrap();
    assert!(line.contains("cannot be reached"), "{line}");
    let mut nothing = Vec::new();
    timeout(Duration::from_secs(5), stream.read_to_end(&mut nothing))
        .await
        .unwrap()
        .unwrap();
}
