//! `/api/v1/boards/NAME/ready` and the other buttons: what the player says.
//!
//! The opponent receives it where a front-end plays against the hand, otherwise the board, for the program that has it.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;
use shakmaty::Role;
use tokio::time::timeout;

use super::{
    House, Visitor,
    answer::{self, Wrong},
    boards::{BOARD_WAIT, Empty, board, body},
};
use crate::{
    bus::{
        BoardHandle,
        pairings::{NotSaid, Saying},
    },
    vocabulary::{ClientId, ClientName, Command},
};

/// What a pawn becomes.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Piece {
    Q,
    R,
    B,
    N,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promotion {
    piece: Piece,
}

/// Says something to the opponent. `Ready` goes to the board if no opponent waits for it.
pub(super) async fn say(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    Extension(saying): Extension<Saying>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Wrong> {
    house.control.check(&visitor)?;
    let board = board(&house, name)?;
    let Empty {} = body(request).await?;
    let pairings = house.bus.pairings();
    let listens = pairings.at(&board.name);
    let listens = listens.is_some_and(|pairing| pairing.can.contains(&saying));
    if saying == Saying::Ready && !listens {
        let holders = holders(&board)?;
        tell(&board, holders.into_iter().take(1), |client| {
            Command::Ready { client }
        })
        .await?;
    } else {
        let said = pairings.say(&board.name, saying).await;
        said.map_err(|error| match error {
            NotSaid::Nobody(_) => not_here(&board),
            NotSaid::NotNow(_) | NotSaid::NoAnswer => Wrong::not_now(error.to_string()),
        })?;
    }
    Ok(done(&board))
}

/// Sets what the hand's pawns become, for a board that cannot tell.
pub(super) async fn promotion(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Wrong> {
    house.control.check(&visitor)?;
    let board = board(&house, name)?;
    let Promotion { piece } = body(request).await?;
    let role = match piece {
        Piece::Q => Role::Queen,
        Piece::R => Role::Rook,
        Piece::B => Role::Bishop,
        Piece::N => Role::Knight,
    };
    tell(&board, holders(&board)?, |client| Command::Promotion {
        client,
        role,
    })
    .await?;
    Ok(done(&board))
}

fn done(board: &BoardHandle) -> Response {
    answer::value(&json!({ "board": board.name }))
}

/// The clients that have a board.
fn holders(board: &BoardHandle) -> Result<Vec<ClientId>, Wrong> {
    let state = board.state();
    let holders = state.places.iter().filter(|place| place.joined);
    let holders: Vec<_> = holders.map(|place| place.client).collect();
    if holders.is_empty() {
        return Err(not_here(board));
    }
    Ok(holders)
}

/// The error if no opponent at this board can be told anything from here.
fn not_here(board: &BoardHandle) -> Wrong {
    let (name, state) = (&board.name, board.state());
    Wrong::not_now(if state.holders.is_empty() {
        format!(
            "{name} is free: a game begins in a chess program, or with an opponent from the configuration"
        )
    } else {
        let holders = ClientName::join(&state.holders, " and ");
        format!("{name} is with {holders}, which takes that only in its own window")
    })
}

/// Gives the board a command from each of these clients.
async fn tell(
    board: &BoardHandle,
    clients: impl IntoIterator<Item = ClientId>,
    command: impl Fn(ClientId) -> Command,
) -> Result<(), Wrong> {
    for client in clients {
        let sent = timeout(BOARD_WAIT, board.commands.send(command(client))).await;
        if !matches!(sent, Ok(Ok(()))) {
            return Err(Wrong::not_now("the board does not answer now: try again"));
        }
    }
    Ok(())
}
