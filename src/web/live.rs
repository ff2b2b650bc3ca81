//! `/api/v1/live.pgn`: the running games, for a broadcast.

use std::{convert::Infallible, sync::Arc};

use axum::{body::Body, extract::State, response::Response};
use futures_util::stream;
use jiff::tz::TimeZone;
use shakmaty::{Color, Outcome, Position as _};

use super::{House, answer};
use crate::{
    bus::BoardHandle,
    pairings::Pairing,
    pgn_text::{clock, elapsed, left, movetext, program, start_tags, tag},
    vocabulary::{By, ClientName, GameEnd, Snapshot},
};

/// The game on every board that has one. Each is made when the one before it has been sent.
pub(super) async fn all(State(house): State<Arc<House>>) -> Response {
    let boards = house.bus.boards();
    let games = boards.into_iter().filter_map(move |board| {
        let state = board.state();
        let paired = house.bus.pairings().at(&board.name);
        let empty = state.game.is_empty() && paired.is_none();
        let game = Live {
            house: &house,
            board: &board,
            state: &state,
            paired: paired.as_deref(),
        };
        (!empty && !game.is_told_already()).then(|| Ok::<_, Infallible>(game.pgn()))
    });
    let body = Body::from_stream(stream::iter(games));
    answer::of_kind("application/x-chess-pgn", body)
}

/// A running game.
struct Live<'a> {
    house: &'a House,
    board: &'a BoardHandle,
    state: &'a Snapshot,
    paired: Option<&'a Pairing>,
}

impl Live<'_> {
    /// Two linked boards have one game: that of the first in the alphabet is told.
    fn is_told_already(&self) -> bool {
        self.state.holders.iter().any(|holder| match holder {
            ClientName::Link(with) => {
                **with < *self.board.name.as_str() && self.house.bus.board(with).is_some()
            }
            _ => false,
        })
    }

    fn pgn(&self) -> String {
        let (game, mut text) = (&self.state.game, String::new());
        let outcome = self.state.ending.or_else(|| GameEnd::by_rules(game));
        let outcome = outcome.map_or(Outcome::Unknown, |end| end.outcome(game.position()));
        let result = outcome.to_string();
        let given = |text: Option<&String>| text.map_or("?", String::as_str).to_owned();
        let paired = self.paired;
        let said = &self.house.broadcast;
        let event = paired.and_then(|paired| paired.event.as_ref());
        let event = given(event.or(said.event.as_ref()));
        let site = paired.and_then(|paired| paired.site.as_ref());
        let own = self.house.kept().site;
        let site = given(site.or(own.as_ref()));
        tag(&mut text, "Event", &event);
        tag(&mut text, "Site", &site);
        let began = paired.and_then(|paired| paired.began).or(self.state.began);
        let date = |zone, format| began.map(|began| clock(began, &zone, format));
        let local = date(TimeZone::system(), "%Y.%m.%d");
        tag(&mut text, "Date", local.as_deref().unwrap_or("????.??.??"));
        tag(&mut text, "Round", said.round.as_deref().unwrap_or("-"));
        tag(&mut text, "White", &self.name(Color::White));
        tag(&mut text, "Black", &self.name(Color::Black));
        tag(&mut text, "Result", &result);
        for (color, title, elo) in [
            (Color::White, "WhiteTitle", "WhiteElo"),
            (Color::Black, "BlackTitle", "BlackElo"),
        ] {
            let player = paired.and_then(|paired| paired.players.get(color).as_ref());
            if let Some(known) = player.and_then(|player| player.title.as_ref()) {
                tag(&mut text, title, known);
            }
            if let Some(rating) = player.and_then(|player| player.rating) {
                tag(&mut text, elo, &rating.to_string());
            }
        }
        start_tags(&mut text, game);
        for (name, format) in [("UTCDate", "%Y.%m.%d"), ("UTCTime", "%H:%M:%S")] {
            if let Some(utc) = date(TimeZone::UTC, format) {
                tag(&mut text, name, &utc);
            }
        }
        tag(&mut text, "Board", self.board.name.as_str());
        text.push('\n');
        movetext(&mut text, game, |ply| self.comment(ply));
        text.push_str(&result);
        text.push_str("\n\n");
        text
    }

    /// What the clock showed after a move, and how long the hand took for it.
    fn comment(&self, ply: usize) -> Option<String> {
        let clocks = self.paired.map(|paired| &paired.clock_times);
        let clock = clocks.and_then(|times| times.get(ply).copied().flatten());
        let took = self.state.took.get(ply).copied().flatten();
        let parts = [clock.map(left), took.map(elapsed)];
        let parts: String = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{{{parts}}}"))
    }

    /// The name of a player, as far as it is known.
    fn name(&self, color: Color) -> String {
        let paired = self.paired;
        let player = paired.and_then(|paired| paired.players.get(color).as_ref());
        if let Some(player) = player {
            return player.name.clone();
        }
        let named = self.house.broadcast.players.get(&self.board.name);
        if let Some(name) = named.and_then(|names| names.get(color).as_ref()) {
            return name.clone();
        }
        let by = match paired {
            Some(paired) if paired.hand.is_none_or(|hand| hand == color) => Some(By::Hand),
            Some(_) => Some(By::Target),
            None => self.seen(color),
        };
        let hand = |board: &str| format!("Hand on {board}");
        match (by, self.state.holders.first()) {
            (Some(By::Hand | By::HandUnseen), _) => {
                let own = || hand(self.board.name.as_str());
                self.house.kept().player.unwrap_or_else(own)
            }
            (Some(By::Target), Some(ClientName::Link(with))) => hand(with),
            (Some(By::Target), Some(holder)) => program(holder).to_string(),
            (Some(By::Target), None) | (None, _) => "?".to_owned(),
        }
    }

    /// Who has made this colour's moves: the last one that was seen.
    fn seen(&self, color: Color) -> Option<By> {
        let first = self.state.game.start().turn();
        let skipped = usize::from(first != color);
        let mine = self.state.by.iter().skip(skipped).step_by(2);
        mine.copied().flatten().last()
    }
}
