//! The daemon with Neos on Bluetooth: the real binary and the real btleplug, against simulated boards on a simulated
//! `BlueZ`.

use std::time::{Duration, Instant};

use boardbridge::transport::ble::CONNECT_WAIT;
use shakmaty::Position;
use simulators::{
    HandAction,
    bluez::{ADAPTER, Bluez, address::Address, control::Control, hosted::Hosted},
    neo::{Neo, Settings, profile},
};

use crate::support::{
    Gui,
    process::{PATIENCE, Process, boardbridge},
};

/// How many times faster than real the boards are.
const SPEED: f64 = 20.0;
/// The recogniser's waits are for real boards: two pictures agree after 2.1 s, whatever the board's speed.
const KEYS: &str = "kind = \"miko-neo\"\nsettle = \"100ms\"\ncorrection_wait = \"150ms\"\n";
/// The time from connecting until a board's services are resolved, in tests that depend on it.
const SERVICES: Duration = Duration::from_millis(800);
const FIRST: Address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
const SECOND: Address = Address([0x02, 0xBB, 0, 0, 0, 0x02]);

fn neo(suffix: &str) -> Neo {
    Neo::new(Settings {
        suffix: suffix.to_owned(),
        speed: SPEED,
        hand_delay: Some(Duration::from_millis(20)),
        // What was on the way when a path began is not a fault at this speed.
        strict: false,
        ..Settings::default()
    })
}

/// The daemon in its own process, with a Bluetooth of its own.
struct House {
    bluez: Bluez,
    process: Process,
}

impl House {
    fn start(bluez: Bluez, boards: &str) -> Self {
        let process = Process::start(&bluez, boards);
        Self { bluez, process }
    }

    /// One board, and no other device in range.
    fn with_neo() -> (Self, Hosted<Neo>) {
        let bluez = Bluez::start().unwrap();
        let board = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
        let boards = format!("[boards.neo]\n{KEYS}ble = {{ name = \"Square Off Neo\" }}\n");
        (Self::start(bluez, &boards), board)
    }

    /// The same, and a program that has asked for the hand's first move.
    async fn begun() -> (Self, Hosted<Neo>, Control, Gui) {
        let (mut house, board) = Self::with_neo();
        let control = house.control();
        let mut gui = house.gui().await;
        gui.begins().await;
        (house, board, control, gui)
    }

    fn control(&self) -> Control {
        self.bluez.control()
    }

    async fn gui(&mut self) -> Gui {
        self.process.gui().await
    }
}

/// Waits until this holds on the board.
async fn comes(board: &Hosted<Neo>, what: &str, so: impl Fn(&mut Neo) -> bool) {
    let end = Instant::now() + PATIENCE;
    while !board.with(|neo| so(neo)) {
        assert!(Instant::now() < end, "{what} does not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn plays(board: &Hosted<Neo>, m: &str) {
    let action = HandAction::Move(m.parse().unwrap());
    board.with(|neo| neo.hand(Instant::now(), action));
}

/// The hand makes the move that the program awaits.
async fn answers(gui: &mut Gui, board: &Hosted<Neo>, m: &str) {
    plays(board, m);
    gui.hears(&format!("bestmove {m}")).await;
}

/// The pieces stand as after these moves.
async fn stands(board: &Hosted<Neo>, moves: &str) {
    let mut game = boardbridge::chess::game::Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    let pieces = game.position().board().clone();
    comes(board, moves, |neo| {
        !neo.is_driving() && *neo.table().board() == pieces
    })
    .await;
}

/// The hand plays White's moves of these, the program Black's.
async fn hand_plays(gui: &mut Gui, board: &Hosted<Neo>, moves: &[&str]) {
    for ply in (0..moves.len()).step_by(2) {
        gui.asks(&moves[..ply].join(" ")).await;
        gui.hears_of("White to move").await;
        stands(board, &moves[..ply].join(" ")).await;
        answers(gui, board, moves[ply]).await;
    }
}

fn faults(board: &Hosted<Neo>) -> Vec<String> {
    board.with(|neo| {
        std::iter::from_fn(|| neo.poll_report())
            .map(|report| report.to_string())
            .filter(|report| report.starts_with("fault"))
            .collect()
    })
}

#[tokio::test]
async fn a_game_is_played_over_the_air() {
    let (mut house, board) = House::with_neo();
    let mut gui = house.gui().await;
    let moves: Vec<&str> = "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 g1f3 c8g4 f1e2 b8c6 e1g1 e8c8"
        .split(' ')
        .collect();
    hand_plays(&mut gui, &board, &moves).await;
    gui.asks(&moves.join(" ")).await;
    gui.hears_of("White to move").await;
    stands(&board, &moves.join(" ")).await;
    assert_eq!(faults(&board), Vec::<String>::new());
    let kept = house.process.kept().await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].moves(), moves.join(" "));
    assert_eq!(kept[0].tag("White"), "Hand on neo");
    assert_eq!(kept[0].tag("Black"), "Chess program");
}

