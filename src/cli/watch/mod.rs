//! `boardbridge watch`: shows what a running daemon does, as text or as JSON lines.

pub mod text;

use std::{
    io::{self, Write},
    pin::pin,
    time::Duration,
};

use serde_json::Value;
use thiserror::Error;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

use crate::{
    log::outlet::Output,
    net::reach::{Responder, Wanted, unreachable},
    system::apart,
    text::escape::escaped_json,
    transport::tcp::{CONNECT_WAIT, watch_over},
};
use text::Text;

/// The longest line read, in bytes: the longest possible game, in three notations, has about 100 kB.
pub const MAX_LINE: u64 = 1024 * 1024;
/// How long the first line may take. While the service restarts, its port is open and silent (see the relay's `GREETING_WAIT`);
/// whatever is silent for longer is something else.
pub const FIRST_WAIT: Duration = Duration::from_secs(15);

/// After this silence the other end is asked what it is.
const ASK_AFTER: Duration = Duration::from_secs(1);

/// Why there is nothing more to see.
#[derive(Debug, Error)]
pub enum WatchError {
    /// Nothing answers at the address, or it is invalid; in words.
    #[error("{0}")]
    Unreachable(String),
    /// Something other than a daemon's event stream answers; in words.
    #[error("{0}")]
    NoStream(String),
    /// There is no such board.
    #[error("there is no board named {board}; {}", there_is(.boards))]
    NoBoard {
        /// The name asked for.
        board: String,
        /// The boards that exist.
        boards: Vec<String>,
    },
    /// The connection broke.
    #[error("the connection to {address} broke: {source}")]
    Broken {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(io::Error),
}

fn there_is(boards: &[String]) -> String {
    if boards.is_empty() {
        return "the daemon has none: add a [boards.NAME] to its configuration".to_owned();
    }
    format!("there is: {}", boards.join(", "))
}

/// Why the events ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The daemon closed the stream.
    Daemon,
    /// Another watcher takes its place; that has been printed.
    GaveWay,
    /// The reader of the output, for instance `head`, has closed it.
    Reader,
}

/// Prints events until the daemon or the reader goes away.
///
/// # Errors
/// [`WatchError`], worded for a person.
pub async fn run(address: &str, board: Option<&str>, as_json: bool) -> Result<Ended, WatchError> {
    let mut output = io::stdout();
    let no_stream = |found: &Responder| WatchError::NoStream(found.told(address, Wanted::Status));
    let mut reader = connect(address).await?;
    let mut text = Text::default();
    let mut read = Vec::new();
    let mut gone = pin!(Output::reader_gone());
    loop {
        let first = read.is_empty();
        read.clear();
        let line = async {
            if first {
                first_line(&mut reader, &mut read).await
            } else {
                (&mut reader)
                    .take(MAX_LINE)
                    .read_until(b'\n', &mut read)
                    .await
            }
        };
        tokio::select! {
            () = &mut gone => return Ok(Ended::Reader),
            line = line => line.map_err(|source| match source.kind() {
                io::ErrorKind::TimedOut if first => no_stream(&Responder::Silence),
                _ => WatchError::Broken { address: address.to_owned(), source },
            })?,
        };
        if read.is_empty() && !first {
            return Ok(Ended::Daemon);
        }
        let Ok(event) = serde_json::from_slice::<Value>(&read) else {
            // A daemon that is killed may leave half a line.
            let whole = read.ends_with(b"\n") || read.len() as u64 >= MAX_LINE;
            if first || whole {
                let found = if read.is_empty() {
                    Responder::Closed
                } else {
                    Responder::by(&read)
                };
                return Err(no_stream(&found));
            }
            return Ok(Ended::Daemon);
        };
        if !concerns(&event, board)? {
            continue;
        }
        let printed = if as_json {
            let line = String::from_utf8_lossy(read.trim_ascii_end());
            writeln!(output, "{}", escaped_json(&line))
        } else if let Some(text) = text.line(&event) {
            writeln!(output, "{text}")
        } else {
            continue;
        };
        match printed.and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Ended::Reader),
            other => other.map_err(WatchError::Output)?,
        }
        if event["event"] == "closed" {
            return Ok(Ended::GaveWay);
        }
    }
}

/// Whether to show an event to a user who wants to see this board.
fn concerns(event: &Value, board: Option<&str>) -> Result<bool, WatchError> {
    let Some(name) = board else { return Ok(true) };
    if event["event"] == "daemon"
        && let Some(boards) = event["boards"].as_array()
        && !boards.iter().any(|board| board == name)
    {
        let boards = boards.iter().filter_map(Value::as_str);
        return Err(WatchError::NoBoard {
            board: name.to_owned(),
            boards: boards.map(ToOwned::to_owned).collect(),
        });
    }
    // A client that has not chosen a board yet may choose this one.
    Ok(event["board"].is_null() || event["board"] == name)
}

/// Reads the first line. A daemon's port for chess programs is silent until it is asked.
async fn first_line(reader: &mut BufReader<TcpStream>, read: &mut Vec<u8>) -> io::Result<usize> {
    let mut limited = (&mut *reader).take(MAX_LINE);
    if let Ok(done) = timeout(ASK_AFTER, limited.read_until(b'\n', read)).await {
        return done;
    }
    reader.get_mut().write_all(b"uci\n").await?;
    let mut limited = reader.take(MAX_LINE);
    let late = |_| Err(io::ErrorKind::TimedOut.into());
    timeout(FIRST_WAIT, limited.read_until(b'\n', read))
        .await
        .unwrap_or_else(late)
}

async fn connect(address: &str) -> Result<BufReader<TcpStream>, WatchError> {
    let connecting = timeout(CONNECT_WAIT, apart::connect(address)).await;
    let connected = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let stream = connected
        .map_err(|error| WatchError::Unreachable(unreachable(address, &error, Wanted::Status)))?;
    // Without it, a dead machine at the other end would be noticed late, which is no reason to fail.
    let _ = watch_over(&stream);
    Ok(BufReader::new(stream))
}
