//! The files of what was added: written whole or not at all, for the owner alone.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize;
use tempfile::NamedTempFile;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, de::from_str, value,
};

use crate::{
    bus::desk::{BoardKey, Play},
    config::{
        Key,
        added::{BOARDS, ENDING, PLAY, SETTINGS},
    },
    discovery::Way,
    driver::identity::Identity,
    front_end::opponent::settings::OpponentConfig,
    net::default_ports::DEFAULT_UCI,
    system::private,
    vocabulary::{AppWay, BoardName},
};

/// The ending of a board's file once it was removed: a board that comes by itself does not come again until it is added.
const REMOVED: &str = "removed";

/// The table of the app.
const APP: &str = "whitepawn";
/// The key of a table that names its board.
const BOARD: &str = "board";

/// The file of a board.
pub(super) fn of_board(state: &Path, name: &BoardName) -> PathBuf {
    state.join(BOARDS).join(format!("{name}.{ENDING}"))
}

/// The file of a board that is removed at this time: another one may have had the name before.
pub(super) fn of_removed(state: &Path, name: &BoardName, at: SystemTime) -> PathBuf {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    state
        .join(BOARDS)
        .join(format!("{name}.{millis}.{REMOVED}"))
}

/// The file of who plays at a board, or of a link.
pub(super) fn of_play(state: &Path, id: &str) -> PathBuf {
    state.join(PLAY).join(format!("{id}.{ENDING}"))
}

/// The file of settings.
pub(super) fn of_settings(state: &Path) -> PathBuf {
    state.join(SETTINGS)
}

/// The text of the file of settings with this value, or without the key. `None`: there is nothing in it.
pub(super) fn with_setting(text: &str, key: Key, new: Option<Value>) -> Option<String> {
    // A file that cannot be read says nothing.
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    let item = document
        .entry(key.table)
        .or_insert(Item::Table(Table::new()));
    if !item.is_table_like() {
        *item = Item::Table(Table::new());
    }
    let table = item.as_table_like_mut()?;
    match new {
        Some(new) => drop(table.insert(key.name, Item::Value(new))),
        None => drop(table.remove(key.name)),
    }
    if table.is_empty() {
        document.remove(key.table);
    }
    unless_empty(&document)
}

/// The text of the file of settings where the app reaches this board in this way, or none. `None`: there is nothing in it.
pub(super) fn with_app(text: &str, way: AppWay, board: Option<&BoardName>) -> Option<String> {
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    let mut apps = match document.remove(APP) {
        Some(Item::ArrayOfTables(apps)) => apps,
        _ => ArrayOfTables::new(),
    };
    apps.retain(|app| !app.contains_key(way.key()));
    if let Some(board) = board {
        let mut app = Table::new();
        app.insert(BOARD, value(board.as_str()));
        app.insert(way.key(), value(InlineTable::new()));
        apps.push(app);
    }
    if !apps.is_empty() {
        document.insert(APP, Item::ArrayOfTables(apps));
    }
    unless_empty(&document)
}

/// The text of the file of settings where a board has another name, or is gone. `None`: there is nothing in it.
pub(super) fn with_board(text: &str, from: &BoardName, to: Option<&BoardName>) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let is = |table: &Table| table.get(BOARD).and_then(Item::as_str) == Some(from.as_str());
    let lichess = document.get(Key::BOARD.table).and_then(Item::as_table);
    if lichess.is_some_and(is) {
        let name = to.map(|to| to.as_str().into());
        let text = with_setting(&document.to_string(), Key::BOARD, name);
        document = text.unwrap_or_default().parse().ok()?;
    }
    if let Some(apps) = document.get_mut(APP).and_then(Item::as_array_of_tables_mut) {
        apps.retain(|app| to.is_some() || !is(app));
        for app in apps.iter_mut().filter(|app| is(app)) {
            app.insert(BOARD, value(to.map_or("", BoardName::as_str)));
        }
        if apps.is_empty() {
            document.remove(APP);
        }
    }
    unless_empty(&document)
}