#[tokio::test]
async fn links_lost_in_the_game_and_in_mid_path_come_back() {
    let (_house, board, control, mut gui) = House::begun().await;
    control.drop_link(FIRST).unwrap();
    gui.hears_of("no link to the board").await;
    gui.hears_of("White to move").await;
    answers(&mut gui, &board, "e2e4").await;
    gui.asks("e2e4 b8c6").await;
    comes(&board, "the motor", |neo| neo.is_driving()).await;
    control.drop_link(FIRST).unwrap();
    gui.hears_of("no link to the board").await;
    gui.hears_of("White to move").await;
    stands(&board, "e2e4 b8c6").await;
    answers(&mut gui, &board, "d2d4").await;
    assert_eq!(faults(&board), Vec::<String>::new());
}

#[tokio::test]
async fn a_move_made_out_of_reach_is_the_answer() {
    let (_house, board, control, mut gui) = House::begun().await;
    control.vanish(FIRST).unwrap();
    gui.hears_of("no link to the board").await;
    plays(&board, "g1f3");
    stands(&board, "g1f3").await;
    control.appear(FIRST).unwrap();
    gui.hears("bestmove g1f3").await;
}

/// The hand's pawn stands where the motor's bishop stood before: read one by one, that square has not changed.
#[tokio::test]
async fn a_move_to_the_square_that_the_motor_left_out_of_reach_is_the_answer() {
    let (mut house, board) = House::with_neo();
    let control = house.control();
    let mut gui = house.gui().await;
    let moves: Vec<&str> = "g1f3 d7d5 e2e3 c8g4 h2h3 g4h5".split(' ').collect();
    hand_plays(&mut gui, &board, &moves).await;
    gui.asks(&moves.join(" ")).await;
    comes(&board, "the motor", |neo| neo.is_driving()).await;
    control.vanish(FIRST).unwrap();
    stands(&board, &moves.join(" ")).await;
    plays(&board, "g2g4");
    stands(&board, &format!("{} g2g4", moves.join(" "))).await;
    control.appear(FIRST).unwrap();
    gui.hears("bestmove g2g4").await;
}

#[tokio::test]
async fn refused_writes_and_corrupt_notifications_are_got_over() {
    let (_house, board, control, mut gui) = House::begun().await;
    control.corrupt_notifications(FIRST, 2).unwrap();
    control
        .notify(FIRST, profile::EVENTS, b"e2\xFF".to_vec())
        .unwrap();
    control
        .notify(FIRST, profile::OCCUPANCY, vec![b'1'; 600])
        .unwrap();
    comes(&board, "a picture", |neo| neo.lamps().is_empty()).await;
    control.corrupt_notifications(FIRST, 0).unwrap();
    answers(&mut gui, &board, "e2e4").await;
    control.refuse_writes(FIRST, profile::PATHS, 2).unwrap();
    gui.asks("e2e4 e7e5").await;
    gui.hears_of("White to move").await;
    stands(&board, "e2e4 e7e5").await;
    assert_eq!(faults(&board), Vec::<String>::new());
}

#[tokio::test]
async fn bluetooth_switched_off_and_on_is_told_and_got_over() {
    let (_house, board, control, mut gui) = House::begun().await;
    control.power(ADAPTER, false).unwrap();
    gui.hears_of(
        "Bluetooth is off (hci0): switch it on, for instance with `bluetoothctl power on`",
    )
    .await;
    // It is the user's to switch it on.
    assert!(!control.is_powered(ADAPTER).unwrap());
    control.power(ADAPTER, true).unwrap();
    gui.hears_of("White to move").await;
    answers(&mut gui, &board, "e2e4").await;
}

#[tokio::test]
async fn a_bluetooth_service_that_ends_and_comes_again_is_told_and_got_over() {
    let (_house, board, control, mut gui) = House::begun().await;
    control.run(false);
    gui.hears_of("no link to the board").await;
    control.run(true);
    gui.hears_of("White to move").await;
    answers(&mut gui, &board, "e2e4").await;
}

#[tokio::test]
async fn two_boards_on_one_adapter_are_told_apart() {
    let bluez = Bluez::start().unwrap();
    let first = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
    let second = bluez.host(ADAPTER, SECOND, neo("002")).unwrap();
    let boards = format!(
        "[boards.one]\n{KEYS}ble = {{ name = \"Square Off Neo - 001\" }}\n\
         [boards.two]\n{KEYS}ble = {{ address = \"{SECOND}\" }}\n"
    );
    let mut house = House::start(bluez, &boards);
    let mut one = house.gui().await;
    let mut two = house.gui().await;
    one.says("setoption name Board value one").await;
    two.says("setoption name Board value two").await;
    one.asks("").await;
    two.asks("").await;
    one.hears_of("White to move").await;
    two.hears_of("White to move").await;
    plays(&first, "e2e4");
    plays(&second, "d2d4");
    one.hears("bestmove e2e4").await;
    two.hears("bestmove d2d4").await;
}

