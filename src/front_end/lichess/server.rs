//! Runs the account: connects its session to Lichess, the board, the API and a clock.

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::{Instrument, debug, info_span};

use super::{
    http::Http,
    objects,
    play::Play,
    request::Request,
    session::{LichessAccount, Outcome, SavedAccount, Ticket},
    settings::Settings,
    token::Place,
};
use crate::{
    bus::{
        BoardHandle, Bus,
        account::NotDone,
        clients::{Client, ClientKind},
        pairings::{Entry, Pairing, Said, Saying},
    },
    front_end::seat::serve::{Keeper, give, tell},
    system::{clock, sleep::sleep_until_some},
    text::lines::printable,
    vocabulary::{ClientId, ClientName, Event, Opponent},
};

/// The first wait before a stream is opened again.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// A stream that was open for this long has worked: the next wait is `FIRST_WAIT` again.
const WELL: Duration = Duration::from_secs(20);
/// Lines of a stream that may wait to be handled.
const LINES: usize = 4;
/// Bytes of an unreadable line that the log shows.
const MAX_SHOWN: usize = 200;

/// Everything the Lichess task receives at start.
pub struct Table {
    /// The board it plays with.
    pub board: BoardHandle,
    /// Its number as a client: that from before a restart, if it has one.
    pub client: ClientId,
    /// Its game before a restart.
    pub memory: Option<SavedAccount>,
    /// Where it saves its game.
    pub shelf: Keeper<SavedAccount>,
    /// Where it reports what happens.
    pub bus: Bus,
    /// Its settings.
    pub settings: Settings,
    /// Where the token is.
    pub token: Place,
}

/// What a stream delivers.
#[derive(Debug)]
enum Fed {
    Open,
    Line(Vec<u8>),
    /// The server has nothing at this path.
    Nothing,
    Closed(Outcome),
}

/// A stream that is kept open, and opened again after a while when it ends.
#[derive(Debug, Default)]
struct LastingStream {
    task: Option<AbortOnDropHandle<()>>,
    fed: Option<mpsc::Receiver<Fed>>,
    opened: Option<Instant>,
    /// When it may be opened again.
    next_at: Option<Instant>,
    wait: Duration,
}

impl LastingStream {
    fn is_due(&self) -> bool {
        self.task.is_none() && self.next_at.is_none_or(|at| at <= Instant::now())
    }

    fn is_opening(&self) -> bool {
        self.task.is_some() && self.opened.is_none()
    }

    fn start(&mut self, http: &Http, path: String) {
        let (feed, fed) = mpsc::channel(LINES);
        let http = http.clone();
        let task = tokio::spawn(follow(http, path, feed).in_current_span());
        self.task = Some(AbortOnDropHandle::new(task));
        self.fed = Some(fed);
        self.opened = None;
    }

    /// It works: the next wait is the shortest.
    fn is_well(&mut self) {
        self.wait = Duration::ZERO;
    }

    /// Closes it; it is opened again after a while.
    fn close(&mut self) {
        if self.opened.is_some_and(|opened| opened.elapsed() >= WELL) {
            self.is_well();
        }
        self.wait = (2 * self.wait).clamp(FIRST_WAIT, LONGEST_WAIT);
        self.next_at = Some(Instant::now() + self.wait);
        self.task = None;
        self.fed = None;
        self.opened = None;
    }

    fn deadline(&self) -> Option<Instant> {
        self.next_at.filter(|_| self.task.is_none())
    }

    /// What the stream delivers next. Cancel safe.
    async fn next(&mut self) -> Fed {
        match &mut self.fed {
            Some(fed) => {
                let lost = || Fed::Closed(Outcome::Lost("its task has ended".to_owned()));
                fed.recv().await.unwrap_or_else(lost)
            }
            None => pending().await,
        }
    }
}

