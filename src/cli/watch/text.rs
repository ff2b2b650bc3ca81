//! The event stream for a person: a JSON object goes in, text comes out.
//!
//! Unknown data from a daemon of another version is shown as far as it is understood; missing data is left out.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::Value;

use crate::{
    text::escape::escaped,
    vocabulary::{NEW_GAME, SET_UP},
};

/// Moves of a game that are shown; the last ones suffice to follow it.
const SHOWN: usize = 3;

/// Turns the stream's lines into text. It remembers the width of the boards' names, and what it wrote last.
#[derive(Debug, Default)]
pub struct Text {
    width: usize,
    begun: bool,
    /// The block that the last output belongs to.
    last: Option<Block>,
    /// The boards on which pieces are being set up, so that their lists are not mistakes.
    set_up: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Daemon,
    Board,
    Clients,
}

impl Text {
    /// A line of the stream as text, without the last line's end; `None` if a person need not see it.
    pub fn line(&mut self, line: &Value) -> Option<String> {
        let line = &printable(line);
        self.note(line);
        let (text, block) = match word(line, "event") {
            "daemon" => (self.daemon(line), Some(Block::Daemon)),
            "snapshot" => (board(line), Some(Block::Board)),
            "client-snapshot" => (client(line), Some(Block::Clients)),
            "lagged" => (lagged(line), None),
            _ => (self.event(line)?, None),
        };
        // Blocks are separated by an empty line, and the clients form one block.
        let parted = match (self.last, block) {
            (None, None) => false,
            (Some(Block::Clients), Some(Block::Clients)) => false,
            (None, Some(_)) => self.begun,
            _ => true,
        };
        self.begun = true;
        self.last = block;
        Some(if parted { format!("\n{text}") } else { text })
    }

    /// Remembers what the hand is doing.
    fn note(&mut self, line: &Value) {
        let advice = match word(line, "event") {
            "snapshot" => word(line, "advice"),
            "advice" => word(line, "text"),
            _ => return,
        };
        let board = word(line, "board");
        if sets_up(advice) {
            self.set_up.insert(board.to_owned());
        } else {
            self.set_up.remove(board);
        }
    }

    fn daemon(&mut self, line: &Value) -> String {
        let boards: Vec<&str> = words(line, "boards").collect();
        self.width = boards
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        let at = word(line, "at");
        let (day, time) = (at.get(..10).unwrap_or_default(), time(at));
        let mut text = format!(
            "BoardBridge {}, {day} {time} UTC (all times here are UTC): ",
            word(line, "version")
        );
        let _ = write!(
            text,
            "{}, {}",
            counted(boards.len() as u64, "board"),
            counted(line["clients"].as_u64().unwrap_or(0), "client")
        );
        if let Some(watchers @ 2..) = line["watchers"].as_u64() {
            let _ = write!(text, ", {watchers} watchers");
        }
        text
    }

    fn event(&self, line: &Value) -> Option<String> {
        let text = word(line, "text");
        let words = match word(line, "event") {
            "moved" => match word(line, "by") {
                "hand" => format!("{} by hand{}", made(line), taken(&line["took"], ", ")),
                "hand-unseen" => format!("{} by hand, while the board was away", made(line)),
                _ => format!("{} shown on the board", made(line)),
            },
            "took-back" => match word(line, "by") {
                "target" => format!("{} taken back for the program", made(line)),
                _ => format!("{} taken back by hand", made(line)),
            },
            "executed" => format!("{} executed", made(line)),
            "client" => format!("{}: {text}", word(line, "client")),
            "unreadable" => format!("unreadable: {text}"),
            "guidance" if text.is_empty() => return None,
            "guidance" => format!(
                "{}: {text}",
                task(self.set_up.contains(word(line, "board")))
            ),
            // `players` is shown as well.
            "target" if line["game"].is_null() => return None,
            _ => text.to_owned(),
        };
        let name = line["board"].as_str().unwrap_or("-");
        let (width, time) = (self.width, time(word(line, "at")));
        (!words.is_empty()).then(|| format!("{time}  {name:width$}  {words}"))
    }
}

