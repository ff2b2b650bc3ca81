//! Starts a task for a board.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{Daemon, part::Part, recording::recorder};
use crate::{
    board::{actor::Actor, core::Core},
    bus::BoardHandle,
    driver::{Driver, swpp::Swpp},
    state::Kind,
    transport::{Transport, peer::TcpPeer},
    vocabulary::CORRECTION_WAIT,
};

/// A board's running task.
pub(super) struct Board {
    pub handle: BoardHandle,
    /// Returns the actor, with which another task can continue.
    pub task: JoinHandle<Box<Actor>>,
}

impl Daemon {
    /// Starts a board's task; `before` is the stopped one whose clients it takes over.
    pub(super) fn board(
        &self,
        part: &Part,
        before: Option<(BoardHandle, Box<Actor>)>,
        stop: CancellationToken,
    ) -> Option<Board> {
        let (name, transport, recorder) = match part {
            Part::Board(name, config) => match config.transport(&self.radio) {
                Ok(transport) => (name, transport, recorder(name, config)),
                Err(error) => {
                    warn!(board = %name, "{error}");
                    return None;
                }
            },
            Part::FarBoard(name, with) => {
                let address = with.0.0.clone();
                (name, Transport::Tcp(TcpPeer { address }), None)
            }
            _ => return None,
        };
        let (called, config) = (name.clone(), part.clone());
        let make = move || {
            let (driver, wait): (Box<dyn Driver>, _) = match &config {
                Part::Board(_, config) => (config.driver(), config.correction_wait),
                _ => (Box::new(Swpp::toward_boardbridge()), CORRECTION_WAIT),
            };
            Core::new(called.clone(), driver, wait)
        };
        let (actor, handle) = if let Some((handle, mut actor)) = before {
            actor.change(make, transport, recorder);
            let way = actor.way().into();
            (actor, BoardHandle { way, ..handle })
        } else {
            let bus = self.bus.publications().clone();
            let (mut actor, handle) = Actor::new(name.clone(), make, transport, recorder, bus);
            let shelf = self.store.shelf(Kind::Board, name.as_str());
            if let Some(last) = actor.keep_on(shelf) {
                self.clients.count_after(last);
            }
            (actor, handle)
        };
        self.health.expect(name.clone(), actor.pulse());
        let task = self.health.watched(name.clone(), actor.run(stop));
        let task = tokio::spawn(task);
        Some(Board { handle, task })
    }
}