/// Opens a stream and passes on what it brings.
async fn follow(http: Http, path: String, feed: mpsc::Sender<Fed>) {
    let ended = match http.open(&path).await {
        Ok(Some(mut stream)) => {
            if feed.send(Fed::Open).await.is_err() {
                return;
            }
            loop {
                match stream.next().await {
                    Ok(line) => {
                        if feed.send(Fed::Line(line)).await.is_err() {
                            return;
                        }
                    }
                    Err(why) => break Fed::Closed(Outcome::Lost(why)),
                }
            }
        }
        Ok(None) => Fed::Nothing,
        Err(outcome) => Fed::Closed(outcome),
    };
    // No one listens when the daemon ends.
    let _ = feed.send(ended).await;
}

/// A search for an opponent. Dropping it closes the connection, which withdraws it.
struct Search {
    request: Request,
    is_open: bool,
    _task: AbortOnDropHandle<()>,
    fed: mpsc::Receiver<Fed>,
}

impl Search {
    fn start(http: &Http, request: Request) -> Self {
        let (feed, fed) = mpsc::channel(LINES);
        let (http, asked) = (http.clone(), request.clone());
        let task = tokio::spawn(look(http, asked, feed).in_current_span());
        Self {
            request,
            is_open: false,
            _task: AbortOnDropHandle::new(task),
            fed,
        }
    }
}

/// Sends the seek, and reports when Lichess has accepted it and when it has ended.
async fn look(http: Http, request: Request, feed: mpsc::Sender<Fed>) {
    let ended = match http.begin(&request).await {
        Ok(lasting) => {
            if feed.send(Fed::Open).await.is_err() {
                return;
            }
            lasting.ended().await
        }
        Err(outcome) => outcome,
    };
    // No one listens when the daemon ends.
    let _ = feed.send(Fed::Closed(ended)).await;
}

/// What the search delivers next. Cancel safe.
async fn sought(search: &mut Option<Search>) -> Fed {
    match search {
        Some(search) => {
            let lost = || Fed::Closed(Outcome::Lost("its task has ended".to_owned()));
            search.fed.recv().await.unwrap_or_else(lost)
        }
        None => pending().await,
    }
}

/// A person who waits for an answer.
enum Waiting {
    Said(oneshot::Sender<Result<(), String>>),
    Asked(oneshot::Sender<Result<String, NotDone>>),
}

impl Waiting {
    fn has_left(&self) -> bool {
        match self {
            Self::Said(sender) => sender.is_closed(),
            Self::Asked(sender) => sender.is_closed(),
        }
    }

    /// Whether the answer has found the person waiting.
    fn told(self, answer: Result<String, NotDone>) -> bool {
        match self {
            Self::Said(sender) => {
                let answer = answer.map(|_| ()).map_err(|why| why.to_string());
                sender.send(answer).is_ok()
            }
            Self::Asked(sender) => sender.send(answer).is_ok(),
        }
    }
}

type Answer = Pin<Box<dyn Future<Output = Outcome> + Send>>;

async fn some(answer: &mut Option<Answer>) -> Outcome {
    match answer {
        Some(answer) => answer.await,
        None => pending().await,
    }
}

async fn said(entry: &mut Option<(String, Entry)>) -> Said {
    match entry {
        Some((_, entry)) => entry.said().await,
        None => pending().await,
    }
}

/// Runs until `stop` is cancelled.
pub async fn serve(table: &mut Table, stop: CancellationToken) {
    let span = info_span!("lichess", board = %table.board.name);
    run(table, stop).instrument(span).await;
}

