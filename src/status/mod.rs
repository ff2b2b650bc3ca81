//! The event stream: JSON lines over TCP for `boardbridge watch` and for programs.
//!
//! A watcher gets a line `daemon`, a line `snapshot` for every board and a line `client-snapshot` for every client, then a line
//! for every event. One that lags is told how many events it missed, and gets all these again. The schema is in
//! `docs/events.md`.

pub mod lines;

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufWriter},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf},
    sync::{Semaphore, broadcast::error::RecvError},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, warn};

use crate::{bus::Bus, uci::server::ACCEPT_WAIT};
use lines::{event_line, lagged_line, present};

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
                debug!(%peer, "a watcher came");
                let (bus, stop, places) = (bus.clone(), stop.clone(), places.clone());
                watchers.spawn(async move {
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = watcher(stream, bus, &places) => debug!(%peer, "a watcher left"),
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

/// Waits until the watcher has closed its side. Whatever it says is not listened to.
async fn left(input: &mut OwnedReadHalf) {
    let mut nothing = [0; 256];
    while input.read(&mut nothing).await.is_ok_and(|count| count > 0) {}
}

async fn watcher(stream: TcpStream, bus: Bus, places: &Semaphore) {
    let mut events = bus.subscribe();
    let (mut input, output) = stream.into_split();
    let mut output = BufWriter::new(output);
    let watchers = || MAX_WATCHERS - places.available_permits();
    let mut lines = present(&bus, watchers());
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
        let event = tokio::select! {
            () = left(&mut input) => return,
            event = events.recv() => event,
        };
        match event {
            Ok(event) => {
                let board = event
                    .board
                    .as_ref()
                    .and_then(|name| bus.board(name.as_str()));
                let game = board.map(|board| board.snapshot.borrow().game.clone());
                lines.push(event_line(&event, game.as_deref()));
            }
            Err(RecvError::Lagged(missed)) => {
                lines.push(lagged_line(missed));
                lines.extend(present(&bus, watchers()));
            }
            Err(RecvError::Closed) => return,
        }
    }
}
