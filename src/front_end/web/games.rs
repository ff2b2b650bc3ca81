//! `/api/v1/games`: the games that were kept.

use std::{
    fs, io,
    io::{Cursor, Read as _},
    iter,
    ops::ControlFlow,
    path::{Path as FilePath, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, Uri},
    response::Response,
};
use futures_util::stream;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use serde::Serialize;
use serde_json::json;
use shakmaty::{CastlingMode, Chess, fen::Fen};

use super::{
    House, Never,
    answer::{self, Wrong},
};
use crate::{
    chess::game::{Game, fen, uci},
    front_end::pgn_text::read_elapsed,
    system::{apart, regular_file::regular},
    vocabulary::{BoardName, rounded},
};

/// Games in one list; `?before=` its last file gives the next one.
pub const MAX_LISTED: usize = 100;
/// The longest file that is read, bytes: the longest game with a time at every move.
pub const MAX_FILE: u64 = 128 * 1024;
/// The longest text of a tag in a list, in bytes: those that are written here have up to 60 characters.
const MAX_TAG: usize = 256;

/// The length of a date and time in a name: `2026-11-21_153012`.
const STAMP: usize = 17;

/// A kept game, in the list.
#[derive(Debug, Serialize)]
struct Listed {
    file: String,
    board: String,
    white: String,
    black: String,
    result: &'static str,
    plies: usize,
    begun: String,
}

/// The newest games, the last one first; with `?before=FILE`, those before that one.
pub(super) async fn all(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Wrong> {
    let before = match uri.query() {
        None | Some("") => None,
        Some(query) => Some(before(query)?),
    };
    let Some(folder) = house.kept().folder else {
        return Ok(answer::value(&json!([])));
    };
    let found = blocking(&house, move || list(&folder, before.as_deref())).await?;
    match found {
        Ok(games) => Ok(answer::value(&json!(games))),
        Err(error) => Err(unreadable(&error)),
    }
}

/// One game, as PGN.
pub(super) async fn one(
    State(house): State<Arc<House>>,
    file: Result<Path<String>, PathRejection>,
) -> Result<Response, Wrong> {
    let text = kept(&house, file).await?;
    Ok(answer::of_kind(answer::PGN, Body::from(text)))
}

/// One game with the position after each move.
pub(super) async fn moves(
    State(house): State<Arc<House>>,
    file: Result<Path<String>, PathRejection>,
) -> Result<Response, Wrong> {
    let text = kept(&house, file).await?;
    match blocking(&house, move || played(&text)).await? {
        Some(played) => Ok(answer::text(played.into_moves())),
        None => Err(Wrong::not_now(
            "this file has no game that can be played: GET it as PGN",
        )),
    }
}

/// The text of a kept game.
async fn kept(house: &House, file: Result<Path<String>, PathRejection>) -> Result<Vec<u8>, Wrong> {
    let missing = || Wrong::missing("there is no such game: GET /api/v1/games lists them");
    // Only names in the form of saved games are accepted: they lead nowhere else.
    let file = file.ok().filter(|Path(file)| named(file).is_some());
    let (Some(Path(file)), Some(folder)) = (file, house.kept().folder) else {
        return Err(missing());
    };
    blocking(house, move || read(&folder, &file))
        .await?
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(),
            _ => unreadable(&error),
        })
}

fn before(query: &str) -> Result<String, Wrong> {
    let file = query.strip_prefix("before=");
    let file = file.filter(|file| named(file).is_some());
    let file = file.ok_or_else(|| Wrong::bad("write ?before=FILE, with a file of this list"));
    Ok(file?.to_owned())
}

fn unreadable(error: &io::Error) -> Wrong {
    let words = format!("the games cannot be read: {error}");
    Wrong::new(StatusCode::INTERNAL_SERVER_ERROR, words)
}

/// Reads files on a thread of its own, one request at a time.
async fn blocking<T: Send + 'static>(
    house: &House,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Wrong> {
    let busy = || Wrong::not_now("the games cannot be read now: try again");
    let reading = house.reading.clone();
    let turn = reading.acquire_owned().await.map_err(|_| busy())?;
    // A disk that hangs keeps its one thread, also when the visitor has left.
    let work = move || (work(), drop(turn)).0;
    apart::run("reading", work).await.map_err(|_| busy())
}

/// When a game began, and on which board, if a file has a name of ours.
fn named(file: &str) -> Option<(String, BoardName)> {
    let (stamp, rest) = (file.get(..STAMP)?, file.get(STAMP..)?);
    let form = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'_',
        _ => byte.is_ascii_digit(),
    };
    let dated = stamp.bytes().enumerate().all(form);
    let rest = rest.strip_prefix('_')?.strip_suffix(".pgn")?;
    let (board, number) = rest.rsplit_once('_')?;
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let board = board.parse().ok()?;
    if !(dated && numbered) {
        return None;
    }
    let (day, time) = stamp.split_once('_')?;
    let begun = format!("{day}T{}:{}:{}Z", &time[..2], &time[2..4], &time[4..]);
    Some((begun, board))
}

