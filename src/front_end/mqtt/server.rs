//! The task that speaks to the broker: the one place where what is heard, what happens here, and what is said to boards elsewhere
//! meet.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use tokio::{
    sync::mpsc,
    task::yield_now,
    time::{interval_at, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::{
    broker::{Broker, Connection, Filter, Heard},
    commands::{Commands, give},
    complaints::Complaints,
    corrections::Corrections,
    elsewhere::{Elsewhere, Wanted},
    guests::Told,
    home_assistant,
    hub::{Hub, Taken},
    messages::{AWAY_AFTER, Answer, HEARTBEAT, Online, Ours},
    outbox::{MAX_WAITING, Message, Outbox, WINDOW},
    outward::Outward,
    remote::Remote,
    settings::{DaemonName, MqttConfig},
    state::{Numbers, Object},
    topics::{About, Part, Topic},
};
use crate::{
    bus::{BoardHandle, Bus, News, Publication, elsewhere::Pressed, pairings::Pairing},
    state::{Kind, Shelf, Store},
    system::{clock, sleep::sleep_until_some},
    text::lines::printable,
    vocabulary::{BoardName, ClientId, Command},
};

/// Buttons of boards elsewhere that may wait: people press them.
const PRESSED: usize = 16;
/// How often boards elsewhere are looked after: commands without an answer, daemons that are silent.
const TICK: Duration = Duration::from_secs(5);
/// How long the broker may take for our last word.
const FAREWELL_WAIT: Duration = Duration::from_secs(1);
/// Filters in one request to the broker.
const FILTERS: usize = 256;
/// After this long without a password, say, everything is tried again.
const AGAIN: Duration = Duration::from_secs(30);
/// Boards that are taken off the broker in one connection, because it has kept them and they are gone: as many as messages may wait.
const MAX_LEFT_BEHIND: usize = MAX_WAITING;
/// How long a broker may take to acknowledge a subscription before we publish all the same: as long as a connection may take.
const SUBSCRIBED_WAIT: Duration = Duration::from_secs(5);
/// How long the broker's kept `online` of ours may follow on that before we publish ours: it is the first thing it sends, if it has one.
const OWN_WORD_WAIT: Duration = Duration::from_millis(500);
/// Home Assistant has announced that it has started; it takes a moment to listen.
const BIRTH_WAIT: Duration = Duration::from_secs(3);

/// What the task needs of the daemon.
pub struct House {
    /// The configuration.
    pub config: MqttConfig,
    /// The boards.
    pub bus: Bus,
    /// Boards of other daemons.
    pub hub: Hub,
    /// Numbers for clients.
    pub number: Arc<dyn Fn() -> ClientId + Send + Sync>,
    /// Where the count of starts is kept, and what boards elsewhere have to be asked for again.
    pub store: Store,
}

/// Speaks to the broker until `stop` is cancelled.
pub async fn serve(house: House, stop: CancellationToken) {
    let Some(mut taken) = house.hub.take() else {
        warn!("there is another connection to a broker: this one is not used");
        return;
    };
    let daemon = house.config.daemon();
    let epoch = next_epoch(house.store.shelf(Kind::Mqtt, "epoch")).await;
    let url = house.config.url.to_string();
    info!(%daemon, "boards are published at the broker {url}");
    let will = online(&daemon, false, epoch);
    // Another process with the same name must not take our place over.
    let client_id = format!("boardbridge-{daemon}-{epoch}-{}", std::process::id());
    let mut connection = loop {
        match Connection::new(&house.config, &client_id, &will) {
            Ok(connection) => break Some(connection),
            Err(error) => warn!("the broker {url} is not used: {error}"),
        }
        tokio::select! {
            () = stop.cancelled() => break None,
            () = sleep(AGAIN) => {}
        }
    };
    if let Some(connection) = &mut connection {
        Server::new(&house, daemon, epoch)
            .run(connection, &mut taken, &stop)
            .await;
    }
    house.hub.give_back(taken);
}

/// Counts the starts: by the milliseconds since 1970, and one more than the last where the clock has gone back.
async fn next_epoch(mut shelf: Shelf) -> u64 {
    let since = clock::now().duration_since(SystemTime::UNIX_EPOCH);
    let since = since.map_or(0, |since| since.as_millis());
    let last: Option<u64> = shelf.read();
    let epoch = u64::try_from(since)
        .unwrap_or(0)
        .max(last.unwrap_or(0).saturating_add(1));
    shelf.keep_at_once(&epoch).await;
    epoch
}

/// What all daemons say of themselves.
fn online_of_all() -> Filter {
    Filter::of(&format!("{}/+/online", super::topics::ROOT))
}

fn online(daemon: &DaemonName, online: bool, epoch: u64) -> Message {
    let said = Online::of_ours(online, epoch, clock::now());
    let payload = serde_json::to_string(&said).unwrap_or_default();
    Message::retained(&Topic::online(daemon), payload)
}

/// Another daemon that has our name and a higher epoch: others believe it, and not us.
#[derive(Clone, Copy, Debug)]
struct Namesake {
    epoch: u64,
    /// When it counts as gone.
    until: Instant,
}

/// Everything between the broker and the bus.
struct Server<'a> {
    house: &'a House,
    daemon: DaemonName,
    epoch: u64,
    outbox: Outbox,
    outward: Outward,
    commands: Commands,
    remotes: BTreeMap<BoardName, Elsewhere>,
    complaints: Complaints,
    corrections: Corrections,
    namesake: Option<Namesake>,
    /// Boards taken off the broker in this connection, because they were gone before we started.
    left_behind: usize,
    /// Why the broker is not reached; `None` while it is.
    unreached: Option<String>,
    /// Until when nothing is published in this connection: first what the broker has kept under our name is heard, which would be
    /// overwritten.
    listens: Option<Instant>,
    /// The pairings that the broker has been told.
    paired: BTreeMap<BoardName, Arc<Pairing>>,
    /// Where buttons of boards elsewhere are pressed.
    presses: Option<mpsc::Sender<Pressed>>,
    /// Topics to listen to.
    filters: Vec<Filter>,
    /// When Home Assistant is told everything again.
    birth: Option<tokio::time::Instant>,
}

