//! A board needs one folder: configuration, driver and core work with nothing outside it but its line in the table of
//! modules and the one in the registry. `tests/project/boards.rs` holds that.

use std::path::Path;

use crate::{
    board::transcript::Transcript,
    cli::{check, replay::replay},
    config::Config,
    transport::{Transport, ble::Radio},
};

const BOARD: &str = "[boards.t]\nkind = \"toy\"\nserial = { port = \"/dev/ttyUSB0\" }\n";

fn mistakes(text: &str) -> String {
    Config::from_text(text, "toy.toml").unwrap_err().to_string()
}

#[test]
fn the_configuration_has_its_kind_its_keys_and_its_ways() {
    let config = Config::from_text(&format!("{BOARD}loud = true\n"), "toy.toml").unwrap();
    let board = config.boards.values().next().unwrap();
    let transport = board.transport(&Radio::default()).unwrap();
    assert!(matches!(&transport, Transport::Serial(port) if port.baud == 1200));
    let said = check::describe(
        &config,
        Path::new("toy.toml"),
        check::Here::new(false, &config),
        "",
    );
    assert!(said.contains("toy on /dev/ttyUSB0 at 1200 baud"), "{said}");
    assert_eq!(board.to_toml(), "kind = \"toy\"\nloud = true");

    let said = mistakes(&format!(
        "{BOARD}lod = true\nold_signs = true\nmove_wait = \"2h\"\n"
    ));
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [
            "toy.toml:4: boards.t.lod: there is no such key; did you mean loud? Allowed here: kind, serial, \
             uci_listen, record, correction_wait, move_wait, loud",
            "toy.toml:5: boards.t.old_signs: is a key of miko-neo only: remove it from this toy",
            "toy.toml:6: boards.t.move_wait: `2h` is too long: at most \"1h\"",
        ]
    );
    let said = mistakes(&BOARD.replace(
        "serial = { port = \"/dev/ttyUSB0\" }",
        "tcp = { address = \"x:1\" }",
    ));
    assert!(said.contains("a toy is reached by serial"), "{said}");
    let said = mistakes(&BOARD.replace("\"toy\"", "\"toi\""));
    assert!(said.contains("did you mean toy?"), "{said}");
    let said = mistakes(&format!("{BOARD}level = \"TR8\"\n"));
    assert!(said.contains("is a key of novag-citrine only"), "{said}");
}

#[test]
fn the_machine_plays_on_it() {
    let text = "! kind = \"toy\"\n! loud = true\n\
        0.000 @ up\n\
        1.000 * target 1 1 startpos moves e2e4\n\
        5.000 < serial \"e7e5\\n\"\n\
        6.000 < serial \"oops\\n\"\n";
    let played = replay(&text.parse::<Transcript>().unwrap())
        .unwrap()
        .to_string();
    for line in [
        "1.000 > serial \"E2E4\\n\"",
        "5.000 = {\"event\":\"moved\",\"uci\":\"e7e5\",\"ply\":2,\"by\":\"hand\"",
        "6.000 = {\"event\":\"unreadable\",\"text\":\"oops\"",
    ] {
        assert!(played.contains(line), "{line} is not in\n{played}");
    }
}
