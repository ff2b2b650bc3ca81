//! A Lichess in software, with one account and one game at a time: what the published description of its API says, by
//! our own words. The rules are shakmaty's. The opponent, and all that goes wrong, are controlled by the test.

#[path = "lichess_login.rs"]
pub mod login;

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use boardbridge::chess::game::{Game, uci};
use futures_util::stream;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, Color, File, Move, Position, Role, Square, uci::UciMove};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle, time::sleep};

use super::{
    PATIENCE,
    schema::{self, Schema},
};

/// The token that it takes.
pub const TOKEN: &str = "lip_TheTestsOwn1";
/// A token of the same account that is not for playing at boards.
pub const NARROW_TOKEN: &str = "lip_ForBroadcasts";
/// A game that is estimated to take each player less than this, in s, is not rapid: no board may seek it.
const RAPID: f64 = 480.0;
/// The moves that such an estimate counts with.
const MOVES: f64 = 40.0;
/// How often it sends an empty line.
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// What goes wrong with the next move that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused, although it is legal.
    Refused,
    /// A proxy on the way answers with a page of its own, as a success.
    Page,
    /// It is taken, and the connection breaks before the answer.
    Unanswered,
    /// The connection breaks, and it is not taken.
    NotArrived,
    /// It is taken, and the streams break before they show it.
    Unshown,
    /// The token is refused.
    NoToken,
    /// There were too many requests: it is not looked at, and nothing may come for a minute. The streams break too.
    TooMany,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Castling as the king's two squares where that is possible, as in earlier years.
    pub old_castling: bool,
    /// The clock, in s; none for correspondence.
    pub clock: Option<u64>,
}

#[derive(Debug)]
struct Played {
    id: String,
    variant: &'static str,
    hand: Color,
    game: Game,
    status: &'static str,
    winner: Option<Color>,
    draw: Option<Color>,
    take_back: Option<Color>,
}

