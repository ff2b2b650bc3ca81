//! `boardbridge uci`: the program that a GUI starts as "the engine". It passes lines between the GUI and the daemon,
//! and outlives the daemon: [`session`] has the rules.
//!
//! Threads rather than a runtime: it starts at once, and builds wherever GUIs run. One thread reads the GUI, one reads
//! each connection, one makes each attempt to connect; the main thread decides.
//!
//! The relay remembers what a daemon must be told to continue the GUI's game, and states it on every connection: the
//! options (the latest of each name; a button is not pressed again), the last `position`, and the `go` that has not
//! been answered yet.
//!
//! - *Connecting*: as long as the GUI lives, 250 ms to 5 s apart, a minute if something other than a daemon answers.
//!   Each connection begins with a `uci` of the relay's own, which the GUI does not see: the answer proves that a
//!   daemon is there. The relay waits 15 s for it, because a service that restarts keeps its port open. A daemon that does
//!   not answer `isready` within 5 s is given up; after 30 s of silence it is asked.
//! - *`ucinewgame`* is repeated only until a daemon has taken the first position after it, which a `readyok` proves:
//!   later it would restart the game on the board.
//! - *`bestmove`*: at most one per `go`, and only a whole line. If it is lost with the connection, it is asked for
//!   again. A daemon that stops leaves a `go` unanswered, because most GUIs take `bestmove 0000` for an illegal move
//!   and end the game.
//! - *Without a daemon* `isready` is answered, `uci` after 3 s at most (with the reason in `info string`, and the
//!   boards once they are known), and `stop` at once by `bestmove 0000`: UCI demands an answer, no move is known, and a
//!   GUI that stops a search does not play its move in a game. With a connection a `stop` is answered within 5 s.