impl<'a> Server<'a> {
    fn new(house: &'a House, daemon: DaemonName, epoch: u64) -> Self {
        Self {
            house,
            outward: Outward::new(daemon.clone(), epoch),
            commands: Commands::new(daemon.clone(), house.bus.clone(), house.number.clone()),
            daemon,
            epoch,
            outbox: Outbox::default(),
            remotes: BTreeMap::new(),
            complaints: Complaints::default(),
            corrections: Corrections::default(),
            namesake: None,
            left_behind: 0,
            unreached: Some("it has not been reached yet".to_owned()),
            listens: None,
            paired: BTreeMap::new(),
            presses: None,
            filters: Vec::new(),
            birth: None,
        }
    }

    async fn run(mut self, broker: &mut impl Broker, taken: &mut Taken, stop: &CancellationToken) {
        let said = &mut taken.said;
        self.remotes = std::mem::take(&mut taken.remotes);
        let ours = self.ours();
        for elsewhere in self.remotes.values_mut() {
            elsewhere.remote.begins_anew(ours.clone());
        }
        let bus = self.house.bus.clone();
        let mut subscription = bus.subscribe();
        let mut changes = bus.changes();
        let mut pairings = bus.pairings().changes();
        let mut wanted = self.house.hub.wanted();
        let (presses, mut pressed) = mpsc::channel(PRESSED);
        self.presses = Some(presses);
        let first = tokio::time::Instant::now() + TICK;
        let mut tick = interval_at(first, TICK);
        let mut heartbeat = interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
        self.put(online(&self.daemon, true, self.epoch));
        let remotes = wanted.borrow_and_update().clone();
        self.wanted(remotes);
        // What was kept for boards that are configured no more.
        self.house.store.forget_rest(Kind::Mqtt).await;
        self.boards();
        loop {
            self.flush(broker);
            let birth = self.birth;
            let listens = self.listens.map(Into::into);
            let wrong = self.corrections.deadline(Instant::now()).map(Into::into);
            let overdue = self.commands.deadline().map(Into::into);
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                heard = broker.heard() => self.heard(heard).await,
                Some((board, command)) = said.recv() => {
                    self.say(&board, &command).await;
                    // What a program says together is sent together.
                    for _ in 1..WINDOW {
                        let Ok((board, command)) = said.try_recv() else { break };
                        self.say(&board, &command).await;
                    }
                }
                Some(pressed) = pressed.recv() => self.press(pressed),
                news = subscription.next() => match news {
                    News::Published(publication) => self.published(&publication),
                    News::Lagged(_) => {
                        for board in self.own() {
                            subscription.look(&board);
                            self.outward.lost(&board.name);
                        }
                        self.states();
                    }
                },
                // Before the bus's own list: a board of another daemon must not be taken for one of ours.
                Ok(()) = wanted.changed() => {
                    let remotes = wanted.borrow_and_update().clone();
                    self.wanted(remotes);
                }
                () = changes.next() => self.boards(),
                () = pairings.next() => self.pairings(),
                Some(pressed) = self.commands.pressed() => {
                    if let Some(message) = pressed {
                        self.put(message);
                    }
                }
                _ = heartbeat.tick() => self.put(online(&self.daemon, true, self.epoch)),
                _ = tick.tick() => self.tick(),
                () = sleep_until_some(overdue) => self.overdue(),
                () = sleep_until_some(wrong) => self.correct(),
                () = sleep_until_some(listens) => self.listens = None,
                () = sleep_until_some(birth) => {
                    self.birth = None;
                    self.announce();
                    self.states();
                }
            }
        }
        self.leave(broker).await;
        taken.remotes = self.remotes;
    }

    /// Says that we leave, and that the boards elsewhere are out of reach.
    async fn leave(&mut self, broker: &mut impl Broker) {
        for elsewhere in self.remotes.values_mut() {
            let why = "the connection to the broker is switched off";
            let news = elsewhere.remote.unreached(clock::now(), why);
            elsewhere.publish(&self.house.bus, news);
        }
        self.presses = None;
        self.listens = None;
        self.elsewhere();
        let lost = self.commands.all_lost();
        self.tell(lost);
        self.put(online(&self.daemon, false, self.epoch));
        let said = async {
            while self.unreached.is_none() && !self.outbox.is_done() {
                self.flush(broker);
                match broker.heard().await {
                    Heard::Confirmed | Heard::NotTaken(_) => drop(self.outbox.confirmed()),
                    Heard::Lost(_) => break,
                    _ => {}
                }
            }
            if self.unreached.is_none() {
                broker.leave().await;
            }
        };
        // A broker that is gone says our last will.
        let _ = timeout(FAREWELL_WAIT, said).await;
    }

    fn put(&mut self, message: Message) {
        self.outbox.put(Instant::now(), message);
    }

    fn put_all(&mut self, messages: Vec<Message>) {
        for message in messages {
            self.put(message);
        }
    }

    /// Hands over what waits.
    fn flush(&mut self, broker: &mut impl Broker) {
        if self.unreached.is_some() {
            return;
        }
        while !self.filters.is_empty() {
            let some = self.filters.len().min(FILTERS);
            if !broker.subscribe(&self.filters[..some]) {
                return;
            }
            self.filters.drain(..some);
        }
        if self.listens.is_some() {
            return;
        }
        while let Some(message) = self.outbox.next(Instant::now()) {
            debug!(topic = %message.topic, bytes = message.payload.len(), ">");
            if !broker.send(&message) {
                self.outbox.take_back();
                return;
            }
        }
    }

    /// Whether a board is ours: not one of another daemon, nor one that has just ended and is still in the list.
    fn is_own(&self, board: &BoardHandle) -> bool {
        !self.remotes.contains_key(&board.name) && !board.commands.is_closed()
    }

    fn own(&self) -> Vec<BoardHandle> {
        let boards = self.house.bus.boards().into_iter();
        boards.filter(|board| self.is_own(board)).collect()
    }

    fn own_board(&self, name: &BoardName) -> Option<BoardHandle> {
        let board = self.house.bus.board(name.as_str());
        board.filter(|board| self.is_own(board))
    }

    /// Boards have come or gone.
    fn boards(&mut self) {
        let own = self.own();
        self.commands.have_boards(own.len());
        let gone: Vec<BoardName> = self.outward.boards().cloned().collect();
        for name in gone {
            if !own.iter().any(|board| board.name == name) {
                self.gone(&name);
            }
        }
        self.announce();
        self.states();
    }

    /// Takes a board off the broker.
    fn gone(&mut self, board: &BoardName) {
        let messages = self.outward.gone(board);
        self.put_all(messages);
        if self.house.config.home_assistant {
            let prefix = &self.house.config.discovery_prefix;
            self.put(home_assistant::withdraws(prefix, &self.daemon, board));
        }
    }

    /// The broker has kept the state of a board of ours: it is gone if we do not have it, for instance because it was taken out of the
    /// configuration while we did not run.
    fn kept(&mut self, board: &BoardName) {
        if self.own_board(board).is_none() && self.left_behind < MAX_LEFT_BEHIND {
            self.left_behind += 1;
            info!(%board, "the broker has kept this board, which is gone: it is taken off");
            self.gone(board);
        }
    }

    /// Tells Home Assistant of our boards.
    fn announce(&mut self) {
        if !self.house.config.home_assistant {
            return;
        }
        let prefix = &self.house.config.discovery_prefix;
        for board in self.own() {
            let message = home_assistant::announces(prefix, &self.daemon, &board.name);
            self.outbox.put(Instant::now(), message);
        }
    }

    /// Says how every board stands.
    fn states(&mut self) {
        for board in self.own() {
            self.state(&board);
        }
    }

    /// Says how this board stands.
    fn state(&mut self, board: &BoardHandle) {
        let commands = &self.commands;
        let guest = |client| commands.guest(client);
        let state = self
            .outward
            .state(&self.house.bus, board, &board.state(), guest);
        self.put(state);
    }

    /// Who plays whom has changed somewhere.
    fn pairings(&mut self) {
        for board in self.own() {
            let now = self.house.bus.pairings().at(&board.name);
            if self.paired.get(&board.name) != now.as_ref() {
                match now {
                    Some(now) => self.paired.insert(board.name.clone(), now),
                    None => self.paired.remove(&board.name),
                };
                self.state(&board);
            }
        }
    }

    /// Something has happened here.
    fn published(&mut self, publication: &Publication) {
        let Some(board) = publication.board().and_then(|name| self.own_board(name)) else {
            return;
        };
        let commands = &self.commands;
        let guest = |client| commands.guest(client);
        let mut messages = self
            .outward
            .published(&self.house.bus, &board, publication, guest);
        if self.house.config.home_assistant {
            messages.extend(home_assistant::moves(
                &self.daemon,
                &board.name,
                publication,
            ));
        }
        self.put_all(messages);
    }

    /// The boards of other daemons that are wanted here.
    fn wanted(&mut self, wanted: BTreeMap<BoardName, Wanted>) {
        let pairings = self.house.bus.pairings();
        self.remotes.retain(|name, elsewhere| {
            let is_wanted = |wanted: &Wanted| wanted.far == *elsewhere.remote.far();
            let stays = wanted.get(name).is_some_and(is_wanted);
            if !stays {
                pairings.mirror(name, None);
            }
            stays
        });
        let mut filters = Vec::new();
        for (name, wanted) in wanted {
            if let Some(elsewhere) = self.remotes.get_mut(&name) {
                elsewhere.wanted = wanted;
                continue;
            }
            let remote = Remote::new(name.clone(), wanted.far.clone(), self.ours());
            let asked = format!("asked {name} {}", wanted.far);
            let shelf = self.house.store.shelf(Kind::Mqtt, &asked);
            let mut elsewhere = Elsewhere::new(remote, wanted, shelf);
            match &self.unreached {
                Some(why) => {
                    let news = elsewhere
                        .remote
                        .unreached(clock::now(), &self.no_broker(why));
                    elsewhere.publish(&self.house.bus, news);
                }
                None => filters.extend(elsewhere.filters()),
            }
            self.remotes.insert(name, elsewhere);
        }
        if !filters.is_empty() {
            // What a daemon has said of itself may have come before anybody here wanted its boards.
            self.filters.push(online_of_all());
            self.filters.append(&mut filters);
        }
        self.elsewhere();
    }

    /// Buttons of these boards come here.
    fn elsewhere(&self) {
        let elsewhere = self.house.bus.elsewhere();
        match &self.presses {
            Some(presses) => elsewhere.set(self.remotes.keys().cloned(), presses),
            None => elsewhere.clear(),
        }
    }

    fn ours(&self) -> Ours {
        Ours {
            daemon: self.daemon.clone(),
            epoch: self.epoch,
        }
    }

    fn no_broker(&self, why: &str) -> String {
        format!(
            "the broker {} is out of reach: {why}",
            self.house.config.url
        )
    }

    /// A program here says something to a board elsewhere.
    async fn say(&mut self, board: &BoardName, command: &Command) {
        let Some(elsewhere) = self.remotes.get_mut(board) else {
            return;
        };
        let messages = elsewhere
            .remote
            .command(Instant::now(), clock::now(), command);
        elsewhere.keep().await;
        self.put_all(messages);
    }

    /// A button of a board elsewhere is pressed here.
    fn press(&mut self, pressed: Pressed) {
        let Some(elsewhere) = self.remotes.get_mut(&pressed.board) else {
            return;
        };
        let remote = &mut elsewhere.remote;
        if let Some(message) = remote.press(Instant::now(), clock::now(), pressed) {
            self.put(message);
        }
    }

    /// Looks after the boards elsewhere.
    fn tick(&mut self) {
        let (now, at) = (Instant::now(), clock::now());
        let mut messages = Vec::new();
        let mut looked = 0;
        for elsewhere in self.remotes.values_mut() {
            let news = elsewhere.remote.timeout(now, at);
            elsewhere.publish(&self.house.bus, news);
            messages.extend(elsewhere.remote.again(now, at));
            if looked < FILTERS && elsewhere.remote.looks(now) {
                looked += 1;
                self.filters.push(elsewhere.filter(Part::State));
            }
        }
        self.put_all(messages);
        let dropped = self.outbox.take_dropped();
        if dropped > 0 {
            warn!(
                "the broker is away or slow: {dropped} events were not told there; the boards' states will be"
            );
        }
        self.complaints.tick(now);
        if let Some(namesake) = self.namesake.take_if(|namesake| namesake.until <= now) {
            self.outdoes(namesake.epoch);
        }
    }

    /// What was said under our name with a higher epoch is over, and others believe nothing of ours until we have one above it.
    fn outdoes(&mut self, epoch: u64) {
        info!(
            "another BoardBridge called {}, or one from before the clock was set back, is gone: everything is said again",
            self.daemon
        );
        self.begins(epoch.saturating_add(1));
    }

    /// Says everything again, as of another start.
    fn begins(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.outward.begins(self.epoch);
        let ours = self.ours();
        for elsewhere in self.remotes.values_mut() {
            elsewhere.remote.begins_anew(ours.clone());
        }
        self.put(online(&self.daemon, true, self.epoch));
        self.states();
        // Others have dropped our clients with the epoch before.
        let (now, at) = (Instant::now(), clock::now());
        let mut again = Vec::new();
        for elsewhere in self.remotes.values_mut() {
            again.extend(elsewhere.remote.again(now, at));
        }
        self.put_all(again);
    }

    async fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Reached => self.reached(),
            Heard::Lost(why) => self.lost(&why),
            Heard::Said {
                topic,
                payload,
                kept,
            } => {
                debug!(%topic, bytes = %printable(&payload, 256), kept, "<");
                self.said(&topic, &payload, !kept).await;
            }
            Heard::Confirmed => drop(self.outbox.confirmed()),
            Heard::NotTaken(why) => {
                if let Some(Message { topic, .. }) = self.outbox.confirmed() {
                    let words = format!(
                        "the broker {} does not pass on what is said under {topic} ({why}): has this user the right to write there?",
                        self.house.config.url
                    );
                    self.complaints.complain(&topic, &words);
                }
            }
            Heard::Subscribed { refused } => {
                if let Some(why) = refused {
                    warn!("the broker {}: {why}", self.house.config.url);
                }
                let until = Instant::now() + OWN_WORD_WAIT;
                self.listens = self.listens.map(|before| before.min(until));
            }
        }
    }

    /// The broker may have forgotten everything: it is told all of it.
    fn reached(&mut self) {
        self.unreached = None;
        self.listens = Some(Instant::now() + SUBSCRIBED_WAIT);
        info!("the broker {} is reached", self.house.config.url);
        let all = |part: &str| format!("{}/{}/boards/+/{part}", super::topics::ROOT, self.daemon);
        let board = |part: &str| Filter {
            tells_retained: true,
            ..Filter::of(&all(part))
        };
        self.left_behind = 0;
        self.filters = vec![
            online_of_all(),
            Filter::of(&Topic::answers(&self.daemon)),
            board("commands"),
            board("press"),
            Filter {
                of_others: true,
                ..Filter::of(&all("state"))
            },
        ];
        if self.house.config.home_assistant {
            let prefix = &self.house.config.discovery_prefix;
            self.filters
                .push(Filter::of(&home_assistant::birth(prefix)));
        }
        for elsewhere in self.remotes.values_mut() {
            elsewhere.remote.reached();
            self.filters.extend(elsewhere.filters());
        }
        self.put(online(&self.daemon, true, self.epoch));
        self.outbox.connected();
    }

    fn lost(&mut self, why: &str) {
        self.outbox.lost();
        if self.unreached.as_deref() == Some(why) {
            return;
        }
        self.unreached = Some(why.to_owned());
        let words = self.no_broker(why);
        warn!("{words}");
        for elsewhere in self.remotes.values_mut() {
            let news = elsewhere.remote.unreached(clock::now(), &words);
            elsewhere.publish(&self.house.bus, news);
        }
    }

    /// The broker passes on what somebody says.
    async fn said(&mut self, topic: &str, payload: &Bytes, live: bool) {
        let config = &self.house.config;
        if config.home_assistant && topic == home_assistant::birth(&config.discovery_prefix) {
            if live && &payload[..] == b"online" {
                self.birth = Some(tokio::time::Instant::now() + BIRTH_WAIT);
            }
            return;
        }
        let Some(Topic { daemon, about }) = Topic::read(topic) else {
            return;
        };
        let ours = daemon == self.daemon;
        match about {
            About::Online => self.online(&daemon, payload, live),
            About::Answers if ours => self.answered(payload),
            // A command that the broker kept is not said now, and one that it is to keep would come again.
            About::Board(board, Part::Commands) if ours && live && !payload.is_empty() => {
                self.command(&board, payload);
            }
            About::Board(board, Part::Press) if ours && live => {
                self.commands.press(self.own_board(&board), payload);
            }
            About::Board(board, Part::State) if ours && !live && !payload.is_empty() => {
                self.kept(&board);
            }
            About::Board(board, Part::State) if ours && live => {
                self.foreign(&board, topic, payload);
            }
            About::Board(_, Part::State) if ours => {}
            About::Board(board, part @ (Part::State | Part::Events)) => {
                self.of_another(&daemon, &board, part, payload, live).await;
            }
            _ => {}
        }
    }

    /// A daemon says whether it is there; or somebody says so of us.
    fn online(&mut self, daemon: &DaemonName, payload: &[u8], live: bool) {
        let Ok(said) = serde_json::from_slice::<Online>(payload) else {
            if !payload.is_empty() {
                self.complaints.complain(
                    daemon.as_str(),
                    &format!("what {daemon} says of itself is not understood"),
                );
            }
            return;
        };
        if *daemon == self.daemon {
            self.of_us(&said, live);
            return;
        }
        let told = self.commands.online(daemon, &said);
        self.tell(told);
        let (now, at) = (Instant::now(), clock::now());
        let mut again = Vec::new();
        for elsewhere in self.remotes.values_mut() {
            if elsewhere.remote.far().daemon == *daemon {
                let news = elsewhere.remote.online(now, at, &said, live);
                elsewhere.publish(&self.house.bus, news);
                again.extend(elsewhere.remote.again(now, at));
            }
        }
        self.put_all(again);
    }

    /// What is said of us by another: our last will, after the broker lost us, or another daemon with our name.
    fn of_us(&mut self, said: &Online, live: bool) {
        let has_listened = self.listens.take().is_some();
        if said.online && said.epoch == self.epoch {
            return;
        }
        let now = Instant::now();
        if said.online && (live || said.epoch > self.epoch) {
            self.complain_of_namesake();
        }
        if said.epoch > self.epoch {
            // Nothing is published in this connection yet: all of it begins above what is over.
            if has_listened && !said.online {
                self.namesake = None;
                self.outdoes(said.epoch);
                return;
            }
            let until = if said.online { now + AWAY_AFTER } else { now };
            let epoch = said.epoch;
            self.namesake = Some(Namesake { epoch, until });
            return;
        }
        // What the broker had kept is overwritten at every connection anyway.
        if live {
            self.corrections.online();
            self.correct();
        }
    }

    /// Somebody says something of a board of ours, which the broker may have kept.
    fn foreign(&mut self, board: &BoardName, topic: &str, payload: &Bytes) {
        // Whoever has our name and a higher epoch is believed, not we.
        if self.namesake.is_some() || self.outbox.says(topic, payload) {
            return;
        }
        let Some(board) = self.own_board(board) else {
            return;
        };
        let said = serde_json::from_slice(payload)
            .map_or(Numbers::default(), |said: Object| said.numbers());
        if said.epoch > self.epoch {
            self.complain_of_namesake();
            let (epoch, until) = (said.epoch, Instant::now() + AWAY_AFTER);
            self.namesake = Some(Namesake { epoch, until });
            return;
        }
        if self.outward.is_behind(&board.name, said) {
            self.complain_of_namesake();
            self.corrections.epoch();
        }
        self.corrections.board(board.name);
        self.correct();
    }

    fn complain_of_namesake(&mut self) {
        let words = format!(
            "another BoardBridge on this broker is called {} too: give one of them another `name` in [mqtt]",
            self.daemon
        );
        self.complaints.complain("our name", &words);
    }

    /// Says again what others have said wrongly in our place, if it is time.
    fn correct(&mut self) {
        let Some(wrong) = self.corrections.due(Instant::now()) else {
            return;
        };
        if wrong.epoch {
            self.begins(self.epoch.saturating_add(1));
            return;
        }
        if wrong.online {
            self.put(online(&self.daemon, true, self.epoch));
        }
        for board in wrong.boards {
            if let Some(board) = self.own_board(&board) {
                self.state(&board);
            }
        }
    }

    fn answered(&mut self, payload: &[u8]) {
        let Ok(answer) = serde_json::from_slice::<Answer>(payload) else {
            return;
        };
        let (now, at) = (Instant::now(), clock::now());
        let mut again = Vec::new();
        for elsewhere in self.remotes.values_mut() {
            let remote = &mut elsewhere.remote;
            if remote.answered(at, &answer) {
                again = remote.again(now, at);
                for words in remote.refusals() {
                    warn!(
                        "{} refuses: {}",
                        remote.far(),
                        printable(words.as_bytes(), 200)
                    );
                }
                break;
            }
        }
        self.put_all(again);
    }

    /// News of a board of another daemon.
    async fn of_another(
        &mut self,
        daemon: &DaemonName,
        board: &BoardName,
        part: Part,
        payload: &[u8],
        live: bool,
    ) {
        let (now, at) = (Instant::now(), clock::now());
        let mut again = Vec::new();
        let mut wrong = None;
        for elsewhere in self.remotes.values_mut() {
            let remote = &mut elsewhere.remote;
            if remote.far().daemon != *daemon || remote.far().board != *board {
                continue;
            }
            match part {
                Part::Events if live => wrong = remote.event(now, payload).err(),
                Part::State => match remote.state(now, payload, live) {
                    Ok(news) => {
                        elsewhere.publish(&self.house.bus, news);
                        // The program that awaits the move says it before anything else is done.
                        yield_now().await;
                        again.extend(elsewhere.remote.again(now, at));
                        elsewhere.keep().await;
                    }
                    Err(error) => wrong = Some(error),
                },
                _ => {}
            }
        }
        if let Some(error) = wrong {
            let error = printable(error.as_bytes(), 200);
            self.complaints.complain(
                daemon.as_str(),
                &format!("what {daemon} says of {board} is not understood: {error}"),
            );
        }
        self.put_all(again);
    }

    /// Tells boards of their guests.
    fn tell(&self, told: Vec<Told>) {
        for (board, command) in told {
            if let Some(board) = self.own_board(&board) {
                // A board that takes no command now is told nothing worse than that a client looks on.
                let _ = give(&board, command);
            }
        }
    }

    /// A command for a board of ours.
    fn command(&mut self, board: &BoardName, payload: &[u8]) {
        let (now, at) = (Instant::now(), clock::now());
        let named = (board, self.own_board(board));
        let complaints = &mut self.complaints;
        for answer in self.commands.command(now, at, named, payload, complaints) {
            self.put(answer);
        }
    }

    /// Commands have waited long enough for those before them.
    fn overdue(&mut self) {
        for (name, envelope) in self.commands.overdue(Instant::now()) {
            let here = self.own_board(&name);
            let complaints = &mut self.complaints;
            let answer = self
                .commands
                .carried_out(&name, here, &envelope, complaints);
            if let Some(answer) = answer {
                self.put(answer);
            }
        }
    }
}
