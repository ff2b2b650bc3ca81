//! Games in a broadcast that polls `live.pgn`: each is one game from its beginning to its end, whatever happens, and no other
//! is taken for it.

mod server;

use std::{fs, path::Path};

use boardbridge::{
    bus::pairings::Saying,
    chess::game::{Game, uci},
    vocabulary::Snapshot,
};
use shakmaty::Color;
use simulators::run::Kind;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use self::server::{Viewers, games};
use crate::support::{
    FAST_CITRINE, Hand, House, PATIENCE,
    lichess::{Lichess, Style},
};

const OFF: &str = "[state]\ndirectory = \"off\"\n[games]\ndirectory = \"off\"\n";
/// The hand has White, the engine knows Black's moves.
const MOVES: [&str; 4] = ["e2e4", "e7e5", "g1f3", "b8c6"];
const RAPID: Style = Style {
    old_castling: false,
    clock: Some(900),
};

/// An answer: its head in lower case, and its text.
async fn ask(house: &House, path: &str, header: &str) -> (String, String) {
    let mut stream = TcpStream::connect(house.address("web")).await.unwrap();
    let request = format!(
        "GET /api/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{header}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    timeout(PATIENCE, read).await.unwrap().unwrap();
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(answer[..end].to_vec())
        .unwrap()
        .to_lowercase();
    let mut body = &answer[end + 4..];
    if !head.contains("chunked") {
        return (head, String::from_utf8(body.to_vec()).unwrap());
    }
    let mut text = Vec::new();
    while let Some(line) = body.windows(2).position(|two| two == b"\r\n") {
        let length = std::str::from_utf8(&body[..line]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        text.extend(&body[line + 2..line + 2 + length]);
        body = &body[line + 2 + length + 2..];
    }
    (head, String::from_utf8(text).unwrap())
}

async fn poll(house: &House, viewers: &mut Viewers) {
    let (head, text) = ask(house, "live.pgn", "").await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    viewers.poll(&text);
}

/// An engine that knows Black's moves.
fn engine(folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opponent/engine.sh");
    for (ply, m) in MOVES.iter().enumerate() {
        fs::write(folder.join(ply.to_string()), m).unwrap();
    }
    format!("engine = [{script:?}, {folder:?}]\ngo = \"depth 1\"\npatience = \"5s\"\n")
}

const BOARDS: [(&str, &str); 2] = [("left", FAST_CITRINE), ("right", FAST_CITRINE)];

/// Two boards with an opponent each, and a broadcast.
async fn hall(folder: TempDir, broadcast: &str) -> House {
    let (engine, state) = (engine(folder.path()), folder.path().join("state"));
    let opponents = BOARDS.map(|(board, _)| format!("[[opponent]]\nboard = {board:?}\n{engine}"));
    let more = format!(
        "{}[state]\ndirectory = {state:?}\n[games]\ndirectory = \"off\"\n{broadcast}",
        opponents.concat()
    );
    House::with(folder, &BOARDS, &more).await
}

/// Plays these moves, and polls after each: the hand has White.
async fn play(
    house: &House,
    board: &str,
    hand: &mut Hand,
    viewers: &mut Viewers,
    plies: std::ops::Range<usize>,
) {
    for ply in plies.step_by(2) {
        let turn = |state: &Snapshot| {
            let led = state
                .target
                .as_ref()
                .is_some_and(|target| target.len() == ply);
            led && state.awaiting && state.sure && state.game.len() == ply
        };
        house.until(board, turn).await;
        house.asks_for_a_move(board).await;
        hand.does(MOVES[ply]).await;
        // After a restart the position may be set up instead.
        let executed = format!("executed {}", MOVES[ply + 1]);
        hand.sees_one_of(&[executed.as_str(), "set-up"]).await;
        house.knows(board, ply + 2).await;
        poll(house, viewers).await;
    }
}

fn say(house: &House, board: &str, saying: Saying) -> impl Future<Output = ()> {
    let pairings = house.daemon.bus().pairings().clone();
    let board = board.parse().unwrap();
    async move { pairings.say(&board, saying).await.unwrap() }
}

#[tokio::test]
async fn every_board_with_an_opponent_and_its_next_game_are_games_of_their_own_through_a_restart() {
    let folder = House::folder();
    let mut hands =
        BOARDS.map(|(name, _)| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let broadcast = "[web.broadcast]\nevent = \"Köln Open\"\nround = \"3\"\n\
        players.left = { white = \"Jürgen\", black = \"Zoë\" }\nplayers.right = { white = \"Jürgen\", black = \"Zoë\" }\n";
    let house = hall(folder, broadcast).await;
    let mut viewers = Viewers::new();
    play(&house, "left", &mut hands[0], &mut viewers, 0..2).await;
    play(&house, "right", &mut hands[1], &mut viewers, 0..2).await;
    let House { daemon, folder } = house;
    daemon.stop().await;
    let house = hall(folder, broadcast).await;
    poll(&house, &mut viewers).await;
    play(&house, "left", &mut hands[0], &mut viewers, 2..4).await;
    say(&house, "left", Saying::Resign).await;
    house.until("left", |state| state.ending.is_some()).await;
    poll(&house, &mut viewers).await;
    viewers.show(&["Jürgen - Zoë: e4 e5 Nf3 Nc6", "Jürgen - Zoë: e4 e5"]);
    assert_eq!(viewers.games()[0].tag("Result"), Some("0-1"));
    hands[0].does("new-game").await;
    house.until("left", |state| state.game.is_empty()).await;
    let House { daemon, folder } = house;
    daemon.stop().await;
    let house = hall(folder, broadcast).await;
    play(&house, "left", &mut hands[0], &mut viewers, 0..2).await;
    play(&house, "right", &mut hands[1], &mut viewers, 2..4).await;
    viewers.show(&[
        "Jürgen - Zoë: e4 e5 Nf3 Nc6",
        "Jürgen - Zoë: e4 e5 Nf3 Nc6",
        "Jürgen - Zoë: e4 e5",
    ]);
    assert_eq!(viewers.games()[0].tag("Event"), Some("Köln Open"));
}

#[tokio::test]
async fn moves_taken_back_to_the_start_begin_no_other_game() {
    let folder = House::folder();
    let mut hands =
        BOARDS.map(|(name, _)| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let house = hall(folder, "").await;
    let mut viewers = Viewers::new();
    play(&house, "left", &mut hands[0], &mut viewers, 0..2).await;
    house.asks_for_a_move("left").await;
    say(&house, "left", Saying::TakeBack).await;
    house.knows("left", 0).await;
    poll(&house, &mut viewers).await;
    play(&house, "left", &mut hands[0], &mut viewers, 0..2).await;
    let shown = viewers.games();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!(shown[0].moves, ["e4", "e5"]);
}

#[tokio::test]
async fn a_board_that_loses_its_memory_in_mid_game_begins_no_other_game() {
    let folder = House::folder();
    let mut hands =
        BOARDS.map(|(name, _)| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let house = hall(folder, "").await;
    let mut viewers = Viewers::new();
    play(&house, "left", &mut hands[0], &mut viewers, 0..4).await;
    house.asks_for_a_move("left").await;
    let mut feed = house.daemon.bus().board("left").unwrap().feed();
    feed.next().await;
    hands[0].does("off").await;
    hands[0].does("on forgetful").await;
    let mut lost = false;
    let back = async {
        loop {
            let (_, state) = feed.next().await;
            poll(&house, &mut viewers).await;
            lost |= state.game.is_empty();
            if lost && state.sure && state.game.len() == 4 {
                return;
            }
        }
    };
    timeout(PATIENCE, back).await.unwrap();
    let shown = viewers.games();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!(shown[0].moves, ["e4", "e5", "Nf3", "Nc6"]);
}

#[tokio::test]
async fn a_game_of_two_linked_boards_is_one_also_after_its_end() {
    let folder = House::folder();
    let mut hands =
        ["left", "right"].map(|name| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let more = format!("{OFF}[[link]]\nboards = [\"right\", \"left\"]\n");
    let house = House::with(folder, &BOARDS, &more).await;
    let mut viewers = Viewers::new();
    for (ply, m) in ["f2f3", "e7e5", "g2g4", "d8h4"].iter().enumerate() {
        let mover = ["right", "left"][ply % 2];
        house.asks_for_a_move(mover).await;
        poll(&house, &mut viewers).await;
        hands[1 - ply % 2].does(m).await;
        hands[ply % 2].sees(&format!("executed {m}")).await;
        poll(&house, &mut viewers).await;
    }
    for board in ["left", "right"] {
        let free = |state: &Snapshot| state.holders.is_empty() && state.game.len() == 4;
        house.until(board, free).await;
    }
    poll(&house, &mut viewers).await;
    viewers.show(&["Hand on right - Hand on left: f3 e5 g4 Qh4#"]);
    assert_eq!(viewers.games()[0].tag("Result"), Some("0-1"));
}

#[tokio::test]
async fn a_game_on_lichess_keeps_its_names_and_clocks_after_its_end_also_through_a_restart() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let state = folder.path().join("state");
    let more = format!(
        "[state]\ndirectory = {state:?}\n[games]\ndirectory = \"off\"\n{}",
        lichess.config(folder.path(), "")
    );
    let boards = [("board", FAST_CITRINE)];
    let house = House::with(folder, &boards, &more).await;
    lichess.is_connected().await;
    let mut viewers = Viewers::new();
    let mut game = Game::standard();
    game.play_uci(["f2f3", "e7e5", "g2g4", "d8h4"]).unwrap();
    lichess.begins(Color::White);
    for (ply, m) in game.moves().iter().map(|&m| uci(m)).enumerate() {
        if ply % 2 == 0 {
            house.knows("board", ply).await;
            house.asks_for_a_move("board").await;
            hand.does(&m.to_string()).await;
            lichess.has(ply + 1).await;
        } else {
            lichess.moves(m);
            hand.sees(&format!("executed {m}")).await;
        }
        poll(&house, &mut viewers).await;
    }
    house.until("board", |state| state.holders.is_empty()).await;
    let (_, over) = ask(&house, "live.pgn", "").await;
    viewers.poll(&over);
    let House { daemon, folder } = house;
    daemon.stop().await;
    let house = House::with(folder, &boards, &more).await;
    house.knows("board", 4).await;
    let (_, after) = ask(&house, "live.pgn", "").await;
    assert_eq!(after, over);
    viewers.poll(&after);
    let shown = viewers.games();
    assert_eq!(shown.len(), 1, "{shown:?}");
    let shown = &shown[0];
    assert_eq!(shown.moves, ["f3", "e5", "g4", "Qh4#"]);
    assert!(
        shown
            .comments
            .iter()
            .all(|comment| comment.contains("[%clk 0:1")),
        "{shown:?}"
    );
    assert_eq!(shown.tag("Result"), Some("0-1"));
    assert!(shown.tag("WhiteElo").is_some() && shown.tag("Site").unwrap().contains("/Game0001"));
}

#[tokio::test]
async fn names_are_text_or_else_the_boards_and_the_clock_of_a_hand_needs_no_opponent() {
    let folder = House::folder();
    let hands =
        BOARDS.map(|(name, _)| Hand::new(Kind::NovagCitrine, folder.path().join(name), true));
    let more = "[[opponent]]\nboard = \"left\"\n[[opponent]]\nboard = \"right\"\n[state]\ndirectory = \"off\"\n\
         [games]\ndirectory = \"off\"\nsite = \"Köln\"\n[web.broadcast.players]\nleft = { white = \"Łukasz\", black = \"X\" }\n";
    let house = House::with(folder, &BOARDS, more).await;
    let mut viewers = Viewers::new();
    for m in &MOVES[..2] {
        for (hand, (board, _)) in hands.iter().zip(BOARDS) {
            house.asks_for_a_move(board).await;
            hand.does(m).await;
            let plies = if *m == MOVES[0] { 1 } else { 2 };
            house.knows(board, plies).await;
        }
        poll(&house, &mut viewers).await;
    }
    viewers.show(&[
        "Łukasz - Board left Black: e4 e5",
        "Board right White - Board right Black: e4 e5",
    ]);
    assert_eq!(viewers.games()[0].tag("Site"), Some("Köln"));
    let (_, settings) = ask(&house, "settings", "").await;
    assert!(settings.contains("\"site\":\"Köln\""), "{settings}");
    assert!(viewers.games()[0].comments[1].starts_with("[%emt 0:00:0"));
    let (head, text) = ask(&house, "live.pgn", "").await;
    assert!(
        head.contains("content-type: application/x-chess-pgn; charset=utf-8"),
        "{head}"
    );
    // Nothing has changed: nothing is sent again.
    let tag = head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    let (head, nothing) = ask(&house, "live.pgn", &format!("If-None-Match: {tag}\r\n")).await;
    assert!(
        head.starts_with("http/1.1 304") && nothing.is_empty(),
        "{head}"
    );
    house.asks_for_a_move("left").await;
    hands[0].does(MOVES[2]).await;
    house.knows("left", 3).await;
    let (head, more) = ask(&house, "live.pgn", &format!("If-None-Match: {tag}\r\n")).await;
    assert!(
        head.starts_with("http/1.1 200") && games(&more)[0].moves.len() == 3,
        "{head}"
    );
    assert_ne!(text, more);
}

#[tokio::test]
async fn a_board_that_nobody_plays_on_has_the_time_of_each_move_but_the_first() {
    let (house, hand) = House::with_citrine().await;
    let mut viewers = Viewers::new();
    house.knows("citrine", 0).await;
    hand.does("new-game").await;
    for (ply, m) in MOVES.iter().enumerate() {
        hand.does(m).await;
        house.knows("citrine", ply + 1).await;
    }
    poll(&house, &mut viewers).await;
    let game = &viewers.games()[0];
    assert_eq!(game.moves, ["e4", "e5", "Nf3", "Nc6"]);
    assert_eq!(game.comments[0], "");
    assert!(
        game.comments[1..]
            .iter()
            .all(|comment| comment.starts_with("[%emt 0:00:0")),
        "{game:?}"
    );
    viewers.show(&["Board citrine White - Board citrine Black: e4 e5 Nf3 Nc6"]);
}
