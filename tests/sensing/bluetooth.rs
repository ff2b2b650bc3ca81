//! A DGT board by Bluetooth Classic, and a Chessnut Move by Bluetooth LE: the real binary, with the real bluer, on a simulated `BlueZ`.

use std::time::Instant;

use boardbridge::{
    board::settings::BoardConfig, cli::call, config::Config,
    front_end::whitepawn::rfcomm::SERIAL_PORT,
};
use simulators::{
    HandAction,
    bluez::{ADAPTER, Bluez, address::Address},
    chessnut::{self, Chessnut},
    dgt::{self, Model},
    pieces,
};

use crate::support::{
    Gui, Hand,
    process::{Process, boardbridge, soon},
};

const NAME: &str = "DGT_BT_21344";
const BOARD: Address = Address([0x00, 0x06, 0x66, 0x0A, 0x0B, 0x0C]);
const SECOND: Address = Address([0x00, 0x06, 0x66, 0x0A, 0x0B, 0x0D]);
const PHONE: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
const MTU: u16 = 517;
/// How many times faster than real the board and the person are.
const SPEED: f64 = 4.0;
/// 22 plies of the Italian game.
const GAME: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d3 d7d6 e1g1 e8g8 f1e1 a7a6 b1d2 c5a7 h2h3 h7h6 d2f1 f8e8 f1g3 c8e6";

/// A board in range, as it was bought.
fn board(bluez: &Bluez) -> Hand {
    let board = dgt::Dgt::new(dgt::Settings {
        model: Model::Bluetooth,
        speed: SPEED,
        pieces: pieces::Settings {
            speed: SPEED,
            ..pieces::Settings::default()
        },
        ..dgt::Settings::default()
    });
    let device = bluez.serial_device(ADAPTER, BOARD, NAME).unwrap();
    Hand::on_air(Box::new(board), device)
}

/// The board, for a daemon. By radio `settle` counts twice.
fn keys() -> String {
    format!(
        "[boards.dgt]\nkind = \"dgt\"\nsettle = \"100ms\"\nrfcomm = {{ address = \"{BOARD}\" }}\n"
    )
}

/// A program, and a hand that makes the moves of both sides.
struct Game {
    gui: Gui,
    hand: Hand,
    played: Vec<&'static str>,
}

impl Game {
    /// Plays this many more plies; the hand's own are those of White.
    async fn plays(&mut self, plies: usize) {
        let from = self.played.len();
        for m in GAME.split(' ').skip(from).take(plies) {
            if self.played.len().is_multiple_of(2) {
                self.gui.asks(&self.played.join(" ")).await;
                // The person is told so once the program's move stands on the board.
                self.gui.hears_of("White to move").await;
                self.hand.answers(&mut self.gui, m).await;
            } else {
                // The person sees the program's move on its screen.
                self.hand.does(m).await;
                self.hand.sees(&format!("made {m}")).await;
            }
            self.played.push(m);
        }
    }
}

#[tokio::test]
async fn a_game_on_a_dgt_board_by_bluetooth_goes_on_after_a_lost_link() {
    let bluez = Bluez::start().unwrap();
    let control = bluez.control();
    let hand = board(&bluez);
    control.pair(BOARD).unwrap();
    let mut process = Process::start(&bluez, &keys());
    process.logs("DGT board, version 1.8, number 13116").await;
    process.logs("battery: 80 %").await;
    let gui = process.gui().await;
    let mut game = Game {
        gui,
        hand,
        played: Vec::new(),
    };
    game.plays(8).await;
    // The link breaks, and is there at once.
    control.drop_link(BOARD).unwrap();
    process.logs("no link: ").await;
    game.plays(6).await;
    // The person carries the board away when it is their turn, and moves.
    game.gui.asks(&game.played.join(" ")).await;
    game.gui.hears_of("White to move").await;
    control.vanish(BOARD).unwrap();
    process.logs("does not answer").await;
    let m = GAME.split(' ').nth(14).unwrap();
    game.hand.does(m).await;
    game.hand.sees(&format!("made {m}")).await;
    control.appear(BOARD).unwrap();
    game.gui.hears(&format!("bestmove {m}")).await;
    game.played.push(m);
    game.plays(7).await;
    // The program states its last move, and the game is known to the end.
    game.gui.asks(GAME).await;
    game.gui.hears_of("White to move").await;
    let faults = game.hand.seen();
    assert!(
        !faults.iter().any(|seen| seen.starts_with("fault")),
        "{faults:?}"
    );
    drop(game.gui);
    let kept = process.kept().await;
    let [kept] = &kept[..] else {
        panic!("{kept:?}");
    };
    assert_eq!(kept.game.len(), GAME.split(' ').count());
}