/// A board's block, with one known item a line.
fn board(line: &Value) -> String {
    let mut text = format!("{}  {}", word(line, "board"), link(line));
    let mut say = |label: &str, words: &str| {
        if !words.is_empty() {
            let _ = write!(text, "\n  {label:<9}  {words}");
        }
    };
    say("game", &game(line));
    say("over", &ending(line));
    if !line["target"].is_null() && line["target"] != line["game"] {
        say("led to", &shortened(word(line, "target")));
    }
    say("with", &players(line));
    let advice = word(line, "advice");
    // The first line already has these.
    if !matches!(word(line, "link"), "down" | "silent" | "stranger") {
        say("do", advice);
    }
    let actions = line["guidance"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, action) in actions.iter().enumerate() {
        let label = if number == 0 {
            task(sets_up(advice))
        } else {
            ""
        };
        say(label, &format!("{}. {}", number + 1, word(action, "text")));
    }
    text
}

/// Whether this advice is to put pieces where they have not been.
fn sets_up(advice: &str) -> bool {
    [NEW_GAME, SET_UP]
        .iter()
        .any(|task| advice.starts_with(task))
}

/// The purpose of a list of carries.
fn task(sets_up: bool) -> &'static str {
    if sets_up { "set up" } else { "put right" }
}

fn link(line: &Value) -> String {
    let mut text = match word(line, "link") {
        "down" => "no link",
        "asking" => "asked, no answer yet",
        "unheard" => "the port is open",
        "silent" => "silent: is it switched on?",
        "stranger" => "of the wrong kind",
        link => link,
    }
    .to_owned();
    if let Some(id) = line["id"].as_str() {
        let _ = write!(text, " ({id})");
    }
    if let Some(way) = line["transport"].as_str() {
        let _ = write!(text, ", {way}");
    }
    if let Some(percent) = line["battery"].as_u64() {
        let _ = write!(text, ", battery {percent} %");
    }
    if let Some(why) = line["why"].as_str() {
        let _ = write!(text, ": {why}");
    }
    text
}

fn game(line: &Value) -> String {
    let last = &line["last"];
    let mut text = if last.is_object() {
        let by = if last["by"] == "hand" {
            ", by hand"
        } else {
            ""
        };
        format!("last move {}{by}{}", made(last), taken(&last["took"], ", "))
    } else if word(line, "game").starts_with("fen") {
        "a position, no move yet".to_owned()
    } else if line["sure"] == false {
        return "not known yet".to_owned();
    } else {
        "at the start".to_owned()
    };
    match word(line, "turn") {
        _ if !line["ending"].is_null() => {}
        "white" => text.push_str("; White to move"),
        "black" => text.push_str("; Black to move"),
        _ => {}
    }
    if line["sure"] == false {
        text.push_str("; not known for certain");
    }
    text
}

fn ending(line: &Value) -> String {
    let told = line["ending"].as_str().or(line["result"].as_str());
    let mut text = told.unwrap_or_default().replace('-', " ");
    if let Some(outcome) = line["outcome"].as_str().filter(|outcome| *outcome != "*") {
        let _ = write!(text, ", {outcome}");
    }
    text
}

fn players(line: &Value) -> String {
    let holders: Vec<&str> = words(line, "holders").collect();
    let waiting: Vec<&str> = words(line, "waiting").collect();
    let mut text = if holders.is_empty() {
        "nobody".to_owned()
    } else {
        holders.join(" and ")
    };
    if line["awaiting"] == true {
        text.push_str(", waiting for a move");
    }
    if !waiting.is_empty() {
        let _ = write!(text, "; waiting: {}", waiting.join(", "));
    }
    text
}