#[derive(Debug, Default)]
struct Inner {
    style: Style,
    played: Option<Played>,
    others: Vec<Value>,
    faults: VecDeque<Fault>,
    /// Requests in words, as they came and were taken: `move e2e4`.
    taken: Vec<String>,
    /// What no client may do.
    wrongs: Vec<String>,
    under_way: usize,
    events: Vec<mpsc::UnboundedSender<String>>,
    games: Vec<mpsc::UnboundedSender<String>>,
    /// Streams that stay open, and on which nothing comes any more.
    silent: Vec<mpsc::UnboundedSender<String>>,
    /// Not before then is anything answered.
    away: bool,
    /// It tells the scopes of a token only when it is asked for them.
    hides_scopes: bool,
    seeks: usize,
    /// It takes its time with seeks; how many have come meanwhile.
    slow: bool,
    unlooked: usize,
    /// Nothing may come before then.
    quiet_until: Option<tokio::time::Instant>,
    arrived: BTreeMap<String, Instant>,
    logins: login::Logins,
    games_begun: usize,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Lichess {
    inner: Arc<Mutex<Inner>>,
    pub address: SocketAddr,
    _tasks: Arc<[JoinHandle<()>; 2]>,
}

impl Lichess {
    pub async fn new(style: Style) -> Self {
        let inner = Arc::new(Mutex::new(Inner {
            style,
            ..Inner::default()
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(inner.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let beating = inner.clone();
        let beat = tokio::spawn(async move {
            loop {
                sleep(KEEP_ALIVE).await;
                let mut inner = beating.lock().unwrap();
                inner.events.retain(|to| to.send("\n".to_owned()).is_ok());
                inner.games.retain(|to| to.send("\n".to_owned()).is_ok());
            }
        });
        Self {
            inner,
            address,
            _tasks: Arc::new([serving, beat]),
        }
    }

    /// The section of the configuration, with the token in this folder.
    pub fn config(&self, folder: &std::path::Path, more: &str) -> String {
        let file = folder.join("lichess.token");
        let token = boardbridge::front_end::lichess::token::Token::of(TOKEN).unwrap();
        token.write(&file).unwrap();
        format!(
            "[lichess]\nboard = \"board\"\nurl = \"http://{}\"\ntoken_file = {file:?}\n{more}",
            self.address
        )
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// A game begins, in which the account has this colour.
    pub fn begins(&self, hand: Color) -> String {
        self.begins_from(hand, Game::standard())
    }

    /// The same in this game, with its moves made already.
    pub fn begins_from(&self, hand: Color, game: Game) -> String {
        let variant = if game.is_standard() {
            "standard"
        } else {
            "fromPosition"
        };
        self.begins_as(variant, hand, game)
    }

    /// The same in this variant.
    pub fn begins_as(&self, variant: &'static str, hand: Color, game: Game) -> String {
        let mut inner = self.inner();
        inner.games_begun += 1;
        let id = format!("Game{:04}", inner.games_begun);
        inner.played = Some(Played {
            id: id.clone(),
            variant,
            hand,
            game,
            status: "started",
            winner: None,
            draw: None,
            take_back: None,
        });
        inner.taken.clear();
        let start = inner.info("gameStart");
        inner.event(&start);
        id
    }

    /// The opponent makes a move.
    pub fn moves(&self, m: UciMove) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        assert_ne!(played.game.turn(), played.hand, "not the opponent's turn");
        let m = m.to_move(played.game.position()).unwrap();
        played.play(m);
        inner.shows();
    }

    /// The account makes a move in the browser or the app on the phone.
    pub fn phone_moves(&self, m: UciMove) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        assert_eq!(played.game.turn(), played.hand, "not the account's turn");
        let m = m.to_move(played.game.position()).unwrap();
        played.play(m);
        inner.shows();
    }

    /// Moves are taken back, whoever agreed to it.
    pub fn takes_back(&self, plies: usize) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        played.game = played.game.truncated(played.game.len() - plies);
        (played.draw, played.take_back) = (None, None);
        inner.shows();
    }

    /// The opponent offers a draw.
    pub fn offers_draw(&self) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        played.draw = Some(!played.hand);
        inner.shows();
    }

    /// The opponent proposes to take back.
    pub fn proposes_take_back(&self) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        played.take_back = Some(!played.hand);
        inner.shows();
    }

    /// The game ends like this.
    pub fn ends(&self, status: &'static str, winner: Option<Color>) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        (played.status, played.winner) = (status, winner);
        inner.shows();
    }

    /// The game ends like this, and only the streams of events tell it.
    pub fn ends_unseen(&self, status: &'static str, winner: Option<Color>) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        (played.status, played.winner) = (status, winner);
        let finish = inner.info("gameFinish");
        inner.event(&finish);
    }

    /// The game ends like this, and only its own streams tell it.
    pub fn ends_without_event(&self, status: &'static str, winner: Option<Color>) {
        let mut inner = self.inner();
        let played = inner.played.as_mut().unwrap();
        (played.status, played.winner) = (status, winner);
        let state = inner.state();
        inner.game_line(&state);
        inner.games.clear();
    }

    /// From now on it tells the scopes of a token only when it is asked for them.
    pub fn hides_scopes(&self) {
        self.inner().hides_scopes = true;
    }

    /// A line on the game's streams.
    pub fn says(&self, line: &Value) {
        self.inner().game_line(line);
    }

    /// A line on the streams of events.
    pub fn tells(&self, line: &Value) {
        let mut inner = self.inner();
        inner.others.push(line.clone());
        inner.event(line);
    }

    /// Something that is no line.
    pub fn babbles(&self, text: &str) {
        let inner = self.inner();
        for to in inner.games.iter().chain(&inner.events) {
            let _ = to.send(format!("{text}\n"));
        }
    }

    /// The streams of games break.
    pub fn breaks_game(&self) {
        self.inner().games.clear();
    }

    /// All streams break.
    pub fn breaks(&self) {
        let mut inner = self.inner();
        inner.games.clear();
        inner.events.clear();
    }

