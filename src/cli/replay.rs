//! `boardbridge replay`: feeds a transcript's input to a board without I/O, on the transcript's own clock.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::{
    board::{
        core::Core,
        settings::BoardConfig,
        transcript::{Entry, Item, Transcript},
    },
    vocabulary::BoardName,
};

/// The most deadlines served between two inputs: a day of waiting makes some thirty thousand.
const MAX_DEADLINES: usize = 1_000_000;

/// Why a transcript cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// Its head does not describe a valid board.
    #[error("the lines that begin with ! do not say what the board is: {0}")]
    Board(Box<figment::Error>),
}

/// Plays a transcript's input and returns it with the output it makes now.
///
/// # Errors
/// If the transcript does not describe a valid board.
pub fn replay(transcript: &Transcript) -> Result<Transcript, ReplayError> {
    let board = BoardConfig::from_toml(&transcript.board).map_err(ReplayError::Board)?;
    let driver = board.driver();
    let now = Instant::now();
    let mut run = Run {
        core: Core::new(BoardName::default(), driver, board.correction_wait),
        begin: now,
        now,
        entries: Vec::new(),
    };
    for entry in &transcript.entries {
        let at = run.begin + entry.at;
        run.advance(at);
        let echo = |run: &mut Run| run.entries.push(entry.clone());
        match &entry.item {
            Item::LinkUp => {
                echo(&mut run);
                run.core.link_up(at);
            }
            Item::LinkDown(why) => {
                echo(&mut run);
                run.core.link_down(at, why.clone());
            }
            Item::Received(channel, bytes) => {
                echo(&mut run);
                run.core.received(at, *channel, bytes);
            }
            Item::Answered(channel, outcome) => {
                echo(&mut run);
                run.core.answered(at, *channel, outcome.clone());
            }
            Item::Command(command) => {
                echo(&mut run);
                run.core.command(at, command.clone());
            }
            Item::End => echo(&mut run),
            // Output is produced again.
            Item::Sent(_) | Item::Event(_) | Item::Expected(_) => {}
        }
        run.collect(at);
    }
    Ok(Transcript {
        board: transcript.board.clone(),
        entries: run.entries,
    })
}

struct Run {
    core: Core,
    begin: Instant,
    now: Instant,
    entries: Vec<Entry>,
}

impl Run {
    /// Serves the deadlines before `until`. The daemon reads first what came in time though it was held up; its recording does not tell
    /// that from what came late.
    fn advance(&mut self, until: Instant) {
        for _ in 0..MAX_DEADLINES {
            let Some(deadline) = self.core.deadline().filter(|at| *at <= until) else {
                break;
            };
            // What was due before the last input comes after it.
            self.now = deadline.max(self.now);
            self.core.timeout(self.now);
            self.collect(self.now);
        }
        self.now = until;
    }

    fn collect(&mut self, now: Instant) {
        let at = now.saturating_duration_since(self.begin);
        // Whole milliseconds, as a transcript writes them.
        let at = Duration::from_millis(u64::try_from(at.as_millis()).unwrap_or(u64::MAX));
        loop {
            let mut entries = Vec::new();
            while let Some(event) = self.core.poll_event() {
                entries.push(Entry {
                    at,
                    item: Item::Event(event),
                });
            }
            if let Some(outgoing) = self.core.poll_transmit(now) {
                entries.push(Entry {
                    at,
                    item: Item::Sent(outgoing),
                });
            }
            if entries.is_empty() {
                return;
            }
            self.entries.append(&mut entries);
        }
    }
}