fn unless_empty(document: &DocumentMut) -> Option<String> {
    (!document.is_empty()).then(|| document.to_string())
}

/// Where chess programs connect if those of the network may.
pub(super) fn open_to_network() -> String {
    let port = DEFAULT_UCI
        .rsplit_once(':')
        .map_or("9670", |(_, port)| port);
    format!("0.0.0.0:{port}")
}

/// Whether a board that is reached this way was removed by the player.
pub(super) fn was_removed(state: &Path, way: &Way) -> bool {
    removed(state, way).next().is_some()
}

/// Forgets that boards which are reached this way were removed.
pub(super) fn welcome(state: &Path, way: &Way) {
    for file in removed(state, way).collect::<Vec<_>>() {
        let _ = fs::remove_file(file);
    }
}

fn removed(state: &Path, way: &Way) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(state.join(BOARDS))
        .into_iter()
        .flatten()
        .flatten();
    let way = way.clone();
    entries.map(|entry| entry.path()).filter(move |path| {
        let is_one = path.extension().is_some_and(|ending| ending == REMOVED);
        let text = is_one.then(|| fs::read_to_string(path).ok()).flatten();
        let document: Option<DocumentMut> = text.and_then(|text| text.parse().ok());
        document.is_some_and(|document| leads_to(&document, &way))
    })
}

/// Whether a board of this file is reached this way.
fn leads_to(document: &DocumentMut, way: &Way) -> bool {
    let (key, at) = way.key();
    let boards = document.get("boards").and_then(Item::as_table_like);
    let mut boards = boards.into_iter().flat_map(|boards| boards.iter());
    boards.any(|(_, board)| {
        let way = board.get(way.medium().key());
        let found = way.map(|way| way.get(key).and_then(Item::as_str).unwrap_or_default());
        found == Some(&at)
    })
}

/// The text of a board's file.
pub(super) fn board(
    name: &BoardName,
    make: &Identity,
    way: &Way,
    baud: Option<u32>,
    key: Option<&BoardKey>,
) -> String {
    let board = keys(make, way, baud, key);
    let mut text = "# Added from the page or by `boardbridge add`. [boards] in the main file takes precedence.\n".to_owned();
    text.push_str(&of_boards(name, Item::Table(board)).to_string());
    text
}

/// The keys of a board that is reached this way.
pub(super) fn keys(
    make: &Identity,
    way: &Way,
    baud: Option<u32>,
    unlocks: Option<&BoardKey>,
) -> Table {
    let (key, at) = way.key();
    let mut reached = InlineTable::new();
    if !at.is_empty() {
        reached.insert(key, at.into());
    }
    if let Some(baud) = baud {
        reached.insert("baud", i64::from(baud).into());
    }
    let mut board = Table::new();
    board.insert("kind", value(make.kind.as_str()));
    board.insert(way.medium().key(), value(reached));
    if let Some(BoardKey(key)) = unlocks {
        board.insert("key", value(key));
    }
    board
}

fn of_boards(name: &BoardName, board: Item) -> DocumentMut {
    let mut boards = Table::new();
    boards.set_implicit(true);
    boards.insert(name.as_str(), board);
    let mut document = DocumentMut::new();
    document.insert("boards", Item::Table(boards));
    document
}

/// The same board by another name. `None`: it is not the file of this board.
pub(super) fn renamed(text: &str, from: &BoardName, to: &BoardName) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let boards = document.get_mut("boards")?.as_table_like_mut()?;
    let board = boards.remove(from.as_str())?;
    Some(of_boards(to, board).to_string())
}

/// The same board, reached this way. `None`: it is not the file of this board.
pub(super) fn moved(text: &str, name: &BoardName, way: &Way) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let boards = document.get_mut("boards")?.as_table_like_mut()?;
    let board = boards.get_mut(name.as_str())?.as_table_like_mut()?;
    let reached = board.get_mut(way.medium().key())?.as_table_like_mut()?;
    let (key, at) = way.key();
    reached.insert(key, value(at));
    Some(document.to_string())
}

