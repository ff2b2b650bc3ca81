//! A board that was found lets its lamps run before it is added, so that a player sees which one it is.

use std::{
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
};

use boardbridge::cli::call;
use rustix::termios::{InputModes, LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::{Value, json};
use simulators::{
    bluez::{ADAPTER, Bluez, address::Address},
    chessnut::{self, Chessnut},
    dgt::{self, Dgt},
    pegasus::{self, Pegasus},
    pty::Pty,
    run::Kind,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use crate::{
    desk::{LOOK, Machine, asks},
    support::{PATIENCE, process::Process, schema},
};

const ADAPTER_ID: &str = "usb-FTDI_FT232R_USB_UART_A5-if00-port0";
const BOARD: Address = Address([0x00, 0x06, 0x66, 0x0A, 0x0B, 0x0C]);

async fn tries(machine: &Machine, found: &Value, body: Value) -> (u16, Value) {
    let id = found["id"].as_str().unwrap();
    let answer = machine
        .asks("POST", &format!("found/{id}/try"), &body)
        .await;
    if answer.0 == 200 {
        assert_eq!(schema::api().check_as("tried", &answer.1), Ok(()));
    }
    answer
}

#[tokio::test]
async fn a_board_without_lamps_says_that_it_answers_and_what_can_be_done_and_is_not_added() {
    for (kind, named, words) in [
        (
            Kind::NovagCitrine,
            None,
            "it answers: Novag Citrine and sister boards (UCBII V1.09)",
        ),
        (
            Kind::NovagUcb,
            Some("novag-ucb"),
            "says nothing before a move",
        ),
        (Kind::SwppBoard, None, "it answers"),
    ] {
        let machine = Machine::start("").await;
        let mut hand = machine.plugs(kind, "ttyUSB0", ADAPTER_ID);
        let found = machine.finds().await;
        // Before the press nothing is sent.
        assert_eq!(hand.seen(), Vec::<String>::new());
        let body = named.map_or(json!({}), |kind| json!({ "kind": kind }));
        let (status, tried) = tries(&machine, &found, body).await;
        assert_eq!(status, 200, "{kind:?}: {tried}");
        assert_eq!(tried["lamps"], json!(false));
        let done = tried["done"].as_str().unwrap();
        assert!(done.contains(words) && done.contains("add it"), "{done}");
        assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
        // It is still there to be added, and its port is free.
        let id = found["id"].as_str().unwrap();
        let body = named.map_or(json!({}), |kind| json!({ "kind": kind, "name": "mine" }));
        let path = format!("found/{id}/add");
        let (status, added) = machine.asks("POST", &path, &body).await;
        assert_eq!(status, 200, "{kind:?}: {added}");
    }
}

#[tokio::test]
async fn the_clock_of_a_board_without_lamps_shows_a_word_and_one_that_has_none_says_what_can_be_seen()
 {
    for has_clock in [true, false] {
        let machine = Machine::start("").await;
        let clock = has_clock.then(dgt::clock::Settings::default);
        let board = Dgt::new(dgt::Settings {
            clock,
            ..dgt::Settings::default()
        });
        let mut hand = machine.plugs_board(Box::new(board), "ttyUSB0", ADAPTER_ID);
        let found = machine.finds().await;
        let (status, tried) = tries(&machine, &found, json!({"kind": "dgt"})).await;
        assert_eq!(status, 200, "{tried}");
        let done = tried["done"].as_str().unwrap();
        let seen = hand.seen();
        if has_clock {
            assert!(done.ends_with("has shown a word: here"), "{done}");
            // And it is gone.
            assert_eq!(seen, ["clock here", "beeped", "clock times"]);
        } else {
            assert!(
                done.starts_with("it answers: DGT e-board (DGT board, version"),
                "{done}"
            );
            assert!(
                done.contains("can be tried") && done.contains("add it"),
                "{done}"
            );
            assert_eq!(seen, Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn a_port_that_another_program_has_is_not_asked() {
    let machine = Machine::start("").await;
    let mut hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", ADAPTER_ID);
    let found = machine.finds().await;
    // It has this port and no file of this test's.
    let alone = "for n in $(ls /proc/self/fd); do [ $n -gt 2 ] && eval \"exec $n>&-\"; done; exec sleep 600 < $0";
    let mut other = Command::new("bash")
        .args(["-c", alone])
        .arg(machine.dev("ttyUSB0"))
        .spawn()
        .unwrap();
    let name = || fs::read_to_string(format!("/proc/{}/comm", other.id())).unwrap();
    machine
        .until("it has the port", async |_| {
            name().starts_with("sleep").then_some(())
        })
        .await;
    let (status, refused) = tries(&machine, &found, json!({})).await;
    other.kill().unwrap();
    other.wait().unwrap();
    let words = refused["error"].as_str().unwrap();
    assert!(status == 409 && words.contains("sleep (process"), "{words}");
    assert_eq!(hand.seen(), Vec::<String>::new(), "nothing was sent to it");
    let (status, tried) = tries(&machine, &found, json!({})).await;
    assert_eq!(status, 200, "{tried}");
}

#[tokio::test]
async fn a_port_that_a_program_has_which_the_daemon_cannot_see_is_not_asked_nor_added() {
    let machine = Machine::start("").await;
    let mut hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", ADAPTER_ID);
    let found = machine.finds().await;
    // This test has made the port, so what it opens is not taken for another program's.
    let idle = fs::File::open(machine.dev("ttyUSB0")).unwrap();
    let id = found["id"].as_str().unwrap();
    for (what, body) in [
        ("try", json!({})),
        ("add", json!({})),
        ("add", json!({"kind": "novag-citrine"})),
    ] {
        let (status, refused) = machine
            .asks("POST", &format!("found/{id}/{what}"), &body)
            .await;
        let words = refused["error"].as_str().unwrap();
        assert!(
            status == 409 && words.contains("in use by another program: close that first"),
            "{what}: {refused}"
        );
    }
    assert_eq!(hand.seen(), Vec::<String>::new(), "nothing was sent to it");
    drop(idle);
    let (status, tried) = tries(&machine, &found, json!({})).await;
    assert_eq!(status, 200, "{tried}");
    let path = format!("found/{id}/add");
    let (status, added) = machine.asks("POST", &path, &json!({})).await;
    assert_eq!(status, 200, "{added}");
}

#[tokio::test]
async fn what_cannot_be_tried_is_refused_in_words() {
    let machine = Machine::start("").await;
    let (status, refused) = machine.asks("POST", "found/12/try", &json!({})).await;
    assert_eq!(status, 404, "{refused}");
    // Nothing that answers.
    let _hand = machine.plugs(Kind::NovagUcb, "ttyUSB0", ADAPTER_ID);
    let found = machine.finds().await;
    let body = json!({"kind": "miko-neo"});
    let (status, refused) = tries(&machine, &found, body).await;
    assert_eq!(status, 400, "{refused}");
    // While it is asked, it is not asked again.
    let asked = tries(&machine, &found, json!({}));
    let again = async {
        tokio::time::sleep(LOOK).await;
        tries(&machine, &found, json!({})).await
    };
    let ((status, silent), (busy, refused)) = tokio::join!(asked, again);
    assert_eq!((status, busy), (409, 409), "{silent} {refused}");
    let words = [&silent, &refused].map(|answer| answer["error"].as_str().unwrap());
    assert!(words[0].contains("is the board switched on"), "{words:?}");
    assert!(words[1].contains("one moment"), "{words:?}");
}

/// The only board that a daemon finds in the air.
async fn in_the_air(web: SocketAddr) -> Value {
    let looks = async {
        loop {
            if let Some(found) = call::found(&web.to_string()).await.unwrap().first() {
                return found.clone();
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    timeout(PATIENCE, looks).await.unwrap()
}

#[tokio::test]
async fn the_lamps_of_a_board_in_the_air_run_from_corner_to_corner_and_are_dark_again() {
    let bluez = Bluez::start().unwrap();
    let board = Chessnut::new(chessnut::Settings::default());
    let board = bluez.host(ADAPTER, BOARD, board).unwrap();
    let mut process = Process::start(&bluez, "");
    let web = process.address("web").await;
    let found = in_the_air(web).await;
    let seen = || {
        let reports =
            board.with(|board| std::iter::from_fn(|| board.poll_report()).collect::<Vec<_>>());
        reports.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let id = found["id"].as_str().unwrap();
    let said = call::attempt(&web.to_string(), id, &json!({}))
        .await
        .unwrap();
    assert!(said.contains("ran from one corner"), "{said}");
    let lit: Vec<String> = seen()
        .into_iter()
        .filter(|seen| seen.starts_with("lit"))
        .collect();
    let mut run: Vec<&str> = lit.iter().map(String::as_str).collect();
    run.retain(|lit| *lit != "lit");
    let corners =
        ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"].map(|square| format!("lit {square}"));
    assert_eq!(run, corners);
    assert_eq!(lit.last().map(String::as_str), Some("lit"));
    // It is there to be added.
    assert_eq!(in_the_air(web).await["id"], found["id"]);
}

/// The key of a simulated Pegasus, and another one.
const KEYS: [&str; 2] = ["53494D4B4559", "53494d4b4550"];

#[tokio::test]
async fn a_board_that_a_key_unlocks_gets_it_when_it_is_added_or_later_and_no_log_or_answer_has_it()
{
    let bluez = Bluez::start().unwrap();
    let board = Pegasus::new(pegasus::Settings::default());
    let _board = bluez.host(ADAPTER, BOARD, board).unwrap();
    let mut process = Process::keeping(&bluez, "");
    let web = process.address("web").await;
    let mut told = String::new();
    let mut posts = async |path: &str, body: Value| {
        let (status, answer) = asks(web, "POST", path, &body).await;
        told += &answer.to_string();
        (status, answer)
    };
    let found = in_the_air(web).await;
    let path = |what: &str| format!("found/{}/{what}", found["id"].as_str().unwrap());
    let [right, wrong] = KEYS;
    let (status, tried) = posts(&path("try"), json!({ "key": right })).await;
    assert_eq!((status, &tried["lamps"]), (200, &json!(true)), "{tried}");
    for what in ["try", "add"] {
        let (status, refused) = posts(&path(what), json!({"key": "53494D4B45"})).await;
        assert_eq!(status, 400, "{refused}");
        assert!(
            refused["error"].as_str().unwrap().contains("12 digits"),
            "{refused}"
        );
    }
    let (status, added) = posts(&path("add"), json!({ "key": wrong })).await;
    assert_eq!(
        (status, &added["board"]),
        (200, &json!("pegasus")),
        "{added}"
    );
    let file = process.folder().join("state/boards.d/pegasus.toml");
    let key = || {
        let text = fs::read_to_string(&file).unwrap();
        let key = text.lines().find_map(|line| line.strip_prefix("key = "));
        key.map(|key| key.trim_matches('"').to_owned())
    };
    assert_eq!(key().as_deref(), Some(wrong));
    // It is changed later, and taken away.
    for (given, kept) in [(right, Some(right)), ("", None), (right, Some(right))] {
        let (status, said) = posts("boards/pegasus/key", json!({ "key": given })).await;
        assert_eq!(status, 200, "{said}");
        assert_eq!(key().as_deref(), kept);
    }
    is_up(web).await;
    for (board, given, wanted) in [
        ("pegasus", "53494D4B45", 400),
        ("pegasus", "no key", 400),
        ("other", right, 404),
    ] {
        let (status, refused) =
            posts(&format!("boards/{board}/key"), json!({ "key": given })).await;
        assert_eq!(status, wanted, "{refused}");
    }
    assert_eq!(key().as_deref(), Some(right));
    let (_, settings) = asks(web, "GET", "settings", &Value::Null).await;
    assert_eq!(schema::api().check_as("settings", &settings), Ok(()));
    assert_eq!(settings["keyed"], json!(["pegasus"]));
    told += &settings.to_string();
    // The log up to its end.
    process.kept().await;
    let all = (told + &process.log().concat()).to_lowercase();
    for key in KEYS {
        assert!(!all.contains(&key.to_lowercase()), "{all}");
    }
}

#[tokio::test]
async fn the_key_of_a_board_is_asked_for_in_a_terminal_that_does_not_show_it_or_read_from_standard_input()
 {
    let bluez = Bluez::start().unwrap();
    let board = Pegasus::new(pegasus::Settings::default());
    let _board = bluez.host(ADAPTER, BOARD, board).unwrap();
    let mut process = Process::keeping(&bluez, "");
    let web = process.address("web").await;
    let found = in_the_air(web).await;
    let add = |stdin: Stdio| {
        let mut add = tokio::process::Command::new(env!("CARGO_BIN_EXE_boardbridge"));
        add.args([
            "add",
            found["id"].as_str().unwrap(),
            "--connect",
            &web.to_string(),
        ]);
        add.stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        add.kill_on_drop(true).spawn().unwrap()
    };
    let file = process.folder().join("state/boards.d/pegasus.toml");
    let [right, wrong] = KEYS;
    // A terminal that shows what is typed, as they do.
    let mut typist = Pty::open(None).unwrap();
    let terminal = fs::File::options()
        .read(true)
        .write(true)
        .open(typist.name())
        .unwrap();
    let mut modes = tcgetattr(&terminal).unwrap();
    modes.local_modes |= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    modes.input_modes |= InputModes::ICRNL;
    tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
    let shows = || {
        tcgetattr(&terminal)
            .unwrap()
            .local_modes
            .contains(LocalModes::ECHO)
    };
    let mut shown = Vec::new();
    // Ctrl-C leaves the terminal as it was.
    for (typed, is_added) in [
        (format!("{right}\x03"), false),
        (format!("{right}\r"), true),
    ] {
        let mut adding = add(terminal.try_clone().unwrap().into());
        let mut question = [0; 64];
        let asked = adding.stderr.as_mut().unwrap().read(&mut question);
        let count = timeout(PATIENCE, asked).await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&question[..count]).contains("developer key"));
        assert!(!shows());
        typist.write(typed.as_bytes()).unwrap();
        let done = timeout(PATIENCE, adding.wait_with_output())
            .await
            .unwrap()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        assert!(shows());
        assert_eq!(file.exists(), is_added);
        if is_added {
            assert!(fs::read_to_string(&file).unwrap().contains(right));
        }
    }
    typist.write(b"seen\r").unwrap();
    while !shown.ends_with(b"seen\n") {
        let mut some = [0; 64];
        let count = timeout(PATIENCE, typist.read(&mut some))
            .await
            .unwrap()
            .unwrap();
        shown.extend(&some[..count]);
    }
    let shown = String::from_utf8(shown).unwrap();
    assert!(!shown.contains(right), "{shown}");
    // By a program: the first line.
    call::remove(&web.to_string(), &"pegasus".parse().unwrap())
        .await
        .unwrap();
    in_the_air(web).await;
    let mut adding = add(Stdio::piped());
    let mut input = adding.stdin.take().unwrap();
    input
        .write_all(format!("{wrong}\n").as_bytes())
        .await
        .unwrap();
    let done = timeout(PATIENCE, adding.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(fs::read_to_string(&file).unwrap().contains(wrong));
}

/// Waits until the only board is connected.
async fn is_up(web: SocketAddr) {
    let looks = async {
        while call::boards(&web.to_string()).await.unwrap()[0]["link"] != "up" {
            tokio::time::sleep(LOOK).await;
        }
    };
    timeout(PATIENCE, looks).await.unwrap();
}
