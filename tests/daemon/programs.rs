//! The program as people start it: the daemon, the relay, the simulator, watch, replay, demo.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{
    occupied::occupied,
    program::{Program, boardbridge},
};

/// The last word of a line such as `uci listens at 127.0.0.1:40123`.
fn address(line: &str) -> String {
    line.split_whitespace().last().unwrap().to_owned()
}

/// A daemon with one Citrine, and the Citrine's simulator.
fn house(folder: &Path, more: &str) -> (Program, Program, String) {
    let port = folder.join("citrine");
    let mut board = Program::start(
        boardbridge()
            .args(["simulate", "novag-citrine", "--hand-delay", "1ms", "--link"])
            .arg(&port),
        false,
    );
    board.prints("plugged");
    let file = folder.join("bb.toml");
    let text = format!(
        "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[games]\ndirectory = \"off\"\n[boards.citrine]\n\
         kind = \"novag-citrine\"\nserial = {{ port = {port:?} }}\n{more}"
    );
    fs::write(&file, text).unwrap();
    let mut daemon = Program::start(boardbridge().args(["run", "--config"]).arg(&file), true);
    let uci = address(&daemon.prints("uci listens at"));
    (daemon, board, uci)
}

#[test]
fn a_game_goes_through_the_relay_and_quit_ends_it_with_status_0() {
    let folder = tempfile::tempdir().unwrap();
    let (_daemon, mut board, uci) = house(folder.path(), "");
    let mut relay = Program::start(
        boardbridge().args(["uci", "--connect", &uci, "--board", "citrine"]),
        false,
    );
    relay.says("uci");
    relay.prints("id name BoardBridge");
    relay.prints("uciok");
    relay.says("position startpos moves e2e4\ngo");
    board.prints("executed e2e4");
    board.says("e7e5");
    relay.prints("bestmove e7e5");
    relay.says("quit");
    assert_eq!(relay.ends(), Some(0));
}

/// A relay that a GUI has started as its engine.
fn engine(uci: &str) -> Program {
    let mut relay = Program::start(boardbridge().args(["uci", "--connect", uci]), false);
    relay.says("uci");
    relay.prints("uciok");
    relay.says("isready");
    relay.prints("readyok");
    relay
}

/// As `PyChess` and cutechess do: they start another engine for the next game, and leave the first one open.
#[test]
fn a_second_game_begins_though_the_engine_of_the_first_is_left_open() {
    let folder = tempfile::tempdir().unwrap();
    let (_daemon, mut board, uci) = house(folder.path(), "");
    let begins = "ucinewgame\nposition startpos\ngo wtime 900000 btime 900000";
    let mut first = engine(&uci);
    first.says(begins);
    first.prints("White to move");
    board.says("e2e4");
    first.prints("bestmove e2e4");
    // The player resigns in the program: no engine is told.
    let mut second = engine(&uci);
    second.says(begins);
    board.prints("new-game");
    second.prints("White to move");

    // The first one goes on after all: it waits, and the second one's game is not disturbed.
    first.says("position startpos moves e2e4 e7e5\ngo");
    let told = first.prints("waiting for citrine: it is in another game, with 127.0.0.1:");
    assert!(told.contains("`boardbridge release citrine`"), "{told}");
    board.says("d2d4");
    second.prints("bestmove d2d4");
    second.says("position startpos moves d2d4 d7d5\ngo");
    board.prints("executed d7d5");
    let taken = |line: &String| line.starts_with("take-back") || line.starts_with("new-game");
    let since = board.log.iter().rposition(|line| line == "new-game");
    let disturbed = board.log[since.unwrap() + 1..].iter().any(taken);
    assert!(!disturbed, "{:?}", board.log);

    // With a new game it gets the board as soon as the second one awaits no move.
    first.says(&format!("stop\n{begins}"));
    first.prints("waiting for citrine");
    board.says("g1f3");
    second.prints("bestmove g1f3");
    board.prints("new-game");
    first.prints("White to move");
    board.says("c2c4");
    first.prints("bestmove c2c4");
}

