//! The page and the API: JSON over HTTP, for the page, for commands such as `boardbridge release` and for other programs.
//! `docs/api.md` describes it.
//!
//! `guard` looks at every request first; `about`, `boards`, `buttons`, `desk`, `events`, `games`, `lichess`, `live_pgn`, `login` and
//! `pair` have the answers; `pairing` knows the phones of the house; `answer` is their form, also of errors; `page` has the files of
//! the page.

mod about;
mod answer;
mod boards;
mod buttons;
mod cookie;
mod desk;
mod events;
mod games;
mod guard;
mod lichess;
mod live_pgn;
mod login;
mod page;
mod pair;
pub mod pairing;
mod permission;
pub mod settings;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension, Router,
    middleware::from_fn_with_state,
    routing::{delete, get, post},
};
use shakmaty::ByColor;
use tokio::{
    net::TcpStream,
    sync::{Semaphore, watch},
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span};

use self::pairing::Known;
pub use self::{
    answer::Wrong,
    boards::MAX_BODY,
    events::HEARTBEAT,
    games::{MAX_FILE, MAX_LISTED},
    pairing::Pairing,
    permission::Control,
};
use crate::{
    bus::{Bus, pairings::Saying},
    front_end::{http, objects::wall::Pictures},
    net::{
        door::{Door, is_here},
        slots::{Slot, Slots},
    },
    vocabulary::BoardName,
};

/// Connections at once. For one more, the address with the most of them gives one up.
/// Ten pages keep one each, and make a few more for a moment.
pub const MAX_CONNECTIONS: usize = 32;
/// The most connections from one address: a browser makes six, and a tunnel or a proxy is one address.
pub const MAX_CONNECTIONS_EACH: usize = 24;
/// How long a request may take from its head to the beginning of its answer, with its body: a little longer than the
/// account on Lichess or an opponent may take to answer the player.
pub const REQUEST_WAIT: Duration = Duration::from_secs(18);

/// What all requests share.
#[derive(Debug)]
pub struct House {
    bus: Bus,
    control: Control,
    pairing: Arc<Pairing>,
    names: guard::Names,
    /// The name of this machine, while it is announced.
    host: watch::Receiver<Option<String>>,
    kept: watch::Receiver<SavedGames>,
    broadcast: Broadcast,
    /// What walls show.
    pictures: Pictures,
    /// One request at a time reads files of games.
    reading: Arc<Semaphore>,
}

/// Where games are saved, and what their tags say.
#[derive(Clone, Debug, Default)]
pub struct SavedGames {
    /// Their folder, if games are kept.
    pub folder: Option<PathBuf>,
    /// Where the boards are, for PGN.
    pub site: Option<String>,
    /// The player at the boards.
    pub player: Option<String>,
    /// Whether each move of a running game is written at once.
    pub every_move: bool,
}

/// Tags of the running games for a broadcast. They take precedence over what an opponent's front-end knows.
#[derive(Clone, Debug, Default)]
pub struct Broadcast {
    /// The tag `Event`.
    pub event: Option<String>,
    /// The tag `Round`.
    pub round: Option<String>,
    /// Who plays at each board.
    pub players: BTreeMap<BoardName, ByColor<Option<String>>>,
}

impl House {
    /// Serves the boards of this bus, to the phones of `pairing` too; `hosts` are further names of this machine, `host` is the one that is
    /// announced; that and `kept` may change.
    pub fn new(
        bus: Bus,
        control: Control,
        pairing: Arc<Pairing>,
        hosts: Vec<String>,
        host: watch::Receiver<Option<String>>,
        kept: watch::Receiver<SavedGames>,
        broadcast: Broadcast,
    ) -> Arc<Self> {
        Arc::new(Self {
            bus,
            control,
            pairing,
            names: guard::Names::new(hosts),
            host,
            kept,
            broadcast,
            pictures: Pictures::default(),
            reading: Arc::new(Semaphore::new(1)),
        })
    }

    /// The games that are kept now.
    fn kept(&self) -> SavedGames {
        self.kept.borrow().clone()
    }
}

/// Where a request comes from.
#[derive(Clone, Debug)]
struct Visitor {
    /// It comes from this machine.
    is_here: bool,
    peer: IpAddr,
    /// Where the API listens.
    listens: SocketAddr,
    /// The paired phone that it is. `guard` looks for it at each request.
    phone: Option<Known>,
    slot: Arc<Slot>,
}

