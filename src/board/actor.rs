//! One task per board: gives a [`Machine`] a transport, a clock and the bus. Reconnects for ever.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{broadcast, mpsc, watch},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, info_span, warn};

use super::{command::Command, machine::Machine, name::BoardName, snapshot::Snapshot};
use crate::{
    bus::{BoardEvent, BoardHandle, COMMANDS, Event},
    clock::sleep_until_some,
    driver::lines::printable,
    transcript::{Item, Recorder},
    transport::{Backoff, Stream, Transport},
};

/// Bytes read from a board at once.
const READ_CHUNK: usize = 1024;
/// Bytes a board may send a second; what comes faster waits in the kernel. Ten times what the fastest
/// board's line carries (57600 baud, 5.8 kB/s): only a fault sends so much.
pub const MAX_BYTES_PER_SECOND: usize = 64 * 1024;
/// A link that takes no bytes for this long is broken. The longest message (a position, 100 bytes) takes
/// 0.8 s at 1200 baud.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);
/// Bytes of the wire shown in one line of the debug log.
const LOGGED: usize = 256;

/// Everything a board's task needs.
pub struct Actor {
    name: BoardName,
    machine: Machine,
    transport: Transport,
    recorder: Option<Recorder>,
    commands: mpsc::Receiver<Command>,
    events: broadcast::Sender<BoardEvent>,
    snapshot: watch::Sender<Arc<Snapshot>>,
}

/// Why a link ended.
enum Ended {
    /// The daemon stops.
    Stopped,
    /// The link broke.
    Broken(String),
}

/// The reading budget of one second.
struct Budget {
    left: usize,
    renewed: tokio::time::Instant,
    warned: bool,
}

impl Actor {
    /// A board's task, and the front-ends' handle to it.
    pub fn new(
        name: BoardName,
        machine: Machine,
        transport: Transport,
        recorder: Option<Recorder>,
        events: broadcast::Sender<BoardEvent>,
    ) -> (Self, BoardHandle) {
        let (sender, commands) = mpsc::channel(COMMANDS);
        let (snapshot, receiver) = watch::channel(Arc::new(machine.snapshot()));
        let handle = BoardHandle {
            name: name.clone(),
            commands: sender,
            snapshot: receiver,
        };
        let actor = Self {
            name,
            machine,
            transport,
            recorder,
            commands,
            events,
            snapshot,
        };
        (actor, handle)
    }

    /// Runs until `stop` is cancelled.
    pub async fn run(mut self, stop: CancellationToken) {
        let span = info_span!("board", name = %self.name);
        async {
            let mut backoff = Backoff::default();
            loop {
                let why = match self.transport.open() {
                    Ok(stream) => {
                        let began = Instant::now();
                        match self.linked(stream, &stop).await {
                            Ended::Stopped => break,
                            Ended::Broken(why) => {
                                // A port that opens and breaks at once must not be opened in a hot loop.
                                if began.elapsed() > Duration::from_secs(1) {
                                    backoff.reset();
                                }
                                why
                            }
                        }
                    }
                    Err(error) => error.to_string(),
                };
                self.record(Item::LinkDown(why.clone()));
                self.machine.link_down(Instant::now(), why);
                self.publish();
                if self.unlinked(backoff.next_wait(), &stop).await {
                    break;
                }
            }
        }
        .instrument(span)
        .await;
    }

