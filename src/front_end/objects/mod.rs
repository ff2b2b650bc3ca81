//! What programs are told, as JSON objects: the event stream and the API send the same. `docs/events.md` describes them.
//!
//! [`board`] is one board, [`wall`] many of them in short, [`lines`] are the lines of a stream, [`watching`] says which line comes when.

pub mod lines;
pub mod wall;
pub mod watching;

use std::{sync::Arc, time::SystemTime};

use serde_json::{Value, json};
use shakmaty::{Color, Position as _};

use crate::{
    bus::{
        BoardHandle, Bus,
        pairings::{ClocksAt, Pairing},
    },
    chess::game::{Game, uci},
    system::clock,
    vocabulary::{Advice, By, LinkState, Snapshot, rounded},
};

/// A board's link as a word.
fn link(link: &LinkState) -> &'static str {
    match link {
        LinkState::Down(_) => "down",
        LinkState::Asking { .. } => "asking",
        LinkState::Unheard { .. } => "unheard",
        LinkState::Up => "up",
        LinkState::Silent { .. } | LinkState::Mute => "silent",
        LinkState::Stranger(_) => "stranger",
    }
}

/// A game in SAN, as it was told last: the next one is usually the same, one move longer.
#[derive(Debug, Default)]
pub struct Sans {
    game: Arc<Game>,
    told: Vec<String>,
}

impl Sans {
    /// This game in SAN.
    pub fn of(&mut self, game: &Arc<Game>) -> &[String] {
        let common = self.game.common_plies(game).unwrap_or(0);
        self.told.truncate(common);
        self.told.extend(game.sans_from(common));
        self.game = game.clone();
        &self.told
    }
}

/// A board of this bus, in this state.
pub fn board(bus: &Bus, board: &BoardHandle, snapshot: &Snapshot) -> Value {
    board_in_san(bus, board, snapshot, &snapshot.game.sans())
}

/// The same, where its game in SAN is known.
pub fn board_in_san(bus: &Bus, board: &BoardHandle, snapshot: &Snapshot, san: &[String]) -> Value {
    let paired = bus.pairings().shown(snapshot);
    let game = &snapshot.game;
    let took: Vec<Option<f64>> = snapshot.took.iter().map(|took| took.map(rounded)).collect();
    json!({
        "event": "snapshot",
        "at": timestamp(clock::now()),
        "board": snapshot.board,
        "link": link(&snapshot.link),
        "why": snapshot.link.why(),
        "transport": &*board.way,
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
        "ending": snapshot.ending.map(|end| end.reason),
        "outcome": snapshot.ending.map(|end| end.outcome.as_str()),
        "ended_by": snapshot.judge,
        "result": snapshot.result,
        "target": snapshot.target.as_ref().map(ToString::to_string),
        "awaiting": snapshot.awaiting,
        "advice": snapshot.advice.to_string(),
        "make": match snapshot.advice {
            Advice::Make(m) | Advice::Shown { m, .. } => Some(uci(m).to_string()),
            _ => None,
        },
        "guidance": snapshot.guidance,
        "holders": snapshot.holders,
        "waiting": snapshot.waiting,
        "pairing": paired.as_deref().map(pairing),
    })
}

/// Who plays whom at a board.
pub fn pairing(pairing: &Pairing) -> Value {
    let clocks = pairing.clocks.as_ref().map(clocks);
    let left = pairing.clock_times.iter();
    let left: Vec<Option<f64>> = left.map(|left| left.map(rounded)).collect();
    json!({
        "white": pairing.players.white,
        "black": pairing.players.black,
        "hand": pairing.hand.map(color),
        "tournament": pairing.event,
        "site": pairing.site,
        "clocks": clocks,
        "clock_times": left,
        "evaluation": pairing.evaluation,
        "offer": pairing.offer,
        "chat": pairing.chat,
        "notice": pairing.notice,
        "can": pairing.can,
    })
}

/// The clocks of a game, as they were at a moment.
fn clocks(ClocksAt { clocks, at }: &ClocksAt) -> Value {
    json!({
        "white": rounded(clocks.left.white),
        "black": rounded(clocks.left.black),
        "at": timestamp(*at),
        "runs": clocks.runs.map(color),
    })
}

/// The last move of a board's game.
fn last(snapshot: &Snapshot, san: Option<&String>) -> Value {
    let (game, Some(san)) = (&snapshot.game, san) else {
        return Value::Null;
    };
    let before = game.position_at(game.len() - 1);
    let by = snapshot.by.get(game.len() - 1).copied().flatten();
    let took = snapshot.took.get(game.len() - 1).copied().flatten();
    json!({
        "uci": game.last().map(|m| uci(m).to_string()),
        "san": san,
        "number": before.fullmoves(),
        "color": color(before.turn()),
        "by": (by == Some(By::Hand)).then_some("hand"),
        "took": took.map(rounded),
    })
}

/// A colour as a word.
pub fn color(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// RFC 3339, UTC, milliseconds.
pub fn timestamp(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(clock::written(at)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_in_san_is_right_after_moves_take_backs_and_other_games() {
        let mut sans = Sans::default();
        for moves in [
            &["e2e4", "e7e5"][..],
            &["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"],
            &["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"],
            &["e2e4", "e7e5", "g1f3", "g8f6"],
            &["d2d4"],
            &[],
        ] {
            let mut game = Game::standard();
            game.play_uci(moves.iter().copied()).unwrap();
            let game = Arc::new(game);
            assert_eq!(sans.of(&game), game.sans(), "{moves:?}");
        }
    }
}
