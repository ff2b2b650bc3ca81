//! The event stream is as described by `docs/events.md` and `docs/events.schema.json`, and is readable.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, SystemTime},
};

use boardbridge::{
    bus::{
        BoardHandle, Bus, News, Publisher,
        clients::{Client, ClientKind},
        pairings::{ClocksAt, Pairing, Player, Saying},
    },
    chess::{game::Game, guidance::Action},
    cli::watch::text::Text,
    driver::ucb,
    front_end::{
        event_stream,
        objects::lines::{Present, closed_line, event_line, lagged_line, pairing_line},
    },
    vocabulary::{
        Advice, BoardName, BoardResult, By, ClientId, ClientPlace, Clocks, Evaluation, Event,
        GameEnd, Judge, LinkState, Opponent, Reason, Snapshot,
    },
};
use futures_util::FutureExt as _;
use serde_json::{Value, json};
use shakmaty::{ByColor, Color, Role, Square};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::{broadcast, mpsc},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::support::schema;

/// The time limit for anything awaited.
const PATIENCE: Duration = Duration::from_mins(1);

fn docs() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/events.md");
    std::fs::read_to_string(file).unwrap()
}

/// The examples in the document, in their order.
fn examples() -> Vec<Value> {
    let text = docs();
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn name() -> BoardName {
    "citrine".parse().unwrap()
}

fn game() -> Game {
    let mut game = Game::standard();
    game.play_uci(["e2e4", "g8f6"]).unwrap();
    game
}

fn actions() -> Arc<[Action]> {
    let piece = Some(Color::White.knight());
    let (from, to) = (Some(Square::G3), Some(Square::F3));
    Arc::new([
        Action { piece, from, to },
        Action {
            piece: None,
            from,
            to: None,
        },
    ])
}

fn busy() -> Snapshot {
    let mut target = game();
    target.play_uci(["g1f3"]).unwrap();
    Snapshot {
        link: LinkState::Up,
        id: Some("UCBII V1.09".to_owned()),
        game: Arc::new(game()),
        target: Some(Arc::new(target)),
        guidance: actions(),
        took: Arc::new([None, Some(Duration::from_micros(12_040_600))]),
        ending: Some(GameEnd::drawn(Reason::FiftyMoves)),
        judge: Some(Judge::Board),
        result: Some(BoardResult::FiftyMoves),
        battery: Some(73),
        places: vec![ClientPlace {
            client: ClientId(1),
            number: 1,
            joined: true,
            put_out: false,
            answer: Vec::new(),
        }],
        holders: vec!["127.0.0.1:50112".into()],
        ..Snapshot::new(name())
    }
}

/// A game against a person far away.
fn pairing() -> Pairing {
    let player = |name: &str, rating| Player {
        name: name.to_owned(),
        title: Some("GM".to_owned()),
        rating,
    };
    Pairing {
        players: ByColor {
            white: Some(player("You", Some(1500))),
            black: None,
        },
        hand: Some(Color::White),
        event: Some("Rated rapid game".to_owned()),
        began: None,
        site: Some("https://lichess.org/abcdefgh".to_owned()),
        clocks: Some(ClocksAt {
            clocks: Clocks {
                left: ByColor {
                    white: Duration::from_secs(890),
                    black: Duration::from_millis(899_500),
                },
                runs: Some(Color::Black),
            },
            at: SystemTime::UNIX_EPOCH,
        }),
        clock_times: vec![Some(Duration::from_secs(900)), None],
        evaluation: Some(Evaluation::Cp(-35)),
        offer: Some(Saying::Draw),
        chat: ["hello".to_owned()].into_iter().collect(),
        notice: Some("the opponent has left".to_owned()),
        can: vec![Saying::Draw, Saying::Resign],
        ..Pairing::default()
    }
}

/// A bus with this board.
fn bus(snapshot: Snapshot) -> Bus {
    let publications = broadcast::channel(1).0;
    let handle = BoardHandle {
        name: name(),
        way: "/dev/ttyUSB0 at 57600 baud".into(),
        commands: mpsc::channel(1).0,
        publisher: Publisher::new(publications.clone(), snapshot),
    };
    Bus::new(publications, vec![handle])
}

/// One event of every kind.
fn every_event() -> Vec<Event> {
    let uci = game().uci_moves().last().unwrap();
    let text = || "words".to_owned();
    let (by, took) = (By::Hand, Some(Duration::from_secs(12)));
    vec![
        Event::Connected,
        Event::Disconnected { why: text() },
        Event::Unheard,
        Event::Answers { id: None },
        Event::Silent,
        Event::Stranger { kind: ucb::KIND },
        Event::Restarted,
        Event::Moved {
            uci,
            ply: 2,
            by,
            took,
        },
        Event::Moved {
            uci,
            ply: 1,
            by: By::Target,
            took: None,
        },
        Event::Guidance { actions: actions() },
        Event::TookBack {
            uci,
            ply: 2,
            by: By::HandUnseen,
        },
        Event::NewGame { by },
        Event::SetUp { fen: game().fen() },
        Event::Executed { uci },
        Event::Mistake { text: text() },
        Event::Mended,
        Event::AsksTakeBack,
        Event::Result {
            result: BoardResult::BoardResigns,
        },
        Event::Ended {
            end: GameEnd::ABORTED,
            by: Judge::Program,
        },
        Event::Players {
            have: vec!["a".into()],
            wait: vec!["b".into()],
        },
        Event::Client {
            client: "a".into(),
            text: text(),
        },
        Event::Target { game: None },
        Event::Battery { percent: 100 },
        Event::Unreadable { text: text() },
        Event::Advice {
            text: String::new(),
        },
    ]
}

/// Fails to compile if a kind of event is added: add it to [`every_event`], the documents and the schema.
fn is_among_them(event: &Event) {
    match event {
        Event::Connected
        | Event::Disconnected { .. }
        | Event::Answers { .. }
        | Event::Unheard
        | Event::Silent
        | Event::Stranger { .. }
        | Event::Restarted
        | Event::Moved { .. }
        | Event::Guidance { .. }
        | Event::TookBack { .. }
        | Event::NewGame { .. }
        | Event::SetUp { .. }
        | Event::Executed { .. }
        | Event::Mistake { .. }
        | Event::Mended
        | Event::AsksTakeBack
        | Event::Result { .. }
        | Event::Ended { .. }
        | Event::Players { .. }
        | Event::Client { .. }
        | Event::Target { .. }
        | Event::Battery { .. }
        | Event::Unreadable { .. }
        | Event::Advice { .. } => {}
    }
}

/// Every possible line.
fn every_line() -> Vec<Value> {
    let mut lines = vec![
        lagged_line(3),
        closed_line(32),
        pairing_line(&name(), Some(&pairing())),
        pairing_line(&name(), None),
    ];
    for snapshot in [busy(), Snapshot::new(name())] {
        let bus = bus(snapshot);
        let _paired = bus.pairings().enter(name(), pairing());
        let app = Client {
            board: Some(name()),
            opponent: Some(Opponent::WhitePawn),
            since: None,
            why: Some("there is no port".into()),
            ..Client::new(ClientId(1), "the app".into(), ClientKind::App)
        };
        let _app = bus.clients().enter(app);
        let gui = Client {
            peer: Some("127.0.0.1:50112".into()),
            ..Client::new(ClientId(2), "127.0.0.1:50112".into(), ClientKind::Gui)
        };
        let _gui = bus.clients().enter(gui);
        let (mut present, mut subscription) = (Present::of(&bus), bus.subscribe());
        let told = std::iter::from_fn(|| present.next(&bus, &mut subscription, 1));
        let told: Vec<Value> = told
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect();
        assert_eq!(told.len(), 4, "the daemon, a board, two clients");
        lines.extend(told);
    }
    for event in every_event() {
        is_among_them(&event);
        lines.push(line_of(&event, game()));
        lines.push(line_of(&event, Game::standard()));
    }
    lines
}

/// The line of an event after which the board holds this game.
fn line_of(event: &Event, game: Game) -> Value {
    let bus = bus(Snapshot {
        game: Arc::new(game),
        ..busy()
    });
    let mut subscription = bus.subscribe();
    bus.tell(Some(&name()), event.clone());
    match subscription.next().now_or_never() {
        Some(News::Published(publication)) => event_line(&publication, event),
        other => panic!("{other:?}"),
    }
}

/// The keys of every kind of line.
fn keys(lines: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        let kind = line["event"].as_str().unwrap().to_owned();
        let line = line.as_object().unwrap();
        keys.entry(kind).or_default().extend(line.keys().cloned());
    }
    keys
}

