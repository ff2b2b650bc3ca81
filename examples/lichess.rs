//! The Lichess in software of the tests, for tests of the page: `cargo run --example lichess`. It says where it is; each line of the
//! standard input is what happens there: `begins white`, `moves e7e5`, `takes e2e4` (waits for the hand's move), `ends mate white`;
//! `challenges Chal0001` by another player, `withdraws Chal0001`, `hears accept Chal0001` (waits for what is asked of it).

#![allow(
    dead_code,
    missing_docs,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and uses a part of it"
)]

#[cfg(target_os = "linux")]
#[path = "../tests/support/lichess.rs"]
mod lichess;
#[cfg(target_os = "linux")]
#[path = "../tests/support/schema.rs"]
mod schema;

/// How long anything awaited may take.
#[cfg(target_os = "linux")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn main() {
    use crate::lichess::{Lichess, Style, challenge};
    use serde_json::json;
    use shakmaty::Color;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    let lichess = Lichess::new(Style {
        clock: Some(900),
        ..Style::default()
    })
    .await;
    println!("http://{}", lichess.address);
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["begins", color] => {
                lichess.is_connected().await;
                lichess.begins(color.parse().unwrap());
            }
            ["moves", m] => lichess.moves(m.parse().unwrap()),
            ["takes", m] => lichess.takes(&format!("move {m}")).await,
            ["challenges", id] => lichess.tells(&json!({
                "type": "challenge", "challenge": challenge(id, "in"), "compat": { "bot": false, "board": true },
            })),
            ["withdraws", id] => lichess.tells(&json!({
                "type": "challengeCanceled", "challenge": challenge(id, "in"),
            })),
            ["hears", ..] => lichess.takes(line.trim_start_matches("hears ")).await,
            ["ends", "mate", winner] => {
                lichess.ends("mate", Some(winner.parse::<Color>().unwrap()))
            }
            _ => panic!("{line}"),
        }
        println!("{line}");
    }
    lichess.is_content();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("Linux only");
}
