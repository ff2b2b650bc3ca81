//! Messages for mistakes of a configuration, in plain words instead of serde's.

use figment::{error::Actual, value::Value};

#[cfg(target_os = "linux")]
use crate::front_end::mqtt::settings::REMOTE;
use crate::{
    board::settings::KINDS,
    driver::{
        identity::{Identity, Medium},
        registry::MAKES,
    },
    net::address::is_address,
    text::spelling::like,
};

/// The longest text quoted whole, in characters.
const MAX_REPEATED: usize = 60;
/// Repeatable tables: their names are in double brackets.
const LISTS: [&str; 4] = ["whitepawn", "link", "opponent", "broadcast"];
/// The name of a key: `uci.listen`, or `[[whitepawn]] number 1: tcp.listen`.
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

/// The message that a value is not of the right form.
pub(super) fn unfit(found: &Actual, right: &str) -> String {
    let right = match right {
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        right => right,
    };
    format!("is {right}, not {}", stands(found))
}

/// The message for an unknown key of this name and value.
pub(super) fn no_such_key(
    name: &str,
    make: Option<&Identity>,
    given: Option<&Value>,
    known: &[&str],
) -> String {
    let text = given.and_then(Value::as_str);
    let value = match (text, given.and_then(Value::to_i128)) {
        (Some(text), _) => format!("{text:?}"),
        (None, Some(number)) => number.to_string(),
        (None, None) => "…".to_owned(),
    };
    let by_network =
        make.is_none_or(|make| make.media.contains(&Medium::Tcp)) && text.is_some_and(is_address);
    let (way, inside) = match name {
        "port" => ("serial", format!("port = {value}")),
        "baud" => ("serial", format!("port = \"/dev/ttyUSB0\", baud = {value}")),
        "address" if by_network => ("tcp", format!("address = {value}")),
        "address" if !known.contains(&"ble") => ("rfcomm", format!("address = {value}")),
        "id" => ("hid", format!("id = {value}")),
        "path" => ("hid", format!("path = {value}")),
        "name" | "address" => ("ble", format!("{name} = {value}")),
        "listen" => ("tcp", format!("listen = {value}")),
        _ => ("", String::new()),
    };
    if known.contains(&way) {
        return format!("needs braces: {way} = {{ {inside} }}");
    }
    format!(
        "there is no such key; {} here: {}",
        meant(name, known).map_or("allowed".to_owned(), |meant| format!("{meant} Allowed")),
        known.join(", ")
    )
}

/// The message for an unknown word.
pub(super) fn no_such_value(path: &[String], name: &str, known: &[&str]) -> String {
    let is_kind = path.last().is_some_and(|key| key == "kind");
    let sister = |make: &&Identity| Some((make.kind, (make.sister)(name)?));
    if is_kind && let Some((kind, key)) = MAKES.iter().find_map(sister) {
        return format!(
            "`{name}` is a {key}: write kind = \"{kind}\", and {key} = \"{name}\" below it"
        );
    }
    // One of another daemon's is no board of a driver.
    #[cfg(target_os = "linux")]
    let remote = is_kind.then_some(REMOTE);
    #[cfg(not(target_os = "linux"))]
    let remote = None;
    let known: Vec<&str> = known.iter().copied().chain(remote).collect();
    let meant = meant(name, &known);
    let one_of = meant.map_or("this".to_owned(), |meant| format!("{meant} This"));
    format!(
        "`{name}` is not known; {one_of} is one of: {}",
        known.join(", ")
    )
}

/// `did you mean novag-citrine?`, if one or more of the known words are similar.
fn meant(name: &str, known: &[&str]) -> Option<String> {
    let like = like(name, known);
    (!like.is_empty()).then(|| format!("did you mean {}?", like.join(" or ")))
}

/// What is missing in this table, with an example.
pub(super) fn missing(name: &str, table: Option<&str>) -> String {
    let kinds = format!("kind = \"{}\"", KINDS.join("\", \"")).replacen(", ", ", or ", 1);
    let example = match name {
        "kind" => &*kinds,
        "board" => "board = \"citrine\", the name of one of your [boards.NAME]",
        "boards" => "boards = [\"citrine\", \"neo\"], names of your [boards.NAME]",
        "port" => "port = \"/dev/ttyUSB0\"",
        "address" if table == Some("rfcomm") => "address = \"AA:BB:CC:DD:EE:FF\"",
        "address" => "address = \"192.168.1.20:9700\"",
        "url" => "url = \"mqtt://broker.local:1883\"",
        "mqtt" => "mqtt = { daemon = \"hall-2\", board = \"citrine\" }",
        "round" => "round = \"aBcDeFgH\", the last 8 letters of the round's address",
        _ => return "is missing".to_owned(),
    };
    format!("is missing: for instance {example}")
}

/// The value that was found, in words.
pub(super) fn stands(found: &Actual) -> String {
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
