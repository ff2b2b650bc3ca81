//! Each round of a session's server: it saves what a restart needs, then publishes what happened, then gives the board
//! its commands. So no one is told anything that a restart could lose.

use std::{fmt::Display, future::pending};

use serde::Serialize;
use tracing::{info, warn};

use super::Seat;
use crate::{
    bus::{BoardHandle, Bus},
    state::Shelf,
    vocabulary::{BoardName, ClientName, Event},
};

/// Keeps the latest value of a session.
#[derive(Debug)]
pub struct Keeper<M> {
    shelf: Shelf,
    last: Option<M>,
}

impl<M: PartialEq + Serialize> Keeper<M> {
    /// A session that has kept nothing since the start.
    pub fn new(shelf: Shelf) -> Self {
        Self { shelf, last: None }
    }

    /// Saves this value, if it has changed. Call it before anyone is told of the change.
    pub async fn keep(&mut self, value: M) {
        if self.last.as_ref() != Some(&value) {
            self.shelf.keep(&value).await;
            self.last = Some(value);
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