async fn run(table: &mut Table, stop: CancellationToken) {
    let board = table.board.name.clone();
    let client = table.client;
    let mut listed = Client::new(client, ClientName::Lichess, ClientKind::Lichess);
    listed.board = Some(board.clone());
    // Listed until dropped.
    let presence = table.bus.clients().enter(listed);
    let mut http = Http::new(&table.settings.url);
    let mut session = match table.memory.take() {
        Some(memory) => {
            let now = Instant::now().into_std();
            LichessAccount::restored(now, memory, table.settings.clone(), &table.board.state())
        }
        None => LichessAccount::new(client, table.settings.clone()),
    };
    // The pairing of a game that was over before the restart.
    let left = session.left().cloned().map(Arc::new);
    table.bus.pairings().leave(&board, left);
    let mut holder = table.bus.account().open(session.standing(board.clone()));
    let mut feed = table.board.feed();
    let (mut events, mut game) = (LastingStream::default(), LastingStream::default());
    // The stream of the game that is kept open.
    let mut followed: Option<(String, u64)> = None;
    let mut request: Option<Answer> = None;
    let mut search: Option<Search> = None;
    let mut waiting: BTreeMap<u64, Waiting> = BTreeMap::new();
    let mut tickets = 0;
    let mut entry: Option<(String, Entry)> = None;
    let mut shown: Option<Pairing> = None;
    loop {
        let now = Instant::now().into_std();
        waiting.retain(|number, waiting| {
            let has_left = waiting.has_left();
            if has_left {
                session.has_left(Ticket(*number));
            }
            !has_left
        });
        let is_asking = search.as_ref().is_some_and(|search| !search.is_open);
        let next = if request.is_none() && !is_asking {
            session.poll_request(now)
        } else {
            None
        };
        table.shelf.keep(session.memory()).await;
        if let Some(next) = next {
            let http = http.clone();
            request = Some(Box::pin(async move { http.ask(&next).await }));
        }
        while let Some(notice) = session.poll_notice() {
            let refused = notice.is_refusal();
            tell(&table.bus, &board, &ClientName::Lichess, &notice, refused);
        }
        while let Some((ticket, answer)) = session.poll_reply() {
            if let Some(waiting) = waiting.remove(&ticket.0)
                && !waiting.told(answer)
            {
                session.has_left(ticket);
            }
        }
        let standing = session.standing(board.clone());
        presence.change(|client| {
            client.peer = standing.connected.then(|| standing.url.as_str().into());
            client.why = standing.problem.as_deref().map(Into::into);
            client.awaiting = session.play().is_some_and(Play::awaits);
            client.opponent = session.pairing().map(|_| Opponent::Lichess);
        });
        holder.stands(standing);
        pair(&session, table, &mut entry, &mut shown);
        if !session.is_connected() && events.opened.is_some() {
            // The token was refused: it is read again with the next stream.
            events.close();
        }
        let may_ask = session.may_ask(now);
        // Streams are opened one after the other, the game's first.
        let wanted = session.game_stream();
        if followed != wanted {
            let same = |(id, _): &(String, u64)| wanted.as_ref().is_some_and(|(w, _)| w == id);
            let again = followed.as_ref().is_some_and(same);
            if !again {
                game = LastingStream::default();
            } else if game.task.is_some() {
                game.close();
            }
            followed = wanted;
        }
        if let Some((id, _)) = &followed
            && may_ask
            && http.has_token()
            && game.is_due()
            && !events.is_opening()
        {
            game.start(&http, format!("/api/board/game/stream/{id}"));
        }
        if may_ask && events.is_due() && !game.is_opening() {
            match table.token.read() {
                Ok(token) => {
                    http.set_token(Some(token));
                    events.start(&http, "/api/stream/event".to_owned());
                }
                Err(error) => {
                    session.disconnected(&error.to_string());
                    events.close();
                    continue;
                }
            }
        }
        if !session.is_connected() {
            // The search is opened again with the next connection.
            search = None;
        }
        let wanted = session.seek();
        if search.as_ref().map(|search| &search.request) != wanted {
            let may_look = may_ask && request.is_none() && session.is_connected();
            let wanted = wanted.filter(|_| may_look).cloned();
            search = wanted.map(|request| Search::start(&http, request));
        }
        let may_open = may_ask && !events.is_opening() && !game.is_opening();
        let may_open = |at: Option<Instant>| at.filter(|_| may_open);
        let streams = [may_open(events.deadline()), may_open(game.deadline())];
        let deadline = session.deadline().map(Instant::from_std);
        let deadline = streams.into_iter().chain([deadline]).flatten().min();
        tokio::select! {
            biased;
            () = stop.cancelled() => {
                table.shelf.keep(session.memory()).await;
                return;
            }
            outcome = some(&mut request) => {
                request = None;
                debug!(?outcome, "answered");
                session.answered(Instant::now().into_std(), outcome);
            }
            // A board that takes no commands makes only its own commands wait.
            () = give(&table.board, session.seat()) => {}
            (events, state) = feed.next() => {
                session.snapshot(Instant::now().into_std(), &state);
                let is_ours = state.holders.contains(&ClientName::Lichess);
                if is_ours && events.contains(&Event::AsksTakeBack) {
                    // No one waits for the answer.
                    tickets += 1;
                    session.said(Saying::TakeBack, Ticket(tickets));
                }
            }
            fed = game.next() => of_game(&mut session, &mut game, fed),
            fed = events.next() => of_events(&mut session, &mut events, fed),
            fed = sought(&mut search) => of_search(&mut session, &mut search, fed),
            heard = said(&mut entry) => {
                tickets += 1;
                waiting.insert(tickets, Waiting::Said(heard.answer));
                session.said(heard.saying, Ticket(tickets));
            }
            asked = holder.asked() => {
                tickets += 1;
                waiting.insert(tickets, Waiting::Asked(asked.answer));
                session.asked(asked.ask, Ticket(tickets));
            }
            () = sleep_until_some(deadline) => session.timeout(Instant::now().into_std()),
        }
    }
}

