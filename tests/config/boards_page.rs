//! `docs/boards.md` and the tables of keys at the ends of `docs/boards/*.md` match the program. `REWRITE_DOCS=1` writes them.

use std::{env, fmt::Write, fs, path::PathBuf};

use boardbridge::{
    board::settings::KEYS,
    driver::{
        identity::{Identity, Key},
        registry::MAKES,
    },
};

const HEAD: &str = "# The boards and their keys

This page, and the tables at the ends of the boards' own pages, are made from the program
(`REWRITE_DOCS=1 cargo test --test config boards_page`). Durations are texts with a unit: \"200ms\", \"15s\", \"1m\". The
[default configuration](../config/boardbridge.toml) has an example of each board.

| board | kind | reached by |
|---|---|---|
";
/// On a board's page, all below this is made from the program.
const KEYS_HERE: &str = "## Its keys\n";

#[test]
fn the_page_of_the_boards_is_that_of_this_program() {
    let mut page = HEAD.to_owned();
    for make in MAKES {
        writeln!(
            page,
            "| [{}](boards/{}.md) | `{}` | {} |",
            make.title,
            make.room,
            make.kind,
            media(make)
        )
        .unwrap();
    }
    page += "\n## Keys of every board\n\n| key | meaning |\n|---|---|\n";
    for key in &KEYS {
        writeln!(page, "| `{}` | {} |", name(key), key.meaning).unwrap();
    }
    compare("docs/boards.md", &page);
}

#[test]
fn every_board_has_a_page_that_ends_with_its_keys() {
    for make in MAKES {
        let file = format!("docs/boards/{}.md", make.room);
        let written = fs::read_to_string(root().join(&file)).unwrap_or_default();
        let text = written.split(KEYS_HERE).next().unwrap().trim_end();
        assert!(text.starts_with("# "), "write {file}, for the player");
        compare(&file, &format!("{text}\n\n{}", keys(make)));
    }
}

/// The file is this page, or is made so.
fn compare(file: &str, page: &str) {
    let path = root().join(file);
    if env::var_os("REWRITE_DOCS").is_some() {
        fs::write(&path, page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == page,
        "{file} is out of date: run REWRITE_DOCS=1 cargo test --test config boards_page"
    );
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn media(make: &Identity) -> String {
    let media: Vec<String> = make.media.iter().map(ToString::to_string).collect();
    media.join(", ")
}

fn keys(make: &Identity) -> String {
    let baud = make.usual_baud();
    let baud = baud.map_or(String::new(), |baud| format!(", {baud} baud"));
    let defaults = (make.defaults)();
    let mut page = format!(
        "{KEYS_HERE}\n`kind = \"{}\"`, reached by {}{baud}; also [the keys of every board](../boards.md#keys-of-every-board). \
         [Its protocol](../../src/driver/{}/PROTOCOL.md).\n\n| key | default | meaning |\n|---|---|---|\n",
        make.kind,
        media(make),
        make.room
    );
    for key in make.keys {
        let default = serde_json::to_string(&defaults[key.parts().0]).unwrap();
        let default = match &*default {
            "null" => String::new(),
            default => format!("`{default}`"),
        };
        writeln!(page, "| `{}` | {default} | {} |", name(key), key.meaning).unwrap();
    }
    page
}

/// `motor`, or `ble.write`.
fn name(key: &Key) -> String {
    key.path.join(".")
}

#[test]
fn every_board_has_a_page_of_its_protocol() {
    for make in MAKES {
        let page = root()
            .join("src/driver")
            .join(make.room)
            .join("PROTOCOL.md");
        assert!(page.exists(), "{} is missing", page.display());
    }
}