fn list(folder: &FilePath, before: Option<&str>) -> io::Result<Vec<Listed>> {
    let entries = match fs::read_dir(folder) {
        // It is made with the first game.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| named(name).is_some() && before.is_none_or(|before| name.as_str() < before))
        .collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    let games = names.into_iter().filter_map(|file| {
        // One that was removed meanwhile, or is not ours to read, is left out.
        let text = read(folder, &file).ok()?;
        let (begun, board) = named(&file)?;
        let Played { tags, game, .. } = played(&text)?;
        Some(Listed {
            file,
            board: board.to_string(),
            result: tags.result(),
            white: tags.white,
            black: tags.black,
            plies: game.len(),
            begun,
        })
    });
    Ok(games.take(MAX_LISTED).collect())
}

fn read(folder: &FilePath, file: &str) -> io::Result<Vec<u8>> {
    let path: PathBuf = folder.join(file);
    let mut text = Vec::new();
    let opened = regular(fs::File::options().read(true), &path)?;
    opened.take(MAX_FILE).read_to_end(&mut text)?;
    Ok(text)
}

/// The one game in a file; `None` if it cannot be played.
fn played(text: &[u8]) -> Option<Played> {
    Reader::new(Cursor::new(text))
        .read_game(&mut Reading)
        .ok()??
}

/// A game as its file has it.
#[derive(Debug)]
struct Played {
    tags: Tags,
    game: Game,
    took: Vec<Option<Duration>>,
}

impl Played {
    /// The game with the position after each move, for a program that knows no chess. Each move is written when the one
    /// before it has been sent: that of a long game takes 300 kB, and a reader may never read them.
    fn into_moves(self) -> Body {
        let Self { tags, game, took } = self;
        let head = json!({
            "white": tags.white,
            "black": tags.black,
            "result": tags.result(),
            "start": fen(game.start()).to_string(),
        });
        // The last key is the list.
        let head = head.to_string();
        let head = format!("{},\"moves\":[", head.trim_end_matches('}'));
        let mut position = game.start().clone();
        let count = game.len();
        let moves = (0..count).map(move |index| {
            let m = game.moves()[index];
            let made = uci(m).to_string();
            let san = SanPlus::from_move_and_play_unchecked(&mut position, m);
            let object = json!({
                "san": san.to_string(),
                "uci": made,
                "fen": fen(&position).to_string(),
                "took": took.get(index).copied().flatten().map(rounded),
            });
            let after = if index + 1 < count { "," } else { "" };
            format!("{object}{after}")
        });
        let parts = iter::once(head).chain(moves);
        let parts = parts.chain(iter::once("]}\n".to_owned()));
        Body::from_stream(stream::iter(parts.map(Ok::<_, Never>)))
    }
}

/// The result of a game that is not over, or of which it is unknown (PGN standard, 8.1.1.7).
const UNKNOWN: &str = "*";
/// The results of the others.
const RESULTS: [&str; 3] = ["1-0", "0-1", "1/2-1/2"];

#[derive(Debug, Default)]
struct Tags {
    white: String,
    black: String,
    result: String,
    start: Option<Fen>,
    chess960: bool,
}

impl Tags {
    /// What an edited file has for it may be none.
    fn result(&self) -> &'static str {
        let mut known = RESULTS.into_iter();
        known.find(|known| self.result == *known).unwrap_or(UNKNOWN)
    }
}

struct Reading;

impl Visitor for Reading {
    type Tags = Tags;
    type Movetext = Played;
    type Output = Option<Played>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(
        &mut self,
        tags: &mut Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let text = value.decode_utf8_lossy();
        let short = || text[..text.floor_char_boundary(MAX_TAG)].to_owned();
        match name {
            b"White" => tags.white = short(),
            b"Black" => tags.black = short(),
            b"Result" => tags.result = short(),
            b"Variant" => tags.chess960 = text == "Chess960",
            b"FEN" => tags.start = text.parse().ok(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut tags: Tags) -> ControlFlow<Self::Output, Played> {
        let mode = if tags.chess960 {
            CastlingMode::Chess960
        } else {
            CastlingMode::Standard
        };
        let start = match tags.start.take() {
            Some(fen) => fen.into_position::<Chess>(mode).ok(),
            None => Some(Chess::new()),
        };
        let Some(start) = start else {
            return ControlFlow::Break(None);
        };
        ControlFlow::Continue(Played {
            tags,
            game: Game::from_start(start),
            took: Vec::new(),
        })
    }

    fn san(&mut self, played: &mut Played, san: SanPlus) -> ControlFlow<Self::Output> {
        let m = san.san.to_move(played.game.position());
        if m.is_ok_and(|m| played.game.push(m)) {
            played.took.push(None);
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(None)
        }
    }

    fn comment(
        &mut self,
        played: &mut Played,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        if let Some(last) = played.took.last_mut() {
            *last = read_elapsed(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _played: &mut Played) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, played: Played) -> Self::Output {
        Some(played)
    }
}