    /// The streams that are open stay so, but bring nothing any more.
    pub fn falls_silent(&self) {
        let mut inner = self.inner();
        let silent: Vec<_> = inner.games.drain(..).collect();
        inner.silent.extend(silent);
    }

    /// It cannot be reached, or can be again.
    pub fn is_away(&self, away: bool) {
        let mut inner = self.inner();
        inner.away = away;
        if away {
            inner.games.clear();
            inner.events.clear();
        }
    }

    /// This goes wrong with the next move.
    pub fn fails(&self, fault: Fault) {
        self.inner().faults.push_back(fault);
    }

    /// Everything that was asked and taken in this game.
    pub fn taken(&self) -> Vec<String> {
        self.inner().taken.clone()
    }

    /// The game.
    pub fn game(&self) -> Game {
        self.inner().played.as_ref().unwrap().game.clone()
    }

    /// When this was taken.
    pub fn arrived(&self, what: &str) -> Option<Instant> {
        self.inner().arrived.get(what).copied()
    }

    /// Whether it has refused for too many requests.
    pub fn is_quiet(&self) -> bool {
        self.inner().quiet_until.is_some()
    }

    /// Searches for an opponent that are open.
    pub fn seeks(&self) -> usize {
        self.inner().seeks
    }

    /// It takes its time with seeks from now on, or no longer.
    pub fn is_slow(&self, slow: bool) {
        self.inner().slow = slow;
    }

    /// Seeks that have come while it took its time.
    pub fn unlooked(&self) -> usize {
        self.inner().unlooked
    }