    /// Waits before the next attempt, with an ear for commands. `true` if the daemon stops.
    async fn unlinked(&mut self, wait: Duration, stop: &CancellationToken) -> bool {
        let until = tokio::time::Instant::now() + wait;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return true,
                Some(command) = self.commands.recv() => self.command(command),
                () = sleep_until(until) => return false,
            }
            self.publish();
        }
    }

    /// Serves an open link until it breaks.
    async fn linked(&mut self, stream: Box<dyn Stream>, stop: &CancellationToken) -> Ended {
        info!(transport = %self.transport, "connected");
        let (mut reader, mut writer) = tokio::io::split(stream);
        let mut buffer = [0; READ_CHUNK];
        let mut output: VecDeque<u8> = VecDeque::new();
        let mut write_deadline = None;
        let mut budget = Budget {
            left: MAX_BYTES_PER_SECOND,
            renewed: tokio::time::Instant::now(),
            warned: false,
        };
        self.record(Item::LinkUp);
        self.machine.link_up(now());
        loop {
            self.collect(&mut output);
            self.publish();
            if output.is_empty() {
                write_deadline = None;
            } else if write_deadline.is_none() {
                write_deadline = Some(tokio::time::Instant::now() + WRITE_WAIT);
            }
            let deadline = self.machine.deadline().map(tokio::time::Instant::from_std);
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ended::Stopped,
                () = sleep_until_some(deadline) => self.machine.timeout(now()),
                written = writer.write_buf(&mut output), if !output.is_empty() => match written {
                    Ok(0) => return Ended::Broken(lost(&io::ErrorKind::WriteZero.into())),
                    Ok(_) => write_deadline = None,
                    Err(error) => return Ended::Broken(lost(&error)),
                },
                read = reader.read(&mut buffer), if budget.left > 0 => match read {
                    Ok(0) => return Ended::Broken(
                        "the port was closed at the other end: is the cable plugged in?".to_owned(),
                    ),
                    Ok(count) => {
                        budget.left = budget.left.saturating_sub(count);
                        self.received(&buffer[..count]);
                    }
                    Err(error) => return Ended::Broken(lost(&error)),
                },
                () = sleep_until(budget.renewed + Duration::from_secs(1)), if budget.left == 0 => {
                    if !std::mem::replace(&mut budget.warned, true) {
                        warn!("the board sends more than {MAX_BYTES_PER_SECOND} bytes a second: reading slower");
                    }
                },
                () = sleep_until_some(write_deadline) => {
                    return Ended::Broken("the port takes no more bytes".to_owned());
                },
                // Last: clients that ask without end do not keep the board waiting.
                Some(command) = self.commands.recv() => self.command(command),
            }
            if budget.renewed.elapsed() >= Duration::from_secs(1) {
                budget.renewed = tokio::time::Instant::now();
                budget.left = MAX_BYTES_PER_SECOND;
            }
        }
    }

    fn received(&mut self, bytes: &[u8]) {
        debug!(bytes = %printable(bytes, LOGGED), "<");
        self.record(Item::Received(bytes.to_vec()));
        self.machine.received(now(), bytes);
    }

    fn command(&mut self, command: Command) {
        debug!(%command, "asked");
        self.record(Item::Command(command.clone()));
        self.machine.command(now(), command);
    }

    /// Takes what is to be sent now.
    fn collect(&mut self, output: &mut VecDeque<u8>) {
        while let Some(bytes) = self.machine.poll_transmit(now()) {
            debug!(bytes = %printable(&bytes, LOGGED), ">");
            self.record(Item::Sent(bytes.to_vec()));
            output.extend(bytes);
        }
    }

    /// Tells the bus what happened.
    fn publish(&mut self) {
        if let Some(snapshot) = self.machine.poll_snapshot() {
            self.snapshot.send_replace(Arc::new(snapshot));
        }
        while let Some(event) = self.machine.poll_event() {
            match &event {
                Event::Unreadable { .. } => debug!("{event}"),
                Event::Disconnected { .. } | Event::Silent | Event::Mistake { .. } => {
                    warn!("{event}");
                }
                _ if event.is_blank() => {}
                _ => info!("{event}"),
            }
            self.record(Item::Event(event.clone()));
            // Nobody listening is not an error.
            let _ = self.events.send(BoardEvent {
                board: self.name.clone(),
                at: SystemTime::now(),
                event,
            });
        }
    }

    fn record(&mut self, item: Item) {
        if let Some(recorder) = &mut self.recorder {
            recorder.record(item);
        }
    }
}

/// The runtime's clock, which a test may have paused.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

fn lost(error: &io::Error) -> String {
    format!("the link broke ({error}): is the cable plugged in?")
}
