//! What was added from the page or by `boardbridge add`: boards in `boards.d`, who plays at boards in `play.d`, and in `settings.toml` where
//! chess programs connect, where the `WhitePawn` app plays, and what was chosen for Lichess and saved games, all in the state directory. Each is a file in the form of the main file, which wins: an entry that clashes with it is left out, in words.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toml_edit::DocumentMut;

use super::{Config, key::Key, reading};
#[cfg(target_os = "linux")]
use crate::front_end::lichess::settings::{Accept, LichessConfig, TakeBacks};
use crate::{
    front_end::{
        pgn::settings::GamesConfig, uci::settings::UciConfig, whitepawn::settings::WhitePawnConfig,
    },
    net::door::Allow,
    system::regular_file::read,
    vocabulary::BoardName,
};

/// The folder of boards, each in `NAME.toml` as `[boards.NAME]`.
pub const BOARDS: &str = "boards.d";
/// The folder of what plays at boards: each file has one `[[opponent]]` or one `[[link]]`.
pub const PLAY: &str = "play.d";
/// The file of what was chosen on the page: what its [`Key`]s say.
pub const SETTINGS: &str = "settings.toml";
/// The ending of their names.
pub const ENDING: &str = "toml";
/// Files read of each folder: as many boards as a person would add by hand.
pub const MAX_ADDED: usize = 256;
/// The longest of them, in bytes: a board with every key takes some 2 KiB.
pub const MAX_ADDED_FILE: u64 = 16 * 1024;
/// How a line ends that says what is left out.
pub const LEFT_OUT: &str = ": this is left out";

/// Adds what is kept in this state directory. Returns what is left out: a line each, with its file and the problem.
pub(super) fn add_to(config: &mut Config, state: &Path) -> Vec<String> {
    let mut left_out = Vec::new();
    let file = state.join(SETTINGS);
    let apps = settings(config, &file, &mut left_out);
    for file in files(&state.join(BOARDS), &mut left_out) {
        if let Err(problem) = board(config, &file) {
            left_out.push(problem);
        }
    }
    for entry in apps {
        if let Err(problem) = app(config, entry, &file) {
            left_out.push(problem);
        }
    }
    for file in files(&state.join(PLAY), &mut left_out) {
        match play(config, &file) {
            Ok(id) => config.plays.push(id),
            Err(problem) => left_out.push(problem),
        }
    }
    left_out
}

/// The files of a folder, in the order in which they came: what is plugged in later is later in lists, too.
fn files(folder: &Path, left_out: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_one = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
    let mut files: Vec<PathBuf> = paths.filter(is_one).collect();
    let came = |file: &PathBuf| fs::metadata(file).and_then(|found| found.modified()).ok();
    files.sort_by_cached_key(|file| (came(file), file.clone()));
    if files.len() > MAX_ADDED {
        let words = format!("only the first {MAX_ADDED} files are read");
        left_out.push(told(folder, &words));
        files.truncate(MAX_ADDED);
    }
    files
}

/// Takes from this file, if it is there, what was chosen on the page, unless the main file says it. Returns where the app plays: its
/// boards are not known yet.
fn settings(config: &mut Config, file: &Path, left_out: &mut Vec<String>) -> Vec<WhitePawnConfig> {
    if !file.exists() {
        return Vec::new();
    }
    let part = match part(file, &["uci", "lichess", "games", "whitepawn"]) {
        Ok(part) => part,
        Err(problem) => {
            left_out.push(problem);
            return Vec::new();
        }
    };
    // A mistake in one of them is none of the others.
    #[cfg(target_os = "linux")]
    left_out.extend(lichess(config, part.lichess.unwrap_or_default(), file).err());
    left_out.extend(games(config, part.games, file).err());
    left_out.extend(programs(config, part.uci, file).err());
    part.whitepawn
}

/// Which chess programs may connect.
fn programs(config: &mut Config, part: UciConfig, file: &Path) -> Result<(), String> {
    let UciConfig { listen, allow } = part;
    if allow != Allow::default() {
        return Err(told(file, "`allow` belongs into the main file"));
    }
    if config.says(Key::LISTEN) {
        return Ok(());
    }
    let before = std::mem::replace(&mut config.uci.listen, listen);
    if let Some(problem) = config.problems().into_iter().next() {
        config.uci.listen = before;
        return Err(told_problem(file, problem));
    }
    Ok(())
}

/// Lets the app play on a board, unless that is gone, or the main file lets it play on one in this way.
fn app(config: &mut Config, entry: WhitePawnConfig, file: &Path) -> Result<(), String> {
    let Some(way) = entry.app_way() else {
        return Err(told(
            file,
            "[[whitepawn]] with `serial` belongs into the main file",
        ));
    };
    let has = |name: &BoardName| config.all_boards().any(|(known, _)| known == name);
    let mut others = config.whitepawn.iter().filter(|other| has(&other.board));
    if !has(&entry.board) || others.any(|other| other.app_way() == Some(way)) {
        return Ok(());
    }
    config.whitepawn.push(entry);
    if let Some(problem) = config.problems().into_iter().next() {
        config.whitepawn.pop();
        return Err(told_problem(file, problem));
    }
    config.apps.push(way);
    Ok(())
}

