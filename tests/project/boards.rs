//! Adding a board: what outside its own room has to know of it.

use std::{collections::BTreeSet, fs, path::Path};

use boardbridge::driver::registry::MAKES;

/// The rooms of the boards that do not exist, and what else they are called.
const TOYS: [(&str, &[&str]); 2] = [
    ("toy", &["toy"]),
    ("toy_pieces", &["toy_pieces", "toy-pieces", "ToyPieces"]),
];

/// The files of the program that know of a board: a line each.
const KNOW: [&str; 2] = ["src/driver/mod.rs", "src/driver/registry.rs"];

/// Files of the program that know of these boards for another reason.
const EXCUSED: [(&str, &str); 10] = [
    // The demonstration shows three boards.
    ("src/cli/demo/mod.rs", "citrine"),
    ("src/cli/demo/mod.rs", "ucb"),
    ("src/cli/demo/mod.rs", "neo"),
    // Either Novag board may be taken for the other.
    ("src/driver/stranger.rs", "citrine"),
    ("src/driver/stranger.rs", "ucb"),
    // An example in a message.
    ("src/board/settings.rs", "citrine"),
    // Boards of one maker, whose messages have the same frames.
    ("src/driver/pegasus/codec.rs", "dgt"),
    ("src/driver/pegasus/mod.rs", "dgt"),
    // The app's protocol, for both of its ends.
    ("src/front_end/whitepawn/session.rs", "swpp"),
    ("src/text/swpp/gatt.rs", "swpp"),
];

/// Where a list of every kind is in place: the examples, the generated page, the program's registry, the pictures of how boards are
/// switched on.
const LISTS: [&str; 4] = [
    "config/boardbridge.toml",
    "docs/boards.md",
    "src/driver/registry.rs",
    PICTURES,
];
/// The pictures.
const PICTURES: &str = "src/front_end/web/page/kinds.js";

/// What is written by hand.
const WRITTEN: [&str; 12] = [
    "src",
    "simulators/src",
    "tests",
    "examples",
    "benches",
    "fuzz/fuzz_targets",
    "config",
    "docs",
    "packaging",
    "systemd",
    ".github",
    ".ci",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder, by their paths in the project.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((name(&path), text));
            }
        }
    }
    found
}

fn name(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap();
    inside.to_str().unwrap().to_owned()
}

/// Whether this word is in a text, as a whole word.
fn has(text: &str, word: &str) -> bool {
    let part = |byte: Option<&u8>| {
        byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-')
    };
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !part(before) && !part(bytes.get(at + word.len()))
    })
}

/// The program's own lines: without comments and unit tests.
fn code(text: &str) -> String {
    let end = text
        .find("\n#[cfg(test)]\nmod tests {")
        .unwrap_or(text.len());
    let lines = text[..end].lines();
    let lines = lines.map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

fn in_room(file: &str, room: &str) -> bool {
    file.starts_with(&format!("src/driver/{room}/"))
}

/// The demonstration of CONTRIBUTING.md: nothing outside its room has to know of a board but a line in the table of modules and
/// one in the registry.
#[test]
fn a_toy_is_named_in_two_files_outside_its_room() {
    for (room, words) in TOYS {
        let mut found = BTreeSet::new();
        for (file, text) in files("src") {
            if !file.starts_with("src/driver/toy") && words.iter().any(|word| has(&text, word)) {
                found.insert(file);
            }
        }
        assert_eq!(found, KNOW.map(str::to_owned).into(), "{room}");
    }
}

#[test]
fn every_board_is_named_in_two_files_of_the_program_outside_its_room() {
    let mut wrong = Vec::new();
    for (file, text) in files("src") {
        if KNOW.contains(&&*file) || file.ends_with("tests.rs") || !file.ends_with(".rs") {
            continue;
        }
        let text = code(&text);
        for make in MAKES {
            let kind = has(&text, make.kind.as_str());
            let kind = kind && text.contains(&format!("\"{}", make.kind));
            let module = has(&text, &format!("driver::{}", make.room))
                || has(&text, &format!("super::{}", make.room));
            let excused = EXCUSED.contains(&(&file, make.room));
            if (kind || module) && !in_room(&file, make.room) && !excused {
                wrong.push(format!("{file} knows of {}", make.kind));
            }
        }
    }
    assert_eq!(wrong, [""; 0], "ask the registry instead");
}

/// The newest simulated boards: what they are told and how they are made is in the registry.
#[test]
fn a_simulated_board_is_named_in_two_files_outside_its_room() {
    for room in ["chessnut", "dgt", "pegasus"] {
        let mut found = BTreeSet::new();
        for (file, text) in files("simulators/src") {
            let own = file.starts_with(&format!("simulators/src/{room}/"));
            if !own && !file.ends_with("tests.rs") && has(&code(&text), room) {
                found.insert(file);
            }
        }
        let know = ["simulators/src/lib.rs", "simulators/src/registry.rs"];
        assert_eq!(found, know.map(str::to_owned).into(), "{room}");
    }
}

/// A list that has to grow with every board comes from the registry.
#[test]
fn no_other_file_lists_every_kind() {
    let mut lists = Vec::new();
    for (file, text) in WRITTEN.into_iter().flat_map(files) {
        let mut makes = MAKES.iter();
        let all = makes.all(|make| has(&text, make.kind.as_str()));
        if all && !LISTS.contains(&&*file) {
            lists.push(file);
        }
    }
    assert_eq!(lists, [""; 0]);
}

/// The rows of README, by the boards' pages.
#[test]
fn every_board_has_a_row_in_the_table_of_readme() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    for make in MAKES {
        let page = format!("(docs/boards/{}.md)", make.room);
        let row = text
            .lines()
            .any(|line| line.starts_with("| [") && line.contains(&page));
        assert!(row, "README's table has no row for {}", make.title);
    }
}

/// What a board needs besides its code.
#[test]
fn every_board_has_an_example_in_the_default_configuration() {
    let text = fs::read_to_string(root().join("config/boardbridge.toml")).unwrap();
    for make in MAKES {
        let lines = [
            format!("# [boards.{}]", make.example),
            format!("# kind = \"{}\"", make.kind),
        ];
        for line in lines {
            assert!(text.contains(&line), "`{line}` is missing");
        }
        for key in make.keys {
            let (key, _) = key.parts();
            assert!(has(&text, key), "{}: `{key}` is missing", make.kind);
        }
    }
}

/// A player who is asked which board it is sees what that looks like, and where it is switched on.
#[test]
fn every_kind_has_a_picture_of_its_own() {
    let text = fs::read_to_string(root().join(PICTURES)).unwrap();
    let (_, rows) = text.split_once("const PICTURES = {\n").unwrap();
    let (rows, _) = rows.split_once("\n};\n").unwrap();
    let rows: Vec<_> = rows
        .lines()
        .filter_map(|row| row.trim().split_once(": "))
        .collect();
    let kinds: BTreeSet<_> = MAKES
        .iter()
        .map(|make| format!("\"{}\"", make.kind))
        .collect();
    let drawn: BTreeSet<_> = rows.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    assert_eq!(drawn, kinds, "{PICTURES} has a row for each kind");
    let pictures: BTreeSet<_> = rows.iter().map(|(_, parts)| parts).collect();
    assert_eq!(
        pictures.len(),
        rows.len(),
        "two kinds have the same picture"
    );
}
