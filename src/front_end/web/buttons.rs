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

use super::{
    House,
    answer::{self, Wrong},
    boards::{Empty, board, body},
};
use crate::{
    bus::{BoardHandle, pairings::Saying},
    front_end::buttons::{self, NotNow},
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
    Extension(saying): Extension<Saying>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Wrong> {
    let board = board(&house, name)?;
    let Empty {} = body(request).await?;
    buttons::say(&house.bus, &board, saying)
        .await
        .map_err(not_now)?;
    Ok(done(&board))
}

/// Sets what the hand's pawns become, for a board that cannot tell.
pub(super) async fn promotion(
    State(house): State<Arc<House>>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Wrong> {
    let board = board(&house, name)?;
    let Promotion { piece } = body(request).await?;
    let role = match piece {
        Piece::Q => Role::Queen,
        Piece::R => Role::Rook,
        Piece::B => Role::Bishop,
        Piece::N => Role::Knight,
    };
    buttons::promote(&house.bus, &board, role)
        .await
        .map_err(not_now)?;
    Ok(done(&board))
}

fn done(board: &BoardHandle) -> Response {
    answer::value(&json!({ "board": board.name }))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn not_now(why: NotNow) -> Wrong {
    Wrong::not_now(why.to_string())
}
