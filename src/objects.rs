//! What programs are told, as JSON objects: the event stream and the API send the same. `docs/events.md` describes them.

use std::time::SystemTime;

use serde_json::{Value, json};
use shakmaty::{Color, Position as _};

use crate::{
    game::uci,
    vocabulary::{LinkState, Snapshot, rounded},
};

/// A board, which is reached in this way.
pub fn board(snapshot: &Snapshot, way: &str) -> Value {
    let link = match &snapshot.link {
        LinkState::Down(_) => "down",
        LinkState::Asking => "asking",
        LinkState::Unheard { .. } => "unheard",
        LinkState::Up => "up",
        LinkState::Silent { .. } => "silent",
        LinkState::Stranger(_) => "stranger",
    };
    let game = &snapshot.game;
    let took: Vec<Option<f64>> = snapshot.took.iter().map(|took| took.map(rounded)).collect();
    let san = game.sans();
    json!({
        "event": "snapshot",
        "at": timestamp(SystemTime::now()),
        "board": snapshot.board,
        "link": link,
        "why": snapshot.link.why(),
        "transport": way,
        "id": snapshot.id,
        "battery": snapshot.battery,
        "game": game.to_string(),
        "fen": game.fen().to_string(),
        "san": san,
        "ply": game.len(),
        "turn": color(game.turn()),
        "last": last(snapshot, san.last()),
        "took": took,
        "sure": snapshot.sure,
        "ending": snapshot.ending,
        "ended_by": snapshot.judge,
        "result": snapshot.result,
        "target": snapshot.target.as_ref().map(ToString::to_string),
        "awaiting": snapshot.awaiting,
        "advice": snapshot.advice.to_string(),
        "guidance": snapshot.guidance,
        "holders": snapshot.holders,
        "waiting": snapshot.waiting,
    })
}

/// The last move of a board's game.
fn last(snapshot: &Snapshot, san: Option<&String>) -> Value {
    let (game, Some(san)) = (&snapshot.game, san) else {
        return Value::Null;
    };
    let before = game.position_at(game.len() - 1);
    // A time is known only if the hand was seen to make the move.
    let took = snapshot.took.get(game.len() - 1).copied().flatten();
    json!({
        "uci": game.last().map(|m| uci(m).to_string()),
        "san": san,
        "number": before.fullmoves(),
        "color": color(before.turn()),
        "by": took.map(|_| "hand"),
        "took": took.map(rounded),
    })
}

/// A colour as a word.
pub fn color(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// RFC 3339, UTC, milliseconds.
pub fn timestamp(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}
