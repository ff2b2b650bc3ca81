//! One GUI on a TCP connection: reads and writes it for its session.

use std::{io, net::SocketAddr, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use super::{
    command::{self, ALIVE, UciCommand},
    session::{Action, GuiConversation},
};
use crate::{
    bus::{
        BoardHandle, Bus, Changes, Feed,
        clients::{Client, ClientKind, Presence},
    },
    net::slots::Slot,
    system::sleep::sleep_until_some,
    text::lines::{Foreign, Line, Lines, after_telnet, printable},
    transport::tcp::watch_over,
    vocabulary::{BoardName, ClientId, ClientName, Event, Snapshot},
};

/// A connection without a line of UCI for this long is not a GUI: a GUI sends `uci` at once.
pub const FIRST_WAIT: Duration = Duration::from_mins(1);
/// The longest line read from a GUI, bytes: `position` with the longest game ever played has 3 kB, with the
/// longest the rules allow 60 kB.
pub const MAX_LINE: usize = 64 * 1024;
/// While so many bytes wait for a GUI, it is sent nothing more and not read. The kernel's buffer holds more.
pub const MAX_OUTPUT: usize = 16 * 1024;
/// A GUI that takes no bytes for this long while some wait is dead.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);
/// How long a leaving GUI may take for its last lines.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);
/// How many times watchers are told that a GUI has chosen a board; after that only the log is.
pub const MAX_TURNS: u8 = 10;
/// Bytes read at once.
const READ_CHUNK: usize = 4096;

/// One GUI's connection.
struct Connection {
    stream: TcpStream,
    session: GuiConversation,
    bus: Bus,
    changes: Changes,
    board: Option<BoardHandle>,
    feed: Option<Feed>,
    output: Vec<u8>,
    /// It has to take some of the output by then.
    write_deadline: Option<Instant>,
    /// Why it has to be closed, if it has.
    closing: Option<&'static str>,
    label: ClientName,
    slot: Slot,
    /// It has sent no line of UCI yet.
    silent: bool,
    /// Its entry among the daemon's clients.
    presence: Presence,
    /// It has chosen a board, or there is but one.
    chosen: bool,
    /// How many times watchers were told that it has chosen a board.
    turns: u8,
}

/// Serves a GUI until it leaves.
pub(super) async fn client(
    stream: TcpStream,
    peer: SocketAddr,
    id: ClientId,
    bus: Bus,
    stop: CancellationToken,
    slot: Slot,
) {
    info!("a GUI connected");
    if let Err(error) = watch_over(&stream) {
        warn!(%error, "a dead connection will be noticed late");
    }
    let changes = bus.changes();
    let names = bus.names();
    let only = names.len() == 1;
    let label = ClientName::Program(peer);
    let session = GuiConversation::new(id, label.clone(), names);
    let mut entry = Client::new(id, label.clone(), ClientKind::Gui);
    entry.peer = Some(peer.to_string().into());
    entry.default_board = session.board().cloned();
    let board = session.board().and_then(|name| bus.board(name.as_str()));
    let mut connection = Connection {
        feed: board.as_ref().map(BoardHandle::feed),
        board,
        stream,
        session,
        slot,
        silent: true,
        presence: bus.clients().enter(entry),
        chosen: only,
        bus,
        changes,
        output: Vec::new(),
        write_deadline: None,
        closing: None,
        label,
        turns: 0,
    };
    connection.appear();
    connection.tell("connected");
    // If it fails because of a bug, its board is still released.
    let run = AssertUnwindSafe(connection.run(stop)).catch_unwind().await;
    let why = run.unwrap_or_else(|_| {
        error!("a GUI's task failed: please report it, with what the log says");
        "BoardBridge itself failed".to_owned()
    });
    connection.session.closed();
    let board = connection.turned_to().cloned();
    connection.act().await;
    connection.tell_on(board.as_ref(), &format!("left: {why}"));
    info!("a GUI left: {why}");
}

impl Connection {
    /// Serves the connection until it ends; says why it did.
    async fn run(&mut self, stop: CancellationToken) -> String {
        let mut lines = Lines::new(MAX_LINE);
        let first_deadline = Instant::now() + FIRST_WAIT;
        let leave = self.slot.leave().clone();
        let (left, stopped) = (leave.cancelled(), stop.cancelled());
        tokio::pin!(left, stopped);
        loop {
            self.act().await;
            while self.closing.is_none()
                && self.output.len() < MAX_OUTPUT
                && let Some(line) = lines.next_line()
            {
                self.line(line);
                self.act().await;
            }
            // The latest bytes are at the end.
            let begun = lines.partial();
            self.look_at(&begun[begun.len().saturating_sub(READ_CHUNK)..]);
            if let Some(why) = self.closing {
                return self.finish(why).await;
            }
            let reads = self.output.len() < MAX_OUTPUT;
            if !self.output.is_empty() {
                (self.write_deadline).get_or_insert_with(|| Instant::now() + WRITE_WAIT);
            }
            let session_deadline = self.session.deadline().map(Instant::from_std);
            tokio::select! {
                biased;
                () = &mut left => {
                    let plays = self.session.plays() && !self.session.waits();
                    let why = if plays { "other programs play your game" } else { "you have no game here" };
                    self.session.info(&format!("closed to make room: {why}. Reconnect to play"));
                    self.act().await;
                    // Not awaited: the client may not read.
                    let _ = self.stream.try_write(&self.output);
                    return format!("closed to make room for others: {why}");
                }
                () = &mut stopped => {
                    // A `go` stays unanswered: `bestmove 0000` would end the player's game. The relay asks it again.
                    self.session.info("BoardBridge is being stopped, or no longer listens at this port");
                    self.act().await;
                    return self.finish("BoardBridge stops, or no longer listens at this port").await;
                }
                ready = self.stream.writable(), if !self.output.is_empty() => match ready.and_then(|()| self.write()) {
                    Ok(true) => {}
                    Ok(false) => return "it accepts no more data".to_owned(),
                    Err(error) => return format!("the connection broke: {error}"),
                },
                () = self.changes.next() => self.boards_changed(),
                (events, state) = published(&mut self.feed), if reads => self.published(&events, &state),
                ready = self.stream.readable(), if reads => match ready.and_then(|()| read(&self.stream, &mut lines)) {
                    Ok(true) => {}
                    Ok(false) => return "it closed the connection".to_owned(),
                    Err(error) => return format!("the connection broke: {error}"),
                },
                () = sleep_until(first_deadline), if self.silent => {
                    return format!("it said nothing of UCI for {} s", FIRST_WAIT.as_secs());
                }
                () = sleep_until_some(session_deadline), if reads => self.session.timeout(now()),
                () = sleep_until_some(self.write_deadline) => {
                    return format!("it has not read anything for {} s", WRITE_WAIT.as_secs());
                }
            }
        }
    }

    /// Something happened on the board.
    fn published(&mut self, events: &[Event], state: &Arc<Snapshot>) {
        if self.session.debug() {
            for event in events {
                self.session
                    .info(&format!("debug {}: {event}", state.board));
            }
        }
        self.session.happened(events, now());
        self.session.snapshot(state, now());
    }

    /// Boards have come, gone or changed.
    fn boards_changed(&mut self) {
        let gone = self.board.take_if(|board| {
            let there = self.bus.board(board.name.as_str());
            !there.is_some_and(|there| there.is_same(board))
        });
        if let Some(gone) = &gone {
            self.feed = None;
            if let Some(name) = self.bus.renamed(&gone.name) {
                self.session.goes_on_at(&name, self.bus.names(), now());
                return;
            }
        }
        self.session.set_boards(self.bus.names(), gone.is_some());
    }

    /// Closes a connection that speaks another protocol, as long as it has sent no line of UCI.
    fn look_at(&mut self, line: &[u8]) {
        if self.silent && self.closing.is_none() {
            self.closing = Foreign::of(line).map(|foreign| match foreign {
                Foreign::Http => "it speaks HTTP: the API has another port, `[web] listen`",
                Foreign::NotText => "it does not send text: it may speak TLS instead of UCI",
            });
        }
    }

    fn line(&mut self, line: Line) {
        match line {
            Line::Whole(bytes) => {
                self.look_at(&bytes);
                if self.closing.is_some() {
                    return;
                }
                let bytes = if self.silent {
                    after_telnet(&bytes)
                } else {
                    &bytes
                };
                if let Ok(text) = std::str::from_utf8(bytes) {
                    debug!(line = text.trim_end(), "<");
                    if text.trim() != ALIVE {
                        self.slot.used();
                    }
                    self.silent =
                        self.silent && matches!(command::parse(text), UciCommand::Unknown);
                    self.session.line(text, now());
                } else {
                    debug!(bytes = %printable(bytes, 80), "<");
                    self.session.info("a line that is not text was ignored");
                }
            }
            Line::Overlong(length) => {
                warn!(length, "a line longer than {MAX_LINE} bytes was ignored");
                self.session.info(&format!(
                    "a line of {length} bytes was ignored: {MAX_LINE} is the limit"
                ));
            }
        }
    }

    /// Does what the session wants done.
    async fn act(&mut self) {
        while let Some(action) = self.session.poll_action() {
            match action {
                Action::Say(line) => {
                    debug!(line = %line, ">");
                    self.output.extend_from_slice(line.as_bytes());
                    self.output.push(b'\n');
                }
                Action::Ask(command) => {
                    self.say();
                    if let Some(board) = &self.board {
                        // A board that ends has nothing left to be told.
                        let _ = board.commands.send(command).await;
                    }
                }
                Action::Choose(name) => {
                    info!(board = %name, "the GUI chose a board");
                    self.board = self.bus.board(name.as_str());
                    self.feed = self.board.as_ref().map(BoardHandle::feed);
                    self.chosen = true;
                    if self.turns < MAX_TURNS {
                        self.turns += 1;
                        self.tell("chose this board");
                    }
                }
                Action::Close => self.closing = Some("it quit"),
            }
        }
        self.say();
        self.appear();
    }

    /// Writes what there is to say: a program that awaits a move is told before anything else is done. An error is found again where it
    /// ends the connection.
    fn say(&mut self) {
        if !self.output.is_empty() {
            let _ = self.write();
        }
    }

    /// Writes what the connection takes now. `false` if it never takes more.
    fn write(&mut self) -> io::Result<bool> {
        match self.stream.try_write(&self.output) {
            Ok(count) => {
                self.write_deadline = None;
                self.output.drain(..count);
                if self.output.is_empty() {
                    // Frees the memory of a long output.
                    self.output = Vec::new();
                }
                Ok(count > 0)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// The board it has chosen, or begun a game on.
    fn turned_to(&self) -> Option<&BoardName> {
        let meant = self.chosen || self.session.plays();
        self.session.board().filter(|_| meant)
    }

    /// Updates its entry among the clients, and its slot.
    fn appear(&self) {
        let (board, awaiting) = (self.turned_to(), self.session.awaits());
        self.presence.change(|client| {
            if client.board.as_ref() != board {
                client.board = board.cloned();
            }
            client.awaiting = awaiting;
        });
        // Clients that only wait for a board do not count: a few machines of them would fill all slots. A board has one game.
        let plays = self.session.plays() && !self.session.waits();
        let board = self.session.board().filter(|_| plays);
        self.slot.plays(board.map(BoardName::as_str));
    }

    /// Tells watchers what it has done.
    fn tell(&self, text: &str) {
        self.tell_on(self.turned_to(), text);
    }

    fn tell_on(&self, board: Option<&BoardName>, text: &str) {
        let event = Event::Client {
            client: self.label.clone(),
            text: text.to_owned(),
        };
        self.bus.tell(board, event);
    }

    /// Sends what is left, for a bounded time.
    async fn finish(&mut self, why: &str) -> String {
        let last = async {
            self.stream.write_all(&self.output).await?;
            self.stream.shutdown().await
        };
        // Nothing depends on whether it was read.
        let _ = timeout(CLOSE_WAIT, last).await;
        why.to_owned()
    }
}

/// Reads what has come. `false` at the end. The buffer is here only while it is used: a program that thinks needs none.
fn read(stream: &TcpStream, lines: &mut Lines) -> io::Result<bool> {
    let mut buffer = [0; READ_CHUNK];
    match stream.try_read(&mut buffer) {
        Ok(count) => {
            lines.push(&buffer[..count]);
            Ok(count > 0)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error) => Err(error),
    }
}

/// The time as the session takes it.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// What happens on the chosen board.
async fn published(feed: &mut Option<Feed>) -> (Arc<[Event]>, Arc<Snapshot>) {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}