#[tokio::test]
async fn what_is_wrong_with_bluetooth_is_said_with_its_remedy() {
    let ble = "ble = { name = \"Square Off Neo\" }\n";
    let other = "ble = { name = \"Square Off Neo\", adapter = \"hci7\" }\n";
    type Fault = fn(&Control);
    let faults: [(&str, Fault, &str); 4] = [
        (
            other,
            |_| {},
            "there is no Bluetooth adapter hci7: write adapter = \"hci0\" or leave it out",
        ),
        (
            ble,
            |control| control.power(ADAPTER, false).unwrap(),
            "Bluetooth is off (hci0): switch it on",
        ),
        (
            ble,
            |control| control.deny(true),
            "this user is not allowed to use Bluetooth: add it to the group bluetooth",
        ),
        (
            ble,
            |control| control.plug(ADAPTER, false).unwrap(),
            "this machine has no Bluetooth adapter: plug one in",
        ),
    ];
    for (ble, fault, words) in faults {
        let bluez = Bluez::start().unwrap();
        let _board = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
        fault(&bluez.control());
        let mut house = House::start(bluez, &format!("[boards.neo]\n{KEYS}{ble}"));
        let mut gui = house.gui().await;
        gui.asks("").await;
        let line = gui.hears_of(words).await;
        assert!(line.starts_with("info string"), "{line}");
    }
}

#[tokio::test]
async fn a_board_that_is_not_there_is_told_with_what_was_seen() {
    let bluez = Bluez::start().unwrap();
    let _board = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
    let boards = format!("[boards.neo]\n{KEYS}ble = {{ name = \"Square Off Pro\" }}\n");
    let mut house = House::start(bluez, &boards);
    let line = house.process.logs("was not found").await;
    assert!(
        line.contains("is it switched on, in reach, and not connected to an app?")
            && line.contains("These were seen: \"Square Off Neo - 001\"."),
        "{line}"
    );
}

#[tokio::test]
async fn scan_lists_the_board_with_the_lines_to_paste() {
    let bluez = Bluez::start().unwrap();
    let _first = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
    let _second = bluez.host(ADAPTER, SECOND, neo("002")).unwrap();
    let mut command = boardbridge(&bluez);
    command.arg("scan");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for name in ["001", "002"] {
        let line = format!("ble = {{ name = \"Square Off Neo - {name}\" }}");
        assert!(text.contains(&line), "{text}");
    }
    // And they can be pasted.
    let from = text.find("[boards.neo]").unwrap();
    let lines: String = text[from..]
        .lines()
        .take_while(|line| !line.starts_with("Other"))
        .map(|line| format!("{line}\n"))
        .collect();
    boardbridge::config::Config::from_text(&lines, "the scan").unwrap();
}

/// The streams of a lost link end while the other board connects, and dbus-daemon removes the wrong match rules.
#[tokio::test]
async fn a_lost_link_does_not_deafen_the_board_that_connects() {
    let bluez = Bluez::start().unwrap();
    let first = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
    let second = bluez.host(ADAPTER, SECOND, neo("002")).unwrap();
    let control = bluez.control();
    control.delay_services(SECOND, SERVICES).unwrap();
    let boards = format!(
        "[boards.one]\n{KEYS}ble = {{ address = \"{FIRST}\" }}\n\
         [boards.two]\n{KEYS}ble = {{ address = \"{SECOND}\" }}\n"
    );
    let mut house = House::start(bluez, &boards);
    let mut one = house.gui().await;
    let mut two = house.gui().await;
    one.says("setoption name Board value one").await;
    two.says("setoption name Board value two").await;
    one.asks("").await;
    two.begins().await;
    for _ in 0..4 {
        one.hears_of("White to move").await;
        control.drop_link(SECOND).unwrap();
        let end = Instant::now() + PATIENCE;
        while !control.is_connected(SECOND).unwrap() {
            assert!(Instant::now() < end, "no new link comes");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(!control.is_resolved(SECOND).unwrap());
        control.drop_link(FIRST).unwrap();
        let lost = Instant::now();
        two.hears_of("White to move").await;
        let deaf = lost.elapsed();
        assert!(deaf < CONNECT_WAIT / 2, "connected after {deaf:?}");
    }
    one.hears_of("White to move").await;
    plays(&first, "e2e4");
    plays(&second, "d2d4");
    one.hears("bestmove e2e4").await;
    two.hears("bestmove d2d4").await;
}

/// A board that is connected to nobody is found by nobody: the maker's app cannot have it.
#[tokio::test]
async fn a_board_whose_services_are_not_known_yet_is_left_by_a_daemon_that_stops() {
    let bluez = Bluez::start().unwrap();
    let _board = bluez.host(ADAPTER, FIRST, neo("001")).unwrap();
    let control = bluez.control();
    control.delay_services(FIRST, PATIENCE).unwrap();
    let boards = format!("[boards.neo]\n{KEYS}ble = {{ address = \"{FIRST}\" }}\n");
    let mut house = House::start(bluez, &boards);
    let end = Instant::now() + PATIENCE;
    while !control.is_connected(FIRST).unwrap() {
        assert!(Instant::now() < end, "no link comes");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.process.again("TERM", |_| {
        assert!(!control.is_connected(FIRST).unwrap());
    });
}