/// As `PyChess` does where the board's turn was when the player resigned: it stops the process of the engine.
#[test]
fn a_second_game_begins_though_the_engine_of_the_first_is_stopped_while_it_awaits_a_move() {
    let folder = tempfile::tempdir().unwrap();
    let (_daemon, mut board, uci) = house(folder.path(), "");
    let begins = "ucinewgame\nposition startpos\ngo wtime 900000 btime 900000";
    let mut first = engine(&uci);
    first.says("ucinewgame\nposition startpos moves e2e4\ngo wtime 900000 btime 900000");
    first.prints("Make it if you have not, then your move");
    first.signal("STOP");
    let mut second = engine(&uci);
    second.says(begins);
    second.prints("waiting for citrine");
    second.prints("White to move");
    board.says("d2d4");
    second.prints("bestmove d2d4");
    // It goes on, and does not disturb the second one.
    first.signal("CONT");
    first.prints("waiting for citrine");
    second.says("position startpos moves d2d4 d7d5\ngo");
    board.prints("executed d7d5");
    board.says("g1f3");
    second.prints("bestmove g1f3");
}

#[test]
fn a_game_that_is_over_leaves_the_board_to_whichever_program_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (_daemon, mut board, uci) = house(folder.path(), "");
    let mut first = engine(&uci);
    first.says("position startpos moves f2f3 e7e5 g2g4\ngo");
    board.prints("executed g2g4");
    board.says("d8h4");
    first.prints("bestmove d8h4");
    let mut second = engine(&uci);
    // It announces no new game.
    second.says("position startpos moves d2d4\ngo");
    second.prints("waiting for citrine: it is in another game");
    board.prints("executed d2d4");
    board.says("d7d5");
    second.prints("bestmove d7d5");
}

#[test]
fn the_end_of_the_relays_input_becomes_quit() {
    let folder = tempfile::tempdir().unwrap();
    let (mut daemon, _board, uci) = house(folder.path(), "");
    let mut relay = Program::start(boardbridge().args(["uci", "--connect", &uci]), false);
    relay.says("uci");
    relay.prints("uciok");
    assert_eq!(relay.ends(), Some(0));
    daemon.prints("a GUI left: it quit");
}

#[test]
fn a_way_of_a_move_can_be_followed_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (mut daemon, mut board, uci) = house(folder.path(), "");
    let mut relay = Program::start(boardbridge().args(["uci", "--connect", &uci]), false);
    relay.says("position startpos\ngo");
    relay.prints("White to move");
    board.says("e2e4");
    relay.prints("bestmove e2e4");
    let wire = daemon.prints("M   1   e2-e4");
    assert!(wire.contains("board{name=citrine}"), "{wire}");
    // The program is answered before anything else is done, this log included.
    let answer = daemon.prints("bestmove e2e4");
    assert!(answer.contains("client{id="), "{answer}");
    daemon.prints("ply 1: e2e4, by hand");
}

#[test]
fn a_move_is_lit_after_the_daemon_was_ended_between_its_two_sends() {
    for signal in ["-KILL", "-TERM"] {
        // 200 ms between the sends, and 3 s for the capture.
        for (by_hand, moves, echo, reply) in [
            ("", "e2e4", "M   1   e2-e4", "e7e5"),
            (
                "e2e4 d7d5 e4d5",
                "e2e4 d7d5 e4d5 d8d5",
                "M   2,  d8xd5",
                "b1c3",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (mut daemon, mut board, uci) = house(folder.path(), "");
            daemon.prints("Xmit on");
            for m in by_hand.split_whitespace() {
                board.says(m);
                daemon.prints(&format!(": {m}, by hand"));
            }
            let asks = format!("position startpos moves {moves}\ngo");
            let mut relay = Program::start(boardbridge().args(["uci", "--connect", &uci]), false);
            relay.says(&asks);
            daemon.prints(echo);
            let id = daemon.child.id().to_string();
            assert!(
                Command::new("kill")
                    .args([signal, &id])
                    .status()
                    .unwrap()
                    .success()
            );
            drop(relay);
            daemon.child.wait().unwrap();

            let file = folder.path().join("bb.toml");
            let mut daemon =
                Program::start(boardbridge().args(["run", "--config"]).arg(file), true);
            let uci = address(&daemon.prints("uci listens at"));
            let mut relay = Program::start(boardbridge().args(["uci", "--connect", &uci]), false);
            relay.says(&asks);
            // The simulated hand knows nothing but the lamps.
            board.prints(&format!(
                "executed {}",
                moves.split(' ').next_back().unwrap()
            ));
            board.says(reply);
            relay.prints(&format!("bestmove {reply}"));
            let lit = board.log.iter().filter(|line| line.starts_with("shown"));
            assert_eq!(lit.count(), 1, "{signal} {moves}: {:?}", board.log);
        }
    }
}

#[test]
fn a_recorded_session_replays_to_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    let (mut daemon, mut board, uci) = house(folder.path(), &format!("record = {records:?}\n"));
    let mut relay = Program::start(boardbridge().args(["uci", "--connect", &uci]), false);
    relay.says("position startpos moves e2e4\ngo");
    board.prints("executed e2e4");
    board.says("e7e5");
    relay.prints("bestmove e7e5");
    daemon.prints("bestmove e7e5");
    let file = fs::read_dir(&records)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let output: Output = boardbridge().arg("replay").arg(&file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for words in ["e2e4, shown on the board", "e7e5, by hand"] {
        assert!(text.contains(words), "{text}");
    }
    let output = boardbridge()
        .args(["replay", "--json"])
        .arg(&file)
        .output()
        .unwrap();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            event["event"].is_string() && event["seconds"].is_number(),
            "{line}"
        );
    }
}

