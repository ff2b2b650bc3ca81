//! The bus: publishes what happens on every board, with the resulting state, to every front-end.
//!
//! Publications go over one `tokio::sync::broadcast`. A consumer that lags never blocks a board: it takes the board's
//! latest state and continues from there. A board's publications are numbered, so that none is handled twice after
//! that.
//!
//! ```
//! use boardbridge::bus::{BoardHandle, Bus, CAPACITY, COMMANDS, News, Publisher};
//! use boardbridge::vocabulary::{BoardName, ClientId, Command, Event, Snapshot};
//! use tokio::sync::{broadcast, mpsc};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A board's task has the publisher and the receiver of commands; the bus has the handle.
//! let name: BoardName = "citrine".parse()?;
//! let (publications, _) = broadcast::channel(CAPACITY);
//! let publisher = Publisher::new(publications.clone(), Snapshot::new(name.clone()));
//! let (commands, mut received) = mpsc::channel(COMMANDS);
//! let board = BoardHandle { name, way: "/dev/ttyUSB0".into(), commands, publisher: publisher.clone() };
//! let bus = Bus::new(publications, vec![board]);
//!
//! // What the task publishes reaches every front-end.
//! let mut subscription = bus.subscribe();
//! publisher.publish([Event::Connected], None);
//! let News::Published(publication) = subscription.next().await else {
//!     unreachable!("one publication is less than the capacity");
//! };
//! assert_eq!(publication.events[..], [Event::Connected]);
//!
//! // What a front-end wants reaches the task.
//! let board = bus.board("citrine").ok_or("no such board")?;
//! board.commands.send(Command::Ready { client: ClientId(1) }).await?;
//! assert!(matches!(received.recv().await, Some(Command::Ready { .. })));
//! # Ok(())
//! # }
//! ```

pub mod account;
pub mod chat;
pub mod clients;
pub mod delayed;
pub mod desk;
pub mod elsewhere;
pub mod login;
pub mod pairings;

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use tokio::sync::{
    broadcast::{self, error::RecvError},
    mpsc, watch,
};

use crate::{
    bus::{
        account::Account, clients::Clients, delayed::Delayed, desk::Desk, elsewhere::Elsewhere,
        login::Logins, pairings::Pairings,
    },
    system::clock,
    vocabulary::{BoardName, Command, Event, Snapshot},
};

/// How many publications a consumer may be behind before it loses the oldest. Each holds a board's state, 60 KiB at
/// most. A flooded board makes some hundred a second; a hand makes one.
pub const CAPACITY: usize = 64;
/// The same for a consumer of one board alone ([`Feed`]): there is one such bus for each board.
pub const FEED_CAPACITY: usize = 16;
/// Commands that may wait for one board. Beyond that clients wait their turn; the board does not.
pub const COMMANDS: usize = 64;

/// What happened, with the resulting state of the board.
#[derive(Clone, Debug)]
pub struct Publication {
    /// When.
    pub at: SystemTime,
    /// What happened, in order. Empty if only the state has changed, or for a consumer that lagged.
    pub events: Arc<[Event]>,
    /// The board's state; `None` for a client that has not chosen a board.
    pub state: Option<Arc<Snapshot>>,
    /// The publication's number on its board.
    number: u64,
}

impl Publication {
    /// The board it is about.
    pub fn board(&self) -> Option<&BoardName> {
        self.state.as_ref().map(|state| &state.board)
    }
}

/// Where a board's task and its front-ends publish what happens on it.
#[derive(Clone, Debug)]
pub struct Publisher {
    bus: broadcast::Sender<Publication>,
    /// For those that want only this board: a move must not wake the consumers of a thousand others.
    own: broadcast::Sender<Publication>,
    latest: Arc<Mutex<Latest>>,
}

/// A board's latest state.
#[derive(Debug)]
struct Latest {
    state: Arc<Snapshot>,
    number: u64,
}

impl Publisher {
    /// A publisher for a board in this state.
    pub fn new(bus: broadcast::Sender<Publication>, state: Snapshot) -> Self {
        let state = Arc::new(state);
        Self {
            bus,
            own: broadcast::Sender::new(FEED_CAPACITY),
            latest: Arc::new(Mutex::new(Latest { state, number: 1 })),
        }
    }

