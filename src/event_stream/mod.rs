//! The event stream: JSON lines over TCP for `boardbridge watch` and for programs.
//!
//! A watcher gets a line `daemon`, a line `snapshot` for every board and a line `client-snapshot` for every client,
//! then a line for every event. One that lags is told how many events it missed, and gets all these again. The schema
//! is in `docs/events.md`.

pub mod json;

use std::{collections::VecDeque, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufWriter},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{Instrument, debug, info_span, warn};

use crate::{
    bus::{Bus, News},
    slots::{ACCEPT_WAIT, Slots},
};
use json::{Present, closed_line, event_line, lagged_line, text};

/// Watchers at once. For one more, the address with the most of them gives up its oldest: a watcher only listens, so it
/// is unknown which one is useful.
pub const MAX_WATCHERS: usize = 32;
/// A watcher that takes no bytes for this long is dropped.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// A watcher that gives way and takes no bytes for this long is not told so: the new one waits for its slot.
const FAREWELL_WAIT: Duration = Duration::from_secs(1);

/// Serves the event stream until `stop` is cancelled.
pub async fn serve(listener: TcpListener, bus: Bus, stop: CancellationToken) {
    let watchers = TaskTracker::new();
    let slots = Slots::new(MAX_WATCHERS, MAX_WATCHERS);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let span = info_span!("watcher", %peer);
                let slot = tokio::select! {
                    () = stop.cancelled() => break,
                    slot = slots.take(peer.ip()) => slot,
                };
                let Some(slot) = slot else {
                    span.in_scope(|| {
                        warn!("turned away: {MAX_WATCHERS} watchers are connected already");
                    });
                    continue;
                };
                let (bus, stop, slots) = (bus.clone(), stop.clone(), slots.clone());
                let watching = async move {
                    debug!("a watcher came");
                    let leave = slot.leave();
                    let overdue = async {
                        leave.cancelled().await;
                        tokio::time::sleep(FAREWELL_WAIT).await;
                    };
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = overdue => debug!("closed: others want to watch"),
                        () = watcher(stream, bus, &slots, leave) => debug!("a watcher left"),
                    }
                };
                watchers.spawn(watching.instrument(span));
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

/// Waits until the watcher has closed its side. Its input is ignored.
async fn left(input: &mut OwnedReadHalf) {
    let mut nothing = [0; 256];
    while input.read(&mut nothing).await.is_ok_and(|count| count > 0) {}
}

async fn watcher(stream: TcpStream, bus: Bus, slots: &Slots, leave: &CancellationToken) {
    let mut subscription = bus.subscribe();
    let (mut input, output) = stream.into_split();
    let mut output = BufWriter::new(output);
    let mut present = Present::of(&bus);
    let mut next = VecDeque::new();
    loop {
        // One at a time: a game in a line of its own may be long, and a watcher slow.
        while let Some(line) = next
            .pop_front()
            .or_else(|| present.next(&bus, &mut subscription, slots.taken()))
        {
            if !matches!(
                timeout(WRITE_WAIT, output.write_all(line.as_bytes())).await,
                Ok(Ok(()))
            ) {
                return;
            }
        }
        if leave.is_cancelled() {
            let _ = output.write_all(text(&closed_line()).as_bytes()).await;
        }
        let flushed = timeout(WRITE_WAIT, output.flush()).await;
        if leave.is_cancelled() || !matches!(flushed, Ok(Ok(()))) {
            return;
        }
        let news = tokio::select! {
            () = left(&mut input) => return,
            () = leave.cancelled() => continue,
            news = subscription.next() => news,
        };
        match news {
            News::Published(publication) => {
                let events = publication.events.iter();
                next.extend(events.map(|event| text(&event_line(&publication, event))));
            }
            News::Lagged(missed) => {
                next.push_back(text(&lagged_line(missed)));
                present = Present::of(&bus);
            }
        }
    }
}
