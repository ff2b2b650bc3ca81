//! Gives an archive its snapshots, its clock and its folder.

use std::{io, time::Duration};

use futures_util::FutureExt as _;
use jiff::tz::TimeZone;
use tokio::{
    task::yield_now,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{
    archive::{Archive, Notice, renamed},
    folder::{Folder, Writer, remedy},
};
use crate::{
    bus::{BoardHandle, Bus},
    front_end::pgn::settings::GamesConfig,
    system::{clock, sleep::sleep_until_some},
    vocabulary::{BoardName, Event, Snapshot},
};

/// How long a stopping daemon waits for the last moves to be written.
pub const FLUSH_WAIT: Duration = Duration::from_secs(2);

/// Keeps a board's games until `stop` is cancelled.
pub async fn keep(
    bus: Bus,
    board: BoardHandle,
    config: GamesConfig,
    folder: Folder,
    writer: Writer,
    stop: CancellationToken,
) {
    let opened = tokio::select! {
        () = stop.cancelled() => return,
        opened = writer.open(&folder) => opened,
    };
    let (last, error) = match opened {
        Ok(last) => (last, None),
        Err(error) => (None, Some(error)),
    };
    let mut archive = Archive::new(board.name.clone(), &config, TimeZone::system(), last);
    if let Some(error) = error {
        tell_trouble(&board, &folder, &error);
        archive.trouble_told();
    }
    let mut task = Task {
        archive,
        bus,
        board,
        folder,
    };
    let late = task.run(&writer, &stop).await;
    if timeout_at(late, task.flush(&writer)).await.is_err() {
        warn!(
            board = %task.board.name,
            "the last moves of the game could not be written in time: {} is too slow",
            task.folder.path().display()
        );
    }
}

/// A board has another name from now on, which no task keeps games of yet: the file of its game goes with it, and is gone on with there.
///
/// # Errors
/// The folder or a file in it cannot be read or written.
pub fn rename(config: &GamesConfig, from: &BoardName, to: &BoardName) -> io::Result<()> {
    let Some(path) = config.folder() else {
        return Ok(());
    };
    let last = Folder::new(path, from.clone()).open()?;
    if let Some(writing) = last.and_then(|last| renamed(last, config, from, to)) {
        Folder::new(path, to.clone()).write(&writing)?;
    }
    Ok(())
}

struct Task {
    archive: Archive,
    bus: Bus,
    board: BoardHandle,
    folder: Folder,
}

impl Task {
    /// Runs until the end; returns until when the rest may be written.
    async fn run(&mut self, writer: &Writer, stop: &CancellationToken) -> Instant {
        let mut feed = self.board.feed();
        let mut writing = None;
        loop {
            let now = Instant::now().into_std();
            let (wait, end_wait) = (writer.waits_until(now), writer.end_waits_until(now));
            if writing.is_none()
                && let Some(next) = match (wait, end_wait) {
                    (None, _) => self.archive.poll_write(now),
                    (Some(_), None) => self.archive.poll_ended(now),
                    _ => None,
                }
            {
                writing = Some(Box::pin(writer.write(&self.folder, next)));
            }
            // Never before the disk may be written to.
            let deadline = self.archive.deadline().max(wait);
            // Only while nothing else may be written: otherwise the first deadline has them.
            let of_ends = wait.and(self.archive.ended_deadline().max(end_wait));
            let deadline = [deadline, of_ends].into_iter().flatten().min();
            let deadline = deadline.map(Instant::from_std);
            let written = async {
                match &mut writing {
                    Some(writing) => writing.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => break,
                (events, state) = feed.next() => {
                    // A program that awaits the move is answered first.
                    yield_now().await;
                    seen(&mut self.archive, &self.bus, &events, &state);
                }
                result = written => {
                    writing = None;
                    written_so(&mut self.archive, &self.board, &self.folder, result);
                }
                () = sleep_until_some(deadline) => {}
            }
        }
        while let Some((events, state)) = feed.next().now_or_never() {
            seen(&mut self.archive, &self.bus, &events, &state);
        }
        seen(&mut self.archive, &self.bus, &[], &self.board.state());
        let late = Instant::now() + FLUSH_WAIT;
        if let Some(writing) = writing
            && let Ok(result) = timeout_at(late, writing).await
        {
            written_so(&mut self.archive, &self.board, &self.folder, result);
        }
        late
    }

    /// Writes what is not written yet.
    async fn flush(&mut self, writer: &Writer) {
        if self.archive.is_writing() {
            // The disk has not answered in the available time.
            return std::future::pending().await;
        }
        while let Some(next) = self.archive.flush(Instant::now().into_std()) {
            let result = writer.write(&self.folder, next).await;
            let failed = result.is_err();
            written_so(&mut self.archive, &self.board, &self.folder, result);
            if failed {
                return;
            }
        }
    }
}

fn seen(archive: &mut Archive, bus: &Bus, events: &[Event], state: &Snapshot) {
    archive.hear(events, state);
    archive.see(clock::now(), state);
    if let Some(pairing) = bus.pairings().of_game(state) {
        archive.name(state, &pairing);
    }
}

fn written_so(
    archive: &mut Archive,
    board: &BoardHandle,
    folder: &Folder,
    result: io::Result<String>,
) {
    let notice = match &result {
        Ok(file) => archive.written(Instant::now().into_std(), Ok::<_, ()>(file.clone())),
        Err(_) => archive.written(Instant::now().into_std(), Err(())),
    };
    match (notice, result) {
        (Notice::Trouble, Err(error)) => tell_trouble(board, folder, &error),
        (Notice::Mended, Ok(file)) => info!(
            board = %board.name,
            "the game is saved again: {}",
            folder.path().join(file).display()
        ),
        _ => {}
    }
}

fn tell_trouble(board: &BoardHandle, folder: &Folder, error: &io::Error) {
    warn!(
        board = %board.name,
        "the game cannot be saved in {}: {error}; {}. BoardBridge keeps trying",
        folder.path().display(),
        remedy(error)
    );
}
