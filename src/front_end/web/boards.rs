//! `/api/v1/boards`.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    extract::{Path, Request, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::Response,
};
use futures_util::stream;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    House, Never,
    answer::{self, Wrong},
};
use crate::{
    bus::BoardHandle,
    front_end::{buttons::BOARD_WAIT, objects},
    text::lines::printable,
    vocabulary::{ClientPlace, Command, MAX_NAME},
};

/// The most bytes of a request's body.
pub const MAX_BODY: usize = 4096;

/// A body without keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

/// All boards. Each is made when the one before it has been sent: a long game takes 100 kB.
pub(super) async fn all(State(house): State<Arc<House>>) -> Response {
    let boards = house.bus.boards();
    let count = boards.len();
    let parts = (0..=count).map(move |index| {
        let text = match boards.get(index) {
            Some(board) => {
                let before = if index == 0 { "[" } else { "," };
                format!("{before}{}", object(&house, board))
            }
            None if count == 0 => "[]\n".to_owned(),
            None => "]\n".to_owned(),
        };
        Ok::<_, Never>(text)
    });
    answer::text(Body::from_stream(stream::iter(parts)))
}

/// One board.
pub(super) async fn one(
    State(house): State<Arc<House>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Wrong> {
    Ok(answer::value(&object(&house, &board(&house, name)?)))
}

/// Puts out the clients that have the board.
pub(super) async fn release(
    State(house): State<Arc<House>>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Wrong> {
    let board = board(&house, name)?;
    let Empty {} = body(request).await?;
    let mut feed = board.feed();
    let state = feed.next().await.1;
    let have = state.places.iter().filter(|place| place.joined);
    let have: Vec<_> = have.map(|place| place.client).collect();
    let released = json!({ "board": board.name, "released": state.holders });
    let done = async {
        // A board that was removed meanwhile has nothing to release.
        let _ = board.commands.send(Command::PutOut).await;
        let has = |place: &ClientPlace| place.joined && have.contains(&place.client);
        while !have.is_empty() && feed.next().await.1.places.iter().any(has) {}
    };
    match timeout(BOARD_WAIT, done).await {
        Ok(()) => Ok(answer::value(&released)),
        Err(_) => Err(Wrong::not_now("the board does not answer now: try again")),
    }
}

fn object(house: &House, board: &BoardHandle) -> Value {
    objects::board(&house.bus, board, &board.state())
}

/// The board of this name.
pub(super) fn board(
    house: &House,
    name: Result<Path<String>, PathRejection>,
) -> Result<BoardHandle, Wrong> {
    let Ok(Path(name)) = name else {
        return Err(Wrong::bad("the name of the board is not text"));
    };
    house.bus.board(&name).ok_or_else(|| {
        let boards = house.bus.boards();
        let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
        let name = printable(name.as_bytes(), MAX_NAME);
        let words = match names.len() {
            0 => format!("there is no board named {name}, nor any other"),
            _ => format!(
                "there is no board named {name}: take one of {}",
                names.join(", ")
            ),
        };
        Wrong::new(StatusCode::NOT_FOUND, words)
    })
}

/// A request's body. It has to be declared as JSON, which keeps out forms of other sites.
pub(super) async fn body<T: DeserializeOwned>(request: Request) -> Result<T, Wrong> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Wrong::bad(
            "the request lacks the header Content-Type: application/json",
        ));
    }
    let bytes = to_bytes(request.into_body(), MAX_BODY).await;
    let bytes = bytes.map_err(|_| {
        let words = format!("the body is incomplete, or longer than {MAX_BODY} bytes");
        Wrong::new(StatusCode::PAYLOAD_TOO_LARGE, words)
    })?;
    // A list would pass for a body without keys.
    let object = serde_json::from_slice::<Map<String, Value>>(&bytes);
    let body = object.and_then(|object| serde_json::from_value(Value::Object(object)));
    body.map_err(|error| {
        let words = format!("the body is not the JSON that belongs here, such as {{}}: {error}");
        Wrong::bad(words)
    })
}
