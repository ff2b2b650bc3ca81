//! `/api/v1/lichess`: the account, and what can be asked of it.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    http::StatusCode,
    response::Response,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    House,
    answer::{self, Wrong},
    boards::{Empty, body},
};
use crate::{
    bus::{
        account::{Ask, Level, NotDone, Side},
        pairings::{NotSaid, Saying},
    },
    vocabulary::TimeControl,
};

/// The names of what can be asked.
const NAMES: &str = "seek, withdraw, challenge, computer, accept, decline, draw, take-back, resign, abort, berserk, login, \
     logout";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seek {
    time: TimeControl,
    #[serde(default)]
    rated: bool,
    #[serde(default)]
    color: Side,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Challenge {
    user: String,
    time: TimeControl,
    #[serde(default)]
    rated: bool,
    #[serde(default)]
    color: Side,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Computer {
    level: Level,
    time: TimeControl,
    #[serde(default)]
    color: Side,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    id: Option<String>,
}

/// How the account stands.
pub(super) async fn standing(State(house): State<Arc<House>>) -> Result<Response, Wrong> {
    let standing = house.bus.account().standing();
    let standing = standing.ok_or_else(|| refused(&NotDone::NoAccount))?;
    Ok(answer::value(&json!(*standing)))
}

/// Asks something of the account, or says something to the opponent.
pub(super) async fn ask(
    State(house): State<Arc<House>>,
    what: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Wrong> {
    let what = what.map(|Path(what)| what).unwrap_or_default();
    let ask = match what.as_str() {
        "seek" => {
            let Seek { time, rated, color } = body(request).await?;
            Ask::Seek {
                time,
                rated,
                side: color,
            }
        }
        "challenge" => {
            let Challenge {
                user,
                time,
                rated,
                color,
            } = body(request).await?;
            Ask::Challenge {
                user,
                time,
                rated,
                side: color,
            }
        }
        "computer" => {
            let Computer { level, time, color } = body(request).await?;
            Ask::Computer {
                level,
                time,
                side: color,
            }
        }
        "accept" | "decline" => {
            let Named { id } = body(request).await?;
            let accepts = what == "accept";
            if let (None, Some(offer)) = (&id, offer(&house)) {
                // What the opponent offers comes before a challenge.
                return say(&house, if accepts { offer } else { Saying::Decline }).await;
            }
            if accepts {
                Ask::Accept(id)
            } else {
                Ask::Decline(id)
            }
        }
        other => {
            let saying = match other {
                "draw" => Some(Saying::Draw),
                "take-back" => Some(Saying::TakeBack),
                "resign" => Some(Saying::Resign),
                "abort" => Some(Saying::Abort),
                "berserk" => Some(Saying::Berserk),
                "withdraw" => None,
                _ => {
                    let words = format!(
                        "nothing of this name can be asked of Lichess: take one of {NAMES}"
                    );
                    return Err(Wrong::new(StatusCode::NOT_FOUND, words));
                }
            };
            let Empty {} = body(request).await?;
            match saying {
                Some(saying) => return say(&house, saying).await,
                None => Ask::Withdraw,
            }
        }
    };
    let done = house.bus.account().ask(ask).await;
    let words = done.map_err(|why| refused(&why))?;
    Ok(answer::value(&json!({ "done": words })))
}

/// What the opponent offers at the account's board.
fn offer(house: &House) -> Option<Saying> {
    let standing = house.bus.account().standing()?;
    house.bus.pairings().at(&standing.board)?.offer
}

/// Says something to the opponent at the account's board.
async fn say(house: &House, saying: Saying) -> Result<Response, Wrong> {
    let standing = house.bus.account().standing();
    let standing = standing.ok_or_else(|| refused(&NotDone::NoAccount))?;
    let said = house.bus.pairings().say(&standing.board, saying).await;
    said.map_err(|why| {
        let words = match why {
            NotSaid::Nobody(board) => format!("there is no game on Lichess at {board}"),
            other => other.to_string(),
        };
        Wrong::new(StatusCode::CONFLICT, words)
    })?;
    Ok(answer::value(&json!({ "done": "done" })))
}

pub(super) fn refused(why: &NotDone) -> Wrong {
    let status = match why {
        NotDone::NoAccount => StatusCode::NOT_FOUND,
        NotDone::Refused(_) => StatusCode::BAD_REQUEST,
        NotDone::NotNow(_) | NotDone::NoAnswer => StatusCode::CONFLICT,
    };
    Wrong::new(status, why.to_string())
}
