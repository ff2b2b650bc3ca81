//! One task per board: gives a [`Core`] a transport, a clock and the bus. Reconnects without end.

use std::{
    any::Any,
    collections::VecDeque,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    task::{unconstrained, yield_now},
    time::{sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, error, info, info_span, warn};

use super::{
    core::{Core, SavedBoard, Urgency},
    keeping::Keeping,
};
use crate::{
    board::transcript::{Item, Recorder},
    bus::{BoardHandle, COMMANDS, Publication, Publisher},
    state::Shelf,
    system::{clock, sleep::sleep_until_some},
    text::lines::printable,
    transport::{Backoff, Incoming, Link, OpenError, Transport},
    vocabulary::{BoardName, By, ClientId, Command, Event, Request},
};

/// In debug builds, for the fault suite: the environment variable that names a folder. A file `NAME.panic` there makes the task
/// of board NAME panic, once.
#[cfg(debug_assertions)]
const PANICS: &str = "BOARD_TASK_PANICS";

/// Bytes from the wire shown in one line of the debug log.
const LOGGED: usize = 256;

/// Bytes at once after which other tasks get a turn: a board's longest message has 257, and anything in larger pieces
/// is an endless stream.
const FLOOD: usize = 512;
/// What a board sent before its link was opened arrives within this time: it waits in the system, or for up to 16 ms in a USB
/// adapter (FTDI's latency timer).
const EARLIER_WAIT: Duration = Duration::from_millis(20);
/// After a link that lasted this long, the next attempt comes soon.
const OF_USE: Duration = Duration::from_secs(1);
/// The same for a link that the driver gave up: handshakes and their repetitions take seconds.
const LONG_OF_USE: Duration = Duration::from_mins(1);

/// Everything a board's task needs.
pub struct Actor {
    name: BoardName,
    /// Makes a core, also after one has failed.
    make: Box<dyn Fn() -> Core + Send>,
    core: Core,
    /// Cores that have failed.
    failed: u32,
    /// What the core knew at its last publication. If the core fails, the next one begins with it.
    memory: SavedBoard,
    /// The commands since that publication, for the next core.
    since: VecDeque<Command>,
    /// Commands that the previous core did not finish.
    again: VecDeque<Command>,
    transport: Transport,
    recorder: Option<Recorder>,
    commands: mpsc::Receiver<Command>,
    publisher: Publisher,
    /// Where the core's memory is kept.
    keeping: Option<Keeping>,
    questions: mpsc::Receiver<oneshot::Sender<()>>,
    pulse: Pulse,
}

/// Asks a board's task whether it still runs. Its loop answers, also while the board is away.
#[derive(Clone, Debug)]
pub struct Pulse(mpsc::Sender<oneshot::Sender<()>>);

impl Pulse {
    /// Waits for the answer; for ever, if the task hangs. Returns at once if the task has ended.
    pub async fn beats(&self) {
        let (answer, answered) = oneshot::channel();
        if self.0.send(answer).await.is_ok() {
            let _ = answered.await;
        }
    }
}

/// Why a link ended.
enum Ended {
    /// The daemon stops.
    Stopped,
    /// The link broke.
    Broken(String),
    /// The driver gave the link up.
    GivenUp(String),
}

impl Actor {
    /// A board's task, and the front-ends' handle to it. `make` makes its core, and a new one whenever a core fails.
    pub fn new(
        name: BoardName,
        make: impl Fn() -> Core + Send + 'static,
        transport: Transport,
        recorder: Option<Recorder>,
        bus: broadcast::Sender<Publication>,
    ) -> (Box<Self>, BoardHandle) {
        let core = make();
        let memory = core.memory();
        let (sender, commands) = mpsc::channel(COMMANDS);
        let (pulse, questions) = mpsc::channel(1);
        let publisher = Publisher::new(bus, core.snapshot());
        let handle = BoardHandle {
            name: name.clone(),
            way: transport.to_string().into(),
            commands: sender,
            publisher: publisher.clone(),
        };
        // In a box: a future holds what it is given twice, and a task its outcome once more.
        let actor = Box::new(Self {
            name,
            make: Box::new(make),
            core,
            failed: 0,
            memory,
            since: VecDeque::new(),
            again: VecDeque::new(),
            transport,
            recorder,
            commands,
            publisher,
            keeping: None,
            questions,
            pulse: Pulse(pulse),
        });
        (actor, handle)
    }

    /// Continues from what this shelf holds, and saves there what a restart needs. Returns the highest number of a client that
    /// had the board.
    pub fn keep_on(&mut self, shelf: Shelf) -> Option<ClientId> {
        let (keeping, memory) = Keeping::on(shelf)?;
        self.keeping = Some(keeping);
        let last = memory.as_ref().and_then(SavedBoard::last_client);
        if let Some(memory) = memory {
            self.core.recall(now(), memory);
            self.memory = self.core.memory();
            self.publisher.publish([], self.core.poll_snapshot());
        }
        last
    }

    /// A handle that asks this task whether it still runs.
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// How the board is reached, in words.
    pub fn way(&self) -> String {
        self.transport.to_string()
    }

    /// Continues a board that was stopped, with another configuration: its clients keep their handles.
    pub fn change(
        &mut self,
        make: impl Fn() -> Core + Send + 'static,
        transport: Transport,
        recorder: Option<Recorder>,
    ) {
        self.make = Box::new(make);
        self.transport = transport;
        self.recorder = recorder;
        self.replace_core("its configuration has changed".to_owned());
    }

    /// Runs until `stop` is cancelled; returns what is needed to continue. A bug (a panic) ends the link and the core, not the
    /// board: a new core continues from the last publication.
    pub async fn run(mut self: Box<Self>, stop: CancellationToken) -> Box<Self> {
        let span = info_span!("board", name = %self.name);
        async {
            let mut backoff = Backoff::default();
            let mut wait = None;
            loop {
                let began = Instant::now();
                let work = AssertUnwindSafe(self.work(wait, &stop));
                let Err(panic) = work.catch_unwind().await else {
                    break;
                };
                if began.elapsed() > LONG_OF_USE {
                    backoff.reset();
                }
                wait = Some(backoff.next_wait());
                self.begin_anew(panic.as_ref());
            }
            if self.keeping.as_ref().is_some_and(Keeping::is_late) {
                self.keep(Urgency::AtOnce).await;
            }
            self.transport.closed().await;
        }
        .instrument(span)
        .await;
        self
    }

    /// Replaces a core that has failed.
    fn begin_anew(&mut self, panic: &(dyn Any + Send)) {
        self.failed = self.failed.saturating_add(1);
        let message = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or_default();
        let message = printable(message.as_bytes(), LOGGED);
        let failed = self.failed;
        error!(
            failed,
            "the board's task failed, and is started again: {message}"
        );
        self.replace_core(format!(
            "BoardBridge itself failed on this board (for the {failed}. time since the start), and restarts it. \
             Please report it, with what the log says"
        ));
    }

    /// Replaces the core by a new one, which goes on as after a restart, with its clients still there.
    fn replace_core(&mut self, why: String) {
        self.core = (self.make)();
        self.core.resume(now(), self.memory.clone());
        // Commands left from the core before the last one come after those of the last.
        self.since.append(&mut self.again);
        self.again = std::mem::take(&mut self.since);
        self.record(Item::LinkDown(why.clone()));
        self.core.link_down(now(), why);
    }

    /// Opens links and serves them, until `stop` is cancelled.
    async fn work(&mut self, wait: Option<Duration>, stop: &CancellationToken) {
        // A command on which this core fails too is not tried a third time.
        while let Some(command) = self.again.pop_front() {
            self.tell(vec![command.clone()]);
            self.since.push_back(command);
        }
        self.publish().await;
        if let Some(wait) = wait
            && self.unlinked(wait, stop).await
        {
            return;
        }
        let mut backoff = Backoff::default();
        loop {
            let pause;
            let why = match self.opened(stop).await {
                None => return,
                Some(Ok(link)) => {
                    let began = Instant::now();
                    pause = self.core.pause_between_links();
                    match self.linked(link, stop).await {
                        Ended::Stopped => return,
                        Ended::Broken(why) => {
                            // A port that opens and breaks at once must not be opened in a hot loop.
                            if began.elapsed() > OF_USE {
                                backoff.reset();
                            }
                            why
                        }
                        // Nor must a port that delivers only nonsense.
                        Ended::GivenUp(why) => {
                            if began.elapsed() > LONG_OF_USE {
                                backoff.reset();
                            }
                            why
                        }
                    }
                }
                Some(Err(error)) => {
                    pause = self.pause_after(&error);
                    error.to_string()
                }
            };
            self.record(Item::LinkDown(why.clone()));
            self.core.link_down(now(), why);
            self.publish().await;
            if self.unlinked(backoff.next_wait().max(pause), stop).await {
                return;
            }
        }
    }

    /// How long the board must be left alone after an attempt to open a link.
    fn pause_after(&self, error: &OpenError) -> Duration {
        if error.was_linked() {
            self.core.pause_between_links()
        } else {
            Duration::ZERO
        }
    }

    /// Opens the link while handling commands. `None` if the daemon stops.
    async fn opened(&mut self, stop: &CancellationToken) -> Option<Result<Link, OpenError>> {
        let transport = self.transport.clone();
        let opening = transport.open();
        tokio::pin!(opening);
        loop {
            let keep_at = self.keep_at();
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                Some(answer) = self.questions.recv() => drop(answer.send(())),
                opened = &mut opening => return Some(opened),
                () = sleep_until_some(keep_at) => {}
                Some(command) = self.commands.recv() => self.command(command),
            }
            self.publish().await;
        }
    }

    /// Waits before the next attempt while handling commands. `true` if the daemon stops.
    async fn unlinked(&mut self, wait: Duration, stop: &CancellationToken) -> bool {
        let until = tokio::time::Instant::now() + wait;
        loop {
            let keep_at = self.keep_at();
            tokio::select! {
                biased;
                () = stop.cancelled() => return true,
                Some(answer) = self.questions.recv() => drop(answer.send(())),
                () = sleep_until_some(keep_at) => {}
                Some(command) = self.commands.recv() => self.command(command),
                () = sleep_until(until) => return false,
            }
            self.publish().await;
        }
    }

    /// Serves an open link until it breaks.
    async fn linked(&mut self, mut link: Link, stop: &CancellationToken) -> Ended {
        info!(transport = %self.transport, "connected");
        self.record(Item::LinkUp);
        self.core.link_up(now());
        // A move made before a set-up must not be read after it, and be taken for one made in the new position.
        let until = tokio::time::Instant::now() + EARLIER_WAIT;
        while let Ok(incoming) = timeout_at(until, link.next()).await {
            match incoming {
                Ok(incoming) => self.incoming(incoming),
                Err(why) => return Ended::Broken(why),
            }
        }
        let mut flooded = false;
        let stopped = stop.cancelled();
        tokio::pin!(stopped);
        loop {
            // A message for the board is saved before it is sent, so that a restart knows that it may have arrived.
            self.publish().await;
            if self.send(&mut link) {
                self.publish().await;
            }
            if std::mem::take(&mut flooded) {
                yield_now().await;
            }
            if let Some(why) = self.core.poll_hang_up() {
                return Ended::GivenUp(why);
            }
            let deadline = self.core.deadline().map(tokio::time::Instant::from_std);
            let keep_at = self.keep_at();
            let deaf_until = self.keeping.as_ref().and_then(Keeping::deaf_until);
            tokio::select! {
                biased;
                () = &mut stopped => return Ended::Stopped,
                // Rare, so it delays nothing.
                Some(answer) = self.questions.recv() => drop(answer.send(())),
                () = sleep_until_some(deadline) => {
                    // What came before the deadline counts, however late this thread comes to it. (Bluetooth LE is read by another
                    // task, which may have to come to it first.)
                    let hears = deaf_until.is_none();
                    match hears.then(|| unconstrained(link.next()).now_or_never()).flatten() {
                        Some(Ok(incoming)) => flooded = self.takes(incoming),
                        Some(Err(why)) => return Ended::Broken(why),
                        None => {}
                    }
                    self.core.timeout(now());
                }
                () = sleep_until_some(keep_at) => {}
                () = sleep_until_some(deaf_until) => {}
                incoming = link.next(), if deaf_until.is_none() => match incoming {
                    Ok(incoming) => flooded = self.takes(incoming),
                    Err(why) => return Ended::Broken(why),
                },
                // Last: clients that send without end do not keep the board waiting.
                Some(command) = self.commands.recv() => self.command(command),
            }
        }
    }

    /// Takes what has come, and a command that waits. Returns whether so much has come that others must have their turn.
    fn takes(&mut self, incoming: Incoming) -> bool {
        let flooded = matches!(&incoming, Incoming::Received(_, bytes) if bytes.len() >= FLOOD);
        self.incoming(incoming);
        // A board that sends without end does not keep clients waiting either.
        if let Ok(command) = self.commands.try_recv() {
            self.command(command);
        }
        flooded
    }

    fn incoming(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Received(channel, bytes) => {
                debug!(%channel, bytes = %printable(&bytes, LOGGED), "<");
                self.record(Item::Received(channel, bytes.to_vec()));
                self.core.received(now(), channel, &bytes);
            }
            Incoming::Answered(channel, outcome) => {
                debug!(%channel, ?outcome, "<");
                self.record(Item::Answered(channel, outcome.clone()));
                self.core.answered(now(), channel, outcome);
            }
        }
    }

    /// Hands the core a command with those that wait behind it: `position` and `go` belong together and need one pass.
    fn command(&mut self, first: Command) {
        let mut commands = vec![first];
        while commands.len() < COMMANDS
            && let Ok(next) = self.commands.try_recv()
        {
            commands.push(next);
        }
        self.since.extend(commands.iter().cloned());
        self.tell(commands);
    }

    fn tell(&mut self, commands: Vec<Command>) {
        for command in &commands {
            debug!(%command, "asked");
            self.record(Item::Command(command.clone()));
        }
        self.core.commands(now(), commands);
    }

    /// Sends what is due on the link now. `false` if that is nothing.
    fn send(&mut self, link: &mut Link) -> bool {
        let mut sent = false;
        while let Some(outgoing) = self.core.poll_transmit(now()) {
            sent = true;
            let channel = outgoing.channel;
            match &outgoing.request {
                Request::Write(bytes) | Request::Command(bytes) => {
                    debug!(%channel, bytes = %printable(bytes, LOGGED), ">");
                }
                Request::Secret(_) => debug!(%channel, "> secret"),
                Request::Read => debug!(%channel, "> read"),
                Request::Subscribe => debug!(%channel, "> subscribe"),
            }
            link.send(&outgoing);
            self.record(Item::Sent(outgoing));
        }
        sent
    }

    /// Saves what happened, then publishes it on the bus: what a client was told survives a kill. Logs last, because nobody
    /// waits for that.
    async fn publish(&mut self) {
        self.core.dates(clock::now());
        let state = self.core.poll_snapshot();
        let events: Arc<[Event]> = std::iter::from_fn(|| self.core.poll_event()).collect();
        for event in events.iter() {
            self.record(Item::Event(event.clone()));
        }
        let news = state.is_some() || !events.is_empty();
        let by_hand = events.iter().any(is_by_hand);
        // That an answer was taken is no news, but the next core must know it.
        let heard = !self.since.is_empty();
        let changed = news || heard || self.core.has_other_knowledge(&self.memory);
        if self.keeping.is_some() {
            self.keep_change(changed, by_hand).await;
        }
        if news {
            self.publisher.publish(events.clone(), state);
        }
        if by_hand {
            // The client that it answers says so before anything else is done.
            yield_now().await;
        }
        if changed && self.keeping.is_none() {
            // For a core that begins in place of this one, if it fails later.
            self.memory = self.core.memory();
        }
        self.since.clear();
        for event in events.iter() {
            log(event);
        }
    }

    /// Keeps what has changed, before anybody is told.
    async fn keep_change(&mut self, changed: bool, by_hand: bool) {
        if changed {
            let memory = self.core.memory();
            let urgency = memory.urgency(&self.memory);
            self.memory = memory;
            if let Some(keeping) = &mut self.keeping
                && by_hand
            {
                keeping.moved();
            }
            self.keep(urgency).await;
        } else if self.keeping.as_ref().is_some_and(Keeping::is_due) {
            self.keep(Urgency::Soon).await;
        }
    }

    /// Keeps what the core knows.
    async fn keep(&mut self, urgency: Urgency) {
        let Some(keeping) = &mut self.keeping else {
            return;
        };
        let until = keeping.keep(&self.memory, urgency).await;
        self.core.spare(until.map(tokio::time::Instant::into_std));
    }

    /// When unsaved changes are due to be saved.
    fn keep_at(&self) -> Option<tokio::time::Instant> {
        self.keeping.as_ref().and_then(Keeping::due_at)
    }

    fn record(&mut self, item: Item) {
        #[cfg(debug_assertions)]
        self.panic_if_told();
        if let Some(recorder) = &mut self.recorder {
            recorder.record(item);
        }
    }

    /// Panics if the fault suite asks for it.
    #[cfg(debug_assertions)]
    fn panic_if_told(&self) {
        let Some(folder) = std::env::var_os(PANICS) else {
            return;
        };
        let file = std::path::Path::new(&folder).join(format!("{}.panic", self.name));
        assert!(
            std::fs::remove_file(file).is_err(),
            "the fault suite asked for it"
        );
    }
}

