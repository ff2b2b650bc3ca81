//! A part of the daemon while it runs.

use std::{net::SocketAddr, time::Duration};

use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::error;

use super::{boards::Board, part::Part, service::Service};
use crate::{
    board::actor::Actor,
    bus::BoardHandle,
    vocabulary::{ClientId, Command},
};

/// How long a part may take to stop while others go on: a GUI gets two seconds for its last lines, and so do the last
/// moves of a game and a port that is being closed.
pub const STOP_WAIT: Duration = Duration::from_secs(5);
/// How long a board may take to accept that a front-end has left. Its task answers at once, unless it hangs.
const RELEASE_WAIT: Duration = Duration::from_secs(1);

/// A part of the daemon while it runs.
pub(super) struct Running {
    pub part: Part,
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    /// If it is a board's task.
    pub board: Option<Board>,
    /// If it is a board of another daemon.
    pub remote: Option<BoardHandle>,
    /// The port it has taken.
    pub port: Option<(Service, SocketAddr)>,
    /// The clients that this part itself is, and their boards.
    pub clients: Vec<(ClientId, BoardHandle)>,
}

impl Running {
    /// A part that does nothing yet; it has to stop with `daemon`.
    pub fn new(part: Part, daemon: &CancellationToken) -> Self {
        Self {
            part,
            stop: daemon.child_token(),
            tasks: TaskTracker::new(),
            board: None,
            remote: None,
            port: None,
            clients: Vec::new(),
        }
    }

    /// The board, if this part is one.
    pub fn handle(&self) -> Option<&BoardHandle> {
        let own = self.board.as_ref().map(|board| &board.handle);
        own.or(self.remote.as_ref())
    }

    /// Waits until it has stopped, after its token was cancelled.
    pub async fn stopped(self) {
        self.tasks.close();
        self.tasks.wait().await;
        if let Some(board) = self.board {
            let _ = board.task.await;
        }
    }

    /// Stops it while other parts go on. Returns a board's task and handle, to be continued.
    pub async fn take_out(mut self) -> Option<(BoardHandle, Box<Actor>)> {
        self.stop.cancel();
        self.tasks.close();
        let (part, board) = (self.part.clone(), self.board.take());
        let stopped = async {
            self.tasks.wait().await;
            release(&self.clients).await;
            let board = board?;
            Some((board.handle, board.task.await.ok()?))
        };
        timeout(STOP_WAIT, stopped).await.unwrap_or_else(|_| {
            error!(
                "it has not stopped after {} s, and is left behind: {part:?}",
                STOP_WAIT.as_secs()
            );
            None
        })
    }
}

/// Tells the boards that these clients have left.
pub(super) async fn release(clients: &[(ClientId, BoardHandle)]) {
    for (client, board) in clients {
        let release = Command::Release { client: *client };
        let _ = timeout(RELEASE_WAIT, board.commands.send(release)).await;
    }
}