/// Takes what was chosen for Lichess. A chosen board that is gone, or plays another one, does not count.
#[cfg(target_os = "linux")]
fn lichess(config: &mut Config, entry: LichessConfig, file: &Path) -> Result<(), String> {
    let others = LichessConfig {
        board: None,
        accept: Accept::default(),
        take_backs: TakeBacks::default(),
        ..entry.clone()
    };
    if others != LichessConfig::default() {
        let only = "has [lichess] with `board`, `accept` and `take_backs`: its other keys belong into the main file";
        return Err(told(file, only));
    }
    config.lichess_chosen = entry.board.filter(|_| !config.says(Key::BOARD));
    if entry.accept != Accept::default() && !config.says(Key::ACCEPT) {
        config.lichess.get_or_insert_default().accept = entry.accept;
    }
    if entry.take_backs != TakeBacks::default() && !config.says(Key::TAKE_BACKS) {
        config.lichess.get_or_insert_default().take_backs = entry.take_backs;
    }
    Ok(())
}

/// Takes what was chosen for saved games.
fn games(config: &mut Config, entry: GamesConfig, file: &Path) -> Result<(), String> {
    let GamesConfig {
        directory,
        site,
        player,
        every_move,
    } = entry;
    if directory.is_some() {
        return Err(told(file, "`directory` belongs into the main file"));
    }
    if !config.says(Key::SITE) {
        config.games.site = site;
    }
    if !config.says(Key::PLAYER) {
        config.games.player = player;
    }
    if !config.says(Key::EVERY_MOVE) {
        config.games.every_move = every_move;
    }
    Ok(())
}

/// Adds the board of this file, unless the main file has one of its name.
fn board(config: &mut Config, file: &Path) -> Result<(), String> {
    let name = file.file_stem().and_then(|name| name.to_str());
    let name = name.and_then(|name| name.parse::<BoardName>().ok());
    let name =
        name.ok_or_else(|| told(file, "is not named after a board, such as citrine.toml"))?;
    let mut part = part(file, &["boards"])?;
    if config.all_boards().any(|(known, _)| *known == name) {
        let (main, kept) = (config.boards.get(&name), part.boards.get(&name));
        // A copy in the main file is the same board.
        let is_another = main
            .zip(kept)
            .is_some_and(|(main, kept)| !main.is_reached_as(kept));
        return if is_another {
            let other = format!(
                "is not used: the main file has its own [boards.{name}]. If that is the same board, delete this file; else give one \
                 of them another name"
            );
            Err(told(file, &other))
        } else {
            Ok(())
        };
    }
    let only = format!("has to be [boards.{name}] and nothing else");
    match part.boards.remove(&name) {
        Some(board) if part.boards.is_empty() => {
            config.boards.insert(name.clone(), board);
        }
        _ => return Err(told(file, &only)),
    }
    if let Some(problem) = config.problems().into_iter().next() {
        config.boards.remove(&name);
        return Err(told_problem(file, problem));
    }
    config.added.push(name);
    Ok(())
}

/// Adds the opponent or the link of this file. Returns what names it: its boards.
fn play(config: &mut Config, file: &Path) -> Result<String, String> {
    let part = part(file, &["opponent", "link"])?;
    let boards: Vec<&BoardName> = part
        .opponent
        .iter()
        .map(|entry| &entry.board)
        .chain(part.link.iter().flat_map(|entry| &entry.boards))
        .collect();
    let id: Vec<&str> = boards.iter().map(|name| name.as_str()).collect();
    let id = id.join(".");
    let is_named = file.file_stem().is_some_and(|stem| *stem == *id);
    if part.opponent.len() + part.link.len() != 1 || !is_named {
        let only = "has to be one [[opponent]] or [[link]], in a file that is named after its boards, such as citrine.toml or citrine.neo.toml";
        return Err(told(file, only));
    }
    let has = |name: &BoardName| config.all_boards().any(|(known, _)| known == name);
    if let Some(missing) = boards.iter().find(|name| !has(name)) {
        return Err(told(file, &format!("there is no board {missing}")));
    }
    let (opponents, links) = (config.opponent.len(), config.link.len());
    config.opponent.extend(part.opponent);
    config.link.extend(part.link);
    if let Some(problem) = config.problems().into_iter().next() {
        config.opponent.truncate(opponents);
        config.link.truncate(links);
        return Err(told_problem(file, problem));
    }
    Ok(id)
}

/// Reads a file that may have these tables only.
fn part(file: &Path, tables: &[&str]) -> Result<Config, String> {
    let bytes = read(file, MAX_ADDED_FILE).map_err(|error| told(file, &error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| told(file, "is not text in UTF-8"))?;
    let part = reading::read_part(&text, &file.display().to_string());
    let part = part.map_err(|error| {
        let mistakes = error.to_string();
        format!("{}{LEFT_OUT}", mistakes.lines().next().unwrap_or(""))
    })?;
    let document: DocumentMut = text.parse().unwrap_or_default();
    match document.iter().find(|(name, _)| !tables.contains(name)) {
        None => Ok(part),
        Some((name, _)) => Err(told(file, &format!("[{name}] belongs into the main file"))),
    }
}

fn told(file: &Path, problem: &str) -> String {
    format!("{}: {problem}{LEFT_OUT}", file.display())
}

fn told_problem(file: &Path, (key, problem): (String, String)) -> String {
    told(file, &format!("{key}: {problem}"))
}