    /// Waits until something is so.
    pub async fn until(&self, what: &str, is: impl Fn(&Self) -> bool) {
        let until = Instant::now() + 2 * PATIENCE;
        while !is(self) {
            assert!(
                Instant::now() < until,
                "{what} does not come: {:?}",
                self.inner()
            );
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until this was asked and taken.
    pub async fn takes(&self, what: &str) {
        self.until(what, |lichess| {
            lichess.taken().iter().any(|taken| taken == what)
        })
        .await;
    }

    /// Waits until the game has this many plies.
    pub async fn has(&self, plies: usize) {
        self.until(&format!("ply {plies}"), |lichess| {
            lichess.game().len() == plies
        })
        .await;
    }

    /// Waits until streams of events and of the game are open.
    pub async fn is_followed(&self) {
        self.until("a stream", |lichess| {
            let inner = lichess.inner();
            inner.events.iter().any(|to| !to.is_closed())
                && inner.games.iter().any(|to| !to.is_closed())
        })
        .await;
    }

    /// Waits until the stream of events is open.
    pub async fn is_connected(&self) {
        self.until("the stream of events", |lichess| {
            lichess.inner().events.iter().any(|to| !to.is_closed())
        })
        .await;
    }

    /// No client did what none may do.
    pub fn is_content(&self) {
        let wrongs = self.inner().wrongs.clone();
        assert!(wrongs.is_empty(), "{wrongs:?}");
    }
}

impl Played {
    fn play(&mut self, m: Move) {
        assert!(self.game.push(m));
        (self.draw, self.take_back) = (None, None);
        let position = self.game.position();
        if position.is_checkmate() {
            (self.status, self.winner) = ("mate", Some(!position.turn()));
        } else if position.is_stalemate() {
            self.status = "stalemate";
        } else if position.is_insufficient_material() {
            self.status = "draw";
        }
    }
}

fn name(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// The number of a status.
fn number(status: &str) -> u8 {
    match status {
        "created" => 10,
        "started" => 20,
        "aborted" => 25,
        "mate" => 30,
        "resign" => 31,
        "stalemate" => 32,
        "timeout" => 33,
        "draw" => 34,
        "outoftime" => 35,
        "cheat" => 36,
        "noStart" => 37,
        "unknownFinish" => 38,
        "insufficientMaterialClaim" => 39,
        "variantEnd" => 60,
        // No status that a test may give.
        _ => 0,
    }
}

/// The move that the server takes this text for, if it is legal. The king on its own rook's square is castling in every variant.
/// Its two squares are castling only from the e-file with a rook on a or h, and never in Chess960; otherwise they are a plain step.
fn meant(variant: &str, position: &Chess, text: &str) -> Option<Move> {
    let Ok(UciMove::Normal {
        from,
        to,
        promotion,
    }) = text.parse()
    else {
        return None;
    };
    let own = |square, role| position.our(role).contains(square);
    let two_squares = variant != "chess960"
        && from.file() == File::E
        && from.rank() == to.rank()
        && from.distance(to) == 2;
    let corner = if to.file() > from.file() {
        File::H
    } else {
        File::A
    };
    let corner = Square::from_coords(corner, from.rank());
    let rook = if own(to, Role::Rook) {
        Some(to)
    } else {
        Some(corner).filter(|_| two_squares)
    };
    let castling = rook.filter(|_| own(from, Role::King));
    let is_meant = |m: &Move| match (*m, castling) {
        (Move::Castle { king, rook }, Some(with)) => king == from && rook == with,
        (Move::Castle { .. }, None) | (_, Some(_)) => false,
        (m, None) => m.from() == Some(from) && m.to() == to && m.promotion() == promotion,
    };
    position.legal_moves().into_iter().find(is_meant)
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(schema::lichess)
}

/// What is said, which is as the published schemas have it; what is new there at any time comes on top.
fn said(name: &str, value: &Value) -> String {
    schema().check_as(name, value).unwrap();
    let mut value = value.clone();
    add_unknown(&mut value);
    value.to_string()
}

/// Programs have to ignore keys that they do not know.
fn add_unknown(value: &mut Value) {
    if let Value::Object(object) = value {
        object.values_mut().for_each(add_unknown);
        object.insert("somethingNew".to_owned(), json!([1, { "type": 2 }]));
    }
}

/// A line of a stream.
fn line(value: &Value) -> String {
    match value["type"].as_str().unwrap() {
        known if schema().defines(known) => format!("{}\n", said(known, value)),
        _ => format!("{value}\n"),
    }
}

/// A form with its values as they are meant.
fn form_value(form: &str) -> Value {
    let pairs = form.split('&').filter(|pair| !pair.is_empty());
    let typed = |(key, value): (&str, &str)| {
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        (key.to_owned(), value)
    };
    pairs
        .map(|pair| typed(pair.split_once('=').unwrap()))
        .collect()
}

impl Inner {
    fn speed(&self) -> &'static str {
        if self.style.clock.is_some() {
            "rapid"
        } else {
            "correspondence"
        }
    }

    fn info(&self, kind: &str) -> Value {
        let played = self.played.as_ref().unwrap();
        let speed = self.speed();
        let variant = json!({ "key": played.variant, "name": played.variant });
        let mut info = json!({ "type": kind, "game": {
            "id": played.id, "gameId": played.id, "fullId": format!("{}wxyz", played.id),
            "color": name(played.hand), "fen": played.game.fen().to_string(), "speed": speed,
            "source": "friend", "variant": variant,
            "opponent": { "id": "other", "username": "Other", "rating": 1600 },
            "isMyTurn": played.game.turn() == played.hand,
            "compat": { "bot": false, "board": true },
            "status": { "id": number(played.status), "name": played.status },
        }});
        if let Some(winner) = played.winner {
            info["game"]["winner"] = name(winner).into();
        }
        info
    }

    fn state(&self) -> Value {
        let played = self.played.as_ref().unwrap();
        let written = |m: &Move| {
            if self.style.old_castling {
                uci(*m)
            } else {
                m.to_uci(CastlingMode::Chess960)
            }
        };
        let moves = played.game.moves().iter();
        let moves: Vec<String> = moves.map(|m| written(m).to_string()).collect();
        let time = self.style.clock.map_or(2_147_483_647, |s| 1000 * s);
        let spent = 1000 * played.game.len() as u64;
        let mut state = json!({
            "type": "gameState", "moves": moves.join(" "), "wtime": time - spent, "btime": time - spent,
            "winc": 0, "binc": 0, "status": played.status,
        });
        let mut set = |key: String, value: Value| state[key] = value;
        if let Some(winner) = played.winner {
            set("winner".to_owned(), name(winner).into());
        }
        let letter = |color: Color| color.char();
        if let Some(by) = played.draw {
            set(format!("{}draw", letter(by)), true.into());
        }
        if let Some(by) = played.take_back {
            set(format!("{}takeback", letter(by)), true.into());
        }
        if played.game.len() < 2 {
            let wait = json!({ "idleMillis": 200, "millisToMove": 20_000 });
            set("expiration".to_owned(), wait);
        }
        state
    }

    fn full(&self) -> Value {
        let played = self.played.as_ref().unwrap();
        let me = json!({ "id": "me", "name": "Me", "title": null, "rating": 1500 });
        let other = json!({ "id": "other", "name": "Other", "title": "FM", "rating": 2300 });
        let (white, black) = played.hand.fold_wb((&me, &other), (&other, &me));
        let start = if played.game.is_standard() {
            "startpos".to_owned()
        } else {
            played.game.truncated(0).fen().to_string()
        };
        let mut full = json!({
            "type": "gameFull", "id": played.id, "speed": self.speed(), "rated": false,
            "variant": { "key": played.variant, "name": played.variant, "short": "Std" },
            "perf": { "name": "Rapid" }, "createdAt": 1_780_000_000_000_u64,
            "white": white, "black": black, "initialFen": start, "state": self.state(),
        });
        if let Some(clock) = self.style.clock {
            full["clock"] = json!({ "initial": 1000 * clock, "increment": 0 });
        } else {
            full["daysPerTurn"] = 3.into();
        }
        full
    }

    fn event(&mut self, value: &Value) {
        let text = line(value);
        self.events.retain(|to| to.send(text.clone()).is_ok());
    }

    fn game_line(&mut self, value: &Value) {
        let text = line(value);
        self.games.retain(|to| to.send(text.clone()).is_ok());
    }

    /// Shows how the game stands now.
    fn shows(&mut self) {
        let state = self.state();
        self.game_line(&state);
        if self.played.as_ref().unwrap().status != "started" {
            // The stream ends with the game.
            self.games.clear();
            let finish = self.info("gameFinish");
            self.event(&finish);
        }
    }

    fn wrong(&mut self, what: String) {
        self.wrongs.push(what);
    }
}

/// Streams what comes, each line in two chunks.
fn streamed(lines: mpsc::UnboundedReceiver<String>) -> Response {
    let chunks = stream::unfold((lines, None), |(mut lines, rest)| async move {
        if let Some(rest) = rest {
            // The first chunk is read before.
            sleep(Duration::from_millis(1)).await;
            return Some((Ok::<_, Infallible>(rest), (lines, None)));
        }
        let mut line = Bytes::from(lines.recv().await?);
        let rest = line.split_off(line.len().div_ceil(2));
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        Some((Ok(line), (lines, rest)))
    });
    Response::new(Body::from_stream(chunks))
}

/// The connection breaks before the answer.
fn broken() -> Response {
    let broken = stream::iter([Err::<Bytes, _>(std::io::Error::other("broken"))]);
    let mut response = Response::new(Body::from_stream(broken));
    response
        .headers_mut()
        .insert(header::CONTENT_LENGTH, "1000".parse().unwrap());
    response
}

/// Whose token it is, and what it is for.
fn account(scopes: Option<&str>) -> Response {
    let me = said("account", &json!({ "id": "me", "username": "Me" }));
    let mut response = me.into_response();
    if let Some(scopes) = scopes {
        let header = scopes.parse().unwrap();
        response.headers_mut().insert("X-OAuth-Scopes", header);
    }
    response
}

/// What tokens are for, as it is asked with no authorisation.
fn tested(tokens: &str) -> Response {
    let about = |token: &str| match token {
        TOKEN => json!({ "userId": "me", "scopes": "board:play,challenge:read", "expires": null }),
        NARROW_TOKEN => json!({ "userId": "me", "scopes": "study:write", "expires": null }),
        _ => Value::Null,
    };
    let tokens = tokens.split(',');
    let tested: Value = tokens.map(|t| (t.to_owned(), about(t))).collect();
    tested.to_string().into_response()
}

fn no_token() -> Response {
    let words = said("error", &json!({ "error": "No such token" }));
    (StatusCode::UNAUTHORIZED, words).into_response()
}

fn refused(words: &str) -> Response {
    (
        StatusCode::BAD_REQUEST,
        said("error", &json!({ "error": words })),
    )
        .into_response()
}

fn ok() -> Response {
    said("ok", &json!({ "ok": true })).into_response()
}

/// A challenge between the account and the other player.
pub fn challenge(id: &str, direction: &str) -> Value {
    let me = json!({ "id": "me", "name": "Me", "rating": 1500 });
    let other =
        json!({ "id": "other", "name": "Other", "rating": 2300, "title": "FM", "online": true });
    let (challenger, dest) = if direction == "in" {
        (other, me)
    } else {
        (me, other)
    };
    json!({
        "id": id, "url": format!("https://lichess.org/{id}"), "status": "created", "challenger": challenger,
        "destUser": dest, "variant": { "key": "standard", "name": "Standard", "short": "Std" }, "rated": true,
        "speed": "rapid", "timeControl": { "type": "clock", "limit": 900, "increment": 10, "show": "15+10" },
        "color": "random", "finalColor": "white", "perf": { "icon": "#", "name": "Rapid" }, "direction": direction,
    })
}

/// Whether this seek is for a game faster than rapid.
fn is_fast(form: &str) -> bool {
    let form = form_value(form);
    let time = form["time"].as_f64().map(|minutes| 60.0 * minutes);
    let increment = form["increment"].as_f64().unwrap_or_default();
    time.is_some_and(|time| time + MOVES * increment < RAPID)
}

/// The form that a request has by the published description.
fn form_of(parts: &[&str]) -> &'static str {
    match parts {
        ["api", "board", "seek"] => "form seek",
        ["api", "challenge", "ai"] => "form ai",
        ["api", "challenge", _] => "form challenge",
        ["api", "challenge", _, "decline"] => "form decline",
        _ => "form nothing",
    }
}

async fn answer(State(inner): State<Arc<Mutex<Inner>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let form = to_bytes(body, 4096).await.unwrap();
    let form = String::from_utf8(form.to_vec()).unwrap();
    let path = head.uri.path().to_owned();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    if parts == ["api", "token", "test"] && head.method == Method::POST {
        return tested(&form);
    }
    if !inner.lock().unwrap().away
        && let Some(response) = inner.lock().unwrap().logins.answer(&head, &form)
    {
        return response;
    }
    if head.method != Method::DELETE {
        check(&inner, &head, &parts, &form);
    }
    if parts == ["api", "board", "seek"] && inner.lock().unwrap().slow {
        inner.lock().unwrap().unlooked += 1;
        while inner.lock().unwrap().slow {
            sleep(Duration::from_millis(2)).await;
        }
    }
    if let Some(response) = at_once(&inner, &head, &parts, &form) {
        return response;
    }
    let _under_way = UnderWay(inner.clone());
    // Time for a second request to come.
    tokio::task::yield_now().await;
    let mut inner = inner.lock().unwrap();
    asked(&mut inner, &parts, &form)
}

/// Notes what is not as the published description has it.
fn check(inner: &Mutex<Inner>, head: &Parts, parts: &[&str], form: &str) {
    let gets = matches!(
        parts,
        ["api", "account"] | ["api", "stream", "event"] | ["api", "board", "game", "stream", _]
    );
    let method = if gets { Method::GET } else { Method::POST };
    let kind = head.headers.get(header::CONTENT_TYPE);
    let is_form = kind.is_some_and(|kind| kind == "application/x-www-form-urlencoded");
    let fits = schema().check_as(form_of(parts), &form_value(form));
    let mut inner = inner.lock().unwrap();
    if head.method != method {
        inner.wrong(format!("{} {}", head.method, head.uri));
    }
    if head.uri.query().is_some() || !form.is_empty() && !is_form {
        inner.wrong(format!("{} with {form}", head.uri));
    }
    if let Err(words) = fits {
        inner.wrong(format!("{}: {words}", head.uri));
    }
}

/// A request until it is answered, or its client has gone.
struct UnderWay(Arc<Mutex<Inner>>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.lock().unwrap().under_way -= 1;
    }
}

/// What is answered before others may ask: refusals and streams.
fn at_once(
    inner: &Arc<Mutex<Inner>>,
    head: &Parts,
    parts: &[&str],
    form: &str,
) -> Option<Response> {
    let path = head.uri.path();
    let header = |name| {
        let value = head.headers.get(name);
        value
            .map(|value| value.to_str().unwrap().to_owned())
            .unwrap_or_default()
    };
    let mut inner_now = inner.lock().unwrap();
    if inner_now.away {
        return Some(broken());
    }
    if inner_now
        .quiet_until
        .is_some_and(|until| tokio::time::Instant::now() < until)
    {
        inner_now.wrong(format!("{path} less than a minute after a 429"));
    }
    let agent = header(header::USER_AGENT);
    // Without a repository in `Cargo.toml`, nothing stands for it.
    if !agent.starts_with("BoardBridge/")
        || !agent.contains(env!("CARGO_PKG_REPOSITORY"))
        || agent.contains("(+)")
    {
        inner_now.wrong(format!("{path} without its name"));
    }
    let token = header(header::AUTHORIZATION);
    let token = token.strip_prefix("Bearer ").unwrap_or_default();
    let of_login = inner_now.logins.scopes(token).map(str::to_owned);
    let scopes = match (token, &of_login) {
        (_, Some(scopes)) => scopes,
        (TOKEN, _) => "board:play, challenge:read",
        (NARROW_TOKEN, _) => "study:write",
        _ => return Some(no_token()),
    };
    if parts == ["api", "account"] {
        return Some(account(Some(scopes).filter(|_| !inner_now.hides_scopes)));
    }
    if token == NARROW_TOKEN {
        let words = said("error", &json!({ "error": "Missing scope: board:play" }));
        return Some((StatusCode::FORBIDDEN, words).into_response());
    }
    Some(match parts {
        ["api", "stream", "event"] => {
            let (to, lines) = mpsc::unbounded_channel();
            // The last one wins.
            inner_now.events.clear();
            if inner_now
                .played
                .as_ref()
                .is_some_and(|played| played.status == "started")
            {
                to.send(line(&inner_now.info("gameStart"))).unwrap();
            }
            for other in &inner_now.others {
                to.send(line(other)).unwrap();
            }
            to.send("\n".to_owned()).unwrap();
            inner_now.events.push(to);
            streamed(lines)
        }
        ["api", "board", "game", "stream", id] => {
            let known = inner_now
                .played
                .as_ref()
                .is_some_and(|played| played.id == *id);
            if !known {
                return Some(StatusCode::NOT_FOUND.into_response());
            }
            let (to, lines) = mpsc::unbounded_channel();
            to.send(line(&inner_now.full())).unwrap();
            let over = inner_now.played.as_ref().unwrap().status != "started";
            if !over {
                inner_now.games.push(to);
            }
            streamed(lines)
        }
        ["api", "board", "seek"] if is_fast(form) => refused("Invalid time control"),
        ["api", "board", "seek"] => {
            inner_now.taken.push(format!("seek {form}"));
            if form.contains("days=") {
                return Some(said("seekId", &json!({ "id": "Seek0001" })).into_response());
            }
            inner_now.seeks += 1;
            let (to, lines) = mpsc::unbounded_channel::<String>();
            let watched = inner.clone();
            tokio::spawn(async move {
                to.send("\n".to_owned()).unwrap();
                let began = watched.lock().unwrap().games_begun;
                // Open until an opponent is found, or the client has had enough.
                while watched.lock().unwrap().games_begun == began && !to.is_closed() {
                    sleep(Duration::from_millis(5)).await;
                }
                watched.lock().unwrap().seeks -= 1;
            });
            streamed(lines)
        }
        _ => {
            inner_now.under_way += 1;
            if inner_now.under_way > 1 {
                inner_now.wrong(format!("{path} while another request is under way"));
            }
            return None;
        }
    })
}

fn asked(inner: &mut Inner, parts: &[&str], form: &str) -> Response {
    match parts {
        [
            "api",
            "challenge",
            id,
            what @ ("accept" | "decline" | "cancel"),
        ] => {
            inner.others.retain(|line| line["challenge"]["id"] != *id);
            inner.taken.push(format!("{what} {id}"));
            ok()
        }
        ["api", "challenge", "ai"] => {
            inner.taken.push(format!("challenge ai {form}"));
            let game = json!({ "id": "Game0001", "fullId": "Game0001wxyz", "source": "ai", "rated": false });
            (StatusCode::CREATED, said("newGame", &game)).into_response()
        }
        ["api", "challenge", user] => {
            inner.taken.push(format!("challenge {user} {form}"));
            said("challengeJson", &challenge("Chal0001", "out")).into_response()
        }
        ["api", "board", "game", id, what @ ..] => {
            let known = inner.played.as_ref().is_some_and(|played| played.id == *id);
            if !known {
                return StatusCode::NOT_FOUND.into_response();
            }
            in_game(inner, what)
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn in_game(inner: &mut Inner, what: &[&str]) -> Response {
    let words = what.join(" ");
    let fault = if what[0] == "move" {
        inner.faults.pop_front()
    } else {
        None
    };
    let Some(played) = inner.played.as_mut() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let hand = played.hand;
    if played.status != "started" {
        return refused("The game is over");
    }
    match what {
        ["move", text] => {
            match fault {
                Some(Fault::Refused) => return refused("Not just now"),
                Some(Fault::Page) => return "<html>Log in to this network</html>".into_response(),
                Some(Fault::NotArrived) => return broken(),
                Some(Fault::NoToken) => return no_token(),
                Some(Fault::TooMany) => {
                    let minute = Duration::from_secs(60);
                    inner.quiet_until = Some(tokio::time::Instant::now() + minute);
                    inner.games.clear();
                    inner.events.clear();
                    return StatusCode::TOO_MANY_REQUESTS.into_response();
                }
                _ => {}
            }
            let legal = meant(played.variant, played.game.position(), text);
            let Some(m) = legal.filter(|_| played.game.turn() == hand) else {
                return refused("Not your turn, or game already over");
            };
            played.play(m);
            let words = format!("move {text}");
            inner.arrived.insert(words.clone(), Instant::now());
            inner.taken.push(words);
            if fault == Some(Fault::Unshown) {
                inner.games.clear();
            }
            inner.shows();
            return if fault == Some(Fault::Unanswered) {
                broken()
            } else {
                ok()
            };
        }
        ["draw", "yes"] if played.draw == Some(!hand) => played.status = "draw",
        ["draw", "yes"] => played.draw = Some(hand),
        ["draw", "no"] => played.draw = None,
        ["takeback", "yes"] if played.take_back == Some(!hand) => {
            // Back to the opponent's move.
            let plies = if played.game.turn() == hand { 1 } else { 2 };
            played.game = played.game.truncated(played.game.len() - plies);
            played.take_back = None;
        }
        ["takeback", "yes"] => played.take_back = Some(hand),
        ["takeback", "no"] => played.take_back = None,
        ["resign"] => (played.status, played.winner) = ("resign", Some(!hand)),
        ["abort"] if played.game.len() < 2 => played.status = "aborted",
        ["abort"] => return refused("This game can no longer be aborted"),
        ["claim-victory"] => (played.status, played.winner) = ("timeout", Some(hand)),
        _ => return StatusCode::NOT_FOUND.into_response(),
    }
    inner.taken.push(words);
    inner.shows();
    ok()
}