/// Every address of the API.
fn router(house: &Arc<House>) -> Router {
    let mut router = Router::new()
        .route("/api/v1/boards", get(boards::all))
        .route("/api/v1/boards/{name}", get(boards::one))
        .route("/api/v1/events", get(events::all))
        .route("/api/v1/games", get(games::all))
        .route("/api/v1/games/{file}", get(games::one))
        .route("/api/v1/games/{file}/moves", get(games::moves))
        .route("/api/v1/lichess", get(lichess::standing))
        .route(login::BACK, get(login::come_back))
        .route("/api/v1/live.pgn", get(live_pgn::all))
        .route(pair::PATH, post(pair::enter))
        .route("/api/v1/pair/code", post(pair::show))
        .route("/api/v1/wall", get(events::wall))
        .route("/api/v1/settings", get(about::daemon))
        .merge(pressed(house));
    for file in page::FILES {
        router = router.route(file.path, get(async move || file.answer()));
    }
    router
        .fallback(answer::unknown_path)
        .method_not_allowed_fallback(answer::wrong_method)
        .layer(from_fn_with_state(house.clone(), guard::look))
        .with_state(house.clone())
}

/// What is for those alone who may change something.
fn pressed(house: &Arc<House>) -> Router<Arc<House>> {
    let mut router = Router::new()
        .route("/api/v1/boards/{name}", delete(desk::remove))
        .route("/api/v1/boards/{name}/rename", post(desk::rename))
        .route("/api/v1/boards/{name}/key", post(desk::unlock))
        .route(
            "/api/v1/boards/{name}/opponent",
            post(desk::play).delete(desk::stop),
        )
        .route("/api/v1/engines", get(desk::engines))
        .route("/api/v1/found", get(desk::found))
        .route("/api/v1/found/{id}/add", post(desk::add))
        .route("/api/v1/found/{id}/try", post(desk::attempt))
        .route("/api/v1/links", post(desk::link))
        .route("/api/v1/links/{id}", delete(desk::unlink))
        .route("/api/v1/boards/{name}/release", post(boards::release))
        .route("/api/v1/boards/{name}/promotion", post(buttons::promotion))
        .route("/api/v1/lichess/login", post(login::log_in))
        .route("/api/v1/lichess/logout", post(login::log_out))
        .route("/api/v1/lichess/{what}", post(lichess::ask))
        .route("/api/v1/pairs", get(pair::all))
        .route("/api/v1/pairs/{id}", delete(pair::remove))
        .route("/api/v1/settings", post(desk::set));
    for saying in Saying::ALL {
        let path = format!("/api/v1/boards/{{name}}/{saying}");
        router = router.route(&path, post(buttons::say).layer(Extension(saying)));
    }
    router.route_layer(from_fn_with_state(house.clone(), permission::look))
}

/// Serves the API until `stop` is cancelled.
pub async fn serve(door: Door, house: Arc<House>, stop: CancellationToken) {
    let slots = Slots::new(MAX_CONNECTIONS, MAX_CONNECTIONS_EACH, Duration::ZERO);
    let router = router(&house);
    let Some(listens) = door.address() else {
        return;
    };
    let visit = |stream, peer, slot| {
        let span = info_span!("web", %peer);
        connection(stream, (peer, listens), router.clone(), slot, stop.clone()).instrument(span)
    };
    door.serve(&slots, FULL, farewell, &stop, visit).await;
}

/// The log message for a connection that finds no slot.
const FULL: &str = "too many connections";
/// What a peer hears that `allow` does not admit: not what would admit it, which is in the log.
const NOT_ADMITTED: &str = "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
    {\"error\": \"this address may not connect to BoardBridge\"}\n";

fn farewell(why: &str) -> String {
    let admitted = why == FULL;
    if admitted { "" } else { NOT_ADMITTED }.to_owned()
}

async fn connection(
    stream: TcpStream,
    (peer, listens): (SocketAddr, SocketAddr),
    router: Router,
    slot: Slot,
    stop: CancellationToken,
) {
    let Ok(own) = stream.local_addr() else {
        return;
    };
    let leave = slot.leave().clone();
    let visitor = Visitor {
        is_here: is_here(peer.ip(), own.ip()),
        peer: peer.ip(),
        listens,
        phone: None,
        slot: Arc::new(slot),
    };
    let router: Router = router.layer(Extension(visitor));
    http::connection(stream, router, leave, stop).await;
}

/// The error type of streams that cannot fail.
type Never = Infallible;
