//! The configuration: what is accepted, and that every error is reported with its file, line, key and remedy.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use boardbridge::{
    board::settings::KINDS,
    config::{Config, error::MAX_MISTAKES},
    driver::registry::MAKES,
};
use proptest::prelude::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn check_with(text: &str, environment: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(&file, text).unwrap();
    check_file(&file, environment)
}

fn check_file(file: &Path, environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_boardbridge"))
        .args(["check", "--config"])
        .arg(file)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// Asserts exit status 2 and that the message contains all of these words.
fn refused(text: &str, words: &[&str]) {
    let output = check_with(text, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}\n{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
}

const CITRINE: &str =
    "[boards.citrine]\nkind = \"novag-citrine\"\nserial = { port = \"/dev/ttyUSB0\" }\n";

#[test]
fn a_small_configuration_says_what_it_would_run() {
    let output = check_with(CITRINE, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for words in [
        "127.0.0.1:9670",
        "127.0.0.1:9680",
        "novag-citrine on /dev/ttyUSB0 at 57600 baud",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_secret_that_the_service_is_handed_is_read_where_its_file_is_named() {
    let handed = tempfile::tempdir().unwrap();
    let text = format!(
        "{CITRINE}[lichess]\nboard = \"citrine\"\ntoken_file = \"/etc/boardbridge/lichess.token\"\n\
         [mqtt]\nurl = \"mqtt://127.0.0.1\"\nuser = \"boards\"\npassword_file = \"/etc/boardbridge/mqtt.password\"\n"
    );
    let environment = [("CREDENTIALS_DIRECTORY", handed.path().to_str().unwrap())];
    let missed = |lichess, mqtt| {
        fs::write(handed.path().join("lichess.token"), lichess).unwrap();
        fs::write(handed.path().join("mqtt.password"), mqtt).unwrap();
        let output = check_with(&text, &environment);
        let said = String::from_utf8(output.stdout).unwrap();
        ["lichess.token", "mqtt.password"]
            .map(|name| said.contains(&format!("/etc/boardbridge/{name}")))
    };
    assert_eq!(missed("lip_1234\n", "secret\n"), [false, false]);
    // One of another name, by a line in the unit.
    let named = text.replace("lichess.token", "anna.token");
    fs::write(handed.path().join("anna.token"), "lip_1234\n").unwrap();
    let said = check_with(&named, &environment).stdout;
    assert!(!String::from_utf8(said).unwrap().contains("anna.token"));
    // `-` stands for none: then the files themselves count, and no test may read them.
    assert_eq!(missed("-\n", "-\n"), [true, true]);
}

#[test]
fn a_mistake_is_named_with_its_line_and_key_and_what_would_be_right() {
    refused(
        "[uci]\nlisten = \"here\"",
        &["bb.toml:2:", "uci.listen", "HOST:PORT"],
    );
    refused(
        "[uci]\nlissen = \"off\"",
        &["bb.toml:2:", "uci.lissen", "listen"],
    );
    refused(
        "[uci]\nlisten = 9670",
        &["bb.toml:2:", "uci.listen", "an address and a port"],
    );
    refused(
        "\n\n[usi]\n",
        &["bb.toml:3:", "usi", "did you mean uci?", "boards"],
    );
    refused("[uci\n", &["bb.toml:1", "TOML"]);
    refused(
        "[uci]\nlisten = \"off\"\nlisten = \"off\"\n",
        &["bb.toml:3", "`listen` is in line 2 already"],
    );
    refused(
        "[boards.b]\nserial = { port = \"/x\" }",
        &["bb.toml:1:", "boards.b.kind", "missing"],
    );
    refused(
        "[boards.b]\nkind = \"no-such-board\"\nserial = { port = \"/x\" }",
        &["bb.toml:2:", "boards.b.kind", "novag-citrine"],
    );
    refused(
        "[boards.\"my board\"]\nkind = \"novag-ucb\"\nserial = { port = \"/x\" }",
        &["bb.toml:1:", "my board", "letters"],
    );
}

#[test]
fn a_board_has_no_name_that_uci_reads_as_a_keyword() {
    for name in [
        "default", "var", "min", "max", "name", "value", "type", "Default",
    ] {
        let instead = format!("[boards.{name}-board]");
        let text = CITRINE.replace("citrine]", &format!("{name}]"));
        refused(
            &text,
            &["bb.toml:1:", &format!("`{name}`"), "keyword", &instead],
        );
    }
}

/// The output of `check` for it.
fn message(text: &str) -> String {
    String::from_utf8(check_with(text, &[]).stderr).unwrap()
}

#[test]
fn an_unknown_key_of_a_board_is_answered_with_the_keys_of_its_kind_and_the_one_that_is_like_it() {
    let said = message("[boards.b]\nkind = \"swpp\"\nmov_wait = \"3s\"\n");
    for words in ["bb.toml:3:", "boards.b.mov_wait", "did you mean move_wait?"] {
        assert!(said.contains(words), "`{words}` is not in: {said}");
    }
    let (_, keys) = said.trim_end().split_once("Allowed here: ").unwrap();
    assert_eq!(
        keys,
        "kind, serial, ble, tcp, uci_listen, record, correction_wait, move_wait, forgets"
    );
    let said = message("[boards.b]\nkind = \"miko-neo\"\nble = { wright = \"x\" }\n");
    assert!(said.ends_with("name, address, adapter\n"), "{said}");
    assert!(!said.contains("did you mean"), "{said}");
}

#[test]
fn a_mistake_within_braces_or_a_list_is_named_with_its_own_line() {
    for (way, problem) in [
        ("tcp = { listen = \"9690\" }", "tcp.listen"),
        ("serial = { prt = \"/dev/ttyGS0\" }", "serial.prt"),
        ("serial = { port = \"ttyGS0\" }", "serial.port"),
        ("rfcomm = { channel = 31 }", "rfcomm.channel"),
        ("ble = { write = \"x\" }", "ble.write"),
        ("ble = { name = \"\" }", "ble.name"),
    ] {
        let text = format!("{CITRINE}[[whitepawn]]\nboard = \"citrine\"\n\n{way}\n");
        refused(&text, &["bb.toml:7:", problem]);
    }
    let second = "tcp = {}\n[[whitepawn]]\nboard = \"citrine\"\n\nble = { name = \"\" }\n";
    let text = format!("{CITRINE}[[whitepawn]]\nboard = \"citrine\"\n{second}");
    refused(&text, &["bb.toml:10:", "ble.name"]);
    refused(
        &format!(
            "whitepawn = [\n  {{ board = \"citrine\", tcp = {{}} }},\n  {{ bord = \"citrine\" }},\n]\n{CITRINE}"
        ),
        &["bb.toml:3:", "bord"],
    );
    refused(
        "[boards.n]\nkind = \"miko-neo\"\nble = { name = \"x\" }\nparking = [\n  8,\n  \"-1\",\n]\n",
        &["bb.toml:6:", "parking"],
    );
}

/// The whole message after the file's name.
fn refused_with(text: &str, whole: &str) {
    let said = message(text);
    let behind = said.split_once("bb.toml:").map(|(_, behind)| behind.trim());
    assert_eq!(behind, Some(whole));
}

#[test]
fn a_mistake_is_told_in_plain_words() {
    let neo =
        |line: &str| format!("[boards.n]\nkind = \"miko-neo\"\nble = {{ name = \"x\" }}\n{line}\n");
    for (text, whole) in [
        (
            "[boards.b]\nkind = \"swpp\"\nserial = { port = \"/x\", baud = \"fast\" }".to_owned(),
            "3: boards.b.serial.baud: is a number such as 115200, not the text \"fast\"",
        ),
        (
            "[boards.b]\nkind = \"swpp\"\nserial = [\"/x\"]".to_owned(),
            "3: boards.b.serial: is one table in braces, not a list",
        ),
        (
            "[boards.b]\nkind = \"swpp\"\nserial = { port = 3 }".to_owned(),
            "3: boards.b.serial.port: is a text in quotes, not the number 3",
        ),
        (
            neo("motor = \"yes\""),
            "4: boards.n.motor: is true or false, not the text \"yes\"",
        ),
        (
            neo("parking = 8"),
            "4: boards.n.parking: is a list such as [8, -1], not the number 8",
        ),
        (
            neo("parking = [8, 1000]"),
            "4: boards.n.parking: is a number such as 8 or -1, not the number 1000",
        ),
        (
            neo("promotion = true"),
            "4: boards.n.promotion: is \"option\" or \"gesture\", not true",
        ),
        (
            "uci = 3".to_owned(),
            "1: uci: is a table: [uci], not the number 3",
        ),
        (
            "[[uci]]\nlisten = \"off\"".to_owned(),
            "1: uci.0: there is only one: write [uci], with one bracket",
        ),
        (
            "[[boards.b]]\nkind = \"swpp\"".to_owned(),
            "1: boards.b.0: there is only one: write [boards.b], with one bracket",
        ),
        (
            "[whitepawn]\nboard = \"b\"".to_owned(),
            "1: whitepawn: write [[whitepawn]], with two brackets",
        ),
    ] {
        refused_with(&text, whole);
    }
}

/// The lines of `check`, without the file's name.
fn said_of(text: &str) -> Vec<String> {
    let said = message(text);
    let lines = said.lines();
    let behind = lines.map(|line| {
        line.split_once("bb.toml:")
            .map_or(line, |(_, behind)| behind)
    });
    behind.map(str::to_owned).collect()
}

/// Asserts that each error is reported on a line of its own, with these words, and nothing else.
fn refused_for(text: &str, mistakes: &[&[&str]]) {
    let said = said_of(text);
    assert_eq!(said.len(), mistakes.len(), "{text}\n{said:#?}");
    for (line, words) in said.iter().zip(mistakes) {
        for word in *words {
            assert!(line.contains(word), "`{word}` is not in: {line}");
        }
    }
}

#[test]
fn all_mistakes_of_a_file_are_named_at_once() {
    let text = "[uci]\nlissen = \"off\"\n\
        [boards.my board]\nkind = \"citrine\"\nport = \"/dev/ttyUSB0\"\n\
        [boards.b]\nkind = novag-ucb\nserial = { port = \"ttyUSB1\", baud = \"fast\" }\nmove_wait = 3\nlevel = \"TR8\"\n\
        [boards.c]\nserial = { prt = \"/x\" }\n\
        [boards.n]\nkind = \"miko-neo\"\nname = \"Neo\"\nparking = [8, \"x\", \"y\"]\n\
        [[whitepawn]]\ntcp = {}\n\
        [[whitepawn]]\nboard = \"nobody\"\ntcp = { listen = \"x\" }\n\
        [[whitepawn]]\nboard = \"c\"\nble = { name = \"\" }\n\
        [[link]]\nboards = [\"b\", \"n\"]\nwhite = \"nobody\"\n";
    refused_for(
        text,
        &[
            &["2: uci.lissen", "listen"],
            &["3: boards.my board", "letters", "[boards.my-board]"],
            &["4: boards.my board.kind", "did you mean novag-citrine?"],
            &[
                "5: boards.my board.port",
                "serial = { port = \"/dev/ttyUSB0\" }",
            ],
            &["7: this is not TOML", "quotes: write kind = \"novag-ucb\""],
            &["8: boards.b.serial.baud", "115200"],
            &["8: boards.b.serial.port", "\"/dev/ttyUSB1\""],
            &["9: boards.b.move_wait", "unit"],
            &["10: boards.b.level", "novag-citrine"],
            &["11: boards.c.kind", "missing"],
            &["12: boards.c.serial.prt", "port"],
            &["15: boards.n.name", "ble = { name = \"Neo\" }"],
            &["16: boards.n.parking", "\"x\""],
            &["17: [[whitepawn]] number 1: board", "missing"],
            &["20: [[whitepawn]] number 2: board", "[boards.nobody]"],
            &["21: [[whitepawn]] number 2: tcp.listen", "HOST:PORT"],
            &["24: [[whitepawn]] number 3: ble.name", "characters"],
            &["27: [[link]] number 1: white", "b, n"],
        ],
    );
}

#[test]
fn what_was_pasted_from_a_page_or_typed_on_a_phone_is_told_with_its_line_and_what_was_meant() {
    let serial = "write serial = { port = \"/dev/ttyUSB0\" }";
    let text = CITRINE.replacen("\"/dev/ttyUSB0\"", "{}", 1);
    for (port, why) in [
        ("“/dev/ttyUSB0”", "straight quotes"),
        ("/dev/ttyUSB0", "needs quotes"),
        ("\"/dev/ttyUSB0", "a quote is missing"),
    ] {
        refused_for(
            &text.replace("{}", port),
            &[&["3: this is not TOML", why, serial]],
        );
    }
    let games = "[games]\nsite = \"C:\\Users\\Zoë\"\n";
    let right = "write site = 'C:\\Users\\Zoë'";
    refused_for(
        &format!("{games}{CITRINE}"),
        &[&["2: this is not TOML", "single quotes", right]],
    );
    let pasted = CITRINE.replace("= { ", "=\u{a0}{\u{a0}");
    refused_for(
        &pasted,
        &[&["3: this is not TOML", "no-break space", serial]],
    );
    for (from, to) in [(" }", ""), ("{ ", "")] {
        let broken = CITRINE.replace(from, to);
        refused_for(
            &broken,
            &[&["3: this is not TOML", "brace is missing", serial]],
        );
    }
    refused_for(
        &format!("```toml\n{CITRINE}```\n"),
        &[&["1: ", "delete this line"], &["5: ", "delete this line"]],
    );
    let lines = "serial = {\n  port = \"/dev/ttyUSB0\"\n}";
    let lines = CITRINE.replace("serial = { port = \"/dev/ttyUSB0\" }", lines);
    refused_for(&lines, &[&["3: this is not TOML", "on one line", serial]]);
    refused_for(
        "\u{feff}[uci\n",
        &[&["1: this is not TOML: a bracket or brace is missing: write [uci]"]],
    );
    // Without a mistake, the mark before it is none.
    Config::from_text("\u{feff}[uci]\nlisten = \"off\"\n", "marked").unwrap();
    // What stands below is still read.
    refused_for(
        "[uci\nlisten = 3\n",
        &[&["1: this is not TOML", "write [uci]"], &["2: uci.listen"]],
    );
}

#[test]
fn every_table_that_is_there_again_is_named() {
    let already = |name: &str, line: u8| format!("[{name}] is in line {line} already: move");
    refused_for(
        "[uci]\n[games]\n[uci]\nlisten = off\n[games]\n[uci]\n",
        &[
            &["3: ", &already("uci", 1)],
            &["4: this is not TOML: text needs quotes"],
            &["5: ", &already("games", 2)],
            &["6: ", &already("uci", 1)],
        ],
    );
}

#[test]
fn an_address_that_cannot_be_listened_at_is_refused_with_the_one_that_was_meant() {
    for (address, words) in [
        (
            "*:9670",
            "write HOST:PORT, for instance \"0.0.0.0:9670\", or \"off\"",
        ),
        ("http://127.0.0.1:9670", "for instance \"127.0.0.1:9670\""),
        ("::1", "for instance \"[::1]:9670\""),
        ("[::1]", "for instance \"[::1]:9670\""),
        ("192.168.1.300:9670", "neither a name nor an address"),
    ] {
        for table in ["uci", "status", "web", "livechess"] {
            let text = format!("[{table}]\nlisten = \"{address}\"\n");
            refused(
                &text,
                &[
                    "bb.toml:2:",
                    "is not a valid address",
                    words.trim_end_matches(", or \"off\""),
                ],
            );
        }
        refused(&format!("[uci]\nlisten = \"{address}\"\n"), &[words]);
    }
    let far = "[boards.far]\nkind = \"swpp\"\ntcp = { address = \"http://10.0.0.2:9700\" }\n";
    refused(far, &["bb.toml:3:", "for instance \"10.0.0.2:9700\""]);
}

#[test]
fn a_path_from_the_home_folder_is_written_out() {
    let board = |line: &str| format!("{CITRINE}{line}\n");
    let home = std::env::var("HOME").unwrap();
    let whole = format!("whole path, for instance \"{home}/board\"");
    let serial = CITRINE.replace("/dev/ttyUSB0", "~/board");
    refused(&serial, &["bb.toml:3: boards.citrine.serial.port", &whole]);
    let record = board("record = \"~/board\"");
    refused(&record, &["bb.toml:4: boards.citrine.record", &whole]);
    let engine = board("[[opponent]]\nboard = \"citrine\"\nengine = \"~/board\"");
    refused(&engine, &["bb.toml:6:", &whole]);
    let token = board("[lichess]\nboard = \"citrine\"\ntoken_file = \"~/board\"");
    refused(&token, &["bb.toml:6:", &whole]);
}

#[test]
fn a_mistake_is_not_named_twice_in_other_words() {
    // Each of these leaves a gap, which is not a mistake of its own.
    for (text, words) in [
        (
            "[boards.b]\nknd = \"novag-ucb\"\nserial = { port = \"/x\" }\n",
            "did you mean kind?",
        ),
        (
            "[boards.b]\nkind = \"novag-ucb\"\nserail = { port = \"/x\" }\n",
            "did you mean serial?",
        ),
        (
            "[boards.b]\nkind = \"novag-ucb\"\nserial = 3\n",
            "a table: { port",
        ),
        (
            "[boards.b]\nkind = \"miko-neo\"\nble = { name = 3 }\n",
            "a text in quotes",
        ),
        (
            "[boards.b]\nkind = \"no-such-board\"\nserial = { port = \"/x\" }\n[[whitepawn]]\nboard = \"b\"\ntcp = {}\n",
            "no-such-board",
        ),
        (
            "[boards.\"b c\"]\nkind = \"novag-ucb\"\nserial = { port = \"/x\" }\n",
            "[boards.b-c]",
        ),
        ("[[boards.b]]\nkind = \"swpp\"\nx = 1\n", "one bracket"),
        ("[whitepawn]\nboard = \"b\"\nx = 1\n", "two brackets"),
        ("[uci listen\nlisten = 3\n", "TOML"),
        ("[boards.b]\nkind = = \"novag-ucb\"\n", "TOML"),
    ] {
        refused_for(text, &[&[words]]);
    }
}

#[test]
fn a_file_of_many_mistakes_names_the_first_and_that_there_are_more() {
    let text: String = (0..1000).map(|n| format!("key{n} = {n}\n")).collect();
    let said = said_of(&text);
    assert_eq!(said.len(), MAX_MISTAKES + 1);
    assert!(said[MAX_MISTAKES].contains("more"), "{said:?}");
    for line in [
        "key{n} = x\n",
        "[boards.\"b {n}\"]\n",
        "[boards.b {n}]\n",
        "[boards.b{n}]\nkind = \"swpp\"\n",
    ] {
        let text: String = (0..1000)
            .map(|n| line.replace("{n}", &n.to_string()))
            .collect();
        assert_eq!(said_of(&text).len(), MAX_MISTAKES + 1, "{line}");
    }
}

#[test]
fn a_kind_is_known_by_what_people_call_it() {
    for (kind, words) in [
        ("citrine", "did you mean novag-citrine?"),
        ("Citrine", "did you mean novag-citrine?"),
        ("Novag UCB", "did you mean novag-ucb?"),
        ("novag", "did you mean novag-citrine or novag-ucb?"),
        ("neo", "did you mean miko-neo?"),
        ("square-off-neo", "did you mean miko-neo?"),
        ("novag-citrin", "did you mean novag-citrine?"),
        (
            "star-diamond",
            "kind = \"novag-citrine\", and dialect = \"star-diamond\"",
        ),
    ] {
        let text = format!("[boards.b]\nkind = \"{kind}\"\nserial = {{ port = \"/x\" }}\n");
        refused_for(&text, &[&["2: boards.b.kind", words]]);
    }
}

#[test]
fn a_key_of_the_way_to_a_board_is_put_into_its_braces() {
    let board = |kind: &str, line: &str| format!("[boards.b]\nkind = \"{kind}\"\n{line}\n");
    for (kind, line, right) in [
        (
            "novag-citrine",
            "port = \"/dev/ttyUSB3\"",
            "serial = { port = \"/dev/ttyUSB3\" }",
        ),
        (
            "novag-ucb",
            "baud = 1200",
            "serial = { port = \"/dev/ttyUSB0\", baud = 1200 }",
        ),
        (
            "miko-neo",
            "address = \"AA:BB:CC:DD:EE:FF\"",
            "ble = { address = \"AA:BB:CC:DD:EE:FF\" }",
        ),
        (
            "swpp",
            "address = \"10.0.0.2:9700\"",
            "tcp = { address = \"10.0.0.2:9700\" }",
        ),
    ] {
        refused_for(&board(kind, line), &[&["3: boards.b.", right]]);
    }
    let text = format!("{CITRINE}[[whitepawn]]\nboard = \"citrine\"\nlisten = \"0.0.0.0:9690\"\n");
    refused_for(
        &text,
        &[&[
            "6: [[whitepawn]] number 1: listen",
            "tcp = { listen = \"0.0.0.0:9690\" }",
        ]],
    );
}

#[test]
fn what_is_missing_comes_with_an_example() {
    let kinds = KINDS.join("\", \"").replacen(", ", ", or ", 1);
    refused_with(
        "[boards.b]\nserial = { port = \"/x\" }",
        &format!("1: boards.b.kind: is missing: for instance kind = \"{kinds}\""),
    );
    for (text, whole) in [
        (
            "[boards.b]\nkind = \"swpp\"\ntcp = {}",
            "3: boards.b.tcp.address: is missing: for instance address = \"192.168.1.20:9700\"",
        ),
        (
            "[boards.b]\nkind = \"dgt\"\nrfcomm = {}",
            "3: boards.b.rfcomm.address: is missing: for instance address = \"AA:BB:CC:DD:EE:FF\"",
        ),
        (
            "[boards.b]\nkind = \"swpp\"\nserial = {}",
            "3: boards.b.serial.port: is missing: for instance port = \"/dev/ttyUSB0\"",
        ),
        (
            "[[whitepawn]]\ntcp = {}",
            "1: [[whitepawn]] number 1: board: is missing: for instance board = \"citrine\", the name of one of your \
             [boards.NAME]",
        ),
        (
            "[[link]]\nwhite = \"b\"",
            "1: [[link]] number 1: boards: is missing: for instance boards = [\"citrine\", \"neo\"], names of your \
             [boards.NAME]",
        ),
    ] {
        refused_with(text, whole);
    }
}

#[test]
fn an_entry_of_many_is_named_by_its_number() {
    let text = format!(
        "{CITRINE}[[whitepawn]]\nboard = \"citrine\"\ntcp = {{}}\n[[whitepawn]]\nboard = \"citrine\"\n\
         rfcomm = {{ channel = \"three\" }}\n"
    );
    refused_with(
        &text,
        "9: [[whitepawn]] number 2: rfcomm.channel: is a number from 1 to 30, not the text \"three\"",
    );
}

#[test]
fn a_board_has_exactly_one_transport_of_its_kind() {
    refused(
        "[boards.b]\nkind = \"novag-ucb\"",
        &["bb.toml:1:", "boards.b", "exactly one", "/dev/ttyUSB0"],
    );
    refused(
        "[boards.b]\nkind = \"swpp\"\nserial = { port = \"/x\" }\ntcp = { address = \"h:1\" }",
        &["bb.toml:1:", "serial and tcp"],
    );
    refused(
        "[boards.b]\nkind = \"swpp\"\nrfcomm = { address = \"AA:BB:CC:DD:EE:FF\" }",
        &["bb.toml:3:", "boards.b.rfcomm", "serial or ble or tcp"],
    );
    refused(
        "[boards.b]\nkind = \"dgt\"\nserial = { port = \"/x\" }\nrfcomm = { address = \"AA:BB:CC:DD:EE:FF\" }",
        &["one of serial, ble, tcp, rfcomm", "serial and rfcomm"],
    );
    refused(
        "[boards.b]\nkind = \"dgt\"\nrfcomm = { address = \"AA:BB:CC\" }",
        &["boards.b.rfcomm.address", "AA:BB:CC:DD:EE:FF"],
    );
    refused(
        "[boards.b]\nkind = \"dgt\"\naddress = \"AA:BB:CC:DD:EE:FF\"",
        &["rfcomm = { address = \"AA:BB:CC:DD:EE:FF\" }"],
    );
    refused(
        "[boards.b]\nkind = \"dgt\"\nhid = {}",
        &["bb.toml:3:", "boards.b.hid", "serial or rfcomm"],
    );
    refused(
        "[boards.b]\nkind = \"chessnut\"\nhid = { id = \"A1\", path = \"/dev/hidraw0\" }",
        &["boards.b.hid", "either id or path"],
    );
    refused(
        "[boards.b]\nkind = \"chessnut\"\nhid = { path = \"hidraw0\" }",
        &["boards.b.hid.path", "`boardbridge scan` shows"],
    );
    refused(
        "[boards.b]\nkind = \"chessnut\"\npath = \"/dev/hidraw0\"",
        &["hid = { path = \"/dev/hidraw0\" }"],
    );
    refused(
        "[boards.b]\nkind = \"novag-ucb\"\nble = { name = \"x\" }",
        &["bb.toml:3:", "boards.b.ble", "serial"],
    );
    refused(
        "[boards.b]\nkind = \"miko-neo\"\nble = {}",
        &["bb.toml:3:", "boards.b.ble", "name or address"],
    );
    let twice = "[boards.a]\nkind = \"novag-ucb\"\nserial = { port = \"/x\" }\n\
                 [boards.b]\nkind = \"novag-ucb\"\nserial = { port = \"/x\" }";
    refused(twice, &["bb.toml:6:", "boards.b.serial.port", "board a"]);
}

#[test]
fn impossible_values_are_refused() {
    let with = |line: &str| format!("{CITRINE}{line}\n");
    refused(
        &with("move_wait = 15"),
        &["bb.toml:4:", "move_wait", "unit"],
    );
    refused(
        &with("move_wait = \"15\""),
        &["bb.toml:4:", "move_wait", "unit"],
    );
    refused(
        &with("move_wait = \"2h\""),
        &["bb.toml:4:", "move_wait", "1h"],
    );
    refused(
        &with("command_gap = \"1m\""),
        &["bb.toml:4:", "command_gap", "10s"],
    );
    refused(
        &with("dialect = \"french\""),
        &["bb.toml:4:", "dialect", "star-diamond"],
    );
    refused(
        &with("level = \"\\r\\nN\""),
        &["bb.toml:4:", "level", "TR8"],
    );
    refused(
        &with("position_format = 2"),
        &["bb.toml:4:", "position_format", "novag-ucb"],
    );
    refused(
        "[boards.b]\nkind = \"novag-ucb\"\nserial = { port = \"/x\" }\nposition_format = 3",
        &["bb.toml:4:", "position_format", "1 or 2"],
    );
    refused(
        "[boards.b]\nkind = \"novag-ucb\"\nserial = { port = \"/x\", baud = 0 }",
        &["bb.toml:3:", "serial.baud", "921600"],
    );
    refused(
        "[boards.b]\nkind = \"novag-ucb\"\nserial = { port = \"ttyUSB0\" }",
        &["bb.toml:3:", "serial.port", "write \"/dev/ttyUSB0\""],
    );
    refused(
        "[boards.b]\nkind = \"novag-ucb\"\nserial = \"/dev/ttyUSB0\"",
        &["bb.toml:3:", "boards.b.serial", "a table: { port"],
    );
    refused(
        "[boards.b]\nkind = \"novag-ucb\"\nserial = { port = \"\" }",
        &["bb.toml:3:", "serial.port", "/dev/ttyUSB0"],
    );
}

#[test]
fn games_are_kept_where_the_configuration_says_and_say_what_it_says() {
    let text = "[games]\ndirectory = \"/srv/chess\"\nsite = \"Kitchen\"\nplayer = \"Anna\"\n";
    let output = check_with(text, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("games    every board        in /srv/chess"),
        "{text}"
    );
    let output = check_with("[games]\ndirectory = \"off\"\n", &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("games    every board        off"), "{text}");
    let output = check_with("", &[("STATE_DIRECTORY", "/var/lib/boardbridge")]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("in /var/lib/boardbridge/games"), "{text}");
    let output = check_with("", &[("BOARDBRIDGE_GAMES__DIRECTORY", "off")]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("games    every board        off"), "{text}");
}

#[test]
fn what_survives_a_restart_is_kept_where_the_configuration_says() {
    let said = |text: &str, variables: &[(&str, &str)]| {
        String::from_utf8(check_with(text, variables).stdout).unwrap()
    };
    let kept = "kept for restarts  in ";
    let text = said("[state]\ndirectory = \"/srv/state\"\n", &[]);
    assert!(text.contains(&format!("{kept}/srv/state\n")), "{text}");
    assert!(text.contains("games    every board        in /"), "{text}");
    let text = said("", &[("STATE_DIRECTORY", "/var/lib/boardbridge")]);
    assert!(
        text.contains(&format!("{kept}/var/lib/boardbridge\n")),
        "{text}"
    );
    let text = said("", &[("BOARDBRIDGE_STATE__DIRECTORY", "off")]);
    assert!(text.contains("kept for restarts  off"), "{text}");
    let config = Config::from_text("", "the demonstration").unwrap();
    assert_eq!(config.state.path(), None);
    for path in ["state", "~/state", "", "Off"] {
        refused(
            &format!("[state]\ndirectory = {path:?}"),
            &[
                "bb.toml:2:",
                "state.directory",
                "/var/lib/boardbridge",
                "off",
            ],
        );
    }
    refused(
        "[state]\npath = \"/srv\"",
        &["bb.toml:2:", "state.path", "directory"],
    );
    refused(
        "[[state]]\ndirectory = \"off\"",
        &["bb.toml:1:", "[state], with one bracket"],
    );
}

#[test]
fn impossible_words_about_games_are_refused() {
    refused(
        "[games]\nfolder = \"/srv\"",
        &["bb.toml:2:", "games.folder", "directory, site, player"],
    );
    for path in ["games", "~/games", "", "Off", "./games"] {
        refused(
            &format!("[games]\ndirectory = {path:?}"),
            &[
                "bb.toml:2:",
                "games.directory",
                "/var/lib/boardbridge",
                "off",
            ],
        );
    }
    refused(
        "[games]\ndirectory = true",
        &["bb.toml:2:", "games.directory", "a text in quotes"],
    );
    let long = "x".repeat(61);
    for name in ["J\\u0007rgen", "", " Anna", "An\\nna", long.as_str()] {
        for key in ["player", "site"] {
            refused(
                &format!("[games]\n\n{key} = \"{name}\""),
                &[
                    "bb.toml:3:",
                    &format!("games.{key}"),
                    "1 to 60",
                    "in one line",
                ],
            );
        }
    }
}

#[test]
fn a_configuration_that_is_no_file_keeps_no_games_unless_it_says_where() {
    let config = Config::from_text("", "the demonstration").unwrap();
    assert_eq!(config.games.folder(), None);
}

#[test]
fn two_listeners_do_not_share_a_port() {
    refused(
        &format!("{CITRINE}uci_listen = \"127.0.0.1:9670\"\n"),
        &["bb.toml:4:", "uci_listen", "taken by uci"],
    );
    refused(
        "[uci]\nlisten = \"127.0.0.1:9680\"\n[status]\nlisten = \"127.0.0.1:9680\"\n",
        &["bb.toml:4:", "status.listen", "taken by uci"],
    );
}

#[test]
fn who_may_connect_is_private_networks_a_list_or_everybody() {
    let board =
        format!("{CITRINE}uci_listen = {{ listen = \"0.0.0.0:9671\", allow = [\"10.0.0.7\"] }}\n");
    let allowed = |value: &str| {
        let app = format!(
            "[[whitepawn]]\nboard = \"citrine\"\ntcp = {{ listen = \"127.0.0.1:0\", allow = {value} }}\n"
        );
        let keys = ["uci", "status", "web"].map(|table| format!("[{table}]\nallow = {value}\n"));
        Config::from_text(&format!("{}{board}{app}", keys.concat()), "the test").unwrap()
    };
    for (value, wanted) in [
        ("\"private\"", "private networks"),
        ("\"everybody\"", "everybody"),
        (
            "[\"192.168.1.0/24\", \"fd00::/8\"]",
            "192.168.1.0/24, fd00::/8",
        ),
    ] {
        let config = allowed(value);
        let app = config.whitepawn[0].tcp.as_ref().unwrap();
        for allow in [
            &config.uci.allow,
            &config.status.allow,
            &config.web.allow,
            &app.allow,
        ] {
            assert_eq!(allow.to_string(), wanted);
        }
        let board = config
            .boards
            .values()
            .next()
            .unwrap()
            .uci_listen
            .as_ref()
            .unwrap();
        assert_eq!(
            (board.listen.to_string(), board.allow.to_string()),
            ("0.0.0.0:9671".to_owned(), "10.0.0.7/32".to_owned())
        );
    }
    let said = String::from_utf8(
        check_with(
            &format!("[uci]\nlisten = \"0.0.0.0:9670\"\nallow = \"everybody\"\n{board}"),
            &[],
        )
        .stdout,
    )
    .unwrap();
    for words in [
        "at 0.0.0.0:9670, for everybody",
        "at 0.0.0.0:9671, for 10.0.0.7/32",
        "web      page and API       at 127.0.0.1:9660",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let config = Config::from_text("", "the test").unwrap();
    assert_eq!(config.uci.allow.to_string(), "private networks");
}

#[test]
fn a_mistake_in_who_may_connect_says_what_would_be_right() {
    for (value, words) in [
        (
            "\"all\"",
            "`all` is not known: write \"private\", \"everybody\" or a list",
        ),
        (
            "\"192.168.1.0/24\"",
            "needs brackets: allow = [\"192.168.1.0/24\"]",
        ),
        (
            "[\"192.168.1.7/24\"]",
            "write \"192.168.1.0/24\", or \"192.168.1.7\"",
        ),
        (
            "[\"my laptop\"]",
            "`my laptop` is not a network: write for instance \"192.168.1.0/24\"",
        ),
        ("[]", "lists no network"),
        (
            "true",
            "is \"private\", \"everybody\" or a list of networks such as [\"192.168.1.0/24\"], not true",
        ),
    ] {
        refused(
            &format!("[uci]\nallow = {value}\n"),
            &["bb.toml:2: uci.allow", words],
        );
        let board =
            format!("{CITRINE}uci_listen = {{ listen = \"0.0.0.0:9671\", allow = {value} }}\n");
        refused(&board, &["bb.toml:4: boards.citrine.uci_listen", words]);
    }
    refused(
        &format!("{CITRINE}uci_listen = {{ allow = \"private\" }}\n"),
        &[
            "bb.toml:4: boards.citrine.uci_listen",
            "listen",
            "is missing",
        ],
    );
    refused(
        &format!("{CITRINE}uci_listen = 9671\n"),
        &[
            "bb.toml:4: boards.citrine.uci_listen",
            "{ listen = \"0.0.0.0:9671\"",
            "not the number 9671",
        ],
    );
}

#[test]
fn the_api_has_words_for_its_mistakes() {
    for (keys, words) in [
        (
            "control = \"all\"",
            "is one of: local, paired, allowed, nobody",
        ),
        (
            "hosts = [\"http://pi\"]",
            "\"http://pi\" is not the name of a machine",
        ),
        ("hosts = [\"\"]", "write for instance \"chess.example.org\""),
        ("broadcast = { event = \"Caf\\u0007e\" }", "in one line"),
        ("listen = \"9660\"", "write HOST:PORT"),
        ("port = 9660", "there is no such key"),
    ] {
        refused(&format!("[web]\n{keys}\n"), &["bb.toml:2: web.", words]);
    }
    refused(
        "[uci]\nlisten = \"127.0.0.1:9660\"\n[web]\nlisten = \"127.0.0.1:9660\"\n",
        &["bb.toml:4:", "web.listen", "taken by uci"],
    );
}

#[test]
fn whoever_writes_no_word_where_one_belongs_is_told_which_there_are() {
    for (text, words) in [
        (
            "[lichess]\ntake_backs = true\n",
            "lichess.take_backs: `true` is not known; this is one of: ask, yes, no",
        ),
        (
            "[discovery]\nserial = 1\n",
            "discovery.serial: `the number 1` is not known; this is one of: known, ask, off",
        ),
    ] {
        refused(text, &["bb.toml:2: ", words]);
    }
}

#[test]
fn a_whitepawn_is_reached_in_one_way() {
    refused(
        &format!("{CITRINE}\n[[whitepawn]]\nboard = \"citrine\"\n"),
        &["whitepawn", "exactly one"],
    );
}

#[test]
fn a_port_that_is_not_there_is_noted_for_the_app_as_for_a_board() {
    let missing = CITRINE.replace("/dev/ttyUSB0", "/nowhere/ttyUSB0");
    let text = format!(
        "{missing}[boards.cable]\nkind = \"chessnut\"\nhid = {{ path = \"/nowhere/hidraw0\" }}\n\
         [[whitepawn]]\nboard = \"citrine\"\nserial = {{ port = \"/nowhere/ttyGS0\" }}\n"
    );
    let output = check_with(&text, &[]);
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    for words in [
        "there is no /nowhere/hidraw0: is the board plugged in? `boardbridge scan` shows it; the daemon waits for it\n",
        "/nowhere/ttyUSB0 is not there now; the daemon waits for it\n",
        "/nowhere/ttyGS0 is not there now; the daemon waits for it: boardbridge-gadget makes it\n",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn check_says_who_may_not_open_a_port() {
    // A terminal of this user's: others may write there, and nobody else read.
    let (_board, computer) = terminal();
    let text = CITRINE.replace("/dev/ttyUSB0", &computer);
    let output = check_with(&text, &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    // Root's check is that of the service, where there is one, which cannot run so.
    assert_eq!(output.status.success(), !said.contains("as the service"));
    let note = format!("the service may not open it: {computer} is open to its owner alone");
    assert!(said.contains(&note), "{said}");
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Asserts that `check` fails, and names this problem.
#[cfg(target_os = "linux")]
fn does_not_work(text: &str, words: &[&str]) {
    let output = check_with(text, &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("is fine"), "{said}");
    let problems = said.lines().filter(|line| line.starts_with("  problem "));
    let named = |line: &str| words.iter().all(|word| line.contains(word));
    assert!(problems.clone().any(named), "{words:?}: {said}");
}

/// Of an authority that exists nowhere.
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBjTCCATOgAwIBAgIUVWsDuqvyy3G+lfM7z4Yl7rS2t+0wCgYIKoZIzj0EAwIw\n\
GzEZMBcGA1UEAwwQQm9hcmRCcmlkZ2UgdGVzdDAgFw0yNjExMjkwMTA3MjVaGA8y\n\
MTI2MTEwNTAxMDcyNVowGzEZMBcGA1UEAwwQQm9hcmRCcmlkZ2UgdGVzdDBZMBMG\n\
ByqGSM49AgEGCCqGSM49AwEHA0IABCmPj+kwNQsnzF0HQKzv6l9JGP/E7I4l3wP9\n\
KomO+6DzKkC214bMlSHHsT10+PyXuYCnjj5b+HXsDnk68xGUbWqjUzBRMB0GA1Ud\n\
DgQWBBT1DiSrnuFdANvUiyAWAGn127oQZTAfBgNVHSMEGDAWgBT1DiSrnuFdANvU\n\
iyAWAGn127oQZTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDA\n\
/0hsSSMQKA/lfMGgZdqy2kVT2cZhfctyqyTPAH+IYwIgLpnb3Efi2SdvuGjxHhag\n\
ZzxTT8fxGB/02aIpXR+mY3I=\n\
-----END CERTIFICATE-----\n";

#[test]
fn check_reads_the_certificate_of_the_brokers_authority() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.crt");
    let section =
        |url: &str| format!("[mqtt]\nurl = \"{url}\"\nname = \"hall-1\"\nca_file = {file:?}\n");
    let text = section("mqtts://127.0.0.1:1");
    let shown = file.display().to_string();
    does_not_work(&text, &[&shown, "cannot be read", "No such file"]);
    let broken = CERTIFICATE.replace("MIIB", "!!!!");
    let empty = CERTIFICATE.lines().take(1).collect::<String>();
    for wrong in ["", "hello\n", &broken, &empty] {
        fs::write(&file, wrong).unwrap();
        does_not_work(&text, &[&shown, "no certificate", "ca_file", "PEM"]);
    }
    fs::write(&file, CERTIFICATE).unwrap();
    let said = String::from_utf8(check_with(&text, &[]).stdout).unwrap();
    assert!(!said.contains("certificate"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn check_fails_for_what_the_daemon_would_fail_at() {
    let serial = CITRINE.replace("/dev/ttyUSB0", "/etc/passwd");
    does_not_work(
        &serial,
        &[
            "citrine",
            "/etc/passwd is not a serial port",
            "boardbridge scan",
        ],
    );
    // Nobody may write there, not even root.
    let path = "/proc";
    for (text, key) in [
        (
            format!("[games]\ndirectory = \"{path}\"\n"),
            "[games] directory",
        ),
        (
            format!("[games]\ndirectory = \"{path}/new\"\n"),
            "[games] directory",
        ),
        (
            format!("[state]\ndirectory = \"{path}\"\n"),
            "[state] directory",
        ),
        (format!("{CITRINE}record = \"{path}\"\n"), "record"),
    ] {
        does_not_work(
            &text,
            &[
                &format!("cannot write in {path}"),
                key,
                "name another folder",
            ],
        );
    }
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap();
    // What a program started has its socket too, and is not the one to stop.
    let shared = std::os::fd::OwnedFd::from(other.try_clone().unwrap());
    let mut started = Command::new("sleep")
        .arg("60")
        .stdin(shared)
        .spawn()
        .unwrap();
    let who = format!("(process {})", std::process::id());
    does_not_work(
        &format!("[uci]\nlisten = \"{taken}\"\n"),
        &[&format!("{taken} is in use by "), &who],
    );
    started.kill().unwrap();
    started.wait().unwrap();
    does_not_work(
        "[status]\nlisten = \"192.0.2.1:9680\"\n",
        &["does not have the address 192.0.2.1", "`ip address`"],
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_port_with_two_names_is_found_by_check() {
    let (_board, computer) = terminal();
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let link = folder.path().join("usb-Novag");
    std::os::unix::fs::symlink(&computer, &link).unwrap();
    let other = CITRINE.replace("citrine]", "other]");
    let other = other.replace("/dev/ttyUSB0", link.to_str().unwrap());
    let text = CITRINE.replace("/dev/ttyUSB0", &computer) + &other;
    does_not_work(
        &text,
        &["other", &format!("is {computer}, as that of citrine")],
    );
    let name = nix::unistd::gethostname().unwrap().into_string().unwrap();
    let resolved = std::net::ToSocketAddrs::to_socket_addrs(&(&*name, 9671));
    let Some(address) = resolved.ok().and_then(|mut found| found.next()) else {
        return;
    };
    let text = format!("[uci]\nlisten = \"{name}:9671\"\n[status]\nlisten = \"{address}\"\n");
    does_not_work(&text, &["as that of every board"]);
}

/// A folder of people that this test is not in.
#[cfg(target_os = "linux")]
fn home() -> &'static str {
    let program = Path::new(env!("CARGO_BIN_EXE_boardbridge"));
    if program.starts_with("/home") {
        "/root"
    } else {
        "/home"
    }
}

/// What `check` says to root, on a machine with the service and this change to its unit, about a file with this text. The
/// machine has a namespace of its own, and an engine in [`home`]; `None` where the system lets a test have no such thing.
#[cfg(target_os = "linux")]
fn said_beside_the_service(file: &str, text: &str, drop_in: &str) -> Option<String> {
    const MACHINE: &str = r#"
        set -e
        {
            mount -t tmpfs tmpfs /run
            mkdir -p /run/new /run/work /run/systemd/system
            mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/new,workdir=/run/work /etc
            mount -t tmpfs -o mode=700 tmpfs "$HOMES"
        } || exit 77
        mkdir -p /etc/systemd/system/boardbridge.service.d /etc/boardbridge
        echo > /etc/systemd/system/boardbridge.service
        printf %s "$DROP_IN" > /etc/systemd/system/boardbridge.service.d/override.conf
        cp /bin/sh "$HOMES/engine"
        mkdir -m 777 /run/games
        umask 077
        for secret in lichess.token anna.token mqtt.password; do echo lip_1234 > /etc/boardbridge/$secret; done
        printf %s "$TEXT" > "$FILE"
        exec "$0" check --config "$FILE""#;
    if !is_root() {
        println!("skipped: this is for root");
        return None;
    }
    let output = Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-c", MACHINE])
        .arg(env!("CARGO_BIN_EXE_boardbridge"))
        .env("HOMES", home())
        .env("DROP_IN", drop_in)
        .env("TEXT", text)
        .env("FILE", file)
        .output();
    let possible = |output: &Output| output.status.code() != Some(77);
    let Some(output) = output.ok().filter(possible) else {
        println!("skipped: this system lets a test have no mounts of its own");
        return None;
    };
    Some(String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn root_checks_what_the_service_may() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("bb.toml");
    let path = path.to_str().unwrap();
    let homes = home();
    let in_home = format!("{homes}/bb.toml");
    for (file, words) in [
        (
            path,
            format!("the service may not read {path} (mode 600): `sudo chmod 644 {path}`"),
        ),
        (path, "in /var/lib/boardbridge/games".to_owned()),
        (
            path,
            "as the service: with the rights of the user nobody and of the groups dialout"
                .to_owned(),
        ),
        (path, "no port is opened".to_owned()),
        // Nobody is to open a home for that.
        (
            in_home.as_str(),
            format!("may not enter {homes} (mode 700): move {in_home} to /etc/boardbridge"),
        ),
    ] {
        let Some(said) = said_beside_the_service(file, "", "") else {
            return;
        };
        assert!(said.contains(&words), "{words}: {said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn root_checks_the_secrets_that_the_service_is_handed() {
    let text = format!(
        "{CITRINE}[lichess]\nboard = \"citrine\"\ntoken_file = \"/etc/boardbridge/lichess.token\"\n\
         [[broadcast]]\nround = \"abcdefgh\"\ntoken_file = \"/etc/boardbridge/anna.token\"\n\
         [mqtt]\nurl = \"mqtt://127.0.0.1\"\nuser = \"boards\"\npassword_file = \"/etc/boardbridge/mqtt.password\"\n"
    );
    let line = "LoadCredential=anna.token:/etc/boardbridge/anna.token";
    for (drop_in, is_told) in [
        (String::new(), true),
        (format!("[Service]\n{line}\n"), false),
    ] {
        let file = "/etc/boardbridge/boardbridge.toml";
        let Some(said) = said_beside_the_service(file, &text, &drop_in) else {
            return;
        };
        assert_eq!(said.contains(line), is_told, "{said}");
        assert!(
            !said.contains("lichess.token") && !said.contains("mqtt.password"),
            "{said}"
        );
    }
}

/// As in a container.
#[test]
#[cfg(target_os = "linux")]
fn root_stays_root_where_there_is_no_service() {
    if !is_root() || Path::new("/run/systemd/system").exists() {
        println!("skipped: this is for root, without systemd");
        return;
    }
    let output = check_with("", &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains("as the service"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn root_is_told_what_the_unit_hides_from_the_service_and_forbids_it() {
    let engine = format!("{}/engine", home());
    let text = format!("{CITRINE}[[opponent]]\nboard = \"citrine\"\nengine = {engine:?}\n");
    let file = "/etc/boardbridge/boardbridge.toml";
    let hidden = format!(
        "  problem  citrine            the service does not see {engine}, because of ProtectHome= in its unit: copy it to /opt or \
         /usr/local/bin"
    );
    for (drop_in, is_hidden) in [("", true), ("[Service]\nProtectHome = read-only\n", false)] {
        let Some(said) = said_beside_the_service(file, &text, drop_in) else {
            return;
        };
        assert_eq!(said.contains(&hidden), is_hidden, "{said}");
    }
    // Everybody may write there, if it is not for the unit.
    let games = "[games]\ndirectory = \"/run/games\"\n";
    for (file, drop_in, outcome) in [
        (file, "", "  problem  [games] directory"),
        ("/run/bb.toml", "", "  note     [games] directory"),
        (file, "[Service]\nReadWritePaths=-/run/games\n", ""),
    ] {
        let said = said_beside_the_service(file, games, drop_in).unwrap();
        let told = said.contains("ReadWritePaths=/run/games");
        assert_eq!(told, !outcome.is_empty(), "{said}");
        assert!(said.contains(outcome), "{said}");
    }
}

/// A pseudo-terminal: what holds it open, and the name of the computer's end.
#[cfg(target_os = "linux")]
fn terminal() -> (impl Sized, String) {
    use tokio_serial::SerialPort as _;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (board, computer) = runtime.block_on(async { tokio_serial::SerialStream::pair().unwrap() });
    let name = computer.name().unwrap();
    ((board, computer, runtime), name)
}

#[test]
fn an_app_cannot_be_switched_off_only_taken_out() {
    let app = |listen: &str| {
        format!("{CITRINE}[[whitepawn]]\nboard = \"citrine\"\ntcp = {{ listen = \"{listen}\" }}\n")
    };
    refused(
        &app("off"),
        &["listen", "cannot be off", "remove the [[whitepawn]]"],
    );
    refused(&app("9690"), &["`9690`", "\"127.0.0.1:9690\""]);
    let said = check_with(&app("9690"), &[]).stderr;
    assert!(!String::from_utf8(said).unwrap().contains("\"off\""));
}

#[test]
fn what_cannot_work_together_is_refused() {
    let app = |way: &str| format!("[[whitepawn]]\nboard = \"citrine\"\n{way}\n");
    let far = |name: &str, way: &str| format!("[boards.{name}]\nkind = \"swpp\"\n{way}\n");
    let served = |listen: &str| app(&format!("tcp = {{ listen = \"{listen}\" }}"));
    let usb = |ways: [&str; 2]| {
        let [a, b] = ways;
        let board =
            |name: &str, way: &str| format!("[boards.{name}]\nkind = \"chessnut\"\nhid = {way}\n");
        board("a", a) + &board("b", b)
    };
    let cases: [(String, &[&str]); 12] = [
        (
            usb(["{}"; 2]),
            &["boards.b.hid", "a is on USB too", "id = "],
        ),
        (
            usb(["{ id = \"A1\" }"; 2]),
            &["boards.b.hid.id", "already a's"],
        ),
        (
            usb(["{ path = \"/dev/hidraw1\" }"; 2]),
            &["boards.b.hid.path", "already a's"],
        ),
        (
            CITRINE.to_owned() + &served("0.0.0.0:9690") + &served("127.0.0.1:9690"),
            &["127.0.0.1:9690 is already taken by [[whitepawn]] of citrine"],
        ),
        (
            CITRINE.to_owned() + &served("0.0.0.0:9670"),
            &["taken by uci"],
        ),
        (
            CITRINE.to_owned() + &app("rfcomm = {}") + &app("rfcomm = { channel = 3 }"),
            &["rfcomm", "[[whitepawn]] of citrine", "only one can have it"],
        ),
        (
            far("citrine", "tcp = { address = \"localhost:9690\" }") + &served("0.0.0.0:9690"),
            &["boards.citrine.tcp.address", "against itself"],
        ),
        (
            far("a", "tcp = { address = \"far:9700\" }")
                + &far("b", "tcp = { address = \"far:9700\" }"),
            &["boards.b.tcp.address", "far:9700 is already a's"],
        ),
        (
            far("a", "ble = { name = \"Chess\" }") + &far("b", "ble = { name = \"Chess\" }"),
            &["boards.b.ble.name", "Chess is already a's", "`address`"],
        ),
        (
            far("a", "ble = { address = \"aa:bb:cc:dd:ee:ff\" }")
                + &far("b", "ble = { address = \"AA:BB:CC:DD:EE:FF\" }"),
            &["boards.b.ble.address", "already a's"],
        ),
        (
            ["a", "b"].map(|name| format!("[boards.{name}]\nkind = \"dgt\"\nrfcomm = {{ address = \"AA:BB:CC:DD:EE:FF\" }}\n")).concat(),
            &["boards.b.rfcomm.address", "already a's"],
        ),
        (
            far("a", "tcp = { address = \"1.2.3.4:0\" }"),
            &["boards.a.tcp.address", "port 0"],
        ),
    ];
    for (text, words) in cases {
        refused(&text, words);
    }
}

#[test]
fn a_name_that_cannot_be_on_the_air_is_refused() {
    let app = |way: &str| format!("{CITRINE}[[whitepawn]]\nboard = \"citrine\"\n{way}\n");
    let long = format!("ble = {{ name = \"{}\" }}", "x".repeat(30));
    for (way, words) in [
        (&*long, "has 1 to 29 characters"),
        ("ble = { name = \"Chess\\nboard\" }", "one line"),
        ("rfcomm = { name = \"Chess\\tboard\" }", "one line"),
        (
            "ble = { adapter = \"hci 1\" }",
            "\"hci 1\" is not the name of an adapter",
        ),
    ] {
        refused(&app(way), &[words]);
    }
    let longest = format!("ble = {{ name = \"{}\" }}", "x".repeat(29));
    assert!(check_with(&app(&longest), &[]).status.success());
    refused(
        "[boards.neo]\nkind = \"miko-neo\"\nble = { name = \"Neo\", adapter = \"hci 1\" }\n",
        &[
            "boards.neo.ble.adapter",
            "\"hci 1\" is not the name of an adapter",
        ],
    );
}

#[test]
fn how_the_app_comes_is_said_in_full() {
    for (way, words) in [
        (
            "serial = { port = \"/dev/null\" }",
            "WhitePawn by serial /dev/null at 115200 baud\n",
        ),
        (
            "ble = { adapter = \"hci1\" }",
            "WhitePawn by ble BoardBridge, adapter hci1\n",
        ),
        (
            "rfcomm = { channel = 3 }",
            "WhitePawn by rfcomm BoardBridge, channel 3\n",
        ),
        ("tcp = {}", "WhitePawn by tcp 127.0.0.1:9690\n"),
    ] {
        let text = format!("{CITRINE}[[whitepawn]]\nboard = \"citrine\"\n{way}\n");
        let output = check_with(&text, &[]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn short_uuids_are_completed_and_half_ones_refused() {
    let text = "[boards.b]\nkind = \"swpp\"\nble = { name = \"x\", write = \"ffe1\", notify = \"0000FFE2\" }\n\
                [[whitepawn]]\nboard = \"b\"\nble = { service = \"ffe0\" }\n";
    let config = Config::from_text(text, "short").unwrap();
    let [board] = &config.boards.values().collect::<Vec<_>>()[..] else {
        panic!("{config:?}");
    };
    let settings = format!("{:?}", board.settings);
    let long = |short: &str| format!("0000{short}-0000-1000-8000-00805f9b34fb");
    for uuid in [long("ffe1"), long("ffe2")] {
        assert!(settings.contains(&uuid), "{settings}");
    }
    let served = config.whitepawn[0].ble.as_ref().unwrap();
    assert_eq!(served.uuids()[0].to_string(), long("ffe0"));
    for half in ["ffe", "ffe1f", "+fe1", "ffg1", ""] {
        refused(
            &text.replace("\"ffe1\"", &format!("{half:?}")),
            &["bb.toml:3:", "is not a valid UUID", "\"ffe1\""],
        );
    }
}

#[test]
fn a_link_has_two_boards_or_one_and_another_boardbridge() {
    let ucb = "[boards.ucb]\nkind = \"novag-ucb\"\nserial = { port = \"/dev/ttyUSB1\" }\n";
    let with = |link: &str| format!("{CITRINE}{ucb}[[link]]\n{link}\n");
    for (link, words) in [
        ("boards = [\"citrine\"]", ["bb.toml:8:", "names 1 boards"]),
        (
            "boards = [\"citrine\", \"citrine\"]",
            ["bb.toml:8:", "names citrine twice"],
        ),
        (
            "boards = [\"citrine\", \"ucb\"]\nwith = \"tcp:far:9690\"",
            ["bb.toml:8:", "list only the local one"],
        ),
        (
            "boards = [\"citrine\"]\nwith = \"far:9690\"",
            ["with", "tcp:HOST:PORT"],
        ),
        (
            "boards = [\"citrine\", \"ucb\"]\nwhite = \"far\"",
            ["bb.toml:9:", "one of: citrine, ucb"],
        ),
        (
            "boards = [\"citrine\", \"ucb\"]\n[[link]]\nboards = [\"ucb\", \"citrine\"]",
            ["bb.toml:10:", "one opponent"],
        ),
    ] {
        refused(&with(link), &words);
    }
    let output = check_with(
        &with("boards = [\"citrine\", \"ucb\"]\nwhite = \"ucb\""),
        &[],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("citrine + ucb") && text.contains("White on ucb"),
        "{text}"
    );
    let output = check_with(
        &with("boards = [\"ucb\"]\nwith = \"tcp:far:9690\"\nwhite = \"far\""),
        &[],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("ucb + tcp far:9690") && text.contains("White on tcp far:9690"),
        "{text}"
    );
}

#[test]
fn what_pages_are_offered_is_checked() {
    let with = |keys: &str| format!("{CITRINE}[livechess]\n{keys}\n");
    for (keys, words) in [
        ("listen = \"here\"", ["bb.toml:5:", "HOST:PORT"]),
        (
            "listen = \"127.0.0.1:9670\"",
            ["bb.toml:5:", "already taken by uci"],
        ),
        (
            "origins = [\"lichess.dev\"]",
            ["bb.toml:5:", "https://chess.example.org"],
        ),
        ("orgins = []", ["bb.toml:5:", "did you mean origins?"]),
    ] {
        refused(&with(keys), &words);
    }
    let output = check_with(&with(""), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("LiveChess          at 127.0.0.1:1982"),
        "{text}"
    );
}

#[test]
fn lichess_has_a_board_that_is_not_linked() {
    let ucb = "[boards.ucb]\nkind = \"novag-ucb\"\nserial = { port = \"/dev/ttyUSB1\" }\n";
    let with = |more: &str| format!("{CITRINE}[lichess]\nboard = \"citrine\"\n{ucb}{more}\n");
    refused(
        &with("[[link]]\nboards = [\"ucb\", \"citrine\"]"),
        &["bb.toml:5:", "one opponent", "name another board"],
    );
    for fine in [
        "[[opponent]]\nboard = \"citrine\"",
        "[[whitepawn]]\nboard = \"citrine\"\ntcp = { listen = \"127.0.0.1:9690\" }",
    ] {
        let output = check_with(&with(fine), &[]);
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn an_opponent_is_a_program_that_can_be_run_and_the_only_one_of_its_board() {
    let with = |keys: &str| format!("{CITRINE}[[opponent]]\nboard = \"citrine\"\n{keys}\n");
    for (keys, words) in [
        ("engine = \"stockfish\"", ["bb.toml:6:", "whole path"]),
        ("go = \"depth 3\"", ["bb.toml:6:", "needs `engine`"]),
        (
            "engine = \"/bin/sh\"\nblack = \"Bert\"",
            ["bb.toml:7:", "is for two people"],
        ),
        (
            "engine = \"/bin/sh\"\ngo = \"infinite\"",
            ["bb.toml:7:", "movetime 1000"],
        ),
        (
            "engine = \"/bin/sh\"\nhand = \"both\"",
            ["bb.toml:7:", "alternate"],
        ),
        (
            "engine = \"/bin/sh\"\noptions = { Hash = 1.5 }",
            ["bb.toml:7:", "a whole number"],
        ),
        (
            "engine = \"/bin/sh\"\npatience = \"0s\"",
            ["bb.toml:7:", "at least"],
        ),
        (
            "engine = 5",
            ["bb.toml:6:", "a list of a path and arguments"],
        ),
        (
            "engine = []",
            ["bb.toml:6:", "a list of a path and arguments"],
        ),
        (
            "engine = \"/bin/sh\"\nmemory = \"lots\"",
            ["bb.toml:7:", "512M"],
        ),
        (
            "engine = \"/bin/sh\"\nmemory = \"1M\"",
            ["bb.toml:7:", "from 32M"],
        ),
        (
            "[[opponent]]\nboard = \"citrine\"",
            ["bb.toml:7:", "a board has one opponent"],
        ),
    ] {
        refused(&with(keys), &words);
    }
    let ucb = "[boards.ucb]\nkind = \"novag-ucb\"\nserial = { port = \"/dev/ttyUSB1\" }\n";
    let link = "[[link]]\nboards = [\"citrine\", \"ucb\"]\n";
    refused(
        &with(&format!("{ucb}{link}")),
        &["bb.toml:5:", "is in a [[link]] already"],
    );
    let controllers = fs::read_to_string("/sys/fs/cgroup/cgroup.controllers");
    let limits =
        controllers.is_ok_and(|names| names.split(' ').any(|name| name.trim() == "memory"));
    for (keys, words) in [
        (
            "engine = \"/bin/false\"\nhand = \"black\"",
            "/bin/false (go movetime 1000; in the service at most 512 MiB of memory), you play Black",
        ),
        (
            "engine = [\"/bin/false\", \"--net=x\"]\noptions = { Hash = 64 }",
            "/bin/false --net=x (go movetime 1000; in the service at most 576 MiB of memory)",
        ),
        (
            "engine = \"/bin/false\"\nmemory = \"2G\"",
            "/bin/false (go movetime 1000; in the service at most 2048 MiB",
        ),
    ] {
        let output = check_with(&with(keys), &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        // Nothing is promised that the kernel does not keep.
        let limit = words.find("; in the service").unwrap_or(words.len());
        let words = if limits { words } else { &words[..limit] };
        assert!(text.contains(words), "{text}");
        assert_eq!(text.contains("cgroup_enable=memory"), !limits, "{text}");
    }
    let output = check_with(&with(""), &[]);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("two players")
    );
}

/// Asserts exit status 1: the configuration has no mistake, and this does not work.
fn is_missing(text: &str, words: &[&str]) {
    let output = check_with(text, &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}\n{output:?}");
    let mut problems = said.lines().filter(|line| line.starts_with("  problem"));
    let is_told = |line: &str| words.iter().all(|word| line.contains(word));
    assert!(problems.any(is_told), "{words:?} is not in: {said}");
}

#[test]
fn what_is_missing_is_a_problem_of_its_own_part_and_no_mistake() {
    for (engine, words) in [
        ("\"/nowhere/fish\"", "there is no /nowhere/fish"),
        ("[\"/nowhere/fish\", \"-x\"]", "there is no /nowhere/fish"),
        ("\"/etc/passwd\"", "not executable"),
        ("\"/tmp\"", "not a program"),
    ] {
        let text = format!("{CITRINE}[[opponent]]\nboard = \"citrine\"\nengine = {engine}\n");
        is_missing(&text, &["citrine", words]);
    }
    for (part, key) in [
        (
            "[[opponent]]\nboard = \"nowhere\"",
            "[[opponent]] number 1: board",
        ),
        (
            "[[whitepawn]]\nboard = \"nowhere\"\ntcp = { listen = \"127.0.0.1:9690\" }",
            "[[whitepawn]] number 1: board",
        ),
        (
            "[[link]]\nboards = [\"citrine\", \"nowhere\"]",
            "[[link]] number 1: boards",
        ),
        ("[lichess]\nboard = \"nowhere\"", "lichess.board"),
        ("[livechess]\nboard = \"nowhere\"", "livechess.board"),
        (
            "[web.broadcast.players]\nnowhere = { white = \"Ada\" }",
            "web.broadcast.players.nowhere",
        ),
    ] {
        let text = format!("{CITRINE}{part}\n");
        is_missing(&text, &["bb.toml:", key, "there is no [boards.nowhere]"]);
    }
}

#[test]
fn what_is_no_file_is_not_opened_and_a_huge_one_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let huge = folder.path().join("huge");
    let long = fs::File::create(&huge).unwrap();
    long.set_len(300 * 1024 * 1024).unwrap();
    for (file, words) in [
        (fifo.as_path(), "not a regular file"),
        (Path::new("/dev/zero"), "not a regular file"),
        (Path::new("/dev/ptmx"), "not a regular file"),
        (&huge, "longer than"),
        (folder.path(), "this is a folder"),
    ] {
        for command in ["check", "run"] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
            child.args([command, "--config"]).arg(file);
            let child = child.stderr(Stdio::piped()).spawn().unwrap();
            let number = i32::try_from(child.id()).unwrap();
            let (ended, ends) = mpsc::channel();
            let waits = thread::spawn(move || ended.send(child.wait_with_output().unwrap()));
            let output = ends
                .recv_timeout(Duration::from_secs(20))
                .unwrap_or_else(|_| {
                    let hanging = nix::unistd::Pid::from_raw(number);
                    nix::sys::signal::kill(hanging, nix::sys::signal::SIGKILL).unwrap();
                    panic!("{command} {} hangs", file.display());
                });
            waits.join().unwrap().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(words), "{said}");
        }
    }
}

#[test]
fn a_configuration_may_be_a_link_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, CITRINE).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    assert!(check_file(&link, &[]).status.success());
}

/// An engine that says this when it is asked for its options, and waits.
fn engine_that_says(words: &str) -> String {
    let script = format!("read uci; {words}; echo uciok; read quit");
    format!(
        "{CITRINE}[[opponent]]\nboard = \"citrine\"\nengine = [\"/bin/sh\", \"-c\", {script:?}]\n"
    )
}

#[test]
fn check_asks_the_engine_for_its_options_and_tells_what_is_wrong() {
    let noted = |text: &str| {
        let output = check_with(text, &[]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let notes = text
            .lines()
            .filter(|line| line.contains("note     citrine") && line.contains("engine"));
        notes.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let level = "echo option name Skill Level type spin default 20 min 0 max 20";
    let engine = engine_that_says(level);
    let mistyped = format!("{engine}options = {{ \"Skil Level\" = 3 }}\n");
    let said = noted(&mistyped);
    assert!(
        said.ends_with("no option `Skil Level`; did you mean `Skill Level`?"),
        "{said}"
    );
    let too_much = format!("{engine}options = {{ \"Skill Level\" = 30 }}\n");
    let said = noted(&too_much);
    assert!(said.contains("takes 0 to 20 as `Skill Level`"), "{said}");
    let fine = format!("{engine}options = {{ \"Skill Level\" = 3 }}\n");
    assert_eq!(noted(&fine), "");
    // One that cannot be played against.
    let broken = engine_that_says("echo no net >&2; exit 3");
    does_not_work(&broken, &["citrine", "exit status 3", "`no net`"]);
    let mute = format!("{engine}patience = \"1s\"\n").replace("echo uciok;", "echo bad key >&2;");
    does_not_work(&mute, &["has not answered `uci` within 1 s", "`bad key`"]);
}

#[test]
fn a_missing_file_and_a_file_of_bytes_are_refused_with_a_remedy() {
    let output = check_file(Path::new("/nowhere/bb.toml"), &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        message.contains("/nowhere/bb.toml") && message.contains("--config"),
        "{message}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(check_file(&file, &[]).status.code(), Some(2));
    // Latin-1, as an old editor writes it.
    let line = b"site = \"caf\xe9\" # K\xf6ln\n";
    fs::write(&file, [b"[games]\n\n", &line[..], b"[uci]\n"].concat()).unwrap();
    let output = check_file(&file, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    for words in [
        "bb.toml:3:",
        "`site = \"café\" # Köln`, in Latin-1?",
        "save the file as UTF-8",
    ] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_only_another_user_may_read_says_who_may_not_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(&file, CITRINE).unwrap();
    let check = |folder_mode, file_mode| {
        let mode = fs::Permissions::from_mode;
        fs::set_permissions(folder.path(), mode(folder_mode)).unwrap();
        fs::set_permissions(&file, mode(file_mode)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
        command.args(["check", "--config"]).arg(&file);
        if is_root() {
            command.uid(65534).gid(65534);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = check(0o755, 0o000);
    let path = file.display();
    for words in [
        format!("may not read {path} (mode 0): `sudo chmod 644 {path}`"),
        "the service has a user of its own, and has to read it too".to_owned(),
    ] {
        assert!(said.contains(&words), "{said}");
    }
    if is_root() {
        let said = check(0o700, 0o644);
        let path = folder.path().display();
        let words = format!("may not enter {path} (mode 700): `sudo chmod o+x {path}`");
        assert!(said.contains(&words), "{said}");
    }
}

#[test]
fn the_environment_overrides_every_key_and_its_mistakes_name_the_variable() {
    let output = check_with(
        CITRINE,
        &[
            ("BOARDBRIDGE_UCI__LISTEN", "127.0.0.1:1234"),
            ("BOARDBRIDGE_BOARDS__CITRINE__MOVE_WAIT", "7s"),
        ],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("127.0.0.1:1234"), "{text}");
    let output = check_with(CITRINE, &[("BOARDBRIDGE_UCI__LISTEN", "nowhere")]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("BOARDBRIDGE_UCI__LISTEN"), "{message}");
    let output = check_with(CITRINE, &[("BOARDBRIDGE_UCI__LISSEN", "off")]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("BOARDBRIDGE_UCI__LISSEN"), "{message}");
}

#[test]
fn the_daemon_refuses_what_check_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(&file, "[uci]\nlissen = \"off\"").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
        .args(["run", "--config"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [
        &["fly"][..],
        &["run", "--nonsense"],
        &["simulate", "no-such-board"],
        &[],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// The file with everything that is commented out enabled.
fn uncommented(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(rest) if rest.starts_with('[') || rest.split('=').next().is_some_and(is_key) => {
            format!("{rest}\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// With a program that every machine has in place of the engine.
fn with_engine(text: &str) -> String {
    text.replace("/usr/games/stockfish", "/bin/sh")
        .replace("/usr/bin/lc0", "/bin/sh")
}

fn is_key(text: &str) -> bool {
    let key = text.trim_end();
    !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[test]
fn the_default_file_is_accepted_as_it_is_and_with_everything_in_it() {
    let text = fs::read_to_string(root().join("config/boardbridge.toml")).unwrap();
    Config::from_text(&text, "default").unwrap();
    let whole = with_engine(&uncommented(&text));
    let config = Config::from_text(&whole, "default, uncommented").unwrap();
    assert_eq!(config.boards.len(), MAKES.len());
    assert_eq!(config.whitepawn.len(), 4);
    assert_eq!(config.link.len(), 2);
    assert_eq!(config.opponent.len(), 2);
    assert_eq!(config.broadcast.len(), 1);
    assert_eq!(config.remotes.len(), 1);
    // Every key there is stands in the file.
    let own = MAKES.iter().flat_map(|make| make.keys);
    for key in own.map(|key| key.parts().0).chain([
        "kind",
        "serial",
        "ble",
        "tcp",
        "mqtt",
        "url",
        "user",
        "password_file",
        "ca_file",
        "insecure",
        "home_assistant",
        "discovery_prefix",
        "daemon",
        "uci_listen",
        "record",
        "correction_wait",
        "baud",
        "adapter",
        "whitepawn",
        "promotion_letter",
        "listen",
        "allow",
        "control",
        "hosts",
        "broadcast",
        "event",
        "round",
        "players",
        "name",
        "service",
        "rfcomm",
        "channel",
        "link",
        "boards",
        "with",
        "white",
        "black",
        "directory",
        "site",
        "player",
        "opponent",
        "engine",
        "options",
        "go",
        "hand",
        "patience",
        "memory",
        "livechess",
        "origins",
        "pairings",
        "delay",
        "token_file",
    ]) {
        assert!(text.contains(key), "{key} is not in the default file");
    }
}

#[test]
fn every_configuration_in_the_readme_and_its_chapters_is_accepted() {
    for (file, least) in [
        ("README.md", 2),
        ("docs/raspberry-pi.md", 1),
        ("docs/playing.md", 1),
        ("docs/boards/citrine.md", 2),
        ("docs/boards/ucb.md", 1),
        ("docs/boards/neo.md", 2),
        ("docs/boards/swpp.md", 1),
        ("docs/whitepawn.md", 5),
        ("docs/swpp-board.md", 2),
        ("docs/links.md", 3),
        ("docs/livechess.md", 1),
        ("docs/opponent.md", 3),
        ("docs/broadcast.md", 1),
        ("docs/games.md", 1),
        ("docs/security.md", 1),
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let mut count = 0;
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            if let Err(error) = Config::from_text(&with_engine(block), file) {
                panic!("{error}\n{block}");
            }
            count += 1;
        }
        assert!(count >= least, "{file} shows {count} configurations");
    }
}

proptest! {
    #[test]
    fn any_text_is_accepted_or_refused_without_fault(text in "\\PC{0,200}") {
        let _ = Config::from_text(&text, "any");
    }

    #[test]
    fn nearly_right_texts_are_accepted_or_refused_without_fault(
        text in "(\\[(uci|status|boards\\.[a-z]{1,3}|\\[whitepawn\\])\\]\n([a-z_]{1,8} = (\"[a-z0-9:.]{0,9}\"|[0-9]{1,4}|\\{\\})\n){0,3}){1,4}"
    ) {
        let _ = Config::from_text(&text, "any");
    }
}