    /// Publishes what happened, with the new state if there is one.
    pub fn publish(&self, events: impl Into<Arc<[Event]>>, state: Option<Snapshot>) {
        // Sent while holding the lock, so that the order on the bus is that of the numbers.
        let mut latest = self.latest();
        latest.number += 1;
        if let Some(state) = state {
            latest.state = Arc::new(state);
        }
        let publication = Publication {
            at: clock::now(),
            events: events.into(),
            state: Some(latest.state.clone()),
            number: latest.number,
        };
        // A bus without consumers is fine. First those that wait for this board.
        let _ = self.own.send(publication.clone());
        let _ = self.bus.send(publication);
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A front-end's handle to one board.
#[derive(Clone, Debug)]
pub struct BoardHandle {
    /// The board's name.
    pub name: BoardName,
    /// How it is reached, in words.
    pub way: Arc<str>,
    /// Commands from front-ends.
    pub commands: mpsc::Sender<Command>,
    /// What happens on it.
    pub publisher: Publisher,
}

impl BoardHandle {
    /// Whether this is a handle to the same task, though it may be reached another way now.
    pub fn is_same(&self, other: &Self) -> bool {
        self.commands.same_channel(&other.commands)
    }

    /// The current state.
    pub fn state(&self) -> Arc<Snapshot> {
        self.publisher.latest().state.clone()
    }

    /// Everything that happens on it, beginning with the current state.
    pub fn feed(&self) -> Feed {
        Feed {
            subscription: Subscription::of(&self.publisher.own),
            board: self.clone(),
            behind: true,
        }
    }
}

/// The bus and the boards on it. Boards may come and go while the daemon runs.
#[derive(Clone, Debug)]
pub struct Bus {
    publications: broadcast::Sender<Publication>,
    boards: Arc<watch::Sender<Vec<BoardHandle>>>,
    /// The board that the last change has given another name: the one before, and the one now.
    renamed: Arc<Mutex<Option<(BoardName, BoardName)>>>,
    shown: Shown,
    /// The list that was asked for last.
    names: Arc<Mutex<Arc<[BoardName]>>>,
    clients: Clients,
    pairings: Pairings,
    account: Account,
    desk: Desk,
    logins: Logins,
    delayed: Delayed,
    elsewhere: Elsewhere,
}

/// Which boards a handle to the bus shows.
#[derive(Clone, Debug)]
enum Shown {
    All,
    /// Not those of another `BoardBridge`, which are for their links alone.
    Own,
    Only(BoardName),
}

impl Shown {
    fn has(&self, name: &BoardName) -> bool {
        match self {
            Self::All => true,
            Self::Own => !name.is_far(),
            Self::Only(only) => name == only,
        }
    }
}

impl Bus {
    /// A bus that carries these boards' publications.
    pub fn new(publications: broadcast::Sender<Publication>, boards: Vec<BoardHandle>) -> Self {
        Self {
            publications,
            boards: Arc::new(watch::Sender::new(boards)),
            renamed: Arc::default(),
            shown: Shown::All,
            names: Arc::new(Mutex::new([].into())),
            clients: Clients::default(),
            pairings: Pairings::default(),
            account: Account::default(),
            desk: Desk::default(),
            logins: Logins::default(),
            delayed: Delayed::default(),
            elsewhere: Elsewhere::default(),
        }
    }

    /// Every board, at this moment.
    pub fn boards(&self) -> Vec<BoardHandle> {
        let boards = self.boards.borrow();
        let shown = boards.iter().filter(|board| self.shown.has(&board.name));
        shown.cloned().collect()
    }

    /// The names of every board: one list for all that ask, as long as it is the same.
    pub fn names(&self) -> Arc<[BoardName]> {
        let boards = self.boards.borrow();
        let names = boards.iter().map(|board| &board.name);
        let shown = names.filter(|name| self.shown.has(name));
        let mut known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if !shown.clone().eq(known.iter()) {
            *known = shown.cloned().collect();
        }
        known.clone()
    }

    /// One board.
    pub fn board(&self, name: &str) -> Option<BoardHandle> {
        let boards = self.boards.borrow();
        let named = |board: &&BoardHandle| board.name.as_str() == name;
        boards
            .iter()
            .find(named)
            .filter(|board| self.shown.has(&board.name))
            .cloned()
    }

    /// Whether this handle shows a board of this name.
    pub fn shows(&self, name: &BoardName) -> bool {
        self.shown.has(name)
    }

    /// Replaces the boards. Each keeps its handle as long as its task lasts.
    pub fn set_boards(&self, boards: Vec<BoardHandle>) {
        self.boards.send_if_modified(|known| {
            let same = |(a, b): (&BoardHandle, &BoardHandle)| a.is_same(b) && a.way == b.way;
            let changed = known.len() != boards.len() || !known.iter().zip(&boards).all(same);
            *known = boards;
            changed
        });
    }

    /// Notes before a change of the boards which one it gives another name.
    pub fn set_renamed(&self, renamed: Option<(BoardName, BoardName)>) {
        *self.renamed.lock().unwrap_or_else(PoisonError::into_inner) = renamed;
    }

    /// What the board that had this name is called now, if the last change of the boards gave it another.
    pub fn renamed(&self, from: &BoardName) -> Option<BoardName> {
        let renamed = self.renamed.lock().unwrap_or_else(PoisonError::into_inner);
        let renamed = renamed.clone().filter(|(before, _)| before == from);
        renamed
            .map(|(_, now)| now)
            .filter(|now| self.board(now.as_str()).is_some())
    }

    /// Tells when boards have come, gone or changed.
    pub fn changes(&self) -> Changes {
        Changes(self.boards.subscribe())
    }

    /// The same bus, with only this board.
    pub fn only(&self, name: &BoardName) -> Self {
        self.showing(Shown::Only(name.clone()))
    }

    /// The same bus, without the boards of another `BoardBridge`.
    pub fn own(&self) -> Self {
        self.showing(Shown::Own)
    }

    fn showing(&self, shown: Shown) -> Self {
        Self {
            shown,
            names: Arc::new(Mutex::new([].into())),
            ..self.clone()
        }
    }

    /// Where boards publish.
    pub fn publications(&self) -> &broadcast::Sender<Publication> {
        &self.publications
    }

    /// The connected clients of all boards.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// Who plays whom.
    pub fn pairings(&self) -> &Pairings {
        &self.pairings
    }

    /// Where a player asks for boards and opponents.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Where logins to the account's server are asked for.
    pub fn logins(&self) -> &Logins {
        &self.logins
    }

    /// The account with which a board plays on a server.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The boards whose games are told with a delay.
    pub fn delayed(&self) -> &Delayed {
        &self.delayed
    }

    /// The boards that other daemons have.
    pub fn elsewhere(&self) -> &Elsewhere {
        &self.elsewhere
    }

    /// Publishes what happened to a client, on its board if it has one.
    pub fn tell(&self, board: Option<&BoardName>, event: Event) {
        match board.and_then(|name| self.board(name.as_str())) {
            Some(board) => board.publisher.publish([event], None),
            // A bus without consumers is fine.
            None => drop(self.publications.send(Publication {
                at: clock::now(),
                events: [event].into(),
                state: None,
                number: 0,
            })),
        }
    }

    /// Everything that happens from now on.
    pub fn subscribe(&self) -> Subscription {
        Subscription::of(&self.publications)
    }
}

/// Changes to the list of boards.
#[derive(Debug)]
pub struct Changes(watch::Receiver<Vec<BoardHandle>>);

impl Changes {
    /// Waits until the list has changed since this was last asked, or since the beginning. Cancel safe.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The bus ends with the daemon.
            std::future::pending::<()>().await;
        }
    }
}

