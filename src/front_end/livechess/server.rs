//! The port of `LiveChess`: web sockets and one REST address.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{
    Extension, Router,
    extract::{
        Request, State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::future::join_all;
use tokio::{
    net::TcpStream,
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, debug, info, info_span};

use super::{
    guard,
    pages::Pages,
    session::{Action, PageConversation, eboards},
};
use crate::{
    bus::{
        News,
        clients::{Client, ClientKind, Presence},
    },
    front_end::http,
    net::{
        door::Door,
        slots::{Slot, Slots},
    },
    system::clock,
    text::lines::printable,
    vocabulary::{BoardName, ClientId, ClientName, Command, Opponent},
};

/// Connections at once. For one more, the address with the most of them loses the one that was silent longest.
pub const MAX_SOCKETS: usize = 32;
/// The most connections from one address: pages that were reloaded leave some half-dead.
pub const MAX_SOCKETS_EACH: usize = 16;
/// The longest message of a client, in bytes: a `setup` has some 200.
pub const MAX_CALL: usize = 4096;
/// Bytes that may wait for a client: the longest list of moves has 16 KiB, the longest list of boards 50 KiB.
pub const MAX_UNSENT: usize = 64 * 1024;
/// How long a client may take no bytes.
pub const SEND_WAIT: Duration = Duration::from_secs(10);
/// How often a client is asked whether it is there.
pub const PING: Duration = Duration::from_secs(20);
/// A client that sends nothing for this long is gone.
pub const SILENCE: Duration = Duration::from_mins(1);
/// Bytes repeated of an origin that is refused.
const MAX_REPEATED: usize = 60;

/// Where a request comes from.
#[derive(Clone)]
struct Visitor {
    peer: SocketAddr,
    slot: Arc<Slot>,
}

/// Serves boards until the server's token is cancelled.
pub async fn serve(door: Door, pages: Arc<Pages>) {
    let slots = Slots::new(MAX_SOCKETS, MAX_SOCKETS_EACH, Duration::ZERO);
    let router = Router::new()
        .route("/api/v1.0", get(upgrade))
        .route("/api/v1.0/eboards", get(list))
        .layer(from_fn_with_state(pages.clone(), look))
        .with_state(pages.clone());
    let visit = |stream, peer, slot| {
        let span = info_span!("livechess", %peer);
        connection(stream, peer, router.clone(), slot, pages.stop.clone()).instrument(span)
    };
    let silence = |_: &str| String::new();
    door.serve(&slots, "too many connections", silence, &pages.stop, visit)
        .await;
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    slot: Slot,
    stop: CancellationToken,
) {
    let leave = slot.leave().clone();
    let slot = Arc::new(slot);
    let router: Router = router.layer(Extension(Visitor { peer, slot }));
    http::connection(stream, router, leave, stop).await;
}

/// Refuses pages of other sites.
async fn look(State(pages): State<Arc<Pages>>, request: Request, next: Next) -> Response {
    if guard::admits(request.headers(), &pages.origins) {
        return next.run(request).await;
    }
    let named = request.headers().get(header::ORIGIN);
    let named = named.or(request.headers().get(header::HOST));
    let named = named.map_or(&b"?"[..], |name| name.as_bytes());
    let named = printable(named, MAX_REPEATED);
    info!("refused a page of {named}: origins = [\"{named}\"] under [livechess] would admit it");
    let words = format!("{named} may not use the boards of this machine\n");
    (StatusCode::FORBIDDEN, words).into_response()
}

/// The boards, for programs that only ask once.
async fn list(State(pages): State<Arc<Pages>>) -> Response {
    let boards = eboards(&pages.boards());
    let text = serde_json::to_string_pretty(&boards).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn upgrade(
    State(pages): State<Arc<Pages>>,
    Extension(visitor): Extension<Visitor>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(error) => return error.into_response(),
    };
    let span = Span::current();
    upgrade
        .max_message_size(MAX_CALL)
        .max_frame_size(MAX_CALL)
        .read_buffer_size(MAX_CALL)
        .write_buffer_size(MAX_CALL)
        .max_write_buffer_size(MAX_UNSENT)
        .on_upgrade(|socket| talk(pages, visitor, socket).instrument(span))
}

/// One client, until it has left.
async fn talk(pages: Arc<Pages>, visitor: Visitor, socket: WebSocket) {
    let label = ClientName::LiveChess(visitor.peer);
    let from = label.address();
    info!("connected by LiveChess");
    let mut socket = Socket {
        session: PageConversation::new(label.clone(), pages.number.clone()),
        pages: pages.clone(),
        from,
        label,
        stream: socket,
        presences: BTreeMap::new(),
    };
    let why = socket.run(&visitor.slot).await;
    info!("closed: {why}");
    let plays = socket.session.plays();
    drop((socket, visitor));
    let room = pages.gone.try_acquire();
    let boards = plays.iter().map(async |(board, client)| {
        pages.keep(board, *client, from, room.is_ok()).await;
        pages.leaves(board, *client, from);
        let client = *client;
        pages.ask(board, Command::Lost { client }).await;
    });
    join_all(boards).await;
}

struct Socket {
    session: PageConversation,
    pages: Arc<Pages>,
    from: IpAddr,
    label: ClientName,
    stream: WebSocket,
    presences: BTreeMap<ClientId, Presence>,
}

impl Socket {
    /// Returns why it ended.
    async fn run(&mut self, slot: &Slot) -> String {
        let mut news = self.pages.bus.subscribe();
        let mut boards = self.pages.bus.changes();
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            while let Some(action) = self.session.poll_action() {
                if let Err(why) = self.does(action).await {
                    return why;
                }
            }
            tokio::select! {
                () = self.pages.stop.cancelled() => return "the daemon stops".to_owned(),
                () = slot.leave().cancelled() => return "others want to connect".to_owned(),
                message = self.stream.recv() => {
                    heard = Instant::now();
                    slot.used();
                    match message {
                        Some(Ok(Message::Text(text))) => {
                            debug!(text = %printable(text.as_bytes(), MAX_CALL), "<");
                            self.session.message(unix_ms(), &text, &self.pages.boards());
                        }
                        Some(Ok(Message::Close(_))) | None => return "it left".to_owned(),
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return error.to_string(),
                    }
                }
                item = news.next() => match item {
                    News::Published(publication) => {
                        if let Some(state) = &publication.state {
                            self.session.snapshot(unix_ms(), state);
                        }
                    }
                    News::Lagged(_) => {
                        for board in self.pages.bus.boards() {
                            self.session.snapshot(unix_ms(), &news.look(&board));
                        }
                    }
                },
                () = boards.next() => {
                    let is_gone = |board: &BoardName| self.pages.bus.board(board.as_str()).is_none();
                    if let Some(board) = self.session.boards().find(|board| is_gone(board)) {
                        // A page connects again, and asks for the boards there are.
                        return format!("the board {board} is gone");
                    }
                }
                _ = ping.tick() => {
                    if heard.elapsed() > SILENCE {
                        return format!("it has sent nothing for {} s", SILENCE.as_secs());
                    }
                    if let Err(why) = self.send(Message::Ping(Vec::new().into())).await {
                        return why;
                    }
                }
            }
        }
    }

    async fn does(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Say(text) => {
                debug!(text, ">");
                return self.send(Message::Text(text.into())).await;
            }
            Action::Takes(board, client) => {
                self.pages.takes(&board, client, self.from).await;
                let mut listed = Client::new(client, self.label.clone(), ClientKind::LiveChess);
                listed.peer = Some(self.label.to_string().into());
                listed.board = Some(board);
                listed.opponent = Some(Opponent::Nobody);
                let clients = self.pages.bus.clients();
                self.presences
                    .entry(client)
                    .or_insert_with(|| clients.enter(listed));
            }
            Action::Ask(board, command) => {
                if let Command::Release { client } = &command {
                    self.pages.leaves(&board, *client, self.from);
                    self.presences.remove(client);
                }
                self.pages.ask(&board, command).await;
            }
        }
        Ok(())
    }

    async fn send(&mut self, message: Message) -> Result<(), String> {
        match timeout(SEND_WAIT, self.stream.send(message)).await {
            Ok(sent) => sent.map_err(|error| error.to_string()),
            Err(_) => Err(format!(
                "it has not read anything for {} s",
                SEND_WAIT.as_secs()
            )),
        }
    }
}

/// The time as pages count it.
fn unix_ms() -> u64 {
    let since = clock::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
