//! `docs/boards.md`, the table of the boards' keys, matches the program. `REWRITE_DOCS=1` writes it.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{env, fmt::Write, fs, path::PathBuf};

use boardbridge::{
    config::board::KEYS,
    driver::{
        identity::{Identity, Key},
        registry::MAKES,
    },
};

const HEAD: &str = "# The boards and their keys

This page is made from the program (`REWRITE_DOCS=1 cargo test --test boards_page`). Durations are texts with a unit:
\"200ms\", \"15s\", \"1m\". The [default configuration](../config/boardbridge.toml) has an example of each board.

## Every board

| key | meaning |
|---|---|
";

#[test]
fn the_page_of_the_boards_is_that_of_this_program() {
    let mut page = HEAD.to_owned();
    for key in &KEYS {
        writeln!(page, "| `{}` | {} |", name(key), key.meaning).unwrap();
    }
    for make in MAKES {
        section(&mut page, make);
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/boards.md");
    if env::var_os("REWRITE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let words = "run REWRITE_DOCS=1 cargo test --test boards_page";
    assert!(
        fs::read_to_string(&file).unwrap() == page,
        "docs/boards.md is out of date: {words}"
    );
}

fn section(page: &mut String, make: &Identity) {
    let media: Vec<String> = make.media.iter().map(ToString::to_string).collect();
    let baud = make.usual_baud();
    let baud = baud.map_or(String::new(), |baud| format!(", {baud} baud"));
    let defaults = (make.defaults)();
    writeln!(
        page,
        "\n## {}\n\n`kind = \"{}\"`, reached by {}{baud}. [Its protocol](../src/driver/{}/PROTOCOL.md).\n\n\
         | key | default | meaning |\n|---|---|---|",
        make.title,
        make.kind,
        media.join(", "),
        make.room
    )
    .unwrap();
    for key in make.keys {
        let default = serde_json::to_string(&defaults[key.parts().0]).unwrap();
        let default = match &*default {
            "null" => String::new(),
            default => format!("`{default}`"),
        };
        writeln!(page, "| `{}` | {default} | {} |", name(key), key.meaning).unwrap();
    }
}

/// `motor`, or `ble.write`.
fn name(key: &Key) -> String {
    key.path.join(".")
}

#[test]
fn every_board_has_a_page_of_its_protocol() {
    for make in MAKES {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let page = root.join("src/driver").join(make.room).join("PROTOCOL.md");
        assert!(page.exists(), "{} is missing", page.display());
    }
}
