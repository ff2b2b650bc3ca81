//! What the program says in words of its own has a form in the page's table of sentences, and what is there is said.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use boardbridge::driver::registry::MAKES;

/// The table.
const TABLE: &str = "src/front_end/web/page/told_sentences.js";

/// Where what is said can reach the page: as advice, as the reason of a lost link, as a notice, or as the answer to a button.
const HEARD: [&str; 20] = [
    "src/vocabulary/advice.rs",
    "src/vocabulary/link_state.rs",
    "src/vocabulary/game_end.rs",
    "src/vocabulary/board_result.rs",
    "src/vocabulary/snapshot.rs",
    "src/vocabulary/board_name.rs",
    "src/board/core",
    "src/board/actor.rs",
    "src/bus",
    "src/driver",
    "src/transport",
    "src/daemon/desk",
    "src/daemon/lichess.rs",
    "src/front_end/buttons.rs",
    "src/front_end/objects/lines.rs",
    "src/front_end/https/token.rs",
    "src/front_end/lichess",
    "src/front_end/link",
    "src/front_end/opponent",
    "src/front_end/web",
];

/// Files there whose sentences are about the configuration, or no sentences but what boards, browsers and engines are sent.
const UNHEARD: [&str; 17] = [
    "settings.rs",
    "identity.rs",
    "codec.rs",
    "cookie.rs",
    "page.rs",
    "live_pgn.rs",
    "events.rs",
    "answer.rs",
    "cgroup.rs",
    "files.rs",
    "stranger.rs",
    "picture.rs",
    "console.rs",
    "outbox.rs",
    "toy",
    "toy_pieces",
    "saved_board.rs",
];

