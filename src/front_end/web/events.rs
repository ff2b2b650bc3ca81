//! `/api/v1/events`: what the event stream tells, as server-sent events; and `/api/v1/wall`: all boards in short.

use std::{convert::Infallible, fmt::Write as _, future::pending, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::Body,
    extract::{RawQuery, State},
    response::Response,
};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::{task::yield_now, time::timeout};

use super::{House, Visitor, answer};
use crate::front_end::objects::{wall::Wall, watching::Watching};

/// How often a silent stream shows that it is alive: a page that has heard nothing for more than twice as long connects
/// again.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// Lines about boards are sent together until they have this many bytes.
const CHUNK: usize = 16 * 1024;

/// Asks for the state of a board after everything that happens on it.
const STATES: &str = "states";

/// What a page gets first: how long it waits, in milliseconds, before it connects again.
const RETRY: &str = "retry: 1000\n\n";
/// A heartbeat. It is an event, because a script does not see comments.
const ALIVE: &str = "event: alive\ndata: 1\n\n";

/// Everything that happens, beginning with the current state. Each line is made when the one before it has been sent: a page
/// that reads slowly loses events, and gets the state instead.
pub(super) async fn all(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(asked): RawQuery,
) -> Response {
    let mut watching = Watching::of(house.bus.clone());
    if asked.as_deref() == Some(STATES) {
        watching = watching.with_states();
    }
    let lines = stream::unfold(watching, async |mut watching| {
        Some((next(&mut watching).await, watching))
    });
    sent(visitor, lines)
}

/// All boards in short, each again when it has changed.
pub(super) async fn wall(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let wall = Wall::of(house.bus.clone(), house.pictures.clone());
    let lines = stream::unfold(wall, async |mut wall| {
        Some((some_boards(&mut wall).await, wall))
    });
    sent(visitor, lines)
}

/// Server-sent events, until the phone that they are for is removed.
fn sent(visitor: Visitor, lines: impl Stream<Item = String> + Send + 'static) -> Response {
    let first = stream::iter([RETRY.to_owned()]);
    let removed = visitor.phone.map(|phone| phone.removed);
    let removed = async {
        match removed {
            Some(removed) => removed.cancelled_owned().await,
            None => pending().await,
        }
    };
    let slot = visitor.slot;
    let lines = first.chain(lines).map(move |text| {
        slot.used();
        Ok::<_, Infallible>(text)
    });
    let lines = lines.take_until(Box::pin(removed));
    answer::of_kind("text/event-stream", Body::from_stream(lines))
}

/// The next lines of a wall, or a heartbeat.
async fn some_boards(wall: &mut Wall) -> String {
    let some = async {
        loop {
            let mut text = String::new();
            while text.len() < CHUNK
                && let Some(line) = wall.ready()
            {
                // Writing to a string cannot fail.
                let _ = write!(text, "data: {line}\n\n");
            }
            if !text.is_empty() {
                return text;
            }
            wall.more().await;
        }
    };
    timeout(HEARTBEAT, some)
        .await
        .unwrap_or_else(|_| ALIVE.to_owned())
}

/// The next line, or a heartbeat.
async fn next(watching: &mut Watching) -> String {
    let line = async {
        loop {
            // Only the event stream counts who watches.
            if let Some(line) = watching.ready(0) {
                return line;
            }
            watching.more().await;
            // Programs that wait for a move come first.
            yield_now().await;
        }
    };
    match timeout(HEARTBEAT, line).await {
        Ok(line) => format!("data: {line}\n"),
        Err(_) => ALIVE.to_owned(),
    }
}
