//! Serves one `[[whitepawn]]`: gives the app's conversation its links and its board.

use std::{
    cmp::Reverse, collections::VecDeque, future::pending, net::IpAddr, sync::Arc, time::Duration,
};

use futures_util::{FutureExt as _, future::select_all};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{Instrument, Span, debug, info, info_span, warn};

use super::{
    Connection,
    connection::{AskReceipt, Receipt},
    delivery::Delivery,
    notice::Notice,
    session::{Action, AppConversation, Identity, SavedApp},
};
use crate::{
    bus::{
        BoardHandle, Bus,
        clients::{Client, ClientKind, Presence},
    },
    front_end::seat::serve::{Keeper, tell},
    system::{clock, sleep::sleep_until_some},
    text::{
        lines::{Foreign, LINE_WAIT, Line, Lines, after_telnet, printable},
        swpp::{self, MAX_LINE, Message},
    },
    transport::duplex::{Duplex, Passed},
    vocabulary::{BoardName, ClientId, ClientName, Command, Event, Outgoing},
};

/// Connections that have not shaken hands, besides the app's. For one more, the oldest of the address with the most is
/// closed.
pub const MAX_GUESTS: usize = 8;
/// Bytes a connection may send before it shakes hands, if there are others: an app does so first, in nine bytes. A line
/// that is alone, such as a serial port, may be as noisy as it likes.
pub const MAX_GUEST_BYTES: usize = 1024;
/// Commands that may wait for the board before the app is read again.
pub const MAX_COMMANDS: usize = 64;
/// How long a disconnected app's place is kept for its address: as long as a board is for a chess program.
pub const OWNER_WAIT: Duration = Duration::from_mins(5);
/// Bytes of the wire shown in one line of the debug log.
const LOGGED: usize = 256;

/// What the app's task receives at start.
pub struct App {
    /// The client's number.
    pub client: ClientId,
    /// How it is reached, for messages: `tcp 127.0.0.1:9690`.
    pub way: String,
    /// The board it plays on.
    pub board: BoardHandle,
    /// Whether the app is sent the promotion piece.
    pub names_promotion: bool,
    /// Where events are reported.
    pub bus: Bus,
    /// Why the app cannot connect, if it cannot.
    pub availability: watch::Receiver<Option<Arc<str>>>,
    /// The conversation before a restart.
    pub memory: Option<SavedApp>,
    /// Where the conversation is kept.
    pub shelf: Keeper<SavedApp>,
}

/// One connection.
struct Peer {
    address: Arc<str>,
    /// Its address, if it comes over the network.
    from: Option<IpAddr>,
    duplex: Duplex,
    lines: Lines,
    /// When an unfinished line is dropped.
    line_ends: Option<Instant>,
    /// Bytes received.
    received: usize,
    receipt: Option<AskReceipt>,
    /// Whether its invalid data has been reported.
    told_unreadable: bool,
    _lease: Option<DropGuard>,
}

impl Peer {
    fn new(connection: Connection) -> Self {
        Self {
            address: connection.peer,
            from: connection.address,
            duplex: Duplex::new(connection.stream, connection.medium),
            lines: Lines::new(MAX_LINE),
            line_ends: None,
            received: 0,
            receipt: connection.receipt,
            told_unreadable: false,
            _lease: connection.lease,
        }
    }
}

/// The log span of this way to the app.
pub fn span(board: &BoardName, way: &str) -> Span {
    info_span!("whitepawn", %board, %way)
}

/// Serves connections until `stop` is cancelled.
///
/// The connection that shook hands last is the app's. Others are read until they do, without disturbing it. An app with a
/// game on the board is not replaced from another address, unless it has been disconnected for [`OWNER_WAIT`]; then its
/// game is left.
pub async fn serve(
    mut app: App,
    mut connections: mpsc::Receiver<Connection>,
    stop: CancellationToken,
) {
    let label = ClientName::App(app.way.as_str().into());
    let span = span(&app.board.name, &app.way);
    async {
        let identity = Identity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            serial: app.board.name.to_string(),
        };
        let memory = app.memory.take();
        let mut session = match memory {
            Some(memory) => {
                AppConversation::restored(memory, label.clone(), identity, &app.board.state())
            }
            None => AppConversation::new(app.client, label.clone(), identity),
        };
        session.name_promotion(app.names_promotion);
        let mut client = Client::new(app.client, label.clone(), ClientKind::App);
        client.board = Some(app.board.name.clone());
        client.since = None;
        let presence = app.bus.clients().enter(client);
        let mut server = Server {
            presence,
            app,
            label,
            session,
            links: Vec::new(),
            active: None,
            alone_since: Instant::now(),
            served: 0,
            delivery: Delivery::default(),
            commands: VecDeque::new(),
        };
        server.run(&mut connections, &stop).await;
    }
    .instrument(span)
    .await;
}

