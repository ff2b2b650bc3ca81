//! The page and the API: JSON over HTTP, for the page, for commands such as `boardbridge release` and for other programs.
//! `docs/api.md` describes it.
//!
//! `guard` looks at every request first; `about`, `boards`, `buttons`, `desk`, `events`, `games`, `lichess`, `live` and `login`
//! have the answers; `answer` is their form, also of errors; `page` has the files of the page.

mod about;
mod answer;
mod boards;
mod buttons;
mod desk;
mod events;
mod games;
mod guard;
mod lichess;
mod live;
mod login;
mod page;
mod permission;
pub mod settings;

use std::{
    collections::BTreeMap, convert::Infallible, net::SocketAddr, path::PathBuf, sync::Arc,
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

pub use self::{
    answer::Wrong,
    boards::MAX_BODY,
    events::HEARTBEAT,
    games::{MAX_FILE, MAX_LISTED},
    permission::Control,
};
use crate::{
    bus::{Bus, pairings::Saying},
    front_end::http,
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
    names: guard::Names,
    kept: watch::Receiver<SavedGames>,
    broadcast: Broadcast,
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
    /// Serves the boards of this bus; `hosts` are further names of this machine; `kept` may change.
    pub fn new(
        bus: Bus,
        control: Control,
        hosts: Vec<String>,
        kept: watch::Receiver<SavedGames>,
        broadcast: Broadcast,
    ) -> Arc<Self> {
        Arc::new(Self {
            bus,
            control,
            names: guard::Names::new(hosts),
            kept,
            broadcast,
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
    slot: Arc<Slot>,
}

/// Every address of the API.
fn router(house: &Arc<House>) -> Router {
    let mut router = Router::new()
        .route("/api/v1/boards", get(boards::all))
        .route(
            "/api/v1/boards/{name}",
            get(boards::one).delete(desk::remove),
        )
        .route("/api/v1/boards/{name}/rename", post(desk::rename))
        .route(
            "/api/v1/boards/{name}/opponent",
            post(desk::play).delete(desk::stop),
        )
        .route("/api/v1/engines", get(desk::engines))
        .route("/api/v1/found", get(desk::found))
        .route("/api/v1/found/{id}/add", post(desk::add))
        .route("/api/v1/links", post(desk::link))
        .route("/api/v1/links/{id}", delete(desk::unlink))
        .route("/api/v1/boards/{name}/release", post(boards::release))
        .route("/api/v1/boards/{name}/promotion", post(buttons::promotion))
        .route("/api/v1/events", get(events::all))
        .route("/api/v1/games", get(games::all))
        .route("/api/v1/games/{file}", get(games::one))
        .route("/api/v1/games/{file}/moves", get(games::moves))
        .route("/api/v1/lichess", get(lichess::standing))
        .route("/api/v1/lichess/login", post(login::log_in))
        .route("/api/v1/lichess/logout", post(login::log_out))
        .route("/api/v1/lichess/{what}", post(lichess::ask))
        .route(login::BACK, get(login::come_back))
        .route("/api/v1/live.pgn", get(live::all))
        .route("/api/v1/wall", get(events::wall))
        .route("/api/v1/settings", get(about::daemon));
    for saying in Saying::ALL {
        let path = format!("/api/v1/boards/{{name}}/{saying}");
        router = router.route(&path, post(buttons::say).layer(Extension(saying)));
    }
    for file in page::FILES {
        router = router.route(file.path, get(async move || file.answer()));
    }
    router
        .fallback(answer::unknown_path)
        .method_not_allowed_fallback(answer::wrong_method)
        .layer(from_fn_with_state(house.clone(), guard::look))
        .with_state(house.clone())
}

/// Serves the API until `stop` is cancelled.
pub async fn serve(door: Door, house: Arc<House>, stop: CancellationToken) {
    let slots = Slots::new(MAX_CONNECTIONS, MAX_CONNECTIONS_EACH, Duration::ZERO);
    let router = router(&house);
    let visit = |stream, peer, slot| {
        let span = info_span!("web", %peer);
        connection(stream, peer, router.clone(), slot, stop.clone()).instrument(span)
    };
    let silence = |_: &str| String::new();
    door.serve(&slots, "too many connections", silence, &stop, visit)
        .await;
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
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
        slot: Arc::new(slot),
    };
    let router: Router = router.layer(Extension(visitor));
    http::connection(stream, router, leave, stop).await;
}

/// The error type of streams that cannot fail.
type Never = Infallible;
