//! `boardbridge uci`: what a GUI starts as "the engine". Passes bytes between the GUI and the daemon.
//!
//! Threads rather than a runtime: two pumps need no more, it starts at once, and it builds wherever GUIs run.
//!
//! Reconnect policy: at the start it tries for [`PATIENCE`], because the daemon may be starting too. A connection
//! that is lost later is not repaired behind the GUI's back, as the daemon would know neither options nor
//! position: the GUI is told, and restarts the engine as it restarts any engine that died.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream, ToSocketAddrs},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use thiserror::Error;

/// How long the relay tries to reach a daemon that may be starting.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(3);
/// Between two attempts.
const RETRY: Duration = Duration::from_millis(200);
/// How long the daemon may take to close after `quit`.
const CLOSE_WAIT: Duration = Duration::from_secs(2);
/// How much later than the daemon's closing the relay may learn that the GUI asked for it.
const QUIT_LAG: Duration = Duration::from_millis(100);
/// Bytes passed on at once.
const CHUNK: usize = 4096;

/// Why the relay gave up.
#[derive(Debug, Error)]
pub enum RelayError {
    /// No daemon there; in words.
    #[error("{0}")]
    Connect(String),
    /// The connection broke, or the daemon stopped.
    #[error("the connection to BoardBridge at {address} was lost: restart the engine")]
    Lost {
        /// Where.
        address: String,
    },
}

/// Which side ended.
enum Ended {
    Gui,
    Daemon,
}

/// Relays until the GUI or the daemon ends it.
///
/// # Errors
/// [`RelayError`], which the GUI has been shown as well.
pub fn run(address: &str, board: Option<&str>) -> Result<(), RelayError> {
    relay(address, board).inspect_err(|error| {
        // The GUI may be gone as well.
        let _ = writeln!(io::stdout(), "info string {error}");
    })
}

fn relay(address: &str, board: Option<&str>) -> Result<(), RelayError> {
    let lost = |_| RelayError::Lost {
        address: address.to_owned(),
    };
    let mut stream = connect(address)?;
    stream.set_nodelay(true).map_err(lost)?;
    if let Some(board) = board {
        let line = format!("setoption name Board value {board}\n");
        stream.write_all(line.as_bytes()).map_err(lost)?;
    }
    let (sender, ended) = mpsc::channel();
    let from_daemon = stream.try_clone().map_err(lost)?;
    let done = sender.clone();
    thread::spawn(move || {
        pump(from_daemon, io::stdout());
        // The main thread may be gone already.
        let _ = done.send(Ended::Daemon);
    });
    let to_daemon = stream.try_clone().map_err(lost)?;
    thread::spawn(move || {
        if from_gui(to_daemon) {
            let _ = sender.send(Ended::Gui);
        }
    });
    match ended.recv() {
        Ok(Ended::Gui) => {
            // Let the daemon's last lines through.
            let _ = ended.recv_timeout(CLOSE_WAIT);
            let _ = stream.shutdown(Shutdown::Both);
            Ok(())
        }
        // A daemon that was told to quit closes first: the news of the `quit` may be a moment behind.
        _ if matches!(ended.recv_timeout(QUIT_LAG), Ok(Ended::Gui)) => Ok(()),
        _ => Err(RelayError::Lost {
            address: address.to_owned(),
        }),
    }
}

fn connect(address: &str) -> Result<TcpStream, RelayError> {
    let began = Instant::now();
    loop {
        match attempt(address) {
            Ok(stream) => return Ok(stream),
            Err(source) if began.elapsed() >= PATIENCE => {
                return Err(RelayError::Connect(explained(address, &source)));
            }
            Err(_) => thread::sleep(RETRY),
        }
    }
}

/// Why an address cannot be reached, and what to do.
pub fn explained(address: &str, error: &io::Error) -> String {
    let Some((host, port)) = address.rsplit_once(':') else {
        return format!("`{address}` lacks the port: write for instance {address}:9670");
    };
    if port.parse::<u16>().is_err() {
        return format!("`{port}` in `{address}` is no port: write for instance {host}:9670");
    }
    if address.to_socket_addrs().is_err() {
        return format!("there is no machine named {host} on this network: try its IP address");
    }
    format!(
        "BoardBridge cannot be reached at {address}: {error}. Is `boardbridge run` running there?"
    )
}

fn attempt(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, ATTEMPT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Passes bytes on as they come, until either side ends.
fn pump(mut from: impl Read, mut to: impl Write) {
    let mut buffer = [0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let chunk = &buffer[..count];
                if to.write_all(chunk).and_then(|()| to.flush()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Passes the GUI's lines on. `true` if the GUI ended it: by `quit`, or by closing its end, which becomes `quit`.
fn from_gui(mut to: TcpStream) -> bool {
    let mut input = BufReader::new(io::stdin().lock());
    let mut quit = Vec::new();
    loop {
        let chunk = match input.fill_buf() {
            Ok([]) => {
                let _ = to.write_all(b"\nquit\n");
                return true;
            }
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => {
                let _ = to.write_all(b"\nquit\n");
                return true;
            }
        };
        if to.write_all(chunk).is_err() {
            return false;
        }
        let said_quit = ends_with_quit(&mut quit, chunk);
        let count = chunk.len();
        input.consume(count);
        if said_quit {
            return true;
        }
    }
}

/// Follows the stream's lines; `true` once one of them is `quit`. `line` is the beginning of the current one.
fn ends_with_quit(line: &mut Vec<u8>, chunk: &[u8]) -> bool {
    for &byte in chunk {
        if byte == b'\n' || byte == b'\r' {
            if line.trim_ascii() == b"quit" {
                return true;
            }
            line.clear();
        } else if line.len() < 16 {
            line.push(byte);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quit_is_found_however_it_arrives() {
        let mut line = Vec::new();
        assert!(!ends_with_quit(&mut line, b"isready\nqu"));
        assert!(ends_with_quit(&mut line, b"it\n"));
        let mut line = Vec::new();
        assert!(!ends_with_quit(&mut line, b"quitting is not quit\nxquit\n"));
        assert!(ends_with_quit(&mut line, b" quit \r\n"));
    }
}
