//! Runs a round: connects its state machine to the boards, the pairing file, the server and a clock.

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    io,
    path::{Path, PathBuf},
    pin::Pin,
    time::{Duration, SystemTime},
};

use hyper::{Method, StatusCode};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};

use super::{
    delay::Now,
    pairing_file::{MAX_FILE, Pairings},
    round::{Answer, Ask, Details, Notice, Round, SavedBoard, Seen},
    settings::TOKEN,
};
use crate::{
    bus::{Bus, delayed::Told},
    front_end::{
        https::{
            Https, Unanswered, text,
            token::{Token, TokenError},
        },
        running_game::RunningGame,
        seat::serve::Keeper,
    },
    system::{apart, clock, regular_file, sleep::sleep_until_some},
    vocabulary::BoardName,
};

/// How long an answer may take. Half a megabyte goes up a slow line in 20 s, and the server's queue waits 10 s at most.
pub const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// How often the pairing file is looked at.
pub const LOOK_WAIT: Duration = Duration::from_secs(5);
/// What happens within this time is seen together: a hand's moves come seconds apart.
const GATHER: Duration = Duration::from_millis(50);
/// The most bytes of an answer: a round with 100 games takes some 50 KiB.
const MAX_ANSWER: usize = 1024 * 1024;
/// The content type of a push; without a charset it would be read as Latin-1.
const PGN: &str = "text/plain; charset=utf-8";

/// Everything the task receives at start.
pub struct Table {
    /// The round's id.
    pub round: String,
    /// The server.
    pub url: String,
    /// The token's file.
    pub token: PathBuf,
    /// The file of a login, whose token serves where that one is missing.
    pub login: Option<PathBuf>,
    /// The boards of the broadcast, in order.
    pub boards: Vec<BoardName>,
    /// Who plays.
    pub pairings: Option<PathBuf>,
    /// How long moves are held back.
    pub delay: Duration,
    /// Where the boards are.
    pub bus: Bus,
    /// The games of each board before a restart, and where they are kept.
    pub shelves: BTreeMap<BoardName, (Option<SavedBoard>, Keeper<SavedBoard>)>,
}

/// What tells one version of a file from another.
type Version = (Option<SystemTime>, u64);
/// A look at the file: nothing if it has not changed.
type Look = Option<(Option<Version>, io::Result<Vec<u8>>)>;

type Asked = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Looking = Pin<Box<dyn Future<Output = Look> + Send>>;

