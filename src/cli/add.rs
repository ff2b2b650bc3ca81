//! `boardbridge add`: the boards that are found, and one of them added.

use std::{
    fmt::Write as _,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    call::{self, CallError},
    secret,
};
use crate::{net::default_ports::DEFAULT_WEB, text::escape::escaped, vocabulary::BoardName};

/// How often it is looked again while nothing is found.
const LOOK: Duration = Duration::from_secs(1);
/// How many times: the daemon listens 8 s for boards in the air.
const LOOKS: usize = 11;

/// What is said where no board is found.
const NONE: &str =
    "No new board is in reach. Plug its cable in or switch it on, then say this again";

/// Add a board that is plugged in or in the air. The key of a board that needs one is asked for, or read from standard input.
#[derive(Debug, Args)]
pub struct Add {
    /// Which one: its ID, or its number in the list.
    id: Option<String>,
    /// How it is to be called.
    #[arg(long, value_name = "NAME")]
    name: Option<BoardName>,
    /// What it is, where that is not known; without it, the board is asked.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Let its lamps run, to see which one it is, and do not add it.
    #[arg(long = "try", requires = "id", conflicts_with = "name")]
    attempt: bool,
    /// The address of the daemon's API.
    #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_WEB)]
    pub connect: String,
}

/// Adds a board; returns what was done, in words.
///
/// # Errors
/// [`CallError`], in words for the caller.
pub async fn add(add: Add) -> Result<String, CallError> {
    let mut name = add.name.as_ref().map(ToString::to_string);
    let (id, found) = if let Some(id) = add.id {
        let found = call::found(&add.connect).await?;
        (id_of(id, &found), found)
    } else {
        let found = look(&add.connect).await?;
        if found.is_empty() {
            let mut lines = call::unseen(&add.connect).await?;
            lines.insert(0, NONE.to_owned());
            return Ok(lines.join("\n"));
        }
        let list = listed(&found);
        let picks = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !picks {
            return Ok(format!(
                "{list}Add one: boardbridge add ID. See which one it is: boardbridge add ID --try"
            ));
        }
        print!("{list}");
        let Some(board) = pick(&found) else {
            return Ok("Nothing was added".to_owned());
        };
        name = name.or_else(its_name);
        (board["id"].as_str().unwrap_or_default().to_owned(), found)
    };
    let mut body = json!({});
    if let Some(name) = name {
        body["name"] = name.into();
    }
    if let Some(kind) = add.kind.clone().or_else(|| kind_of(&found, &id))
        && call::keyed(&add.connect).await?.contains(&kind)
    {
        let Ok(key) = secret::line("Its developer key, which is not shown (Enter: later): ") else {
            return Ok("Nothing was added".to_owned());
        };
        if !key.is_empty() {
            body["key"] = key.into();
        }
    }
    if let Some(kind) = add.kind {
        body["kind"] = kind.into();
    }
    if add.attempt {
        return call::attempt(&add.connect, &id, &body).await;
    }
    call::add(&add.connect, &id, &body).await
}

/// The ID that was said, or that of the board with this number in the list.
fn id_of(said: String, found: &[Value]) -> String {
    let is_id = found.iter().any(|board| board["id"] == said.as_str());
    let number = said.parse().ok().filter(|_| !is_id);
    let id = number.and_then(|number| numbered(found, number));
    id.and_then(|board| board["id"].as_str())
        .map_or(said, str::to_owned)
}

/// The board with this number in the list, which begins with 1.
fn numbered(found: &[Value], number: usize) -> Option<&Value> {
    found.get(number.checked_sub(1)?)
}

/// What this board is, if it can be one kind only.
fn kind_of(found: &[Value], id: &str) -> Option<String> {
    let board = found.iter().find(|board| board["id"] == id)?;
    let [only] = &board["kinds"].as_array()?[..] else {
        return None;
    };
    only.as_str().map(str::to_owned)
}

/// What is found; waits a little for boards in the air.
async fn look(connect: &str) -> Result<Vec<Value>, CallError> {
    for _ in 1..LOOKS {
        let found = call::found(connect).await?;
        if !found.is_empty() {
            return Ok(found);
        }
        sleep(LOOK).await;
    }
    call::found(connect).await
}

fn listed(found: &[Value]) -> String {
    let mut text = String::new();
    for (number, board) in (1..).zip(found) {
        let word = |key: &str| escaped(board[key].as_str().unwrap_or_default());
        // A `String` takes everything.
        let _ = writeln!(
            text,
            "{number}. {} {}: {}",
            word("id"),
            word("name"),
            word("why")
        );
    }
    text
}

fn pick(found: &[Value]) -> Option<&Value> {
    if let [only] = found {
        let answer = question("Add it (y)? ")?;
        return answer.eq_ignore_ascii_case("y").then_some(only);
    }
    numbered(found, question("Which one (its number)? ")?.parse().ok()?)
}

/// A name for the board; asked again until it can be one.
fn its_name() -> Option<String> {
    loop {
        let name = question("Its name (Enter: after its kind): ")?;
        match name.parse::<BoardName>() {
            Ok(_) => return Some(name),
            Err(error) => println!("{error}"),
        }
    }
}

/// Asks whoever sits there; `None` without an answer.
fn question(words: &str) -> Option<String> {
    print!("{words}");
    let _ = io::stdout().flush();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_owned()).filter(|answer| !answer.is_empty())
}
