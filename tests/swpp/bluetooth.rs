//! The simulated home-made board on the simulated `BlueZ`, as the program runs it, against an unmodified central,
//! btleplug.
//!
//! libdbus reads the address of the bus from the environment, once per process; so the test runs itself again in a
//! process of its own.

use btleplug::{
    api::{
        Central as _, CharPropFlags, Characteristic, Manager as _, Peripheral as _, ScanFilter,
        WriteType,
    },
    platform::{Manager, Peripheral},
};
use futures_util::StreamExt;
use simulators::{
    bluez::bus_address,
    swpp::profile::{FROM_BOARD, SERVICE, TO_BOARD},
};
use tokio::time::timeout;

use crate::support::{
    alone::{BUS, on_a_bus},
    program::{PATIENCE, Program, boardbridge},
};

async fn find(name: &str) -> Peripheral {
    let adapters = Manager::new().await.unwrap().adapters().await.unwrap();
    let adapter = adapters.into_iter().next().unwrap();
    let mut events = adapter.events().await.unwrap();
    adapter.start_scan(ScanFilter::default()).await.unwrap();
    loop {
        for peripheral in adapter.peripherals().await.unwrap() {
            let properties = peripheral.properties().await.unwrap().unwrap();
            if properties.advertisement_name.as_deref() == Some(name) {
                assert_eq!(properties.services, [SERVICE]);
                return peripheral;
            }
        }
        events.next().await.unwrap();
    }
}

async fn plays(board: &mut Program) {
    let peripheral = find("A board of mine").await;
    peripheral.connect().await.unwrap();
    peripheral.discover_services().await.unwrap();
    let characteristics = peripheral.characteristics();
    let named = |uuid| -> Characteristic {
        let found = characteristics.iter().find(|known| known.uuid == uuid);
        found.unwrap().clone()
    };
    let (to, from) = (named(TO_BOARD), named(FROM_BOARD));
    assert_eq!(to.properties, CharPropFlags::WRITE);
    assert_eq!(from.properties, CharPropFlags::NOTIFY);
    let mut notifications = peripheral.notifications().await.unwrap();
    peripheral.subscribe(&from).await.unwrap();
    let mut heard = Vec::new();
    let write = async |text: &str| {
        let written = peripheral.write(&to, text.as_bytes(), WriteType::WithResponse);
        written.await.unwrap();
    };
    write("H0010023\n").await;
    while !heard.ends_with(b"\n") {
        heard.extend(notifications.next().await.unwrap().value);
    }
    assert_eq!(heard, b"H101     1.2MY_SERIAL\n");
    write("NG2N\n").await;
    write("MA e2e4\n").await;
    board.prints("executed e2e4");
    board.says("e7e5");
    let moved = notifications.next().await.unwrap();
    assert_eq!(moved.value, b"MB e7e5\n");
    board.says("off");
    while peripheral.is_connected().await.unwrap_or(false) {
        tokio::task::yield_now().await;
    }
    assert!(
        !board.log.iter().any(|line| line.starts_with("fault")),
        "{:?}",
        board.log
    );
}

#[test]
fn a_game_begins_over_the_simulated_bluetooth() {
    on_a_bus(
        module_path!(),
        "a_game_begins_over_the_simulated_bluetooth",
        |socket| {
            let mut board = Program::start(
                boardbridge()
                    .args(["simulate", "swpp-board", "--ble", "--hand-delay", "1ms"])
                    .args(["--name", "A board of mine", "--link"])
                    .arg(socket),
                false,
            );
            assert_eq!(
                board.prints("plugged"),
                format!("plugged {}", bus_address(socket))
            );
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async { timeout(PATIENCE, plays(&mut board)).await.unwrap() });
        },
    );
}

#[test]
fn a_board_with_other_characteristics_says_which_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("bus");
    let mut board = Program::start(
        boardbridge()
            .args(["simulate", "swpp-board", "--ble", "--name", "diy", "--link"])
            .arg(&socket),
        false,
    );
    board.prints("plugged");
    let file = directory.path().join("bb.toml");
    let text = "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n[games]\ndirectory = \"off\"\n[boards.diy]\n\
                kind = \"swpp\"\nble = { name = \"diy\", write = \"ffe1\", notify = \"ffe1\" }\n";
    std::fs::write(&file, text).unwrap();
    let mut daemon = Program::start(
        boardbridge()
            .args(["run", "--config"])
            .arg(&file)
            .env(BUS, bus_address(&socket)),
        true,
    );
    let said = daemon.prints("the board rejects the connection");
    for words in [
        "board{name=diy}",
        "no characteristic ffe1; it has",
        &format!("{TO_BOARD} (write)"),
        &format!("{FROM_BOARD} (notify)"),
        "write and notify in its ble",
    ] {
        assert!(said.contains(words), "`{words}` is not in: {said}");
    }
}
