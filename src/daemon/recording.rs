//! Begins the recording of a board's traffic.

use tracing::{info, warn};

use crate::{
    board::{settings::BoardConfig, transcript::Recorder},
    vocabulary::BoardName,
};

/// Begins a recording, if one is configured. Failing to record never stops play.
pub(super) fn recorder(name: &BoardName, board: &BoardConfig) -> Option<Recorder> {
    let directory = board.record.as_ref()?;
    match Recorder::begin(directory, name, &board.to_toml()) {
        Ok(recorder) => {
            info!(board = %name, path = %recorder.path().display(), "recording");
            Some(recorder)
        }
        Err(error) => {
            warn!(
                board = %name,
                "no recording: {} cannot be written ({error}); the service may write below /var/lib/boardbridge",
                directory.display()
            );
            None
        }
    }
}
