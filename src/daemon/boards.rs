//! Starts a task for every board.

use tokio::sync::broadcast;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info, warn};

use crate::{
    board::{actor::Actor, core::Core},
    bus::{BoardHandle, Publication},
    config::{BoardConfig, Config, board::CORRECTION_WAIT, link::With},
    driver::swpp::Swpp,
    transcript::Recorder,
    transport::{Transport, ble::Radio, peer::TcpPeer},
    vocabulary::BoardName,
};

/// What boards are started with.
pub(super) struct Boards<'a> {
    pub config: &'a Config,
    pub bus: &'a broadcast::Sender<Publication>,
    pub tasks: &'a TaskTracker,
    pub stop: &'a CancellationToken,
}

impl Boards<'_> {
    /// Starts all boards, and those of another `BoardBridge` that ours are linked with.
    pub fn start(&self, radio: &Radio) -> Vec<BoardHandle> {
        let mut handles = Vec::new();
        for (name, board) in &self.config.boards {
            let transport = match board.transport(radio) {
                Ok(transport) => transport,
                Err(error) => {
                    warn!(board = %name, "{error}");
                    continue;
                }
            };
            let recorder = recorder(name, board);
            let (called, config) = (name.clone(), board.clone());
            let make = move || {
                let driver = config.driver();
                Core::new(called.clone(), driver, config.correction_wait)
            };
            let (actor, handle) =
                Actor::new(name.clone(), make, transport, recorder, self.bus.clone());
            self.tasks.spawn(actor.run(self.stop.clone()));
            handles.push(handle);
        }
        for entry in &self.config.link {
            if let (Some(with), Some(board)) = (&entry.with, entry.boards.first()) {
                let (actor, handle) = far_board(board.far(), with, self.bus.clone());
                self.tasks.spawn(actor.run(self.stop.clone()));
                handles.push(handle);
            }
        }
        handles
    }
}

/// The board of another `BoardBridge`.
fn far_board(
    name: BoardName,
    with: &With,
    events: broadcast::Sender<Publication>,
) -> (Actor, BoardHandle) {
    let called = name.clone();
    let make = move || {
        let driver = Box::new(Swpp::toward_boardbridge());
        Core::new(called.clone(), driver, CORRECTION_WAIT)
    };
    let transport = Transport::Tcp(TcpPeer {
        address: with.0.0.clone(),
    });
    Actor::new(name, make, transport, None, events)
}

/// Begins a recording, if one is wanted. A board is played on without one.
fn recorder(name: &BoardName, board: &BoardConfig) -> Option<Recorder> {
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