/// Whether the hand has made a move.
fn is_by_hand(event: &Event) -> bool {
    matches!(
        event,
        Event::Moved {
            by: By::Hand | By::HandUnseen,
            ..
        }
    )
}

/// Logs an event at the level of its severity.
fn log(event: &Event) {
    match event {
        Event::Unreadable { .. } => debug!("{event}"),
        Event::Disconnected { .. } | Event::Silent | Event::Mistake { .. } => warn!("{event}"),
        _ if event.is_blank() => {}
        _ => info!("{event}"),
    }
}

/// The runtime's clock, which a test may have paused.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;
    use crate::{
        driver::{
            chessnut,
            identity::Settings as _,
            swpp::{Framing, MOVE_WAIT, Swpp},
        },
        transport::{
            ble::{BleError, Wanted},
            serial::SerialPort,
        },
        vocabulary::{Channel, Occasion},
    };

    const CLIENT: ClientId = ClientId(1);

    fn core() -> Core {
        let driver = Box::new(Swpp::new(Framing::Stream, MOVE_WAIT));
        Core::new(BoardName::default(), driver, Duration::from_secs(3))
    }

    async fn hears(actor: &mut Actor, text: &[u8]) {
        advance(Duration::from_secs(1)).await;
        actor.core.timeout(now());
        while actor.core.poll_transmit(now()).is_some() {}
        actor.core.received(now(), Channel::Serial, text);
        actor.publish().await;
    }

    /// The program awaits the first move of a game.
    async fn begins(actor: &mut Actor, number: u64) {
        actor.command(Command::Target {
            client: CLIENT,
            label: "the test".into(),
            number,
            game: Box::default(),
            occasion: Occasion::default(),
        });
        let (client, on) = (CLIENT, true);
        actor.command(Command::Await { client, on });
        actor.publish().await;
    }

    /// A Chessnut that was connected shows no pieces to the next link if that comes too soon.
    #[test]
    fn a_board_that_was_connected_for_a_moment_is_left_alone_as_after_a_link() {
        let core = || {
            let driver = chessnut::Settings::default().driver(None);
            Core::new(BoardName::default(), driver, Duration::from_secs(3))
        };
        let (bus, _told) = broadcast::channel(COMMANDS);
        let transport = Transport::Serial(SerialPort::new("none".to_owned(), 9600));
        let (actor, _handle) = Actor::new(BoardName::default(), core, transport, None, bus);
        let name = || "Chessnut Air".to_owned();
        let connect = |linked| BleError::Connect {
            name: name(),
            why: String::new(),
            linked,
        };
        let not_found = BleError::NotFound {
            wanted: Wanted::Name(name()),
            seen: Vec::new(),
        };
        let usual = actor.core.pause_between_links();
        assert!(!usual.is_zero());
        for (error, pause) in [
            (connect(true), usual),
            (BleError::NoServices { name: name() }, usual),
            (connect(false), Duration::ZERO),
            (not_found, Duration::ZERO),
        ] {
            assert_eq!(actor.pause_after(&error.clone().into()), pause, "{error}");
        }
    }

    /// A program that takes the hand's move back awaits another one.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_taken_is_not_given_again_after_a_reload() {
        let (bus, _told) = broadcast::channel(COMMANDS);
        let transport = Transport::Serial(SerialPort::new("none".to_owned(), 9600));
        let name = BoardName::default();
        let (mut actor, handle) = Actor::new(name, core, transport.clone(), None, bus);
        actor.core.link_up(now());
        hears(&mut actor, b"H101     1.2\n").await;
        begins(&mut actor, 1).await;
        hears(&mut actor, b"MB e2e4\n").await;
        let answer = |number| {
            let state = handle.state();
            let place = state.place(CLIENT, number);
            place.and_then(|place| place.answer.first().copied())
        };
        let answer_to_1 = answer(1).map(crate::chess::game::uci).unwrap();
        actor.command(Command::Answered {
            client: CLIENT,
            number: 1,
            answer: answer_to_1,
        });
        actor.publish().await;
        actor.change(core, transport, None);
        assert!(actor.again.is_empty());
        begins(&mut actor, 2).await;
        assert_eq!(answer(2), None);
    }
}
