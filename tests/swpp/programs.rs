//! The two simulated ends of the SWPP as people start them.

use std::{path::Path, process::Stdio};

use crate::support::program::{Program, boardbridge};

/// A game that ends by mate.
const MATE: &str = "f2f3 e7e5 g2g4 d8h4";

fn simulate(arguments: &[&str]) -> Program {
    Program::start(boardbridge().arg("simulate").args(arguments), false)
}

fn game_file(folder: &Path) -> String {
    let file = folder.join("game.uci");
    std::fs::write(&file, format!("d2d4\n{MATE}\n")).unwrap();
    file.display().to_string()
}

#[test]
fn two_programs_play_a_game_to_its_mate_over_tcp() {
    let folder = tempfile::tempdir().unwrap();
    let game = game_file(folder.path());
    let of_game = [
        "--hand-delay",
        "1ms",
        "--game",
        &game,
        "--line",
        "2",
        "--plays",
    ];
    let mut arguments = vec!["swpp-board", "--listen", "127.0.0.1:0"];
    arguments.extend(of_game);
    arguments.push("white");
    let mut board = simulate(&arguments);
    let plugged = board.prints("plugged 127.0.0.1:");
    let address = plugged.split_whitespace().last().unwrap();
    let mut arguments = vec!["whitepawn-app", "--connect", address, "--game-type", "1"];
    arguments.extend(of_game);
    arguments.push("black");
    let mut app = simulate(&arguments);
    board.prints("announced 1Y");
    app.prints("sent d8h4");
    app.prints("ended 1");
    app.prints("done");
    board.prints("executed d8h4");
    board.prints("done");
    assert_eq!(app.ends(), Some(0));
    assert_eq!(board.ends(), Some(0));
}

#[test]
fn two_programs_talk_over_a_pseudo_terminal_as_they_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("board").display().to_string();
    let mut board = simulate(&["swpp-board", "--hand-delay", "never", "--link", &link]);
    board.prints("plugged");
    let mut app = simulate(&["whitepawn-app", "--port", &link]);
    app.prints("ready");
    app.says("new-game 2 N\ne2e4");
    board.prints("shown e2e4");
    board.says("execute\ne7e5");
    app.prints("made e7e5");
    app.says("end 4");
    board.prints("ended 4");
    assert_eq!(app.ends(), Some(0));
    assert_eq!(board.ends(), Some(0));
}

#[test]
fn an_app_without_a_board_says_so_and_fails() {
    let output = boardbridge()
        .args(["simulate", "whitepawn-app", "--connect", "127.0.0.1:1"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    for words in [
        "127.0.0.1:1 cannot be reached: no program listens there",
        "Is BoardBridge running, with a [[whitepawn]] and tcp",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn an_app_without_bluetooth_says_what_it_takes() {
    let output = boardbridge()
        .env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus")
        .args(["simulate", "whitepawn-app", "--ble"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("Bluetooth does not answer") && text.contains("`sudo apt install bluez`"),
        "{text}"
    );
}

#[test]
fn a_game_whose_board_is_lost_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let game = game_file(folder.path());
    let mut board = simulate(&["swpp-board", "--answer", "never", "--listen", "127.0.0.1:0"]);
    let plugged = board.prints("plugged");
    let address = plugged.split_whitespace().last().unwrap();
    let mut app = simulate(&["whitepawn-app", "--connect", address, "--game", &game]);
    app.prints("gave-up");
    assert_eq!(app.ends(), Some(1));
}

#[test]
fn an_app_whose_board_does_not_shake_hands_says_what_to_look_at_and_fails() {
    let mut board = simulate(&["swpp-board", "--answer", "never", "--listen", "127.0.0.1:0"]);
    let plugged = board.prints("plugged");
    let address = plugged.split_whitespace().last().unwrap();
    let mut app = simulate(&["whitepawn-app", "--connect", address]);
    let why = app.prints("gave-up: no H1 within 200 ms, ");
    assert!(why.contains("the speed, TX and RX"), "{why}");
    assert_eq!(app.ends(), Some(1));
    // One that is connected again has another chance.
    let mut app = simulate(&["whitepawn-app", "--connect", address]);
    app.prints("gave-up");
    app.says("hang-up");
    app.prints("hung-up");
    assert_eq!(app.ends(), Some(0));
}

#[test]
fn an_option_that_would_be_of_no_use_is_wrong_usage_and_says_whose_it_is() {
    for (line, words) in [
        (
            "miko-neo --listen 127.0.0.1:0",
            "--listen is for novag-citrine",
        ),
        (
            "miko-neo --name x",
            "--name is for swpp-board and whitepawn-app",
        ),
        ("novag-citrine --style bare", "--style is for swpp-board"),
        (
            "novag-citrine --answer never",
            "--answer is for swpp-board only",
        ),
        ("novag-citrine --adapter hci1", "--adapter is for miko-neo"),
        (
            "novag-citrine --ble",
            "--ble is for swpp-board and whitepawn-app",
        ),
        ("novag-citrine --position-format 1", "is for novag-ucb only"),
        ("novag-ucb --mtu 23", "--mtu is for chessnut-air"),
        ("novag-ucb --plays black", "only with --game or --seed"),
        (
            "swpp-board --port board",
            "--port is for whitepawn-app only",
        ),
        (
            "swpp-board --connect 127.0.0.1:1",
            "--connect is for whitepawn-app only",
        ),
        (
            "swpp-board --game-type 1",
            "--game-type is for whitepawn-app only",
        ),
        ("swpp-board --position-format 1", "is for novag-ucb only"),
        ("swpp-board --speed 2", "--speed is for novag-citrine"),
        ("swpp-board --name x", "only with --ble or --adapter"),
        (
            "whitepawn-app --adapter hci1",
            "--adapter is for whitepawn-app only with --ble",
        ),
        ("whitepawn-app --name x", "only with --ble"),
        ("whitepawn-app --answer late", "late"),
        (
            "whitepawn-app --answer never",
            "--answer is for swpp-board only",
        ),
        (
            "whitepawn-app --hand-delay 1s",
            "only with --game or --seed",
        ),
        ("whitepawn-app --game-type 1", "only with --game or --seed"),
        ("whitepawn-app --ble --port board", "only without --ble"),
        ("whitepawn-app --ble --link board", "only without --ble"),
    ] {
        let output = boardbridge()
            .arg("simulate")
            .args(line.split(' '))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[test]
fn a_place_that_is_not_to_be_had_is_told_without_the_systems_words() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (file, nowhere) = (file.display(), folder.path().join("no/where"));
    for (line, status, words) in [
        (
            format!("swpp-board --listen {taken}"),
            1,
            "is in use: end the other program there",
        ),
        (format!("novag-ucb --link {file}"), 1, "is there already"),
        (format!("miko-neo --link {file}"), 1, "is there already"),
        (
            format!("novag-ucb --link {}", nowhere.display()),
            1,
            "the folder is not there",
        ),
        (
            "swpp-board --listen 9700".to_owned(),
            2,
            "write HOST:PORT, for instance 127.0.0.1:9700",
        ),
        (
            "whitepawn-app --connect 9690".to_owned(),
            2,
            "write HOST:PORT",
        ),
        (
            "whitepawn-app --port /dev/null".to_owned(),
            1,
            "/dev/null is not a serial port",
        ),
        (
            "whitepawn-app --game-type lichess".to_owned(),
            2,
            "3 (Lichess)",
        ),
    ] {
        let output = boardbridge()
            .arg("simulate")
            .args(line.split(' '))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
        assert!(!said.contains("os error"), "{line}: {said}");
    }
}