pub mod session;

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream, ToSocketAddrs},
    sync::mpsc::{self, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use thiserror::Error;

use super::connection::MAX_LINE;
use crate::{
    net::{
        dns_sd::nearest::{NearestError, nearest},
        reach::{Wanted, malformed, unreachable},
    },
    text::lines::{Line, Lines},
};
use session::{Action, RelayConversation};

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(3);
/// A daemon that takes no bytes for this long is dead.
const WRITE_WAIT: Duration = Duration::from_secs(5);
/// Bytes read at once.
const CHUNK: usize = 4096;
/// Lines that may wait for the main thread; beyond that the readers wait.
const MAX_WAITING: usize = 64;

/// Why the relay cannot run.
#[derive(Debug, Error)]
pub enum RelayError {
    /// The address is invalid; the reason in words.
    #[error("{0}")]
    Address(String),
    /// It is not clear which daemon is meant.
    #[error(transparent)]
    Nearest(#[from] NearestError),
    /// The GUI cannot be listened to.
    #[error("no thread can be started: {0}")]
    Thread(io::Error),
}

/// A message to the main thread.
enum News {
    Gui(Line),
    GuiEnded,
    Attempt(io::Result<TcpStream>),
    /// From the connection with this number, as are those below.
    Daemon(u64, Line),
    DaemonEnded(u64),
}

/// Relays until the GUI closes, to the daemon at this address, or to the nearest.
///
/// # Errors
/// [`RelayError`], which is also shown to the GUI.
pub fn run(address: Option<&str>, board: Option<&str>) -> Result<(), RelayError> {
    let found = match address {
        Some(address) => Ok(address.to_owned()),
        None => nearest(Wanted::Uci),
    };
    let address = match &found {
        Ok(address) => address.as_str(),
        Err(error) => {
            for line in error.to_string().lines() {
                // The GUI may be gone already.
                let _ = say(&format!("info string {line}"));
            }
            return found.map(drop).map_err(RelayError::Nearest);
        }
    };
    if let Some(why) = malformed(address, Wanted::Uci) {
        // The GUI may be gone already.
        let _ = say(&format!("info string {why}"));
        return Err(RelayError::Address(why));
    }
    let (sender, news) = mpsc::sync_channel(MAX_WAITING);
    let from_gui = sender.clone();
    let listen = move || {
        // The last line may lack its end.
        let input = io::stdin().lock().chain(&b"\n"[..]);
        read_lines(input, MAX_LINE, |line| {
            from_gui.send(News::Gui(line)).is_ok()
        });
        // The main thread may be gone already.
        let _ = from_gui.send(News::GuiEnded);
    };
    let listening = thread::Builder::new().spawn(listen);
    listening.map_err(RelayError::Thread)?;
    let mut talk = RelayConversation::new(address, board, Instant::now());
    let mut link = Link {
        address,
        sender,
        stream: None,
        number: 0,
    };
    loop {
        while let Some(action) = talk.poll_action() {
            let said = match action {
                Action::Say(line) => say(&line),
                Action::Send(line) => {
                    link.send(&line);
                    Ok(())
                }
                Action::Connect => {
                    if let Err(error) = link.connect() {
                        talk.failed(format!("no thread can be started: {error}"), Instant::now());
                    }
                    Ok(())
                }
                Action::HangUp => {
                    link.hang_up();
                    Ok(())
                }
                Action::End => {
                    link.hang_up();
                    return Ok(());
                }
            };
            if said.is_err() {
                // The GUI is gone: its output is no longer read.
                return Ok(());
            }
        }
        let heard = match talk.deadline() {
            Some(deadline) => news.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let now = Instant::now();
        match heard {
            Ok(News::Gui(line)) => gui_line(&mut talk, &line, now),
            Ok(News::GuiEnded) => talk.quit(now),
            Ok(News::Attempt(Ok(stream))) => {
                if link.take(stream) {
                    talk.connected(now);
                } else {
                    talk.failed(format!("the connection to {address} broke"), now);
                }
            }
            Ok(News::Attempt(Err(error))) => {
                talk.failed(unreachable(address, &error, Wanted::Uci), now);
            }
            Ok(News::Daemon(number, Line::Whole(line))) if number == link.number => {
                talk.daemon_line(&String::from_utf8_lossy(&line), now);
            }
            Ok(News::DaemonEnded(number)) if number == link.number => {
                link.stream = None;
                talk.closed(now);
            }
            // From a connection that was given up, or too long for a daemon's line.
            Ok(News::Daemon(..) | News::DaemonEnded(_)) => {}
            Err(RecvTimeoutError::Timeout) => talk.timeout(now),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn gui_line(talk: &mut RelayConversation, line: &Line, now: Instant) {
    match line {
        Line::Whole(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => talk.gui_line(text, now),
            Err(_) => talk.refuse("a line that is not text was ignored"),
        },
        Line::Overlong(length) => talk.refuse(&format!(
            "a line of {length} bytes was ignored: {MAX_LINE} is the limit"
        )),
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(format!("{line}\n").as_bytes())?;
    output.flush()
}

/// Reads until the end or until a line is not accepted. Half a line is dropped.
fn read_lines(mut from: impl Read, bound: usize, mut take: impl FnMut(Line) -> bool) {
    let mut lines = Lines::new(bound);
    let mut buffer = [0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => lines.push(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        while let Some(line) = lines.next_line() {
            if !take(line) {
                return;
            }
        }
    }
}

/// The connection to the daemon.
struct Link<'a> {
    address: &'a str,
    sender: SyncSender<News>,
    stream: Option<TcpStream>,
    /// Counts the connections.
    number: u64,
}

impl Link<'_> {
    /// Tries to connect, in a thread: resolving a host name may take long.
    fn connect(&self) -> io::Result<()> {
        let (address, sender) = (self.address.to_owned(), self.sender.clone());
        let attempt = move || {
            // The main thread may be gone already.
            let _ = sender.send(News::Attempt(attempt(&address)));
        };
        thread::Builder::new().spawn(attempt).map(drop)
    }

    /// Takes over a new connection. `true` if it can be used.
    fn take(&mut self, stream: TcpStream) -> bool {
        self.hang_up();
        let prepared = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(WRITE_WAIT)))
            .and_then(|()| stream.try_clone());
        let Ok(from) = prepared else { return false };
        let (sender, number) = (self.sender.clone(), self.number);
        let read = move || {
            read_lines(from, MAX_LINE, |line| {
                sender.send(News::Daemon(number, line)).is_ok()
            });
            let _ = sender.send(News::DaemonEnded(number));
        };
        let reads = thread::Builder::new().spawn(read).is_ok();
        self.stream = Some(stream);
        reads
    }

    fn send(&mut self, line: &str) {
        let Some(stream) = &mut self.stream else {
            return;
        };
        if stream.write_all(format!("{line}\n").as_bytes()).is_err() {
            // What the daemon has already sent is still read, then the end.
            let _ = stream.shutdown(Shutdown::Both);
            self.stream = None;
        }
    }

    /// Closes the connection; further data from it is ignored.
    fn hang_up(&mut self) {
        if let Some(stream) = self.stream.take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.number += 1;
    }
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
