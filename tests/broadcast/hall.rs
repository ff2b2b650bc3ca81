//! The daemon with real boards' protocols and a server on a socket.

use std::{
    fs,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::to_bytes,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use boardbridge::{
    cli::check::{Here, describe},
    config::Config,
    front_end::https::token::Token,
};
use simulators::run::Kind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::server::Server;
use crate::support::{FAST_CITRINE, Hand, House, PATIENCE};

const BOARDS: [(&str, &str); 2] = [("left", FAST_CITRINE), ("right", FAST_CITRINE)];

struct Net {
    server: Mutex<Server>,
    begun: Instant,
    is_busy: Mutex<bool>,
}

/// The server on a socket.
struct Lila {
    net: Arc<Net>,
    address: SocketAddr,
}

impl Lila {
    async fn new() -> Self {
        let net = Arc::new(Net {
            server: Mutex::new(Server::new()),
            begun: Instant::now(),
            is_busy: Mutex::new(false),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(net.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { net, address }
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.net.server.lock().unwrap()
    }

    async fn shows(&self, board: &str, is_it: impl Fn(&super::server::Chapter) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let shown = {
                let server = self.server();
                let known = server.chapters.keys().any(|id| id.starts_with(board));
                known && is_it(server.chapter(board))
            };
            if shown {
                return;
            }
            assert!(Instant::now() < until, "{:?}", self.server().chapters);
            sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn answer(State(net): State<Arc<Net>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1024 * 1024).await.unwrap();
    let now = net.begun.elapsed();
    {
        let mut server = net.server.lock().unwrap();
        if parts.headers[header::AUTHORIZATION] != "Bearer lip_Broadcast1" {
            server.wrongs.push("another token".to_owned());
        }
    }
    assert!(
        !std::mem::replace(&mut *net.is_busy.lock().unwrap(), true),
        "two at once"
    );
    sleep(Duration::from_millis(30)).await;
    *net.is_busy.lock().unwrap() = false;
    let mut server = net.server.lock().unwrap();
    let answer = match parts.uri.path() {
        "/api/broadcast/-/-/aBcDeFgH" => server.about(now),
        "/api/broadcast/round/aBcDeFgH/push" => {
            let kind = &parts.headers[header::CONTENT_TYPE];
            assert_eq!(kind, "text/plain; charset=utf-8");
            server.push(std::str::from_utf8(&body).unwrap(), now)
        }
        path => panic!("{path}"),
    };
    match answer {
        Some((status, text)) => {
            (StatusCode::from_u16(status).unwrap(), text.to_string()).into_response()
        }
        None => StatusCode::BAD_GATEWAY.into_response(),
    }
}

#[tokio::test]
async fn games_of_two_boards_are_pushed_with_the_files_names_through_a_restart_and_a_reload() {
    let lila = Lila::new().await;
    let folder = House::folder();
    let hands =
        BOARDS.map(|(name, _)| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let token = folder.path().join("token");
    Token::of("lip_Broadcast1").unwrap().write(&token).unwrap();
    let file = folder.path().join("round3.csv");
    fs::write(&file, "left,Zoë,\"Müller, Jürgen\",2011\n").unwrap();
    let more = format!(
        "[[opponent]]\nboard = \"left\"\n[[opponent]]\nboard = \"right\"\n[state]\ndirectory = {:?}\n\
         [games]\ndirectory = \"off\"\n[[broadcast]]\nround = \"aBcDeFgH\"\nurl = \"http://{}\"\ntoken_file = {token:?}\npairings = {file:?}\n",
        folder.path().join("state"),
        lila.address
    );
    let house = House::with(folder, &BOARDS, &more).await;
    for (hand, (board, _)) in hands.iter().zip(BOARDS) {
        house.asks_for_a_move(board).await;
        hand.does("e2e4").await;
        house.knows(board, 1).await;
    }
    lila.shows("left", |game| {
        game.sans == ["e4"] && game.tag("White") == "Zoë"
    })
    .await;
    lila.shows("right", |game| game.tag("White") == "Board right White")
        .await;
    assert_eq!(lila.server().chapter("left").tag("Black"), "Müller, Jürgen");
    // The server is away while a move is made and the daemon restarts.
    lila.server().mood = super::server::Mood::Cut;
    house.asks_for_a_move("left").await;
    hands[0].does("e7e5").await;
    house.knows("left", 2).await;
    let House { daemon, folder } = house;
    daemon.stop().await;
    lila.server().mood = super::server::Mood::Fine;
    let mut house = House::with(folder, &BOARDS, &more).await;
    lila.shows("left", |game| game.sans == ["e4", "e5"]).await;
    // The file changes, and is read again by itself.
    fs::write(&file, "left,Anna Beck,Cleo\nright,Dan,Eva\n").unwrap();
    lila.shows("left", |game| game.tag("White") == "Anna Beck")
        .await;
    lila.shows("right", |game| game.tag("Black") == "Eva").await;
    // A delay that is set by a reload holds back what comes after it.
    house
        .reloads(&BOARDS, &format!("{more}delay = \"2s\"\n"))
        .await;
    house.asks_for_a_move("left").await;
    hands[0].does("g1f3").await;
    house.knows("left", 3).await;
    let made = lila.net.begun.elapsed();
    lila.shows("left", |game| game.sans.len() == 3).await;
    let server = lila.server();
    // It was seen up to a moment before the test looked.
    let early = Duration::from_millis(1500);
    assert!(server.chapter("left").arrived[2] > made + early);
    assert_eq!(server.chapters.len(), 2);
    assert_eq!(server.wrongs, Vec::<String>::new());
}

#[tokio::test]
async fn a_broadcast_without_a_token_of_its_own_is_pushed_with_that_of_a_login_to_its_server() {
    for is_its in [true, false] {
        let lila = Lila::new().await;
        let folder = House::folder();
        let hand = Hand::new(Kind::NovagCitrine, folder.path().join("left"), true);
        let url = format!("http://{}", lila.address);
        let of = if is_its { &url } else { "http://127.0.0.1:1" };
        let state = folder.path().join("state");
        fs::create_dir(&state).unwrap();
        let token = Token::of("lip_Broadcast1").unwrap();
        token.write_for(&state.join("lichess.token"), of).unwrap();
        let more = format!(
            "[[opponent]]\nboard = \"left\"\n[state]\ndirectory = {state:?}\n[games]\ndirectory = \"off\"\n\
             [[broadcast]]\nround = \"aBcDeFgH\"\nurl = \"{url}\"\n"
        );
        let house = House::with(folder, &BOARDS[..1], &more).await;
        house.asks_for_a_move("left").await;
        hand.does("e2e4").await;
        house.knows("left", 1).await;
        if is_its {
            lila.shows("left", |game| game.sans == ["e4"]).await;
        } else {
            // No other server gets it.
            house.daemon.stop().await;
            assert!(lila.server().chapters.is_empty() && lila.server().wrongs.is_empty());
        }
    }
}

#[tokio::test]
async fn what_a_program_tells_of_its_clocks_belongs_to_the_moves_that_stopped_them() {
    let lila = Lila::new().await;
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("left"), true);
    let token = folder.path().join("token");
    Token::of("lip_Broadcast1").unwrap().write(&token).unwrap();
    let more = format!(
        "[state]\ndirectory = \"off\"\n[games]\ndirectory = \"off\"\n\
         [[broadcast]]\nround = \"aBcDeFgH\"\nurl = \"http://{}\"\ntoken_file = {token:?}\n",
        lila.address
    );
    let house = House::with(folder, &BOARDS[..1], &more).await;
    let mut gui = house.gui().await;
    gui.says("ucinewgame\nposition startpos\ngo wtime 300000 btime 300000 winc 5000 binc 5000")
        .await;
    house.asks_for_a_move("left").await;
    hand.does("e2e4").await;
    gui.hears("bestmove e2e4").await;
    gui.says("position startpos moves e2e4 e7e5\ngo wtime 298400 btime 301900 winc 5000 binc 5000")
        .await;
    hand.sees("executed e7e5").await;
    let clocks = [Some("0:04:58".to_owned()), Some("0:05:02".to_owned())];
    lila.shows("left", |game| game.clocks == clocks).await;
    house.asks_for_a_move("left").await;
    hand.does("g1f3").await;
    gui.hears("bestmove g1f3").await;
    // The last move's clock is not known yet.
    lila.shows("left", |game| {
        game.clocks[..2] == clocks && game.clocks[2..] == [None]
    })
    .await;
    // Without the program the game keeps what is known.
    drop(gui);
    house.awaits("left", 0).await;
    hand.does("b8c6").await;
    lila.shows("left", |game| {
        game.sans.len() == 4 && game.clocks[..2] == clocks
    })
    .await;
    assert_eq!(lila.server().wrongs, Vec::<String>::new());
}

#[tokio::test]
async fn live_pgn_does_not_tell_a_delayed_game_before_its_time() {
    let folder = House::folder();
    let hands =
        BOARDS.map(|(name, _)| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let more = "[[opponent]]\nboard = \"left\"\n[[opponent]]\nboard = \"right\"\n[state]\ndirectory = \"off\"\n\
         [games]\ndirectory = \"off\"\n[[broadcast]]\nround = \"aBcDeFgH\"\nurl = \"http://127.0.0.1:9\"\n\
         boards = [\"left\"]\n";
    let late = format!("{more}delay = \"1h\"\n");
    let mut house = House::with(folder, &BOARDS, &late).await;
    for (hand, (board, _)) in hands.iter().zip(BOARDS) {
        house.asks_for_a_move(board).await;
        hand.does("e2e4").await;
        house.knows(board, 1).await;
    }
    let told = live(&house).await;
    assert!(
        told.contains("\"right-") && told.contains("1. e4"),
        "{told}"
    );
    assert_eq!(told.matches("1. e4").count(), 1, "{told}");
    // Nothing is told early while the daemon reloads.
    house
        .reloads(&BOARDS, &format!("{late}pairings = \"none.csv\"\n"))
        .await;
    let told = live(&house).await;
    assert_eq!(told.matches("1. e4").count(), 1, "{told}");
    house.reloads(&BOARDS, more).await;
    let told = live(&house).await;
    assert_eq!(told.matches("1. e4").count(), 2, "{told}");
}

#[test]
fn check_tells_what_is_pushed_and_the_line_of_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("round3.csv"),
        "neo,Zoë,Cleo\noak,Dan,Eva\n",
    )
    .unwrap();
    let file = folder.path().join("boardbridge.toml");
    let text = "[state]\ndirectory = \"off\"\n[games]\ndirectory = \"off\"\n[boards.neo]\nkind = \"miko-neo\"\nble = { name = \"N\" }\n\
        [[broadcast]]\nround = \"aBcDeFgH\"\npairings = \"round3.csv\"\ndelay = \"10m\"\ntoken_file = \"/nowhere/token\"\n";
    fs::write(&file, text).unwrap();
    let config = Config::load(&file).unwrap();
    let told = describe(&config, &file, Here::new(true, &config), "");
    assert!(
        told.contains("aBcDeFgH") && told.contains("games of neo") && told.contains("10m late"),
        "{told}"
    );
    assert!(
        told.contains("round3.csv, left out: line 2: there is no board `oak`"),
        "{told}"
    );
    assert!(told.contains("scopes[]=study:write"), "{told}");
    for (wrong, words) in [
        ("round = \"abc\"\n", "last 8 letters"),
        ("", "is missing"),
        (
            "round = \"aBcDeFgH\"\nurl = \"http://lichess.org\"\n",
            "not encrypted",
        ),
        ("round = \"aBcDeFgH\"\ndelay = \"2h\"\n", "too long"),
        (
            "round = \"aBcDeFgH\"\n[[broadcast]]\nround = \"aBcDeFgH\"\n",
            "already",
        ),
    ] {
        let error = Config::from_text(&format!("[[broadcast]]\n{wrong}"), "f").unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// The text of `live.pgn`.
async fn live(house: &House) -> String {
    let at = house.address("web");
    let mut stream = TcpStream::connect(at).await.unwrap();
    let request =
        format!("GET /api/v1/live.pgn HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}
