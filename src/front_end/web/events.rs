//! `/api/v1/events`: what the event stream tells, as server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{Extension, body::Body, extract::State, response::Response};
use futures_util::stream;
use tokio::time::timeout;

use super::{House, Visitor, answer};
use crate::front_end::objects::watching::Watching;

/// How often a silent stream shows that it is alive: a page that has heard nothing for more than twice as long connects
/// again.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// What a page gets first: how long it waits, in milliseconds, before it connects again.
const RETRY: &str = "retry: 1000\n\n";
/// A heartbeat. It is an event, because a script does not see comments.
const ALIVE: &str = "event: alive\ndata: 1\n\n";

/// Everything that happens, beginning with the current state. Each line is made when the one before it has been sent: a page
/// that reads slowly loses events, and gets the state instead.
pub(super) async fn all(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let watching = Watching::of(house.bus.clone());
    let first = stream::iter([Ok::<_, Infallible>(RETRY.to_owned())]);
    let rest = stream::unfold((watching, visitor), async |(mut watching, visitor)| {
        let text = next(&mut watching).await;
        visitor.slot.used();
        Some((Ok::<_, Infallible>(text), (watching, visitor)))
    });
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    answer::of_kind("text/event-stream", body)
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
        }
    };
    match timeout(HEARTBEAT, line).await {
        Ok(line) => format!("data: {line}\n"),
        Err(_) => ALIVE.to_owned(),
    }
}
