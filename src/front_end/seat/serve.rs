//! Each round of a session's server: it saves what a restart needs, then publishes what happened, then gives the board
//! its commands. So no one is told anything that a restart could lose.

use std::{
    fmt::Display,
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use tracing::{info, warn};

use super::Seat;
use crate::{
    bus::{BoardHandle, Bus},
    state::Shelf,
    vocabulary::{BoardName, ClientName, Event},
};

/// The latest value of a session: after a reload its successor goes on from it, also if nothing survives a restart.
#[derive(Clone, Debug)]
pub struct Latest<M>(Arc<Mutex<Option<M>>>);

impl<M: Clone> Latest<M> {
    /// The value, if there is one.
    pub fn get(&self) -> Option<M> {
        self.lock().clone()
    }
}

impl<M> Latest<M> {
    fn lock(&self) -> MutexGuard<'_, Option<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the latest value of a session.
#[derive(Debug)]
pub struct Keeper<M> {
    shelf: Shelf,
    latest: Latest<M>,
}

impl<M: PartialEq + Serialize> Keeper<M> {
    /// A session that goes on from this value, which is on the shelf.
    pub fn new(shelf: Shelf, value: Option<M>) -> Self {
        Self {
            shelf,
            latest: Latest(Arc::new(Mutex::new(value))),
        }
    }

    /// Where the latest value stays when the session has stopped.
    pub fn latest(&self) -> Latest<M> {
        Latest(self.latest.0.clone())
    }

    /// Saves this value, if it has changed. Call it before anyone is told of the change.
    pub async fn keep(&mut self, value: M) {
        let is_known = self.latest.lock().as_ref() == Some(&value);
        if !is_known {
            self.shelf.keep(&value).await;
            *self.latest.lock() = Some(value);
        }
    }
}

/// Sends a notice to the watchers of the board, and logs it: as a warning, if something was refused.
pub fn tell(
    bus: &Bus,
    board: &BoardName,
    client: &ClientName,
    notice: &impl Display,
    refused: bool,
) {
    let text = notice.to_string();
    if refused {
        warn!("{text}");
    } else {
        info!("{text}");
    }
    let client = client.clone();
    bus.tell(Some(board), Event::Client { client, text });
}

/// Gives the board the seat's next command as soon as it has room; waits for ever if there is no command. Cancel safe.
pub async fn give(board: &BoardHandle, seat: &mut Seat) {
    if seat.has_commands()
        && let Ok(place) = board.commands.reserve().await
        && let Some(command) = seat.poll_command()
    {
        place.send(command);
    } else {
        // A board's task ends only with the daemon.
        pending::<()>().await;
    }
}
