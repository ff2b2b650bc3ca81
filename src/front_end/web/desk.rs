//! `/api/v1/found`, `/engines`, `/links` and what adds, renames and removes boards and starts opponents.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    House,
    answer::{self, Wrong},
    boards::body,
};
use crate::{
    bus::desk::{BoardKey, Play, Refused, Setting, Wish},
    vocabulary::BoardName,
};

/// The highest `level`: that of Stockfish's `Skill Level`.
const MAX_LEVEL: u8 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    name: Option<String>,
    kind: Option<String>,
    key: Option<BoardKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Try {
    kind: Option<String>,
    key: Option<BoardKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unlock {
    key: BoardKey,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    boards: [String; 2],
}

type Named = Result<Path<String>, PathRejection>;

/// What is plugged in or in the air. It makes the daemon listen for Bluetooth, so whoever may not press buttons may not look.
pub(super) async fn found(State(house): State<Arc<House>>) -> Result<Response, Wrong> {
    ask(&house, Wish::Found).await
}

/// The engines that are installed.
pub(super) async fn engines(State(house): State<Arc<House>>) -> Result<Response, Wrong> {
    ask(&house, Wish::Engines).await
}

/// Uses a board that was found.
pub(super) async fn add(
    State(house): State<Arc<House>>,
    id: Named,
    request: Request,
) -> Result<Response, Wrong> {
    let id = text(id)?;
    let Add { name, kind, key } = body(request).await?;
    let name = name.filter(|name| !name.is_empty());
    let name = name.as_deref().map(board).transpose()?;
    let wish = Wish::Add {
        id,
        name,
        kind,
        key,
    };
    ask(&house, wish).await
}

/// Lets the lamps of a board that was found run.
pub(super) async fn attempt(
    State(house): State<Arc<House>>,
    id: Named,
    request: Request,
) -> Result<Response, Wrong> {
    let id = text(id)?;
    let Try { kind, key } = body(request).await?;
    ask(&house, Wish::Try { id, kind, key }).await
}

/// No longer uses a board that was added.
pub(super) async fn remove(
    State(house): State<Arc<House>>,
    name: Named,
) -> Result<Response, Wrong> {
    ask(&house, Wish::Remove(board(&text(name)?)?)).await
}

/// Gives a board another name.
pub(super) async fn rename(
    State(house): State<Arc<House>>,
    from: Named,
    request: Request,
) -> Result<Response, Wrong> {
    let from = board(&text(from)?)?;
    let Rename { name } = body(request).await?;
    let to = board(&name)?;
    ask(&house, Wish::Rename { from, to }).await
}

/// Gives a board its key.
pub(super) async fn unlock(
    State(house): State<Arc<House>>,
    name: Named,
    request: Request,
) -> Result<Response, Wrong> {
    let name = board(&text(name)?)?;
    let Unlock { key } = body(request).await?;
    ask(&house, Wish::Unlock(name, key)).await
}

/// Lets an engine, or two people, play at a board.
pub(super) async fn play(
    State(house): State<Arc<House>>,
    name: Named,
    request: Request,
) -> Result<Response, Wrong> {
    let name = board(&text(name)?)?;
    let play: Play = body(request).await?;
    if play.elo.is_some() && play.level.is_some() {
        return Err(Wrong::bad("give elo or level, not both"));
    }
    if play.level.is_some_and(|level| level > MAX_LEVEL) {
        return Err(Wrong::bad(format!(
            "level is a number from 0 to {MAX_LEVEL}"
        )));
    }
    ask(&house, Wish::Play(name, play)).await
}

/// Ends what plays at a board.
pub(super) async fn stop(State(house): State<Arc<House>>, name: Named) -> Result<Response, Wrong> {
    ask(&house, Wish::Stop(board(&text(name)?)?)).await
}

/// Changes a setting.
pub(super) async fn set(
    State(house): State<Arc<House>>,
    request: Request,
) -> Result<Response, Wrong> {
    let setting: Setting = body(request).await?;
    ask(&house, Wish::Set(setting)).await
}

/// Lets two boards play each other.
pub(super) async fn link(
    State(house): State<Arc<House>>,
    request: Request,
) -> Result<Response, Wrong> {
    let Link { boards } = body(request).await?;
    let [first, second] = boards.each_ref().map(|name| board(name));
    ask(&house, Wish::Link([first?, second?])).await
}

/// Ends a link.
pub(super) async fn unlink(State(house): State<Arc<House>>, id: Named) -> Result<Response, Wrong> {
    ask(&house, Wish::Unlink(text(id)?)).await
}

fn text(given: Named) -> Result<String, Wrong> {
    match given {
        Ok(Path(text)) => Ok(text),
        Err(_) => Err(Wrong::bad("the name in the address is not text")),
    }
}

fn board(name: &str) -> Result<BoardName, Wrong> {
    let named = name.parse::<BoardName>();
    named.map_err(|error| Wrong::bad(error.to_string()))
}

async fn ask(house: &House, wish: Wish) -> Result<Response, Wrong> {
    let granted = house.bus.desk().ask(wish).await.map_err(|why| {
        let status = match why {
            Refused::Missing(_) => StatusCode::NOT_FOUND,
            Refused::Bad(_) => StatusCode::BAD_REQUEST,
            Refused::Closed | Refused::NotNow(_) | Refused::NoAnswer => StatusCode::CONFLICT,
        };
        Wrong::new(status, why.to_string())
    })?;
    Ok(answer::value(&json!(granted)))
}
