//! The lines of the event stream, as JSON. Their schema is `docs/events.schema.json`; `docs/events.md` describes them.

use std::{time::SystemTime, vec};

use serde_json::{Map, Value, json};
use shakmaty::{Chess, Color, Move, Position, san::SanPlus};

use super::MAX_WATCHERS;
use crate::{
    bus::{Bus, Publication, Subscription},
    clients::Client,
    game::{Game, uci},
    vocabulary::{Event, LinkState, Snapshot, rounded},
};

/// The current state: the daemon, every board, every client. Each line is made when it is asked for.
#[derive(Debug)]
pub struct Present {
    /// The daemon's line has been sent.
    begun: bool,
    boards: usize,
    clients: vec::IntoIter<Client>,
}

impl Present {
    /// All of it, from the beginning.
    pub fn of(bus: &Bus) -> Self {
        Self {
            begun: false,
            boards: 0,
            clients: bus.clients().list().into_iter(),
        }
    }

    /// The next line.
    pub fn next(
        &mut self,
        bus: &Bus,
        subscription: &mut Subscription,
        watchers: usize,
    ) -> Option<String> {
        if !std::mem::replace(&mut self.begun, true) {
            return Some(text(&daemon_line(bus, self.clients.len(), watchers)));
        }
        if let Some(board) = bus.boards().get(self.boards) {
            self.boards += 1;
            let state = subscription.look(board);
            return Some(text(&snapshot_line(&state, &board.way)));
        }
        let client = self.clients.next()?;
        Some(text(&client_line(&client, bus)))
    }
}

/// An object as a line of the stream.
pub fn text(line: &Value) -> String {
    format!("{line}\n")
}

/// The line about events that this watcher has missed.
pub fn lagged_line(missed: u64) -> Value {
    json!({ "event": "lagged", "missed": missed })
}

/// The line that this watcher gives way to newer ones.
pub fn closed_line() -> Value {
    json!({
        "event": "closed",
        "at": timestamp(SystemTime::now()),
        "text": format!("this stream is closed to admit another watcher: at most {MAX_WATCHERS} do at once"),
    })
}

fn daemon_line(bus: &Bus, clients: usize, watchers: usize) -> Value {
    let boards: Vec<&str> = bus
        .boards()
        .iter()
        .map(|board| board.name.as_str())
        .collect();
    json!({
        "event": "daemon",
        "at": timestamp(SystemTime::now()),
        "version": env!("CARGO_PKG_VERSION"),
        "boards": boards,
        "clients": clients,
        "watchers": watchers,
    })
}

fn snapshot_line(snapshot: &Snapshot, way: &str) -> Value {
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

fn client_line(client: &Client, bus: &Bus) -> Value {
    let board = client
        .board
        .as_ref()
        .and_then(|name| bus.board(name.as_str()));
    let place = board.and_then(|board| {
        let snapshot = board.state();
        let place = snapshot
            .places
            .iter()
            .find(|place| place.client == client.id);
        place.map(|place| place.joined)
    });
    json!({
        "event": "client-snapshot",
        "at": timestamp(SystemTime::now()),
        "client": client.label,
        "kind": client.kind,
        "peer": client.peer,
        "since": client.since.map(timestamp),
        "why": client.why,
        "board": client.board,
        "default_board": client.default_board,
        "state": match place {
            Some(true) => "has",
            Some(false) => "waits",
            None => "idle",
        },
        "awaiting": client.awaiting,
        "opponent": client.opponent,
    })
}

/// One event of a publication. A move also gets its SAN, if the board's game still has it.
pub fn event_line(publication: &Publication, event: &Event) -> Value {
    let mut line = Map::new();
    line.insert("at".to_owned(), timestamp(publication.at).into());
    line.insert("board".to_owned(), json!(publication.board()));
    line.insert("text".to_owned(), event.to_string().into());
    if let Ok(Value::Object(keys)) = serde_json::to_value(event) {
        line.extend(keys);
    }
    let state = publication.state.as_ref();
    if let Some((before, m)) = state.and_then(|state| moved(event, &state.game)) {
        line.insert("number".to_owned(), before.fullmoves().get().into());
        line.insert("color".to_owned(), color(before.turn()).into());
        let san = SanPlus::from_move(before, m).to_string();
        line.insert("san".to_owned(), san.into());
    }
    line.into()
}

/// The move in an event, and the position it was made in.
fn moved(event: &Event, game: &Game) -> Option<(Chess, Move)> {
    let (made, before) = match event {
        Event::Moved { uci, ply, .. } | Event::TookBack { uci, ply, .. } => {
            (uci, ply.checked_sub(1)?)
        }
        Event::Executed { uci: made } => {
            let is_it = |m: &Move| uci(*m) == *made;
            (made, game.moves().iter().rposition(is_it)?)
        }
        _ => return None,
    };
    if before > game.len() {
        return None;
    }
    let position = game.position_at(before);
    let m = made.to_move(&position).ok()?;
    Some((position, m))
}

fn color(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

fn timestamp(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}