/// What is there and is no sentence for a player.
const NOT_FOR_PLAYERS: [&[&str]; 5] = [
    // What chess programs are told, with a list of what to do: the page has the list itself.
    &[
        "take {} back on the board: {list}",
        "to put the pieces right, {list}",
        "{SET_UP} by hand: {list}. Do so in the board's own set-up mode too if it has one, then press 'Board ready'. (FEN {fen})",
        "{SET_UP}: {list}. Then press 'Board ready'. (FEN {fen})",
        "{SET_UP}: {list}. Then press 'Board ready' or just move. (FEN {fen})",
        "{TO_THE_START}, then press 'Board ready'",
        "{TO_THE_START}, then press 'Board ready' or just move",
        "{TO_THE_START}: {list}. Then press 'Board ready'",
        "{TO_THE_START}: {list}. Then press 'Board ready' or just move",
        "{self} Before that, unless it is done, {list}",
        "{self}. Before that, unless it is done, {list}",
        "{} cannot be played here: {list}",
        "{} was made instead of {}: {list}",
        "{} was taken back on the board, but it stands in the app's game, which cannot take it back: {list}",
        "{} was taken back on the board, but it still stands in the game: {list}, or take it back there too",
    ],
    // What boards, engines and browsers are sent.
    &[
        " && shift && exec ",
        "; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax",
        "Autoclock off",
        "L {level}",
        "New Game",
        "U ON",
        "Video Mode",
        "X ON",
        "Xmit on",
        "board:play study:read study:write",
        "info string ",
        "position {game}",
        "setoption name {name} value {value}",
    ],
    // What the system says, which is compared.
    &[
        "Already notifying",
        "Host is down",
        "In Progress",
        "No route to host",
        "Not a typewriter",
        "Protocol not available",
        "timed out",
    ],
    // Answers to requests that the page does not make.
    &[
        "`{0}` is not the end of a game, such as `resignation 1-0`",
        "`{}` is not a move that was made",
        "seek, withdraw, challenge, computer, accept, decline, draw, take-back, resign, abort, berserk, login, logout",
        "the body is incomplete, or longer than {MAX_BODY} bytes",
        "the body is not the JSON that belongs here, such as {{}}: {error}",
        "the name in the address is not text",
        "the name of the board is not text",
        "the request lacks its header Host",
        "the request lacks the header Content-Type: application/json",
        "this stream is closed to admit another watcher: at most {most} do at once",
        "write ?before=FILE, with a file of this list",
    ],
    // Names, values and lists, some with their reason: they are filled into sentences as they are.
    &[
        " (is the version filled up to 8 characters?)",
        " by {adapter}",
        "\"auto\", \"normal\" or \"turned\"",
        ", number {number}",
        ", number {serial}",
        ", version {major}.{minor}",
        ": see `options` in the configuration",
        "; did you mean `{}`?",
        "Bluetooth Classic {}",
        "Chessnut Move",
        "DGT Pegasus{}",
        "DGT board{}{}",
        "Hand on {}",
        "Neo, firmware {version}",
        "No other device was seen.",
        "SWPP {protocol}, version {}",
        "Skill Level",
        "Stockfish level {level}",
        "These were seen: {}.",
        "USB {id}",
        "a line of {length} bytes, dropped",
        "a line without its end: {text}",
        "a move {when}: {}",
        "another program has it",
        "be reached",
        "before any game",
        "connect a board",
        "exit status {code}",
        "it has no pipes",
        "list its adapters",
        "list its devices",
        "new game",
        "no status",
        "none that is written or notifies",
        "not within {} s",
        "open a device",
        "open its adapter",
        "put the pieces on their starting squares",
        "register for a serial port",
        "set up the position",
        "signal 31: it needs a system call that the service forbids",
        "signal 9: killed, perhaps for lack of memory",
        "signal {signal}",
        "still closing",
        "true or false",
        "tell whether a device is paired",
        "tell whether it is on",
        "the fault suite asked for it",
        "the scan ended",
        "this is not a serial line",
        "two players",
        "while the game is in doubt",
        "write, notify",
        "{id}, serial number {serial}",
        "{more} more",
        "{name} (disconnected)",
        "{name}: {text}",
        "{rated} {speed}",
        "{rated} {speed} game",
        "{rated} {speed} {}+{}",
        "{} at {} baud",
        "{} to move on the board",
    ],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The source files at a path, without tests.
fn files(path: &Path, found: &mut Vec<String>) {
    let name = path.file_name().unwrap().to_str().unwrap();
    if UNHEARD.contains(&name) || name.starts_with("tests") {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else if name.ends_with(".rs") {
        found.push(fs::read_to_string(path).unwrap());
    }
}

/// The end of a string that begins at its quote, and its value.
fn string(text: &str) -> (usize, String) {
    let mut value = String::new();
    let mut signs = text.char_indices().skip(1).peekable();
    while let Some((at, sign)) = signs.next() {
        match (sign, signs.peek()) {
            ('"', _) => return (at + 1, value),
            ('\\', Some((_, '\n'))) => {
                while signs.next_if(|(_, next)| next.is_whitespace()).is_some() {}
            }
            ('\\', Some((_, next))) => {
                value.push(if *next == 'n' { '\n' } else { *next });
                signs.next();
            }
            _ => value.push(sign),
        }
    }
    (text.len(), value)
}

/// Every string of a source file, without those of its tests, its comments and its log.
fn strings(text: &str) -> Vec<String> {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let text = &text[..end];
    let (mut at, mut found) = (0, Vec::new());
    // Until where what is written is logged.
    let mut logged = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let to_log = [
            "trace!(",
            "debug!(",
            "info!(",
            "warn!(",
            "error!(",
            "reason = ",
        ];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with('"') {
            let (length, value) = string(rest);
            if at >= logged {
                found.push(value);
            }
            at += length;
        } else if rest.starts_with("'\"'") {
            at += 3;
        } else {
            if to_log.iter().any(|word| rest.starts_with(word)) && at >= logged {
                let ends = [rest.find(";\n"), rest.find("),\n"), rest.find(")]\n")];
                logged = at + ends.into_iter().flatten().min().unwrap_or(rest.len());
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The constants of a file that are strings.
fn constants(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (at, _) in text.match_indices("const ") {
        let rest = &text[at + 6..];
        let Some((name, value)) = rest.split_once(": &str =") else {
            continue;
        };
        let value = value.trim_start();
        if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') && value.starts_with('"') {
            found.insert(name.to_owned(), string(value).1);
        }
    }
    found
}

/// A sentence with nothing between the braces of what is filled in, and with the text of constants.
fn open(sentence: &str, constants: &BTreeMap<String, String>) -> String {
    let mut rest = &*sentence.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (value, after) = after.split_once('}').unwrap_or((after, ""));
        plain += before;
        plain += constants.get(value).map_or("{}", String::as_str);
        rest = after;
    }
    (plain + rest).replace('\u{1}', "{").replace('\u{2}', "}")
}

/// A sentence with the text of constants, and without it.
fn forms(sentence: &str, constants: &BTreeMap<String, String>) -> [String; 2] {
    [open(sentence, constants), open(sentence, &BTreeMap::new())]
}

/// The sentences of a language in the page's table.
fn table(language: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(TABLE)).unwrap();
    let (_, text) = text.split_once(&format!("\n  {language}: {{\n")).unwrap();
    let (text, _) = text.split_once("\n  },\n").unwrap();
    let lines = text.lines().map(str::trim_start);
    let sentences = lines.filter(|line| !line.starts_with("//"));
    sentences.map(|line| string(line).1).collect()
}

/// A sentence of the table as [`open`] makes one of the source: a brace with a blank in it is no value.
fn plain(sentence: &str) -> String {
    let text = sentence.replace("{ ", "\u{1} ").replace(" }", " \u{2}");
    let text = open(&text, &BTreeMap::new());
    text.replace('\u{1}', "{").replace('\u{2}', "}")
}

/// A sentence: more than one word, in one line.
fn is_sentence(text: &str) -> bool {
    if text.contains('\n') {
        return false;
    }
    let words = text
        .split(' ')
        .filter(|word| word.chars().any(char::is_alphabetic));
    words.count() > 1
}

#[test]
fn every_sentence_that_can_reach_the_page_has_a_german_form() {
    let known: BTreeSet<_> = table("de").iter().map(|known| plain(known)).collect();
    let mut sources = Vec::new();
    for path in HEARD {
        files(&root().join(path), &mut sources);
    }
    let mut missing = BTreeSet::new();
    for text in &sources {
        let constants = constants(text);
        for said in strings(text).into_iter().filter(|said| is_sentence(said)) {
            let is_known = forms(&said, &constants)
                .iter()
                .any(|form| known.contains(form));
            if !is_known && !NOT_FOR_PLAYERS.concat().contains(&said.as_str()) {
                missing.insert(said);
            }
        }
    }
    let missing: Vec<_> = missing.into_iter().collect();
    assert!(
        missing.is_empty(),
        "{TABLE} has no German for:\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_sentence_of_the_table_is_said() {
    let mut sources = Vec::new();
    files(&root().join("src"), &mut sources);
    for name in ["settings.rs", "answer.rs"] {
        sources.push(fs::read_to_string(root().join("src/front_end/web").join(name)).unwrap());
    }
    let mut said = BTreeSet::new();
    for text in &sources {
        let constants = constants(text);
        said.extend(
            strings(text)
                .iter()
                .flat_map(|said| forms(said, &constants)),
        );
    }
    said.extend(MAKES.iter().map(|make| plain(make.title)));
    let german = table("de");
    let past = german.iter().filter(|known| !said.contains(&plain(known)));
    let past: Vec<_> = past.collect();
    assert!(past.is_empty(), "nothing says any more: {past:#?}");
    let unknown: Vec<_> = table("en").difference(&german).cloned().collect();
    assert!(unknown.is_empty(), "not in every language: {unknown:?}");
}