#[test]
fn watch_tells_how_things_stand_and_what_happens() {
    let folder = tempfile::tempdir().unwrap();
    let (mut daemon, mut board, uci) = house(folder.path(), "");
    let status = address(&daemon.prints("status listens at"));
    let mut watch = Program::start(boardbridge().args(["watch", "--connect", &status]), false);
    watch.prints("citrine  ");
    let mut json = Program::start(
        boardbridge().args(["watch", "--json", "--connect", &status]),
        false,
    );
    json.prints("snapshot");
    let mut relay = Program::start(boardbridge().args(["uci", "--connect", &uci]), false);
    relay.says("position startpos\ngo");
    relay.prints("White to move");
    board.says("e2e4");
    watch.prints("citrine  1. e4 (e2e4) by hand");
    let line = json.prints("\"moved\"");
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&event["board"], &event["uci"]),
        (&"citrine".into(), &"e2e4".into())
    );
}

#[test]
fn a_taken_port_is_named_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(
        &file,
        format!("[uci]\nlisten = \"{}\"\n", taken.local_addr().unwrap()),
    )
    .unwrap();
    let output = boardbridge()
        .args(["run", "--config"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("is another BoardBridge running?"), "{text}");
    // A port that a program can be told.
    let engine = "`boardbridge uci --connect 127.0.0.1:9671`";
    assert!(text.contains(engine) && !text.contains(":0 "), "{text}");
}

#[test]
fn a_simulated_board_plays_a_game_from_a_file_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let game = folder.path().join("game.uci");
    fs::write(&game, "d2d4 d7d5\nf2f3 e7e5 g2g4 d8h4\n").unwrap();
    let mut board = Program::start(
        boardbridge()
            .args([
                "simulate",
                "novag-ucb",
                "--hand-delay",
                "1ms",
                "--plays",
                "both",
                "--line",
                "2",
                "--game",
            ])
            .arg(&game),
        false,
    );
    board.prints("made d8h4");
    board.prints("done");
    assert_eq!(board.ends(), Some(0));
}

#[test]
fn the_demonstration_begins_another_game_after_one_has_ended() {
    let (mut demo, _) = demonstration(&["--seed", "7"]);
    demo.prints("ucb      2... Qh4#");
    demo.prints("The end: checkmate, 0-1.");
    demo.prints("A game begins, citrine has White and ucb has Black: Morphy");
    demo.prints("ucb      1... e5");
}

/// The demonstration, and the line that says how a GUI connects.
fn demonstration(arguments: &[&str]) -> (Program, String) {
    let mut demo = Program::start(
        boardbridge()
            .arg("demo")
            .args(arguments)
            .env("BOARDBRIDGE_UCI__LISTEN", "127.0.0.1:0")
            .env("BOARDBRIDGE_WEB__LISTEN", "127.0.0.1:0")
            .env("BOARDBRIDGE_STATUS__LISTEN", "127.0.0.1:0"),
        false,
    );
    let line = demo.prints(" uci --connect");
    (demo, line)
}

