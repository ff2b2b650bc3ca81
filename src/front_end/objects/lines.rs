//! The lines of a stream of events, as JSON. Their schema is `docs/events.schema.json`; `docs/events.md` describes them.

use std::vec;

use serde_json::{Map, Value, json};
use shakmaty::{Chess, Move, Position, san::SanPlus};

use super::{color, timestamp};
use crate::{
    bus::{
        BoardHandle, Bus, Publication, Subscription,
        clients::Client,
        pairings::{Pairing, Saying},
    },
    chess::game::{Game, uci},
    system::clock,
    vocabulary::{BoardName, Event},
};

/// The current state: the daemon, every board, every client. Each line is made when it is asked for.
#[derive(Debug)]
pub struct Present {
    /// The daemon's line has been sent.
    begun: bool,
    boards: vec::IntoIter<BoardHandle>,
    clients: vec::IntoIter<Client>,
}

impl Present {
    /// All of it, from the beginning.
    pub fn of(bus: &Bus) -> Self {
        Self {
            begun: false,
            boards: bus.boards().into_iter(),
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
            let boards = self.boards.as_slice();
            return Some(text(&daemon_line(boards, self.clients.len(), watchers)));
        }
        if let Some(board) = self.boards.next() {
            let state = subscription.look(&board);
            return Some(text(&super::board(bus, &board, &state)));
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

/// The line that tells this watcher that it makes room for another.
pub fn closed_line(most: usize) -> Value {
    json!({
        "event": "closed",
        "at": timestamp(clock::now()),
        "text": format!("this stream is closed to admit another watcher: at most {most} do at once"),
    })
}

fn daemon_line(boards: &[BoardHandle], clients: usize, watchers: usize) -> Value {
    let boards: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
    json!({
        "event": "daemon",
        "at": timestamp(clock::now()),
        "version": env!("CARGO_PKG_VERSION"),
        "boards": boards,
        "clients": clients,
        "watchers": watchers,
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
        "at": timestamp(clock::now()),
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

/// The line about a pairing that has come, changed or gone.
pub fn pairing_line(board: &BoardName, pairing: Option<&Pairing>) -> Value {
    json!({
        "event": "pairing",
        "at": timestamp(clock::now()),
        "board": board,
        "pairing": pairing.map(super::pairing),
        "text": pairing.map(in_words).unwrap_or_default(),
    })
}

/// What the player should know of a pairing.
fn in_words(pairing: &Pairing) -> String {
    let offer = pairing.offer.map(|offer| match offer {
        Saying::Draw => "the opponent offers a draw".to_owned(),
        Saying::TakeBack => "the opponent asks to take back".to_owned(),
        other => format!("the opponent offers: {other}"),
    });
    let words = [pairing.notice.clone(), offer];
    words.into_iter().flatten().collect::<Vec<_>>().join("; ")
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
