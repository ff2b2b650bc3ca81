//! The event stream: JSON lines over TCP for `boardbridge watch` and for programs.
//!
//! A client gets a line `snapshot` for every board, then a line for every event. One that lags is told how
//! many events it missed, and gets the snapshots again. The schema is in `docs/events.md`.

use std::{sync::Arc, time::Duration, time::SystemTime};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncWriteExt, BufWriter},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, broadcast::error::RecvError},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, warn};

use crate::{
    board::snapshot::{LinkState, Snapshot},
    bus::{BoardEvent, Bus},
    uci::server::ACCEPT_WAIT,
};

/// Watchers at once.
pub const MAX_WATCHERS: usize = 64;
/// A watcher that takes no bytes for this long is dropped.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// Serves the event stream until `stop` is cancelled.
pub async fn serve(listener: TcpListener, bus: Bus, stop: CancellationToken) {
    let watchers = TaskTracker::new();
    let places = Arc::new(Semaphore::new(MAX_WATCHERS));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Ok(place) = places.clone().try_acquire_owned() else {
                    warn!(%peer, "turned away: {MAX_WATCHERS} watchers are connected already");
                    continue;
                };
                let (bus, stop) = (bus.clone(), stop.clone());
                watchers.spawn(async move {
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = watcher(stream, bus) => debug!(%peer, "a watcher left"),
                    }
                    drop(place);
                });
            }
            Err(error) => {
                warn!(%error, "a watcher's connection could not be accepted");
                tokio::time::sleep(ACCEPT_WAIT).await;
            }
        }
    }
    watchers.close();
    watchers.wait().await;
}

async fn watcher(stream: TcpStream, bus: Bus) {
    let mut events = bus.subscribe();
    let mut output = BufWriter::new(stream);
    let mut lines = snapshots(&bus);
    loop {
        for line in lines.drain(..) {
            let text = format!("{line}\n");
            match timeout(WRITE_WAIT, output.write_all(text.as_bytes())).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
        if !matches!(timeout(WRITE_WAIT, output.flush()).await, Ok(Ok(()))) {
            return;
        }
        match events.recv().await {
            Ok(event) => lines.push(event_line(&event)),
            Err(RecvError::Lagged(missed)) => {
                lines.push(json!({ "event": "lagged", "missed": missed }));
                lines.extend(snapshots(&bus));
            }
            Err(RecvError::Closed) => return,
        }
    }
}

fn snapshots(bus: &Bus) -> Vec<Value> {
    let line = |board: &crate::bus::BoardHandle| snapshot_line(&board.snapshot.borrow());
    bus.boards().iter().map(line).collect()
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

fn snapshot_line(snapshot: &Snapshot) -> Value {
    let (link, why) = match &snapshot.link {
        LinkState::Down(why) => ("down", Some(why)),
        LinkState::Asking => ("asking", None),
        LinkState::Up => ("up", None),
        LinkState::Silent => ("silent", None),
    };
    json!({
        "event": "snapshot",
        "at": now(),
        "board": snapshot.board,
        "link": link,
        "why": why,
        "id": snapshot.id,
        "game": snapshot.game.to_string(),
        "fen": snapshot.game.fen().to_string(),
        "sure": snapshot.sure,
        "target": snapshot.target.as_ref().map(ToString::to_string),
        "awaiting": snapshot.awaiting,
        "battery": snapshot.battery,
        "advice": snapshot.advice.to_string(),
        "holders": snapshot.holders,
        "waiting": snapshot.waiting,
    })
}

/// An event as one JSON object.
pub fn event_line(event: &BoardEvent) -> Value {
    let mut line = json!({
        "at": humantime::format_rfc3339_millis(event.at).to_string(),
        "board": event.board,
        "text": event.event.to_string(),
    });
    if let (Some(line), Ok(Value::Object(event))) =
        (line.as_object_mut(), serde_json::to_value(&event.event))
    {
        line.extend(event);
    }
    line
}