#[tokio::test]
async fn a_board_that_was_never_paired_is_told_with_how_to_pair_it() {
    let bluez = Bluez::start().unwrap();
    let _hand = board(&bluez);
    let mut process = Process::start(&bluez, &keys());
    let line = process.logs("was never paired with hci0").await;
    for words in ["`bluetoothctl`", &format!("`pair {BOARD}`"), "PIN"] {
        assert!(line.contains(words), "{line}");
    }
    bluez.control().pair(BOARD).unwrap();
    process.logs("DGT board, version 1.8").await;
}

#[tokio::test]
async fn what_keeps_a_board_away_is_said_in_words() {
    let bluez = Bluez::start().unwrap();
    let control = bluez.control();
    let _hand = board(&bluez);
    control.pair(BOARD).unwrap();
    control.power(ADAPTER, false).unwrap();
    let mut process = Process::start(&bluez, &keys());
    process.logs("Bluetooth is off (hci0)").await;
    control.refuse_connects(BOARD, 1).unwrap();
    control.power(ADAPTER, true).unwrap();
    let line = process.logs("refuses the connection").await;
    assert!(line.contains("pair it anew"), "{line}");
    process.logs("DGT board, version 1.8").await;
    control.vanish(BOARD).unwrap();
    let line = process.logs("does not answer").await;
    assert!(line.contains("is it switched on, near"), "{line}");
    // The service restarts, and knows the board as before.
    control.run(false);
    process.logs("Bluetooth does not answer").await;
    control.appear(BOARD).unwrap();
    control.run(true);
    process.logs("DGT board, version 1.8").await;
}

#[tokio::test]
async fn a_paired_device_without_a_serial_port_is_told_to_be_perhaps_another() {
    let bluez = Bluez::start().unwrap();
    let _phone = bluez.phone(ADAPTER, BOARD, MTU).unwrap();
    bluez.control().pair(BOARD).unwrap();
    let mut process = Process::start(&bluez, &keys());
    let line = process.logs("offers no serial port").await;
    assert!(line.contains("bluetoothctl devices"), "{line}");
}

/// `BlueZ` has one serial port for both roles.
#[tokio::test]
async fn the_board_and_the_app_are_both_reached_by_a_serial_port_of_bluetooth() {
    let bluez = Bluez::start().unwrap();
    let control = bluez.control();
    let _hand = board(&bluez);
    control.pair(BOARD).unwrap();
    let phone = bluez.phone(ADAPTER, PHONE, MTU).unwrap();
    let app = "[[whitepawn]]\nboard = \"dgt\"\nrfcomm = { name = \"Chess\" }\n";
    let mut process = Process::start(&bluez, &format!("{}{app}", keys()));
    process.logs("DGT board, version 1.8").await;
    soon("the record", phone.finds_record(SERIAL_PORT)).await;
    let line = soon("the app", phone.connect_serial(SERIAL_PORT)).await;
    assert!(line.is_ok());
    control.drop_link(BOARD).unwrap();
    process.logs("no link: ").await;
    process.logs("DGT board, version 1.8").await;
    assert_eq!(phone.reads_records().len(), 1);
    let log = process.log().join("\n");
    assert!(
        !log.contains("has Bluetooth's serial port already"),
        "{log}"
    );
}

#[tokio::test]
async fn a_scan_lists_a_dgt_board_with_its_lines() {
    let bluez = Bluez::start().unwrap();
    let _hand = board(&bluez);
    bluez.control().pair(BOARD).unwrap();
    let mut scan = tokio::process::Command::from(boardbridge(&bluez));
    scan.arg("scan");
    let scanned = soon("the scan", scan.output()).await.unwrap();
    let said = String::from_utf8(scanned.stdout).unwrap();
    let lines = format!("kind = \"dgt\"\nrfcomm = {{ address = \"{BOARD}\" }}");
    assert!(said.contains(&lines), "{said}");
    let end = said.find("[boards.dgt]").unwrap();
    let config = Config::from_text(&said[end..], "the scan").unwrap();
    assert!(config.boards.values().any(|board| board.rfcomm.is_some()));
}

/// A replay of a recording has to be at the board's speed.
#[test]
fn a_recording_says_that_the_board_is_reached_by_bluetooth_and_not_where() {
    let address = BOARD.to_string();
    let text = format!("kind = \"dgt\"\nrfcomm = {{ address = \"{address}\" }}\n");
    let head = BoardConfig::from_toml(&text).unwrap().to_toml();
    assert!(!head.contains(&address), "{head}");
    let read = BoardConfig::from_toml(&head).unwrap();
    assert!(read.rfcomm.is_some(), "{head}");
}