/// The same board with this key, or without one if it is empty. `None`: it is not the file of this board.
pub(super) fn unlocked(text: &str, name: &BoardName, BoardKey(key): &BoardKey) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let boards = document.get_mut("boards")?.as_table_like_mut()?;
    let board = boards.get_mut(name.as_str())?.as_table_like_mut()?;
    if key.is_empty() {
        board.remove("key");
    } else {
        board.insert("key", value(key));
    }
    Some(document.to_string())
}

/// The same opponent or link with this board by another name. `None`: it is neither.
pub(super) fn renamed_play(text: &str, from: &BoardName, to: &BoardName) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let is = |name: &Value| name.as_str() == Some(from.as_str());
    if let Some(opponent) = first(&mut document, "opponent") {
        let board = opponent.get_mut("board")?.as_value_mut()?;
        if is(board) {
            *board = to.as_str().into();
        }
    } else {
        let link = first(&mut document, "link")?;
        for board in link.get_mut("boards")?.as_array_mut()?.iter_mut() {
            if is(board) {
                *board = to.as_str().into();
            }
        }
    }
    Some(document.to_string())
}

fn first<'a>(document: &'a mut DocumentMut, list: &str) -> Option<&'a mut Table> {
    document.get_mut(list)?.as_array_of_tables_mut()?.get_mut(0)
}

/// What names an opponent or a link with this board by another name.
pub(super) fn renamed_id(id: &str, from: &BoardName, to: &BoardName) -> String {
    let boards = id.split('.');
    let boards = boards.map(|board| {
        if board == from.as_str() {
            to.as_str()
        } else {
            board
        }
    });
    boards.collect::<Vec<_>>().join(".")
}

/// The text of the file of who plays at a board; `engine` is the program.
pub(super) fn opponent(board: &BoardName, engine: Option<&str>, play: &Play) -> String {
    let mut table = Table::new();
    table.insert("board", value(board.as_str()));
    if let Some(engine) = engine {
        table.insert("engine", value(engine));
    }
    let mut options = InlineTable::new();
    if let Some(elo) = play.elo {
        options.insert("UCI_LimitStrength", true.into());
        options.insert("UCI_Elo", i64::from(elo).into());
    }
    if let Some(level) = play.level {
        options.insert("Skill Level", i64::from(level).into());
    }
    if !options.is_empty() {
        table.insert("options", value(options));
    }
    for (key, text) in [
        ("hand", &play.hand),
        ("go", &play.go),
        ("white", &play.white),
        ("black", &play.black),
    ] {
        if let Some(text) = text {
            table.insert(key, value(text));
        }
    }
    listed("opponent", table)
}

/// Why this is no file of who plays at a board.
pub(super) fn check_opponent(text: &str) -> Result<(), String> {
    #[derive(Deserialize)]
    struct File {
        opponent: [OpponentConfig; 1],
    }
    let read: Result<File, _> = from_str(text);
    let File { opponent: [entry] } = read.map_err(|error| error.message().to_owned())?;
    match entry.problems().into_iter().next() {
        Some((key, words)) => Err(format!("`{key}` {words}")),
        None => Ok(()),
    }
}

/// The text of the file of a link.
pub(super) fn link(boards: &[BoardName; 2]) -> String {
    let mut table = Table::new();
    let names: Array = boards
        .iter()
        .map(|board| Value::from(board.as_str()))
        .collect();
    table.insert("boards", value(names));
    listed("link", table)
}

fn listed(name: &str, table: Table) -> String {
    let mut list = ArrayOfTables::new();
    list.push(table);
    let mut document = DocumentMut::new();
    document.insert(name, Item::ArrayOfTables(list));
    document.to_string()
}

/// Writes a file, and is sure that it is there; `came` is its time, if not now.
///
/// # Errors
/// The system's.
pub(super) fn write(path: &Path, text: &[u8], came: Option<SystemTime>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    private::create_folder(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    if let Some(came) = came {
        file.as_file().set_modified(came)?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()
}
