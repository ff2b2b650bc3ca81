//! `boardbridge watch`: the events of a running daemon, for a person or as JSON lines.

use std::{
    fmt::Write as _,
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
};

use serde_json::Value;

/// Prints events until the daemon or the reader goes away.
///
/// # Errors
/// No daemon there, or the connection broke.
pub fn run(address: &str, board: Option<&str>, as_json: bool) -> io::Result<()> {
    let stream = TcpStream::connect(address)?;
    let mut output = io::stdout();
    for line in BufReader::new(stream).lines() {
        let line = line?;
        let Ok(event) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if board.is_some_and(|board| event["board"] != board && !event["board"].is_null()) {
            continue;
        }
        if !as_json && event["event"] == "advice" && event["text"] == "" {
            continue;
        }
        let text = if as_json { line } else { in_words(&event) };
        match writeln!(output, "{text}").and_then(|()| output.flush()) {
            // The reader, for instance `head`, has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

fn in_words(event: &Value) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let time = text("at").get(11..19).unwrap_or_default();
    match text("event") {
        "snapshot" => {
            let mut line = format!("{time} {}: link {}", text("board"), text("link"));
            if let Some(why) = event["why"].as_str() {
                let _ = write!(line, " ({why})");
            }
            if let Some(id) = event["id"].as_str() {
                let _ = write!(line, ", {id}");
            }
            let _ = write!(line, "; {}", text("game"));
            if !text("advice").is_empty() {
                let _ = write!(line, "; {}", text("advice"));
            }
            line
        }
        "lagged" => format!("some events were missed: {}", event["missed"]),
        _ => format!("{time} {}: {}", text("board"), text("text")),
    }
}