/// A client's line.
fn client(line: &Value) -> String {
    let (name, since) = (word(line, "client"), time(word(line, "since")));
    let kind = match word(line, "kind") {
        "gui" => " (a GUI)",
        _ => "",
    };
    let mut text = format!("{name}{kind}: ");
    if word(line, "kind") == "left-out" {
        text += word(line, "why");
        return text;
    }
    let _ = match line["peer"].as_str() {
        Some(peer) if peer != name => write!(text, "connected since {since}, from {peer}"),
        Some(_) => write!(text, "connected since {since}"),
        None => {
            let why = line["why"]
                .as_str()
                .map(|why| format!("cannot connect: {why}"));
            // A link is part of the daemon: it has no connection to lose.
            let is_here = word(line, "kind") == "link" && why.is_none();
            let how = if is_here { "linked" } else { "away" };
            let away = (!since.is_empty()).then(|| format!("{how} since {since}"));
            let said: Vec<String> = away.into_iter().chain(why).collect();
            if said.is_empty() {
                write!(text, "has not connected yet")
            } else {
                write!(text, "{}", said.join(", "))
            }
        }
    };
    let board = line["board"].as_str();
    let _ = match (word(line, "state"), board) {
        ("has", Some(board)) => write!(text, "; has {board}"),
        ("waits", Some(board)) => write!(text, "; waits for {board}"),
        (_, Some(board)) => write!(text, "; using {board}"),
        (_, None) => match line["default_board"].as_str() {
            Some(board) => write!(text, "; on {board}, unless it chooses another board"),
            None => write!(text, "; no board chosen"),
        },
    };
    let opponent = match word(line, "opponent") {
        "nobody" => ", both sides played here",
        "engine" => ", against an engine",
        "whitepawn" => ", over WhitePawn",
        "lichess" => ", on Lichess",
        _ => "",
    };
    text.push_str(opponent);
    if line["awaiting"] == true {
        text.push_str(", awaits a move");
    }
    text
}

fn lagged(line: &Value) -> String {
    let missed = line["missed"].as_u64().unwrap_or(0);
    format!("{} missed; the current state:", counted(missed, "event"))
}

/// A move in SAN and as on the wire: `14... Nf6 (g8f6)`.
fn made(line: &Value) -> String {
    let uci = word(line, "uci");
    let (Some(san), Some(number)) = (line["san"].as_str(), line["number"].as_u64()) else {
        return match line["ply"].as_u64() {
            Some(ply) => format!("ply {ply}: {uci}"),
            None => uci.to_owned(),
        };
    };
    let dots = if line["color"] == "black" { "..." } else { "." };
    format!("{number}{dots} {san} ({uci})")
}

/// A time in seconds, for a person, after its separator; empty if unknown.
fn taken(took: &Value, before: &str) -> String {
    let Some(seconds) = took
        .as_f64()
        .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
    else {
        return String::new();
    };
    if seconds < 10.0 {
        return format!("{before}{seconds:.1} s");
    }
    if seconds < 60.0 {
        return format!("{before}{seconds:.0} s");
    }
    let whole = std::time::Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .as_secs();
    format!("{before}{} min {} s", whole / 60, whole % 60)
}

/// `1 board`, `2 boards`.
fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// The last moves of a game.
fn shortened(game: &str) -> String {
    let Some((start, moves)) = game.split_once(" moves ") else {
        return game.to_owned();
    };
    let moves: Vec<&str> = moves.split(' ').collect();
    match moves.len().checked_sub(SHOWN) {
        None | Some(0) => game.to_owned(),
        Some(before) => format!(
            "{start}, {} plies: … {}",
            moves.len(),
            moves[before..].join(" ")
        ),
    }
}

/// The time of day in an RFC 3339 time.
fn time(at: &str) -> &str {
    at.get(11..19).unwrap_or_default()
}

fn word<'a>(line: &'a Value, key: &str) -> &'a str {
    line[key].as_str().unwrap_or_default()
}

fn words<'a>(line: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    line[key]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// The same with its texts escaped: a name must not control the terminal, or begin a new line.
fn printable(value: &Value) -> Value {
    match value {
        Value::String(text) => escaped(text).into(),
        Value::Array(values) => values.iter().map(printable).collect(),
        Value::Object(keys) => keys
            .iter()
            .map(|(key, value)| (key.clone(), printable(value)))
            .collect(),
        other => other.clone(),
    }
}
