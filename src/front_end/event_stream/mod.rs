//! The event stream: JSON lines over TCP for `boardbridge watch` and for programs.
//!
//! A watcher gets a line `daemon`, a line `snapshot` for every board and a line `client-snapshot` for every client,
//! then a line for every event. One that lags is told how many events it missed, and gets all these again; so it does
//! when boards have come or gone. The schema is in `docs/events.md`.

pub mod settings;

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufWriter},
    net::{TcpStream, tcp::OwnedReadHalf},
    task::yield_now,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, info_span};

use crate::{
    bus::Bus,
    front_end::objects::{
        lines::{closed_line, text},
        watching::Watching,
    },
    net::{
        door::Door,
        slots::{Slot, Slots},
    },
    text::lines::Foreign,
};

/// Watchers at once. For one more, the address with the most of them gives up its oldest: a watcher only listens, so it
/// is unknown which one is useful.
pub const MAX_WATCHERS: usize = 32;
/// A watcher that takes no bytes for this long is dropped.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// How long a watcher that makes room may take for its last line: the new one waits for its slot.
const FAREWELL_WAIT: Duration = Duration::from_secs(1);

/// Serves the event stream until `stop` is cancelled.
pub async fn serve(door: Door, bus: Bus, stop: CancellationToken) {
    let slots = Slots::new(MAX_WATCHERS, MAX_WATCHERS, Duration::ZERO);
    let visit = |stream, peer: SocketAddr, slot: Slot| {
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
        watching.instrument(info_span!("watcher", %peer))
    };
    let full = format!("{MAX_WATCHERS} watchers are connected already");
    door.serve(&slots, &full, |_| String::new(), &stop, visit)
        .await;
}

/// Waits until the watcher has closed its side, or shown by its first bytes that it speaks another protocol. Text is ignored.
async fn left(input: &mut OwnedReadHalf, silent: &mut bool) {
    let mut bytes = [0; 256];
    while let Ok(count) = input.read(&mut bytes).await {
        let line = bytes[..count]
            .split(|byte| matches!(byte, b'\r' | b'\n'))
            .next();
        let foreign = line.and_then(Foreign::of).filter(|_| *silent);
        if let Some(foreign) = foreign {
            info!("closed: {foreign}");
        }
        if count == 0 || foreign.is_some() {
            return;
        }
        *silent = false;
    }
}

async fn watcher(stream: TcpStream, bus: Bus, slots: &Slots, leave: &CancellationToken) {
    let mut watching = Watching::of(bus);
    let (mut input, output) = stream.into_split();
    let mut output = BufWriter::new(output);
    let mut silent = true;
    loop {
        // One at a time: a line may hold a long game, and the watcher may be slow.
        while let Some(line) = watching.ready(slots.taken()) {
            if !matches!(
                timeout(WRITE_WAIT, output.write_all(line.as_bytes())).await,
                Ok(Ok(()))
            ) {
                return;
            }
        }
        if leave.is_cancelled() {
            let _ = output
                .write_all(text(&closed_line(MAX_WATCHERS)).as_bytes())
                .await;
        }
        let flushed = timeout(WRITE_WAIT, output.flush()).await;
        if leave.is_cancelled() || !matches!(flushed, Ok(Ok(()))) {
            return;
        }
        tokio::select! {
            () = left(&mut input, &mut silent) => return,
            () = leave.cancelled() => {}
            () = watching.more() => {}
        }
        // Programs that wait for a move come first, those of other daemons too.
        yield_now().await;
    }
}