/// Shows who plays whom.
fn pair(
    session: &LichessAccount,
    table: &Table,
    entry: &mut Option<(String, Entry)>,
    shown: &mut Option<Pairing>,
) {
    let pairing = session.told_pairing();
    if *shown == pairing {
        return;
    }
    shown.clone_from(&pairing);
    let (Some(pairing), Some(play)) = (pairing, session.play()) else {
        *entry = None;
        return;
    };
    match entry {
        Some((id, entry)) if id == play.id() => entry.change(|known| *known = pairing.clone()),
        _ => {
            let board = table.board.name.clone();
            let new = table.bus.pairings().enter(board, pairing.clone());
            *entry = Some((play.id().to_owned(), new));
        }
    }
}

fn of_events(session: &mut LichessAccount, stream: &mut LastingStream, fed: Fed) {
    match fed {
        Fed::Open => {
            stream.opened = Some(Instant::now());
            session.connected();
        }
        Fed::Line(line) => match objects::read(&line) {
            Ok(event) => session.event(event),
            Err(error) => unreadable(&line, &error),
        },
        Fed::Nothing => {
            stream.close();
            session.disconnected("there is no Lichess at this address");
        }
        Fed::Closed(outcome) => {
            stream.close();
            closed(session, outcome, true);
        }
    }
}

fn of_game(session: &mut LichessAccount, stream: &mut LastingStream, fed: Fed) {
    match fed {
        Fed::Open => stream.opened = Some(Instant::now()),
        Fed::Line(line) => match objects::read(&line) {
            Ok(line) => {
                stream.is_well();
                session.line(Instant::now().into_std(), clock::now(), line);
            }
            Err(error) => unreadable(&line, &error),
        },
        Fed::Nothing => {
            stream.close();
            session.no_game();
        }
        Fed::Closed(outcome) => {
            stream.close();
            session.lost_stream();
            closed(session, outcome, false);
        }
    }
}

fn of_search(session: &mut LichessAccount, search: &mut Option<Search>, fed: Fed) {
    match fed {
        Fed::Open => {
            if let Some(search) = search {
                search.is_open = true;
            }
            session.seek_opened();
        }
        Fed::Closed(outcome) => {
            *search = None;
            session.seek_ended(Instant::now().into_std(), outcome);
        }
        Fed::Line(_) | Fed::Nothing => {}
    }
}

/// A stream is closed.
fn closed(session: &mut LichessAccount, outcome: Outcome, of_events: bool) {
    match outcome {
        Outcome::TooMany => session.pause(Instant::now().into_std()),
        Outcome::NoToken => session.no_token(),
        Outcome::Lost(why) | Outcome::Refused(why) | Outcome::Done(why) => {
            debug!(of_events, why, "a stream is closed");
            if of_events {
                session.disconnected(&why);
            }
        }
    }
}

/// A line that cannot be read stops nothing.
fn unreadable(line: &[u8], error: &serde_json::Error) {
    let text = printable(line, MAX_SHOWN);
    debug!(%error, text, "a line of Lichess cannot be read");
}
