//! The API is as docs/api.md and docs/api.schema.json say: what it answers, and what its buttons do.

use std::{
    fs,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use boardbridge::{
    bus::{
        BoardHandle, Bus, Publisher,
        pairings::{ClocksAt, Entry, Pairing, Player, Saying},
    },
    front_end::{
        pgn_text::clock,
        web::{self, Control},
    },
    state::{self as store, Store},
    vocabulary::{BoardName, By, ClientId, ClientPlace, Clocks, Event, Snapshot},
};
use jiff::tz::TimeZone;
use serde_json::Value;
use shakmaty::{ByColor, Color};
use simulators::run::Kind;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::{TcpListener, TcpStream},
    sync::{broadcast, mpsc, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::{FAST_CITRINE, Hand, House, PATIENCE, schema};

async fn send(to: SocketAddr, request: String) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// An answer's status and body.
async fn answer(to: SocketAddr, request: String) -> (u16, String) {
    let mut stream = send(to, request).await;
    let mut text = String::new();
    let read = stream.read_to_string(&mut text);
    timeout(PATIENCE, read).await.unwrap().unwrap();
    let status = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    if !head.contains("chunked") {
        return (status, body.to_owned());
    }
    let (mut rest, mut whole) = (body, String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole += &after[..length];
        rest = after[length..].trim_start_matches("\r\n");
    }
    (status, whole)
}

async fn text(house: &House, path: &str) -> String {
    let head = "Host: 127.0.0.1\r\nConnection: close\r\n";
    let request = format!("GET /api/v1/{path} HTTP/1.1\r\n{head}\r\n");
    let (status, body) = answer(house.address("web"), request).await;
    assert_eq!(status, 200, "{body}");
    body
}

async fn get(house: &House, path: &str) -> Value {
    serde_json::from_str(&text(house, path).await).unwrap()
}

async fn press(house: &House, button: &str, body: &str) -> (u16, Value) {
    let head = "Host: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let length = body.len();
    let request = format!(
        "POST /api/v1/boards/{button} HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{body}"
    );
    let (status, body) = answer(house.address("web"), request).await;
    (status, serde_json::from_str(&body).unwrap())
}

/// A page's events.
struct Events(Lines<BufReader<TcpStream>>);

impl Events {
    async fn of(house: &House) -> Self {
        let request = "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned();
        let mut lines = BufReader::new(send(house.address("web"), request).await).lines();
        let kind = "content-type: text/event-stream";
        while timeout(PATIENCE, lines.next_line())
            .await
            .unwrap()
            .unwrap()
            .unwrap()
            != kind
        {}
        Self(lines)
    }

    async fn next(&mut self) -> Value {
        loop {
            let line = timeout(PATIENCE, self.0.next_line()).await.unwrap();
            let line = line.unwrap().unwrap();
            if let Some(data) = line.strip_prefix("data: {") {
                return serde_json::from_str(&format!("{{{data}")).unwrap();
            }
        }
    }

    async fn until(&mut self, event: &str) -> Value {
        loop {
            let line = self.next().await;
            if line["event"] == event {
                return line;
            }
        }
    }
}

const OFF: &str = "[state]\ndirectory = \"off\"\n[games]\ndirectory = \"off\"\n";

fn citrine() -> BoardName {
    "citrine".parse().unwrap()
}

fn pairing(can: &[Saying]) -> Pairing {
    let player = |name: &str, rating| Player {
        name: name.to_owned(),
        title: None,
        rating,
    };
    Pairing {
        players: ByColor {
            white: Some(player("You", None)),
            black: Some(player("Deep \"Blue\"", Some(2800))),
        },
        hand: Some(Color::White),
        event: Some("Casual game".to_owned()),
        site: Some("https://lichess.org/abcdefgh".to_owned()),
        clocks: Some(ClocksAt {
            clocks: Clocks {
                left: ByColor {
                    white: Duration::from_secs(598),
                    black: Duration::from_secs(600),
                },
                runs: Some(Color::Black),
            },
            at: SystemTime::now(),
        }),
        clock_times: vec![Some(Duration::from_secs(598))],
        can: can.to_vec(),
        ..Pairing::default()
    }
}

/// The opponent hears this, and answers.
async fn hears(entry: &mut Entry, saying: Saying, answer: Result<(), String>) {
    let said = timeout(PATIENCE, entry.said()).await.unwrap();
    assert_eq!(said.saying, saying);
    said.answer.send(answer).unwrap();
}

#[tokio::test]
async fn every_answer_fits_the_schema() {
    let folder = House::folder();
    let games = folder.path().join("games");
    fs::create_dir(&games).unwrap();
    let game = "[Event \"?\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 {[%emt 0:00:02]} e5 2. Nf3 1-0\n\n";
    for day in 1..=3 {
        let file = format!("2026-11-0{day}_120000_citrine_1.pgn");
        fs::write(games.join(file), game).unwrap();
    }
    let more =
        format!("[state]\ndirectory = \"off\"\n[games]\ndirectory = {games:?}\nplayer = \"Ada\"\n");
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let house = House::with(folder, &[("citrine", FAST_CITRINE)], &more).await;
    let schema = schema::api();
    let fits = |name: &str, value: &Value| assert_eq!(schema.check_as(name, value), Ok(()));
    let _entry = house.daemon.bus().pairings().enter(citrine(), pairing(&[]));
    fits("boards", &get(&house, "boards").await);
    fits("board", &get(&house, "boards/citrine").await);
    fits("settings", &get(&house, "settings").await);
    let listed = get(&house, "games").await;
    fits("games", &listed);
    let files = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|game| game["file"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let third = "2026-11-03_120000_citrine_1.pgn";
    assert_eq!(files(&listed)[0], third, "the last one is first");
    let first = &listed[2];
    assert_eq!(
        (&first["plies"], &first["begun"], &first["white"]),
        (&3.into(), &"2026-11-01T12:00:00Z".into(), &"A".into())
    );
    let before = get(&house, &format!("games?before={third}")).await;
    assert_eq!(files(&before), files(&listed)[1..]);
    assert_eq!(text(&house, &format!("games/{third}")).await, game);
    let moves = get(&house, &format!("games/{third}/moves")).await;
    fits("moves", &moves);
    let (first, last) = (&moves["moves"][0], &moves["moves"][2]);
    assert_eq!(
        (&first["uci"], &first["took"]),
        (&"e2e4".into(), &2.0.into())
    );
    assert!(last["fen"].as_str().unwrap().contains("/5N2/"), "{last}");
    fits("released", &press(&house, "citrine/release", "{}").await.1);
    let (status, error) = press(&house, "nowhere/release", "{}").await;
    assert_eq!(status, 404);
    fits("error", &error);
    assert!(schema.check_as("done", &error).is_err());
}

#[tokio::test]
async fn a_page_is_told_everything_from_the_state_on() {
    let (house, hand, mut gui) = House::with_citrine_and_gui().await;
    gui.says("position startpos").await;
    gui.says("go").await;
    house.asks_for_a_move("citrine").await;
    let schema = schema::events();
    let mut events = Events::of(&house).await;
    for wanted in ["daemon", "snapshot", "client-snapshot"] {
        let line = events.next().await;
        assert_eq!(line["event"], wanted);
        assert_eq!(schema.check(&line), Ok(()));
    }
    hand.does("e2e4").await;
    let moved = events.until("moved").await;
    assert_eq!(moved["san"], "e4");
    assert_eq!(schema.check(&moved), Ok(()));
    let entry = house.daemon.bus().pairings().enter(citrine(), pairing(&[]));
    let line = events.until("pairing").await;
    assert_eq!(line["pairing"]["black"]["rating"], 2800);
    entry.change(|pairing| pairing.offer = Some(Saying::Draw));
    let line = events.until("pairing").await;
    assert_eq!(schema.check(&line), Ok(()));
    assert_eq!(line["text"], "the opponent offers a draw");
    assert_eq!(
        get(&house, "boards/citrine").await["pairing"]["offer"],
        "draw"
    );
    drop(entry);
    assert_eq!(events.until("pairing").await["pairing"], Value::Null);
}

#[tokio::test]
async fn a_page_that_misses_events_gets_the_state() {
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("citrine"), true);
    let house = House::lagging(folder, &[("citrine", FAST_CITRINE)], OFF).await;
    let mut events = Events::of(&house).await;
    events.until("lagged").await;
    for wanted in ["daemon", "snapshot"] {
        assert_eq!(events.next().await["event"], wanted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_shows_that_it_is_alive() {
    let folder = House::folder();
    let house = House::with(folder, &[], OFF).await;
    let mut events = Events::of(&house).await;
    events.until("daemon").await;
    let alive = async { while events.0.next_line().await.unwrap().unwrap() != "event: alive" {} };
    timeout(PATIENCE, alive).await.unwrap();
}

#[tokio::test]
async fn ten_pages_at_once_are_served() {
    let (house, _hand) = House::with_citrine().await;
    let mut pages = Vec::new();
    for _ in 0..10 {
        pages.push(Events::of(&house).await);
    }
    get(&house, "boards").await;
    let board = house.daemon.bus().board("citrine").unwrap();
    board.publisher.publish(vec![Event::Restarted], None);
    for page in &mut pages {
        page.until("restarted").await;
    }
}

#[tokio::test]
async fn the_opponent_hears_the_buttons_and_its_answer_comes_back() {
    let (house, _hand) = House::with_citrine().await;
    let pairings = house.daemon.bus().pairings();
    let mut entry = pairings.enter(citrine(), pairing(&Saying::ALL));
    for saying in Saying::ALL {
        let button = format!("citrine/{saying}");
        let (pressed, ()) = tokio::join!(
            press(&house, &button, "{}"),
            hears(&mut entry, saying, Ok(()))
        );
        assert_eq!(pressed.0, 200, "{}", pressed.1);
        assert_eq!(schema::api().check_as("done", &pressed.1), Ok(()));
    }
    let no = Err("the game has just ended".to_owned());
    let (pressed, ()) = tokio::join!(
        press(&house, "citrine/resign", "{}"),
        hears(&mut entry, Saying::Resign, no)
    );
    assert_eq!(
        pressed,
        (409, serde_json::json!({"error": "the game has just ended"}))
    );
}

#[tokio::test]
async fn without_an_opponent_the_words_say_where_it_is_done() {
    let (house, _hand) = House::with_citrine().await;
    let (status, free) = press(&house, "citrine/new-game", "{}").await;
    assert_eq!(status, 409);
    assert!(free["error"].as_str().unwrap().contains("citrine is free"));
    let (status, _) = press(&house, "citrine/promotion", "{\"piece\": \"n\"}").await;
    assert_eq!(status, 409);
    let mut gui = house.gui().await;
    gui.says("position startpos").await;
    gui.says("go").await;
    house.awaits("citrine", 1).await;
    let (status, with) = press(&house, "citrine/resign", "{}").await;
    assert_eq!(status, 409);
    let words = with["error"].as_str().unwrap();
    assert!(words.contains("is with 127.0.0.1:"), "{words}");
}

#[tokio::test]
async fn the_board_is_told_that_it_is_ready_and_what_a_pawn_becomes() {
    let place = |client, joined| ClientPlace {
        client: ClientId(client),
        number: 1,
        joined,
        put_out: false,
        answer: Vec::new(),
    };
    let snapshot = Snapshot {
        places: vec![place(4, false), place(7, true)],
        ..Snapshot::new(citrine())
    };
    let publications = broadcast::channel(1).0;
    let (sender, mut commands) = mpsc::channel(8);
    let board = BoardHandle {
        name: citrine(),
        way: "a wire".into(),
        commands: sender,
        publisher: Publisher::new(publications.clone(), snapshot),
    };
    let bus = Bus::new(publications, vec![board]);
    let house = web::House::new(
        bus,
        Control::Local,
        Arc::new(web::Pairing::new(
            Store::off().shelf(store::Kind::Web, "phones"),
        )),
        Vec::new(),
        watch::channel(None).1,
        watch::channel(web::SavedGames::default()).1,
        web::Broadcast::default(),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(web::serve(listener.into(), house, CancellationToken::new()));
    for (button, body, wanted) in [
        ("ready", "{}", "ready 7"),
        ("promotion", "{\"piece\": \"n\"}", "promotion 7 n"),
    ] {
        let head = "Host: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n";
        let length = body.len();
        let request = format!(
            "POST /api/v1/boards/citrine/{button} HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{body}"
        );
        let (status, answer) = answer(address, request).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(commands.try_recv().unwrap().to_string(), wanted);
    }
}

#[tokio::test]
async fn two_linked_boards_have_one_game_in_a_broadcast_with_the_names_of_its_players() {
    let folder = House::folder();
    let hands =
        ["b", "a"].map(|name| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let more = format!(
        "{OFF}[[link]]\nboards = [\"b\", \"a\"]\n[web.broadcast]\nevent = \"Club evening\"\nround = \"3\"\n\
         players = {{ a = {{ white = \"Ada\" }} }}\n"
    );
    let keys = [("b", FAST_CITRINE), ("a", FAST_CITRINE)];
    let house = House::with(folder, &keys, &more).await;
    house.asks_for_a_move("b").await;
    hands[0].does("e2e4").await;
    house.knows("a", 1).await;
    house
        .until("a", |state| state.by.last() == Some(&Some(By::Target)))
        .await;
    let pgn = text(&house, "live.pgn").await;
    for wanted in [
        "[Event \"Club evening\"]",
        "[Round \"3.",
        "[White \"Ada\"]",
        "[Black \"Hand on a\"]",
        "[GameId \"a-",
    ] {
        assert!(pgn.contains(wanted), "no {wanted} in {pgn}");
    }
    assert_eq!(pgn.matches("[White ").count(), 1, "{pgn}");
}

#[tokio::test]
async fn running_games_are_a_broadcast() {
    let (house, hand) = House::with_citrine().await;
    assert_eq!(text(&house, "live.pgn").await, "");
    let mut gui = house.gui().await;
    gui.says("position startpos").await;
    gui.says("go").await;
    house.asks_for_a_move("citrine").await;
    hand.answers(&mut gui, "e2e4").await;
    let pgn = text(&house, "live.pgn").await;
    for wanted in [
        "[White \"Hand on citrine\"]",
        "[Black \"Chess program\"]",
        "[GameId \"citrine-",
        "1. e4",
        "*\n\n",
    ] {
        assert!(pgn.contains(wanted), "no {wanted} in {pgn}");
    }
    // Today; the test may run at midnight.
    let dates: Vec<&str> = pgn
        .split("Date \"")
        .skip(1)
        .map(|rest| &rest[..10])
        .collect();
    let seen: SystemTime = house
        .daemon
        .bus()
        .board("citrine")
        .unwrap()
        .state()
        .began
        .unwrap();
    assert!(seen.elapsed().unwrap() < PATIENCE);
    let day = |zone| clock(seen, &zone, "%Y.%m.%d");
    assert_eq!(dates, [day(TimeZone::system()), day(TimeZone::UTC)]);
    let _entry = house.daemon.bus().pairings().enter(citrine(), pairing(&[]));
    let pgn = text(&house, "live.pgn").await;
    for wanted in [
        "[Event \"Casual game\"]",
        "[Site \"https://lichess.org/abcdefgh\"]",
        "[White \"You\"]",
        "[Black \"Deep \\\"Blue\\\"\"]",
        "[BlackElo \"2800\"]",
        "1. e4 {[%clk 0:09:58][%emt 0:00:0",
    ] {
        assert!(pgn.contains(wanted), "no {wanted} in {pgn}");
    }
    let mut reader = pgn_reader::Reader::new(pgn.as_bytes());
    assert!(reader.has_more().unwrap());
}