/// The next item of a [`Subscription`].
#[derive(Clone, Debug)]
pub enum News {
    /// Something happened.
    Published(Publication),
    /// This many publications were lost. Take every board's state by [`Subscription::look`].
    Lagged(u64),
}

/// Everything that happens on all boards.
#[derive(Debug)]
pub struct Subscription {
    publications: broadcast::Receiver<Publication>,
    /// The last known publication of each board.
    seen: BTreeMap<BoardName, u64>,
}

impl Subscription {
    fn of(bus: &broadcast::Sender<Publication>) -> Self {
        Self {
            publications: bus.subscribe(),
            seen: BTreeMap::new(),
        }
    }

    /// The current state of a board. Earlier publications of that board are skipped from then on.
    pub fn look(&mut self, board: &BoardHandle) -> Arc<Snapshot> {
        self.catch_up(board).1
    }

    /// The current state of a board, if anything has happened since it was last looked at or its publications were taken.
    pub fn changed(&mut self, board: &BoardHandle) -> Option<Arc<Snapshot>> {
        let (has_changed, state) = self.catch_up(board);
        has_changed.then_some(state)
    }

    /// The same, and whether anything has happened since it was last seen.
    fn catch_up(&mut self, board: &BoardHandle) -> (bool, Arc<Snapshot>) {
        let latest = board.publisher.latest();
        let seen = self.seen.insert(board.name.clone(), latest.number);
        (seen != Some(latest.number), latest.state.clone())
    }

    /// The next item. Cancel safe: nothing is lost.
    pub async fn next(&mut self) -> News {
        loop {
            match self.publications.recv().await {
                Ok(publication) => {
                    let seen = publication.board().and_then(|name| self.seen.get(name));
                    if seen.is_none_or(|seen| publication.number > *seen) {
                        return News::Published(publication);
                    }
                }
                Err(RecvError::Lagged(lost)) => {
                    // What is left in the channel is older than the states to be taken now.
                    let passed = self.publications.len() as u64;
                    self.publications = self.publications.resubscribe();
                    return News::Lagged(lost + passed);
                }
                // The bus ends with the daemon.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Everything that happens on one board.
#[derive(Debug)]
pub struct Feed {
    subscription: Subscription,
    board: BoardHandle,
    /// The board's state must be taken before anything else.
    behind: bool,
}

impl Feed {
    /// The next item: at first, and after a lag, the board's latest state. Cancel safe: nothing is lost.
    pub async fn next(&mut self) -> (Arc<[Event]>, Arc<Snapshot>) {
        loop {
            if mem::take(&mut self.behind)
                && let (true, state) = self.subscription.catch_up(&self.board)
            {
                return ([].into(), state);
            }
            match self.subscription.next().await {
                News::Published(Publication {
                    events,
                    state: Some(state),
                    ..
                }) if state.board == self.board.name => return (events, state),
                News::Published(_) => {}
                News::Lagged(_) => self.behind = true,
            }
        }
    }

    /// The board's latest state, as soon as anything has happened: for consumers that need not see everything.
    pub async fn latest(&mut self) -> Arc<Snapshot> {
        self.next().await;
        self.subscription.look(&self.board)
    }
}
