//! Buttons: what the player says, to the opponent where a front-end plays against the hand, otherwise to the board, for the program
//! that has it.

use std::time::Duration;

use shakmaty::Role;
use thiserror::Error;
use tokio::time::timeout;

use crate::{
    bus::{
        BoardHandle, Bus,
        elsewhere::Button,
        pairings::{NotSaid, Saying},
    },
    vocabulary::{BoardName, ClientId, ClientName, Command},
};

/// How long a board may take to do what it is told: its task answers in milliseconds.
pub const BOARD_WAIT: Duration = Duration::from_secs(2);

/// Why a button does nothing now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotNow {
    /// Nobody plays there.
    #[error("{0} is free: a game begins in a chess program, or under Play on the page")]
    Free(BoardName),
    /// Who plays there takes that only in its own window.
    #[error("{board} is with {holders}, which takes that only in its own window")]
    NotHere {
        /// The board.
        board: BoardName,
        /// Who has it.
        holders: String,
    },
    /// The opponent does not take it.
    #[error("{0}")]
    NotSaid(String),
    /// The board's task hangs.
    #[error("the board does not answer now: try again")]
    NoAnswer,
}

/// Says something to the opponent. `Ready` goes to the board if no opponent waits for it. What is not for a front-end here goes to the
/// daemon that has the board.
///
/// # Errors
/// [`NotNow`].
pub async fn say(bus: &Bus, board: &BoardHandle, saying: Saying) -> Result<(), NotNow> {
    let pairings = bus.pairings();
    if !pairings.hears(&board.name) {
        let button = Button::Say(saying);
        if let Some(done) = bus.elsewhere().press(&board.name, button).await {
            return done.map_err(NotNow::NotSaid);
        }
    }
    let listens = pairings.at(&board.name);
    let listens = listens.is_some_and(|pairing| pairing.can.contains(&saying));
    if saying == Saying::Ready && !listens {
        let first = holders(board)?.into_iter().take(1);
        return tell(board, first, |client| Command::Ready { client }).await;
    }
    let said = pairings.say(&board.name, saying).await;
    said.map_err(|error| match error {
        NotSaid::Nobody(_) => not_here(board),
        NotSaid::NotNow(_) | NotSaid::NoAnswer => NotNow::NotSaid(error.to_string()),
    })
}

/// Sets what the hand's pawns become, for a board that cannot tell.
///
/// # Errors
/// [`NotNow`].
pub async fn promote(bus: &Bus, board: &BoardHandle, role: Role) -> Result<(), NotNow> {
    let button = Button::Promote(role);
    if let Some(done) = bus.elsewhere().press(&board.name, button).await {
        return done.map_err(NotNow::NotSaid);
    }
    let promotion = |client| Command::Promotion { client, role };
    tell(board, holders(board)?, promotion).await
}

/// The clients that have a board.
fn holders(board: &BoardHandle) -> Result<Vec<ClientId>, NotNow> {
    let state = board.state();
    let holders = state.places.iter().filter(|place| place.joined);
    let holders: Vec<_> = holders.map(|place| place.client).collect();
    if holders.is_empty() {
        return Err(not_here(board));
    }
    Ok(holders)
}

/// The error if no opponent at this board can be told anything from here.
fn not_here(board: &BoardHandle) -> NotNow {
    let (name, state) = (board.name.clone(), board.state());
    if state.holders.is_empty() {
        NotNow::Free(name)
    } else {
        let holders = ClientName::join(&state.holders, " and ");
        NotNow::NotHere {
            board: name,
            holders,
        }
    }
}

/// Gives the board a command from each of these clients.
async fn tell(
    board: &BoardHandle,
    clients: impl IntoIterator<Item = ClientId>,
    command: impl Fn(ClientId) -> Command,
) -> Result<(), NotNow> {
    for client in clients {
        let sent = timeout(BOARD_WAIT, board.commands.send(command(client))).await;
        if !matches!(sent, Ok(Ok(()))) {
            return Err(NotNow::NoAnswer);
        }
    }
    Ok(())
}