#[test]
fn the_demonstration_plays_by_itself_and_a_move_on_one_board_is_made_on_the_other() {
    let (mut demo, _) = demonstration(&[]);
    let page = demo.log.iter().find(|line| line.contains("http://"));
    let status = address(page.expect("the page's address is above the game"));
    let mut watch = Program::start(boardbridge().args(["watch", "--connect", &status]), false);
    demo.prints("A game begins, citrine has White and ucb has Black: Morphy");
    for m in ["citrine  1. e4", "ucb      1... e5", "citrine  2. Nf3"] {
        demo.prints(m);
    }
    watch.prints("ucb      1. e4 (e2e4) shown");
    assert_eq!(signalled(demo, "-INT"), Some(0));
}

#[test]
fn the_demonstration_takes_free_ports_where_its_own_are_in_use_and_says_which() {
    let defaults = ["127.0.0.1:9660", "127.0.0.1:9670", "127.0.0.1:9680"];
    let _taken = defaults.map(occupied);
    let mut demo = Program::start(boardbridge().arg("demo"), false);
    let uci = demo.prints(" uci --connect");
    let printed = demo.log.join("\n");
    let said = printed.lines().find(|line| line.starts_with("In use"));
    let said = said.unwrap_or_else(|| panic!("{printed}"));
    assert!(defaults.iter().all(|port| said.contains(port)), "{said}");
    // Those that are shown answer.
    let page = demo.log.iter().find(|line| line.contains("http://"));
    let page = page.unwrap().split("http://").nth(1).unwrap();
    let (web, status) = (page.split_whitespace().next().unwrap(), address(page));
    let uci = uci.split_whitespace().nth(3).unwrap();
    let mut relay = Program::start(boardbridge().args(["uci", "--connect", uci]), false);
    relay.says("uci");
    relay.prints("uciok");
    let mut watch = Program::start(boardbridge().args(["watch", "--connect", &status]), false);
    watch.prints("citrine");
    assert!(TcpStream::connect(web).is_ok());
}

#[test]
fn a_gui_plays_on_any_board_of_the_demonstration_and_its_game_goes_on_after() {
    let (mut demo, line) = demonstration(&[]);
    let uci = line.split_whitespace().nth(3).unwrap().to_owned();
    demo.prints("ucb      1... e5");
    for board in ["citrine", "ucb", "neo"] {
        let mut relay = Program::start(
            boardbridge().args(["uci", "--connect", &uci, "--board", board]),
            false,
        );
        relay.says("ucinewgame\nposition startpos\ngo wtime 1000 btime 1000");
        let first = address(&relay.prints("bestmove "));
        assert_ne!(first, "0000");
        // A reply that is legal whatever White's first move was.
        relay.says(&format!("position startpos moves {first} a7a6\ngo"));
        assert_ne!(address(&relay.prints("bestmove ")), "0000");
        demo.prints("plays here");
        relay.says("quit");
        assert_eq!(relay.ends(), Some(0));
    }
    demo.prints("citrine  2.");
    demo.prints("ucb      2...");
}

/// Ends a program by this signal, and returns its status.
fn signalled(mut program: Program, signal: &str) -> Option<i32> {
    let id = program.child.id().to_string();
    let status = Command::new("kill").args([signal, &id]).status();
    assert!(status.unwrap().success());
    program.child.wait().unwrap().code()
}

#[test]
fn check_is_content_with_ports_that_the_running_daemon_has() {
    let folder = tempfile::tempdir().unwrap();
    let (mut daemon, _board, uci) = house(folder.path(), "");
    let status = address(&daemon.prints("status listens at"));
    daemon.prints("Xmit on");
    let port = folder.path().join("citrine").canonicalize().unwrap();
    let text = format!(
        "[uci]\nlisten = {uci:?}\n[status]\nlisten = {status:?}\n[games]\ndirectory = \"off\"\n[state]\ndirectory = \"off\"\n\
         [[link]]\nboards = [\"far\"]\nwith = \"tcp:127.0.0.1:1\"\n[boards.far]\nkind = \"swpp\"\ntcp = {{ address = \"127.0.0.1:2\" }}\n"
    );
    let file = folder.path().join("running.toml");
    fs::write(&file, &text).unwrap();
    let check = || {
        boardbridge()
            .args(["check", "--config"])
            .arg(&file)
            .output()
            .unwrap()
    };
    let output = check();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for address in [&uci, &status] {
        let words = format!("{address} is in use now by the BoardBridge that runs");
        assert!(said.contains(&words), "{said}");
    }
    // The board's port too.
    let board = format!("[boards.one]\nkind = \"novag-citrine\"\nserial = {{ port = {port:?} }}\n");
    fs::write(&file, text + &board).unwrap();
    let said = String::from_utf8(check().stdout).unwrap();
    assert!(
        said.contains(&format!(
            "{} is in use now by boardbridge (process ",
            port.display()
        )),
        "{said}"
    );
}