#[tokio::test]
async fn a_chessnut_move_is_listed_by_a_scan_and_drives_the_programs_move() {
    let bluez = Bluez::start().unwrap();
    let board = Chessnut::new(chessnut::Settings {
        model: chessnut::Model::Move,
        speed: SPEED,
        ..chessnut::Settings::default()
    });
    let board = bluez.host(ADAPTER, BOARD, board).unwrap();
    let mut scan = tokio::process::Command::from(boardbridge(&bluez));
    scan.arg("scan");
    let scanned = soon("the scan", scan.output()).await.unwrap();
    let said = String::from_utf8(scanned.stdout).unwrap();
    let lines = format!("kind = \"chessnut\"\nble = {{ address = \"{BOARD}\" }}\n");
    assert!(said.contains(&lines), "{said}");
    let mut process = Process::start(&bluez, &format!("[boards.robot]\n{lines}"));
    process.logs("Chessnut Move").await;
    let mut gui = process.gui().await;
    gui.asks("").await;
    gui.hears_of("White to move").await;
    let m = HandAction::Move("e2e4".parse().unwrap());
    board.with(|board| board.hand(Instant::now(), m));
    gui.hears("bestmove e2e4").await;
    gui.asks("e2e4 e7e5").await;
    process.logs("e7e5 executed").await;
    assert_eq!(board.with(|board| board.game().len()), 2);
}

fn air() -> Chessnut {
    Chessnut::new(chessnut::Settings {
        speed: SPEED,
        ..chessnut::Settings::default()
    })
}

#[tokio::test]
async fn two_boards_that_look_for_one_name_have_a_device_each() {
    let bluez = Bluez::start().unwrap();
    let _first = bluez.host(ADAPTER, BOARD, air()).unwrap();
    let _second = bluez.host(ADAPTER, SECOND, air()).unwrap();
    let boards = ["Chessnut Air", "Chessnut"].map(|name| {
        format!(
            "[boards.{}]\nkind = \"chessnut\"\nble = {{ name = \"{name}\" }}\n",
            name.len()
        )
    });
    let mut process = Process::start(&bluez, &boards.concat());
    let mut lines = [
        process.logs("found name=").await,
        process.logs("found name=").await,
    ];
    lines.sort_by_key(|line| line.contains(&SECOND.to_string()));
    for (line, address) in lines.iter().zip([BOARD, SECOND]) {
        assert!(line.contains(&address.to_string()), "{lines:?}");
    }
}

#[tokio::test]
async fn a_second_board_of_a_name_that_another_has_is_offered() {
    let bluez = Bluez::start().unwrap();
    let _first = bluez.host(ADAPTER, BOARD, air()).unwrap();
    let lines = "[boards.one]\nkind = \"chessnut\"\nble = { name = \"chessnut air\" }\n";
    let mut process = Process::keeping(&bluez, lines);
    let web = process.address("web").await.to_string();
    process.logs("found name=").await;
    let _second = bluez.host(ADAPTER, SECOND, air()).unwrap();
    let found = async {
        loop {
            // Each question makes the daemon listen.
            if let [found] = &call::found(&web).await.unwrap()[..] {
                return found.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let found = soon("the second board", found).await;
    let why = found["why"].as_str().unwrap();
    assert!(why.contains(&SECOND.to_string()), "{found}");
}

#[tokio::test]
async fn a_scan_knows_a_chessnut_that_its_owner_has_renamed() {
    let bluez = Bluez::start().unwrap();
    let renamed = Chessnut::new(chessnut::Settings {
        name: Some("Grandma's board".to_owned()),
        speed: SPEED,
        ..chessnut::Settings::default()
    });
    let _board = bluez.host(ADAPTER, BOARD, renamed).unwrap();
    let mut scan = tokio::process::Command::from(boardbridge(&bluez));
    let scanned = soon("the scan", scan.arg("scan").output()).await.unwrap();
    let said = String::from_utf8(scanned.stdout).unwrap();
    let lines = format!("kind = \"chessnut\"\nble = {{ address = \"{BOARD}\" }}");
    assert!(said.contains(&lines), "{said}");
    assert!(said.contains("# Grandma's board at"), "{said}");
    assert!(!said.contains("other things do, too"), "{said}");
}

#[tokio::test]
async fn a_scan_tells_boards_of_one_model_apart() {
    let bluez = Bluez::start().unwrap();
    let _first = bluez.host(ADAPTER, BOARD, air()).unwrap();
    let _second = bluez.host(ADAPTER, SECOND, air()).unwrap();
    let mut scan = tokio::process::Command::from(boardbridge(&bluez));
    let scanned = soon("the scan", scan.arg("scan").output()).await.unwrap();
    let said = String::from_utf8(scanned.stdout).unwrap();
    let from = said.find("[boards.").unwrap();
    let config = Config::from_text(&said[from..], "the scan").unwrap();
    let ways = config.boards.values().filter_map(|board| board.ble.clone());
    let mut addresses: Vec<_> = ways.filter_map(|ble| ble.address).collect();
    addresses.sort();
    assert_eq!(
        addresses,
        [BOARD, SECOND].map(|address| address.to_string()),
        "{said}"
    );
}