struct Server {
    /// Its entry among the daemon's clients.
    presence: Presence,
    app: App,
    label: ClientName,
    session: AppConversation,
    links: Vec<Peer>,
    /// Which of them is the app's.
    active: Option<usize>,
    /// When the app's link was lost, or the daemon started.
    alone_since: Instant,
    /// The link that was served last: another one goes first next time.
    served: usize,
    /// Whether what it was sent has arrived.
    delivery: Delivery,
    /// Commands for the board; they wait here, so that the app never does.
    commands: VecDeque<Command>,
}

impl Server {
    async fn run(
        &mut self,
        connections: &mut mpsc::Receiver<Connection>,
        stop: &CancellationToken,
    ) {
        let mut feed = self.app.board.feed();
        loop {
            loop {
                let message = self.next_message();
                self.keep().await;
                if !self.send(message) {
                    break;
                }
            }
            self.act();
            self.appear();
            let line_ends = self.links.iter().filter_map(|link| link.line_ends).min();
            let commands = self.app.board.commands.clone();
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.session.stops();
                    self.keep().await;
                    return;
                }
                Ok(place) = commands.reserve(), if !self.commands.is_empty() => {
                    if let Some(command) = self.commands.pop_front() {
                        place.send(command);
                    }
                }
                Some(connection) = connections.recv() => self.connected(connection),
                (_, state) = feed.next() => self.session.snapshot(&state),
                Ok(()) = self.app.availability.changed() => self.troubled(),
                () = sleep_until_some(line_ends) => self.lines_broken(),
                () = sleep_until_some(self.delivery.asks_at()) => self.ask_what_arrived(),
                receipt = self.delivery.answer() => self.receipt(receipt),
                // Last, so that an app that sends without end delays only itself.
                (index, passed) = any(&mut self.links, self.served), if self.commands.len() < MAX_COMMANDS => {
                    self.served = index;
                    self.passed(index, passed);
                }
            }
        }
    }

    fn connected(&mut self, connection: Connection) {
        debug!(peer = %connection.peer, "a connection");
        if self.links.len() > MAX_GUESTS {
            let same = |index: usize| {
                let from = self.links[index].from;
                self.links.iter().filter(|link| link.from == from).count()
            };
            let guests = (0..self.links.len()).filter(|index| Some(*index) != self.active);
            let oldest = guests.max_by_key(|index| (same(*index), Reverse(*index)));
            if let Some(index) = oldest {
                info!(peer = %self.links[index].address, "closed: others want to connect, and it never shook hands");
                self.links.remove(index);
                self.active = self.active.map(|at| at - usize::from(at > index));
            }
        }
        // An app on a cable does not notice that its board was away, and waits for it.
        let goes_on = self.session.was_present() && !connection.medium.tells_its_end();
        self.links.push(Peer::new(connection));
        if goes_on && self.active.is_none() {
            let index = self.takes_over(self.links.len() - 1);
            self.session.goes_on(&self.links[index].address);
        }
    }

    /// A link is lost.
    fn close(&mut self, index: usize, why: &str) {
        let duplex = self.links.remove(index).duplex;
        let (delivery, why) = (duplex.delivery(), duplex.farewell().unwrap_or(why));
        if self.active == Some(index) {
            self.active = None;
            self.alone_since = Instant::now();
            self.delivery.settled();
            self.session.disconnected(now(), why, delivery);
        } else if let Some(active) = &mut self.active
            && *active > index
        {
            *active -= 1;
        }
    }

    fn passed(&mut self, index: usize, passed: Result<Passed, String>) {
        match passed {
            Ok(Passed::Read(bytes)) => {
                debug!(peer = %self.links[index].address, bytes = %printable(&bytes, LOGGED), "<");
                self.received(index, &bytes);
            }
            Ok(Passed::Written) => {
                if self.active == Some(index) {
                    self.session.sent(now());
                    self.delivery.sent(Instant::now());
                }
            }
            Err(why) => self.close(index, &why),
        }
    }

    fn received(&mut self, mut index: usize, bytes: &[u8]) {
        let link = &mut self.links[index];
        link.lines.push(bytes);
        link.received = link.received.saturating_add(bytes.len());
        while let Some(text) = self.links[index].lines.next_line() {
            match text {
                Line::Whole(line) => {
                    if self.turns_away(index, Foreign::of(&line)) {
                        return;
                    }
                    let line = if Some(index) == self.active {
                        &line[..]
                    } else {
                        after_telnet(&line)
                    };
                    let greets = AppConversation::is_handshake(line);
                    let resumes = self.active.is_none() && AppConversation::is_apps(line);
                    let comes = Some(index) != self.active && (greets || resumes);
                    if comes && self.is_elsewhere(index) {
                        let peer = &self.links[index].address;
                        warn!(%peer, "closed: the app of another address has a game on the board");
                        self.tell(format!("kept its game: {peer} wanted its place"));
                        self.close(index, "");
                        return;
                    }
                    if comes {
                        index = self.takes_over(index);
                    }
                    let peer = self.links[index].address.clone();
                    if Some(index) == self.active {
                        self.session.line(&peer, line);
                    } else if let Err(error) = swpp::read(line) {
                        self.unreadable(index, &Notice::unreadable(line, &error));
                    }
                }
                // Only its length is known: its protocol cannot be recognised.
                Line::Overlong(length) if self.is_stranger(index) => {
                    let peer = &self.links[index].address;
                    info!(%peer, "closed: its first line has {length} bytes: it is not a WhitePawn app");
                    self.close(index, "");
                    return;
                }
                Line::Overlong(length) => self.unreadable(index, &Notice::too_long(length)),
            }
        }
        let begun = Foreign::of(self.links[index].lines.partial());
        if self.turns_away(index, begun) {
            return;
        }
        let guest = Some(index) != self.active && self.links.len() > 1;
        let link = &mut self.links[index];
        if guest && link.received > MAX_GUEST_BYTES {
            let peer = &link.address;
            info!(%peer, "closed: no handshake: it is not a WhitePawn app");
            self.close(index, "");
            return;
        }
        let unfinished = link.lines.is_unfinished();
        link.line_ends = unfinished.then(|| Instant::now() + LINE_WAIT);
    }

    /// Whether this link comes over the network and has not shown that it is the app's.
    fn is_stranger(&self, index: usize) -> bool {
        Some(index) != self.active && self.links[index].from.is_some()
    }

    /// Closes a stranger's link that has shown another protocol. `true` if it did.
    fn turns_away(&mut self, index: usize, foreign: Option<Foreign>) -> bool {
        let foreign = foreign.filter(|_| self.is_stranger(index));
        if let Some(foreign) = foreign {
            info!(peer = %self.links[index].address, "closed: {foreign}");
            self.close(index, "");
        }
        foreign.is_some()
    }

    /// Whether the place is kept for the app of another address than this link's.
    fn is_elsewhere(&self, index: usize) -> bool {
        let kept = self.active.is_some() || self.alone_since.elapsed() < OWNER_WAIT;
        kept && self.session.is_of_another(self.links[index].from)
    }

    /// A connection has shaken hands, or acts as the app where there is none: from now on it is the app's. Returns its
    /// index among the links afterwards.
    fn takes_over(&mut self, index: usize) -> usize {
        let mut place = index;
        if let Some(before) = self.active {
            let peer = self.links[index].address.clone();
            // The link before may be dead without having been detected.
            self.links.remove(before);
            let why = format!("{peer} has replaced it");
            self.session
                .taken_over(now(), &why, self.delivery.is_missing());
            self.delivery.settled();
            place -= usize::from(before < index);
        }
        self.active = Some(place);
        self.session.comes_from(self.links[place].from);
        place
    }

    /// Moves that the other end's kernel has acknowledged, or that Bluetooth has taken, are not sent again, however the
    /// connection ends later.
    fn ask_what_arrived(&mut self) {
        let link = self.active.and_then(|index| self.links.get(index));
        self.delivery
            .ask(link.and_then(|link| link.receipt.as_ref()));
    }

    /// The question was answered.
    fn receipt(&mut self, receipt: Option<Receipt>) {
        self.delivery.answered(Instant::now(), receipt);
        match receipt {
            Some(Receipt::Acknowledged) => self.session.arrived(),
            Some(Receipt::Taken) => self.session.taken(),
            Some(Receipt::Missing) | None => {}
        }
    }

    /// Drops lines that have begun and do not end.
    fn lines_broken(&mut self) {
        let now = Instant::now();
        for index in 0..self.links.len() {
            let link = &mut self.links[index];
            if link.line_ends.take_if(|at| *at <= now).is_some() {
                let begun = link.lines.take_partial();
                let notice = Notice::half_line(&begun);
                if notice.is_refusal() && self.active == Some(index) {
                    self.session.refuse(notice);
                } else {
                    self.unreadable(index, &notice);
                }
            }
        }
    }

    /// A link sends data that is not a message: reported once, and only for the app's link or one that is alone, such
    /// as a serial line.
    fn unreadable(&mut self, index: usize, notice: &Notice) {
        let of_interest = Some(index) == self.active || self.links.len() == 1;
        let told = self.links.get_mut(index).filter(|_| of_interest);
        if told.is_some_and(|link| !std::mem::replace(&mut link.told_unreadable, true)) {
            info!("{notice}");
            self.tell(notice.to_string());
        } else {
            debug!("{notice}");
        }
    }

    /// Carries out the session's actions.
    fn act(&mut self) {
        while let Some(action) = self.session.poll_action() {
            match action {
                Action::Ask(command) => self.commands.push_back(command),
                Action::Tell(notice @ Notice::Unreadable(_)) => {
                    if let Some(index) = self.active {
                        self.unreadable(index, &notice);
                    } else {
                        debug!("{notice}");
                    }
                }
                Action::Tell(notice) => {
                    let (bus, board) = (&self.app.bus, &self.app.board.name);
                    tell(bus, board, &self.label, &notice, notice.is_refusal());
                }
            }
        }
    }

    /// Reports to watchers; the caller logs it, because it knows the severity.
    fn tell(&self, text: String) {
        let client = self.label.clone();
        let event = Event::Client { client, text };
        self.app.bus.tell(Some(&self.app.board.name), event);
    }

    /// The reason why the app cannot connect has changed or gone. The transport has logged it.
    fn troubled(&mut self) {
        let why = self.app.availability.borrow_and_update().clone();
        self.tell(match &why {
            Some(why) => format!("cannot connect: {why}"),
            None => "can connect now".to_owned(),
        });
        self.presence.change(|client| client.why = why);
    }

    /// Publishes whether the app is connected, and what it does.
    fn appear(&self) {
        let active = self.active.and_then(|index| self.links.get(index));
        let peer = active
            .filter(|_| self.session.is_present())
            .map(|link| link.address.clone());
        let (awaiting, opponent) = (self.session.awaits(), self.session.opponent());
        self.presence.change(|client| {
            if client.peer != peer {
                client.peer = peer;
                client.since = Some(clock::now());
            }
            client.awaiting = awaiting;
            client.opponent = opponent;
        });
    }

    /// Keeps the conversation, if it has changed, before anyone is told of it.
    async fn keep(&mut self) {
        // Messages from the app prove it, too.
        if self.session.unproven().is_none() {
            self.delivery.settled();
        }
        let memory = self.session.memory(self.delivery.is_missing());
        self.app.shelf.keep(memory).await;
    }

    /// The next message for the app's link, if that has taken the previous one.
    fn next_message(&mut self) -> Option<Message> {
        self.active.and_then(|_| self.session.next_message())
    }

    /// Gives it to the link. `true` if the link has passed something at once: another message may be sent.
    fn send(&mut self, message: Option<Message>) -> bool {
        let Some(link) = self.active.and_then(|index| self.links.get_mut(index)) else {
            return false;
        };
        link.duplex.set_reading(!self.session.is_full());
        let Some(message) = message else { return false };
        let text = swpp::write(&message);
        link.duplex
            .send(&Outgoing::serial(text.clone().into_bytes().into()));
        // At once: a message that is saved as sent is lost if the daemon is killed before it is written.
        let passed = link.duplex.pass().now_or_never();
        debug!(peer = %link.address, line = text.trim_end(), ">");
        let (Some(passed), Some(index)) = (passed, self.active) else {
            return false;
        };
        self.passed(index, passed);
        true
    }
}

/// The next event of any link, and which link. The one after `served` comes first.
async fn any(links: &mut [Peer], served: usize) -> (usize, Result<Passed, String>) {
    if links.is_empty() {
        return pending().await;
    }
    let count = links.len();
    let first = (served + 1) % count;
    let (before, after) = links.split_at_mut(first);
    let turn = after.iter_mut().chain(before);
    let passing = turn.map(|link| Box::pin(link.duplex.pass()));
    let (passed, index, _) = select_all(passing).await;
    ((first + index) % count, passed)
}

/// The runtime's clock, which a test may have paused.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}