/// Every key in a value, however deep.
fn all_keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.insert(key.clone());
                all_keys(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| all_keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_line_fits_the_schema_and_the_schema_has_nothing_more() {
    let schema = schema::events();
    let lines = every_line();
    for line in &lines {
        assert_eq!(schema.check(line), Ok(()));
    }
    assert_eq!(keys(&lines), schema.events().into_iter().collect());
}

#[test]
fn the_checker_of_the_schema_finds_what_is_wrong() {
    let schema = schema::events();
    let fine = examples().swap_remove(1);
    assert_eq!(schema.check(&fine), Ok(()));
    let wrongs: [fn(&mut Value); 7] = [
        |line| line["event"] = "snapshots".into(),
        |line| line["link"] = "upright".into(),
        |line| line["ply"] = "2".into(),
        |line| line["battery"] = 101.into(),
        |line| line["guidance"][0]["piece"] = 3.into(),
        |line| line["news"] = true.into(),
        |line| drop(line.as_object_mut().unwrap().remove("fen")),
    ];
    for wrong in wrongs {
        let mut line = fine.clone();
        wrong(&mut line);
        assert!(schema.check(&line).is_err(), "{line}");
    }
}

#[test]
fn the_document_names_every_event_and_every_key() {
    let docs = docs();
    let lines = every_line();
    let mut names: BTreeSet<String> = keys(&lines).into_keys().collect();
    lines.iter().for_each(|line| all_keys(line, &mut names));
    for name in names {
        assert!(
            docs.contains(&format!("`{name}`")),
            "`{name}` is not in the document"
        );
    }
}

#[test]
fn the_document_has_an_example_of_every_line_and_each_is_right() {
    let schema = schema::events();
    let examples = examples();
    for example in &examples {
        assert_eq!(schema.check(example), Ok(()));
    }
    let shown: Vec<_> = keys(&examples).into_keys().collect();
    let all: Vec<_> = keys(&every_line()).into_keys().collect();
    assert_eq!(shown, all);
}

#[test]
fn a_move_that_the_game_has_left_has_no_other_name() {
    let uci = game().uci_moves().last().unwrap();
    let moved = Event::Moved {
        uci,
        ply: 2,
        by: By::Hand,
        took: None,
    };
    assert_eq!(line_of(&moved, game())["san"], "Nf6");
    assert_eq!(line_of(&moved, Game::standard())["san"], Value::Null);
    let taken_back = Event::TookBack {
        uci,
        ply: 2,
        by: By::Hand,
    };
    let line = line_of(&taken_back, game().truncated(1));
    assert_eq!((&line["san"], &line["number"]), (&"Nf6".into(), &1.into()));
}

#[tokio::test]
async fn a_watcher_that_lags_is_told_how_everything_stands_anew() {
    let bus = bus(busy());
    let entry = Client::new(ClientId(1), "the app".into(), ClientKind::App);
    let _app = bus.clients().enter(entry);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(event_stream::serve(
        listener.into(),
        bus.clone(),
        stop.clone(),
    ));
    let mut lines = BufReader::new(TcpStream::connect(address).await.unwrap()).lines();
    let mut kinds = async |count: usize| {
        let mut kinds = Vec::new();
        for _ in 0..count {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap();
            let line: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            kinds.push(line["event"].as_str().unwrap().to_owned());
        }
        kinds
    };
    let stands = ["daemon", "snapshot", "client-snapshot"];
    assert_eq!(kinds(3).await, stands);
    // The bus holds one event, and no other task has a turn meanwhile.
    for _ in 0..3 {
        bus.tell(Some(&name()), Event::Mended);
    }
    assert_eq!(kinds(1).await, ["lagged"]);
    assert_eq!(kinds(3).await, stands);
    // What happened before these is in them; what happens afterwards is told.
    bus.tell(Some(&name()), Event::Restarted);
    assert_eq!(kinds(1).await, ["restarted"]);
    stop.cancel();
    serving.await.unwrap();
}

/// The examples of the document as printed for people.
const AS_TEXT: &str = "\
BoardBridge 0.1.0, 2026-11-21 08:52:58 UTC (all times here are UTC): 2 boards, 3 clients

citrine  up (UCBII V1.09), /dev/ttyUSB0 at 57600 baud
  game       last move 1... Nf6 (g8f6), by hand, 12 s; White to move
  led to     startpos moves e2e4 g8f6 g1f3
  with       127.0.0.1:50112, waiting for a move; waiting: the WhitePawn app (tcp 127.0.0.1:9690)
  do         make the move g1f3 on the board
  put right  1. move the white knight from g3 to f3

ucb  no link, /dev/ttyUSB1 at 9600 baud: there is no /dev/ttyUSB1: is the cable plugged in?
  game       not known yet
  with       nobody

127.0.0.1:50112 (a GUI): connected since 08:40:01; has citrine, awaits a move
the WhitePawn app (tcp 127.0.0.1:9690): away since 08:51:30; waits for citrine, on Lichess, awaits a move
the WhitePawn app (serial /dev/ttyGS0): cannot connect: there is no /dev/ttyGS0: boardbridge-gadget makes it, and `sudo systemctl status boardbridge-gadget` says why it has not; using ucb

12 events missed; the current state:
08:53:00  -        this stream is closed to admit another watcher: at most 32 do at once
08:53:00  citrine  the port is open
08:53:00  ucb      no link: there is no /dev/ttyUSB1: is the cable plugged in?
08:53:00  citrine  the board answers: UCBII V1.09
08:53:00  ucb      nothing heard yet: move a piece; if that does not help, is the board switched on, does its cable have 6 wires, and is its `kind` right?
08:53:00  citrine  the board does not answer: is it switched on?
08:53:00  ucb      the connected board talks like a novag-citrine: set kind = \"novag-citrine\" for this board
08:53:00  citrine  the board was switched on
08:53:00  neo      battery: 73 %
08:53:00  citrine  unreadable: M   1   e9-e4
08:53:01  citrine  2. Nf3 (g1f3) shown on the board
08:53:02  citrine  2. Nf3 (g1f3) executed
08:53:09  citrine  2... d5 (d7d5) by hand, 7.0 s
08:53:11  citrine  2... d5 (d7d5) taken back by hand
08:53:12  citrine  new game
08:53:13  citrine  position set up: 8/8/8/4k3/8/8/4P3/4K3 w - - 0 1
08:53:14  citrine  target: startpos, 5 plies: … g1f3 b8c6 f1b5
08:53:15  citrine  the game is over: White resigned
08:53:16  citrine  the board says: draw by the 50-move rule
08:53:17  citrine  Black to move on the board
08:53:18  neo      put right: put the white queen on d1, then take the piece off e5
08:53:19  citrine  e7e4 cannot be played here: please put it back
08:53:20  citrine  the pieces are in place again
08:53:20  dgt      the player asks to take the last move back
08:53:21  -        127.0.0.1:50114: connected
08:53:22  ucb      127.0.0.1:50114: chose this board
08:53:23  citrine  the board is with 127.0.0.1:50112; waiting for it: the WhitePawn app (tcp 127.0.0.1:9690)
08:53:24  neo      the opponent offers a draw";

#[test]
fn a_list_is_named_after_what_it_is_for() {
    let mut text = Text::default();
    let mut told = |event: &str, words: &str| {
        let line =
            json!({"event": event, "at": "2026-11-21T08:53:17Z", "board": "ucb", "text": words});
        text.line(&line).unwrap()
    };
    let clear = |task: &str| format!("08:53:17  ucb  {task}: clear b1, c1 and d1");
    let fen = Game::standard().fen();
    for (advice, task) in [
        (Advice::NewGame { may_move: true }, "set up"),
        (Advice::YourMove(Color::White), "put right"),
        (
            Advice::SetUp {
                fen: fen.clone(),
                may_move: true,
            },
            "set up",
        ),
        (Advice::Silent { garbled: false }, "put right"),
        (Advice::SetUpByHand(fen), "set up"),
    ] {
        told("advice", &advice.to_string());
        assert_eq!(told("guidance", "clear b1, c1 and d1"), clear(task));
    }
}

#[test]
fn that_a_board_is_free_is_said_once() {
    let mut text = Text::default();
    let line = json!({
        "event": "target", "at": "2026-11-21T08:53:17Z", "board": "ucb", "game": null, "text": "no program has the board"
    });
    assert_eq!(text.line(&line), None);
}

#[test]
fn a_person_reads_every_line_of_it() {
    let mut text = Text::default();
    let seen: Vec<_> = examples()
        .iter()
        .filter_map(|line| text.line(line))
        .collect();
    assert_eq!(seen.join("\n"), AS_TEXT);
}

#[test]
fn a_client_that_has_never_come_is_not_away() {
    let app = |since: Value, why: Value| {
        let line = json!({
            "event": "client-snapshot", "client": "the app", "kind": "app", "peer": null, "board": "ucb", "since": since,
            "why": why,
        });
        Text::default().line(&line).unwrap()
    };
    let at = || Value::from("2026-11-21T08:51:30Z");
    let seen = [
        app(Value::Null, Value::Null),
        app(at(), Value::Null),
        app(Value::Null, "no port".into()),
        app(at(), "no port".into()),
    ];
    let wanted = [
        "has not connected yet",
        "away since 08:51:30",
        "cannot connect: no port",
        "away since 08:51:30, cannot connect: no port",
    ];
    assert_eq!(
        seen,
        wanted.map(|words| format!("the app: {words}; using ucb"))
    );
}

#[test]
fn what_says_nothing_is_not_shown() {
    let mut text = Text::default();
    for line in [
        r#"{"event":"advice","at":"","board":"ucb","text":""}"#,
        r#"{"event":"guidance","at":"","board":"ucb","actions":[],"text":""}"#,
    ] {
        assert_eq!(text.line(&serde_json::from_str(line).unwrap()), None);
    }
}

#[test]
fn nothing_that_is_sent_steers_the_terminal_or_makes_a_line_of_its_own() {
    let line = r#"{"event":"answers","at":"2026-11-21T08:53:00.300Z","board":"ucb","id":"","text":"a\u001b[2Jb\nc\u202ed\u2028e"}"#;
    let seen = Text::default().line(&serde_json::from_str(line).unwrap());
    assert_eq!(
        seen.unwrap(),
        r"08:53:00  ucb  a\u{1b}[2Jb\nc\u{202e}d\u{2028}e"
    );
}

#[test]
fn lines_of_another_version_are_shown_as_far_as_they_are_known() {
    let mut text = Text::default();
    for line in [
        r#"{}"#,
        r#"[1]"#,
        r#""event""#,
        r#"{"event":"moved","at":"é","took":-1}"#,
    ] {
        let line: Value = serde_json::from_str(line).unwrap();
        // Whatever it makes of it.
        let _ = text.line(&line);
    }
    let mut long = every_line();
    for line in &mut long {
        line["at"] = 7.into();
        let _ = text.line(line);
    }
    let role = Role::Queen.char();
    let line = format!(
        r#"{{"event":"promoted","at":"2026-11-21T08:53:00.3Z","board":"b","text":"to {role}"}}"#
    );
    let seen = text.line(&serde_json::from_str(&line).unwrap()).unwrap();
    assert!(seen.ends_with("b        to q"), "{seen:?}");
}
