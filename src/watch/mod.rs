//! `boardbridge watch`: what a running daemon does, for a person or as JSON lines.

pub mod text;

use std::{
    io::{self, Write},
    pin::pin,
    time::Duration,
};

use serde_json::Value;
use thiserror::Error;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::TcpStream,
    time::timeout,
};

use crate::{
    status::MAX_WATCHERS,
    transport::tcp::{CONNECT_WAIT, watch_over},
};
use text::Text;

/// The longest line read, bytes: the longest game there may be, told in three ways, has some 100 kB.
pub const MAX_LINE: u64 = 1024 * 1024;
/// A daemon says how things stand at once: what says nothing for so long is something else.
pub const FIRST_WAIT: Duration = Duration::from_secs(10);

/// Why there is nothing more to see.
#[derive(Debug, Error)]
pub enum WatchError {
    /// Nothing answers at the address.
    #[error(
        "nothing answers at {address} ({source}). Start the daemon with `boardbridge run`, or `sudo systemctl start \
         boardbridge` where it is installed; `boardbridge demo` needs no board. If its `[status] listen` is another \
         address, say `--connect HOST:PORT`"
    )]
    NoDaemon {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// What answers is no daemon's event stream, or has no place for one more watcher.
    #[error(
        "what answers at {0} does not say how things stand: it is not the daemon's event stream (`[status] listen` in its \
         configuration, 127.0.0.1:9680 unless that was changed), or {MAX_WATCHERS} watch already"
    )]
    NoStream(String),
    /// There is no such board.
    #[error("there is no board named {board}; {}", there_is(.boards))]
    NoBoard {
        /// The name asked for.
        board: String,
        /// The boards there are.
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

/// Why the events ended, without anything being wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The daemon closed the stream.
    Daemon,
    /// Whoever read the output, for instance `head`, has seen enough.
    Reader,
}

/// Prints events until the daemon or the reader goes away.
///
/// # Errors
/// [`WatchError`], worded for a person.
pub async fn run(address: &str, board: Option<&str>, as_json: bool) -> Result<Ended, WatchError> {
    let mut output = io::stdout();
    let mut reader = connect(address).await?;
    let mut text = Text::default();
    let mut read = Vec::new();
    let mut gone = pin!(reader_gone());
    loop {
        let first = read.is_empty();
        read.clear();
        let mut limited = (&mut reader).take(MAX_LINE);
        let line = async {
            let reading = limited.read_until(b'\n', &mut read);
            if !first {
                return reading.await;
            }
            timeout(FIRST_WAIT, reading).await.unwrap_or(Ok(0))
        };
        tokio::select! {
            () = &mut gone => return Ok(Ended::Reader),
            line = line => line.map_err(|source| WatchError::Broken { address: address.to_owned(), source })?,
        };
        if read.is_empty() && !first {
            return Ok(Ended::Daemon);
        }
        let Ok(event) = serde_json::from_slice::<Value>(&read) else {
            // A daemon that is killed may leave half a line.
            let whole = read.ends_with(b"\n") || read.len() as u64 >= MAX_LINE;
            if first || whole {
                return Err(WatchError::NoStream(address.to_owned()));
            }
            return Ok(Ended::Daemon);
        };
        if !concerns(&event, board)? {
            continue;
        }
        let printed = if as_json {
            output.write_all(&read)
        } else if let Some(text) = text.line(&event) {
            writeln!(output, "{text}")
        } else {
            continue;
        };
        match printed.and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Ended::Reader),
            other => other.map_err(WatchError::Output)?,
        }
    }
}

/// Whether an event is to be shown to somebody who wants to see this board.
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

async fn connect(address: &str) -> Result<BufReader<TcpStream>, WatchError> {
    let connecting = timeout(CONNECT_WAIT, TcpStream::connect(address)).await;
    let connected = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let stream = connected.map_err(|source| WatchError::NoDaemon {
        address: address.to_owned(),
        source,
    })?;
    // Without it, a dead machine at the other end would be noticed late: no reason not to watch.
    let _ = watch_over(&stream);
    Ok(BufReader::new(stream))
}

/// Comes back when nobody reads the output any more, so that `watch | head` ends when `head` does.
#[cfg(target_os = "linux")]
async fn reader_gone() {
    use std::os::fd::AsFd;

    use tokio::{io::Interest, net::unix::pipe::Sender};

    // Nothing is written through it: the output stays a blocking one, for it may be others' too.
    let output = io::stdout().as_fd().try_clone_to_owned();
    let output = output.and_then(Sender::from_owned_fd_unchecked);
    match output {
        Ok(output) if output.ready(Interest::ERROR).await.is_ok() => {}
        // A file: there is nobody who could go.
        _ => std::future::pending().await,
    }
}

#[cfg(not(target_os = "linux"))]
async fn reader_gone() {
    std::future::pending().await
}