async fn some<T>(future: &mut Option<Pin<Box<dyn Future<Output = T> + Send>>>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

fn now() -> Now {
    Now {
        at: Instant::now().into_std(),
        day: clock::now(),
    }
}

/// The token, perhaps that of a login.
fn token(table: &Table) -> Result<Token, TokenError> {
    let own = TOKEN.read(&table.token);
    if let (Err(TokenError::Missing { .. }), Some(login)) = (&own, &table.login) {
        return TOKEN.of_login(login, &table.url).unwrap_or(own);
    }
    own
}

/// Runs until `stop` is cancelled.
pub async fn serve(table: Table, stop: CancellationToken) {
    let span = info_span!("broadcast", round = %table.round);
    run(table, stop).instrument(span).await;
}

async fn run(mut table: Table, stop: CancellationToken) {
    let mut http = Https::new(&table.url);
    let mut round = Round::new(&table.round, table.delay, now());
    for (board, (saved, _)) in &mut table.shelves {
        if let Some(saved) = saved.take() {
            round.restore(board.clone(), saved, now());
        }
    }
    let mut news = table.bus.subscribe();
    let mut boards = table.bus.changes();
    let mut paired = table.bus.pairings().changes();
    let mut asked: Option<Asked> = None;
    let mut version: Option<Version> = None;
    let mut looking: Option<Looking> = table.pairings.clone().map(|path| look(path, None));
    let mut look_at: Option<Instant> = None;
    let mut wrong: Option<String> = None;
    loop {
        for seen in seen(&table) {
            round.seen(seen, now());
        }
        if asked.is_none()
            && let Some(ask) = round.poll_request(now())
        {
            // Kept first, told second.
            keep(&mut round, &mut table).await;
            asked = Some(match token(&table) {
                Ok(token) => {
                    http.set_token(Some(token));
                    Box::pin(ask_server(http.clone(), table.round.clone(), ask))
                }
                Err(error) => {
                    let words = error.to_string();
                    Box::pin(async move { Answer::NoToken(words) })
                }
            });
        }
        keep(&mut round, &mut table).await;
        while let Some(notice) = round.poll_notice() {
            if matches!(notice, Notice::Trouble(_)) {
                warn!("{notice}");
            } else {
                info!("{notice}");
            }
        }
        tell_others(&mut round, &table);
        let deadline = if asked.is_none() {
            round.deadline(Instant::now().into_std())
        } else {
            round.due()
        };
        let deadline = deadline.map(Instant::from_std);
        tokio::select! {
            biased;
            () = stop.cancelled() => {
                if round.has_more() {
                    info!("games wait for their time, or for the server: they go on when this round runs again");
                }
                // For the next round with this id.
                for (board, saved) in round.memory() {
                    keep_board(&mut table, &board, saved).await;
                }
                return;
            }
            answer = some(&mut asked) => {
                asked = None;
                round.answered(answer, Instant::now().into_std());
            }
            look = some(&mut looking) => {
                looking = None;
                look_at = Some(Instant::now() + LOOK_WAIT);
                if let Some((found, read)) = look {
                    version = found;
                    match read_pairings(read, &table.boards) {
                        Ok(pairings) => {
                            info!("the pairing file has {} boards", pairings.len());
                            if let Some(left_out) = pairings.left_out() {
                                warn!("left out of the pairing file: {left_out}");
                            }
                            round.pairings(pairings);
                            wrong = None;
                        }
                        Err(words) => {
                            if wrong.as_ref() != Some(&words) {
                                warn!("the pairing file is not used, the players stay as they are: {words}");
                            }
                            wrong = Some(words);
                        }
                    }
                }
            }
            () = sleep_until_some(look_at) => {
                look_at = None;
                looking = table.pairings.clone().map(|path| look(path, version));
            }
            _ = news.next() => {}
            () = boards.next() => {}
            () = paired.next() => {}
            () = sleep_until_some(deadline) => {}
        }
        sleep(GATHER).await;
    }
}

/// The games on all boards, one for two that are linked.
fn seen(table: &Table) -> Vec<Seen> {
    let handles = table
        .boards
        .iter()
        .filter_map(|name| table.bus.board(name.as_str()));
    let games = handles.filter_map(|board| RunningGame::of(&table.bus, &board));
    let is_of_round = |linked: &BoardName| table.boards.contains(linked);
    let told = games.filter(|game| {
        // The other board's game is not told if that board is not in the broadcast.
        let other = game
            .linked(&table.bus)
            .filter(|other| is_of_round(&other.name));
        other.is_none() || !game.is_told_elsewhere(&table.bus)
    });
    told.map(|game| {
        let paired = game.paired.as_deref();
        Seen {
            board: game.board.name.clone(),
            linked: game.linked(&table.bus).map(|other| other.name),
            id: game.id(),
            since: game.since,
            game: game.game().clone(),
            clocks: (0..game.game().len()).map(|ply| game.clock(ply)).collect(),
            end: game.told_end(),
            details: Details {
                number: game.number(&table.bus),
                began: paired.and_then(|paired| paired.began).or(game.state.began),
                site: paired.and_then(|paired| paired.site.clone()),
                players: paired
                    .map(|paired| paired.players.clone())
                    .unwrap_or_default(),
            },
            now: Some(Told {
                state: game.state.clone(),
                paired: game.paired.clone(),
            }),
        }
    })
    .collect()
}

/// Says what others may tell of these games by now, whether the server is there or not.
fn tell_others(round: &mut Round, table: &Table) {
    if table.delay.is_zero() {
        return;
    }
    round.advance(now().at);
    for board in &table.boards {
        let told = round.told(board);
        table.bus.delayed().tell(&table.round, board, told);
    }
}

async fn keep(round: &mut Round, table: &mut Table) {
    while let Some((board, saved)) = round.poll_kept() {
        keep_board(table, &board, saved).await;
    }
}

async fn keep_board(table: &mut Table, board: &BoardName, saved: SavedBoard) {
    if let Some((_, shelf)) = table.shelves.get_mut(board) {
        shelf.keep(saved).await;
    }
}

/// Looks whether the file has changed, on another thread.
fn look(path: PathBuf, known: Option<Version>) -> Looking {
    Box::pin(async move {
        let read = move || {
            let found = std::fs::metadata(&path).ok();
            let found = found.map(|found| (found.modified().ok(), found.len()));
            let is_same = found.is_some() && found == known;
            (!is_same).then(|| (found, regular_file::read(&path, MAX_FILE)))
        };
        let failed = |error| Some((None, Err(error)));
        apart::run("pairings", read).await.unwrap_or_else(failed)
    })
}

fn read_pairings(read: io::Result<Vec<u8>>, boards: &[BoardName]) -> Result<Pairings, String> {
    let bytes = read.map_err(|error| error.to_string())?;
    Pairings::read(&bytes, boards).map_err(|error| error.to_string())
}

/// The pairings in a file, for `boardbridge check`.
///
/// # Errors
/// Why they cannot be used, with the line.
pub fn try_pairings(path: &Path, boards: &[BoardName]) -> Result<Pairings, String> {
    read_pairings(regular_file::read(path, MAX_FILE), boards)
}

async fn ask_server(http: Https, round: String, ask: Ask) -> Answer {
    let asked = async {
        let (method, path, body) = match ask {
            Ask::Round => (
                Method::GET,
                format!("/api/broadcast/-/-/{round}"),
                String::new(),
            ),
            Ask::Push(games) => (
                Method::POST,
                format!("/api/broadcast/round/{round}/push"),
                games,
            ),
        };
        let response = http.exchange(method, &path, PGN, body).await?;
        let status = response.status();
        let text = text(response, MAX_ANSWER).await?;
        Ok::<_, Unanswered>((status, text))
    };
    match timeout(ANSWER_WAIT, asked).await {
        Err(_) => Answer::Lost("no answer".to_owned()),
        Ok(Err(Unanswered::NoToken)) => Answer::NoToken(Unanswered::NoToken.to_string()),
        Ok(Err(why)) => Answer::Lost(why.to_string()),
        Ok(Ok((status, text))) if status.is_success() => Answer::Done(text),
        Ok(Ok((status, text))) => Answer::Refused(status.as_u16(), words(status, &text)),
    }
}

/// What the server says of an error.
fn words(status: StatusCode, text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    match value["error"].as_str() {
        Some(words) => format!("{status}: {words}"),
        None => status.to_string(),
    }
}
