//! Mistakes of a configuration in plain words, where serde has its own.

use figment::error::Actual;

use super::whitepawn::RFCOMM_CHANNELS;

/// The longest text that is repeated whole, in characters.
const MAX_REPEATED: usize = 60;
/// Tables that there may be several of: each stands below its name in two brackets.
const LISTS: [&str; 2] = ["whitepawn", "link"];
/// Tables that there is one of.
const SINGLE: [&str; 3] = ["uci", "status", "games"];

/// What a key is called: `uci.listen`, or `[[whitepawn]] number 1: tcp.listen`.
pub(super) fn key(path: &[String]) -> String {
    let number = |index: &String| index.parse::<usize>().ok().map(|index| index + 1);
    match path {
        [list, index, rest @ ..] if LISTS.contains(&list.as_str()) => {
            let entry = number(index).map_or(format!("{list}.{index}"), |number| {
                format!("[[{list}]] number {number}")
            });
            match rest {
                [] => entry,
                [key, index] if number(index).is_some() => format!("{entry}: {key}"),
                rest => format!("{entry}: {}", rest.join(".")),
            }
        }
        // One of a list of values.
        [most @ .., index] if most.len() == 3 && number(index).is_some() => most.join("."),
        path => path.join("."),
    }
}

/// What is wrong where `found` stands, and serde wants something else.
pub(super) fn unfit(path: &[String], found: &Actual, wanted: &str) -> String {
    if let [list] = path
        && LISTS.contains(&list.as_str())
    {
        return format!("write [[{list}]], with two brackets");
    }
    format!("is {}, not {}", right(path, wanted), stands(found))
}

/// What is wrong with a table that stands in two brackets by mistake.
pub(super) fn one_bracket(path: &[String]) -> Option<String> {
    let is_index = |part: &String| part.parse::<usize>().is_ok();
    let head = match path {
        [single, index, ..] if SINGLE.contains(&single.as_str()) && is_index(index) => {
            single.clone()
        }
        [boards, board, index, ..] if boards == "boards" && is_index(index) => {
            format!("boards.{board}")
        }
        _ => return None,
    };
    Some(format!(
        "there is only one: write [{head}], with one bracket"
    ))
}

/// What is missing, with an example.
pub(super) fn missing(name: &str) -> String {
    let example = match name {
        "kind" => "kind = \"novag-citrine\", or \"novag-ucb\", \"miko-neo\", \"swpp\"",
        "board" => "board = \"citrine\", the name of one of your [boards.NAME]",
        "boards" => "boards = [\"citrine\", \"neo\"], names of your [boards.NAME]",
        "port" => "port = \"/dev/ttyUSB0\"",
        "address" => "address = \"192.168.1.20:9700\"",
        _ => return "is missing".to_owned(),
    };
    format!("is missing: for instance {example}")
}

/// What should stand there.
fn right(path: &[String], wanted: &str) -> String {
    let named = path.iter().rfind(|part| part.parse::<usize>().is_err());
    let is_list = wanted == "a sequence";
    let (first, last) = (RFCOMM_CHANNELS.start(), RFCOMM_CHANNELS.end());
    let by_key = match named.map_or("", String::as_str) {
        "baud" => "a number such as 115200",
        "channel" => return format!("a number from {first} to {last}"),
        "position_format" => "1 or 2",
        "parking" if is_list => "a list such as [8, -1]",
        "parking" => "a number such as 8 or -1",
        "boards" if is_list => "a list such as [\"citrine\", \"neo\"]",
        "kind" => "a text in quotes such as \"novag-citrine\"",
        "dialect" => "a text in quotes such as \"star-diamond\"",
        "promotion" => "\"option\" or \"gesture\"",
        _ => "",
    };
    let text = match wanted {
        _ if !by_key.is_empty() => by_key,
        "a string" | "path string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "written as tables: [boards.citrine]",
        wanted => wanted,
    };
    text.to_owned()
}

/// What stands there.
fn stands(found: &Actual) -> String {
    match found {
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(number) => format!("the number {number}"),
        Actual::Signed(number) => format!("the number {number}"),
        Actual::Float(number) => format!("the number {number}"),
        Actual::Char(letter) => format!("the text {:?}", letter.to_string()),
        Actual::Str(text) if text.chars().count() <= MAX_REPEATED => format!("the text {text:?}"),
        Actual::Str(_) => "such a text".to_owned(),
        Actual::Map => "a table".to_owned(),
        Actual::Seq => "a list".to_owned(),
        other => other.to_string(),
    }
}
