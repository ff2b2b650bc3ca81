//! Commands from a GUI, as types. Source: the UCI specification (Meyer-Kahlen and Huber, 2006).

use std::time::Duration;

use shakmaty::{ByColor, uci::UciMove};

/// The relay's sign of life. It is not UCI: a daemon that does not know it ignores it.
pub const ALIVE: &str = "alive";

/// The commands a GUI may send.
const COMMANDS: [&str; 11] = [
    ALIVE,
    "uci",
    "isready",
    "ucinewgame",
    "debug",
    "setoption",
    "position",
    "go",
    "stop",
    "ponderhit",
    "quit",
];

/// One line from a GUI.
#[derive(Debug)]
pub enum UciCommand<'a> {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `debug on`, `debug off`
    Debug(bool),
    /// `setoption name … [value …]`
    SetOption {
        /// The option's name.
        name: String,
        /// Its value; `None` for a button.
        value: Option<String>,
    },
    /// `position …`: the words after it. `statement` reads them.
    Position(&'a str),
    /// `go …`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
    /// [`ALIVE`]
    Alive,
    /// Anything else: ignored, as the specification asks.
    Unknown,
}

/// How a search ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// With the hand's move.
    #[default]
    Move,
    /// With `stop`.
    Infinite,
    /// With `ponderhit` or `stop`.
    Ponder,
}

/// The parts of `go` that matter to a hand. Depth, nodes and movetime do not hurry it.
#[derive(Clone, Debug, Default)]
pub struct Go {
    /// How the search ends.
    pub mode: Mode,
    /// The only moves wanted; empty for any.
    pub search_moves: Vec<UciMove>,
    /// What each side has left, if the game has clocks.
    pub left: ByColor<Option<Duration>>,
}

/// The mark of UTF-8, which some programs on Windows write before their first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The first word of a line that is a command, and what follows it. Words before it are skipped, as the specification asks.
pub fn head(line: &str) -> Option<(&str, &str)> {
    let mut rest = line.trim_start_matches(BYTE_ORDER_MARK).trim();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim_start();
        if COMMANDS.contains(&word) {
            return Some((word, rest));
        }
    }
    None
}

/// Reads one line (without its end).
pub fn parse(line: &str) -> UciCommand<'_> {
    let Some((command, rest)) = head(line) else {
        return UciCommand::Unknown;
    };
    match command {
        "uci" => UciCommand::Uci,
        "isready" => UciCommand::IsReady,
        "ucinewgame" => UciCommand::NewGame,
        "debug" => match rest.split_whitespace().next() {
            Some("on") => UciCommand::Debug(true),
            Some("off") => UciCommand::Debug(false),
            _ => UciCommand::Unknown,
        },
        "setoption" => match option(rest) {
            Some((name, value)) => UciCommand::SetOption { name, value },
            None => UciCommand::Unknown,
        },
        "position" => UciCommand::Position(rest),
        "go" => UciCommand::Go(parse_go(rest)),
        "stop" => UciCommand::Stop,
        "ponderhit" => UciCommand::PonderHit,
        "quit" => UciCommand::Quit,
        ALIVE => UciCommand::Alive,
        _ => UciCommand::Unknown,
    }
}

/// The name and the value in what follows `setoption`; a button has no value.
pub fn option(rest: &str) -> Option<(String, Option<String>)> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let Some((&"name", words)) = words.split_first() else {
        return None;
    };
    let value = words.iter().position(|word| *word == "value");
    let name = words[..value.unwrap_or(words.len())].join(" ");
    Some((name, value.map(|at| words[at + 1..].join(" "))))
}

fn parse_go(rest: &str) -> Go {
    let mut go = Go::default();
    let mut words = rest.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "infinite" => go.mode = Mode::Infinite,
            "ponder" => go.mode = Mode::Ponder,
            "searchmoves" => {
                while let Some(m) = words.peek().and_then(|word| word.parse().ok()) {
                    go.search_moves.push(m);
                    words.next();
                }
            }
            "wtime" => go.left.white = words.peek().and_then(|word| time(word)),
            "btime" => go.left.black = words.peek().and_then(|word| time(word)),
            _ => {}
        }
    }
    go
}

/// Milliseconds. Some programs count on below zero.
fn time(word: &str) -> Option<Duration> {
    let left: i64 = word.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_before_a_known_one_are_skipped() {
        assert!(matches!(parse("joho debug on"), UciCommand::Debug(true)));
        assert!(matches!(parse("hello world"), UciCommand::Unknown));
    }

    #[test]
    fn a_byte_order_mark_before_the_first_command_is_no_part_of_it() {
        assert!(matches!(parse("\u{feff}uci"), UciCommand::Uci));
    }

    #[test]
    fn an_options_name_and_value_may_have_blanks() {
        let UciCommand::SetOption { name, value } = parse("setoption name Board ready") else {
            panic!("no option");
        };
        assert_eq!((name.as_str(), value), ("Board ready", None));
        let UciCommand::SetOption { name, value } = parse("setoption name Board value my board")
        else {
            panic!("no option");
        };
        assert_eq!(
            (name.as_str(), value.as_deref()),
            ("Board", Some("my board"))
        );
    }

    #[test]
    fn searchmoves_end_where_another_word_begins() {
        let UciCommand::Go(go) = parse("go searchmoves e2e4 d2d4 infinite wtime 1000") else {
            panic!("no go");
        };
        assert_eq!(go.search_moves.len(), 2);
        assert_eq!(go.mode, Mode::Infinite);
        assert_eq!(go.left.white, Some(Duration::from_secs(1)));
    }

    #[test]
    fn the_clocks_are_read_and_one_below_zero_has_run_out() {
        let UciCommand::Go(go) = parse("go wtime -50 btime 61000 winc 1000 binc 1000") else {
            panic!("no go");
        };
        let left = [go.left.white, go.left.black];
        assert_eq!(left, [Some(Duration::ZERO), Some(Duration::from_secs(61))]);
        let UciCommand::Go(go) = parse("go wtime btime soon") else {
            panic!("no go");
        };
        assert_eq!([go.left.white, go.left.black], [None, None]);
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_fault(line in "\\PC{0,120}") {
            let _ = parse(&line);
        }
    }
}