#[test]
fn an_address_of_ipv6_without_brackets_or_port_is_told_with_both() {
    for (command, port) in [("watch", 9680), ("uci", 9670), ("scan", 9660)] {
        for address in ["::1", "[::1]"] {
            let output = boardbridge()
                .args([command, "--connect", address])
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            let words = format!("write for instance [::1]:{port}");
            assert!(said.contains(&words), "{said}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(&file, "").unwrap();
    for arguments in [
        &["scan"][..],
        &["check", "--config", file.to_str().unwrap()],
    ] {
        let mut child = boardbridge()
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_simulated_board_that_is_stopped_leaves_no_link_behind() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("board");
    let mut board = Program::start(
        boardbridge()
            .args(["simulate", "novag-ucb", "--link"])
            .arg(&link),
        false,
    );
    board.prints("plugged");
    assert!(link.is_symlink());
    let id = board.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(board.child.wait().unwrap().code(), Some(0));
    assert!(!link.is_symlink());
}

#[test]
fn help_has_no_marks_that_are_meant_for_other_readers() {
    for command in [
        "", "run", "demo", "uci", "check", "scan", "watch", "simulate", "replay",
    ] {
        let words = command.split_whitespace();
        let output = boardbridge().args(words).arg("--help").output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && help.contains("Usage"), "{help}");
        assert!(!help.contains('`'), "{help}");
        assert!(!help.contains("garbage BYTES"), "{help}");
    }
}

#[test]
fn whatever_a_simulated_hand_is_told_to_do_is_printed_or_why_not() {
    for (kind, orders) in [
        (
            "novag-citrine",
            &[
                ("take-back", "refused there is no move"),
                ("e2e4", "made e2e4"),
                ("take-back", "took-back e2e4"),
                ("wrong e2e5", "refused wrong e2e5: a Citrine beeps"),
                ("forget-settings", "forgot-settings"),
                ("lift-king", "shown "),
                ("lift-king", "refused a move is shown"),
                ("execute", "executed "),
                ("set-up 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "new-game"),
                ("e2e4", "made e2e4"),
                ("off", "off"),
                ("on", "on"),
                ("unplug", "unplugged"),
                ("plug", "plugged"),
            ][..],
        ),
        (
            "novag-ucb",
            &[
                ("take-back", "refused there is no move"),
                ("e2e4", "made e2e4"),
                ("take-back", "took-back e2e4"),
                ("wrong e2e5", "wrong e2e5"),
                ("lift-king", "refused only a Citrine does that"),
                ("off", "off"),
                ("on forgetful", "on forgetful"),
            ],
        ),
        (
            "swpp-board",
            &[
                ("take-back", "refused there is no move"),
                ("e2e4", "made e2e4"),
                ("take-back", "took-back e2e4"),
                ("wrong e2e5", "wrong e2e5"),
                ("off", "off"),
                ("on", "on"),
            ],
        ),
        (
            "miko-neo",
            &[
                ("e2e4", "made e2e4"),
                ("take-back", "take-back e2e4"),
                ("off", "off"),
                ("on", "on"),
                ("unplug", "unplugged"),
                ("plug", "plugged unix:"),
            ],
        ),
    ] {
        let mut board = Program::start(boardbridge().args(["simulate", kind]), false);
        board.prints("plugged");
        for (order, report) in orders {
            board.says(order);
            let line = board.prints(report);
            assert!(line.starts_with(report), "{kind}, {order}: {line}");
        }
        assert_eq!(board.ends(), Some(0));
    }
}
