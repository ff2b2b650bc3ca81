//! `/api/v1/live.pgn`: the running games, for a broadcast. `docs/broadcast.md` describes it.

use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hasher},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use futures_util::stream;
use jiff::tz::TimeZone;
use shakmaty::{Color, Outcome, Position as _};

use super::{House, answer};
use crate::{
    bus::{BoardHandle, pairings::Player},
    front_end::{
        pgn_text::{Termination, clock, elapsed, left, movetext, program, start_tags, tag},
        running_game::{RunningGame, is_name, name_of_board},
    },
    vocabulary::{BoardName, By, ClientName, GameEnd},
};

/// The game on every board that has one. Each is made when the one before it has been sent.
pub(super) async fn all(State(house): State<Arc<House>>, asked: HeaderMap) -> Response {
    let games: Vec<Live> = house
        .bus
        .boards()
        .into_iter()
        .filter_map(|board| {
            let game = Live::of(&house, &board)?;
            (!game.running.is_told_elsewhere_or_later(&house.bus)).then_some(game)
        })
        .collect();
    let mut hasher = DefaultHasher::new();
    for game in &games {
        hasher.write(game.pgn().as_bytes());
    }
    let known = format!("\"{:016x}\"", hasher.finish());
    let is_known = |asked: &HeaderValue| {
        let listed = asked.to_str().unwrap_or_default().split(',');
        listed
            .map(|one| one.trim().trim_start_matches("W/"))
            .any(|one| one == known)
    };
    let unchanged = asked.get_all(header::IF_NONE_MATCH).iter().any(is_known);
    let body = if unchanged {
        Body::empty()
    } else {
        let texts = games
            .into_iter()
            .map(|game| Ok::<_, Infallible>(game.pgn()));
        Body::from_stream(stream::iter(texts))
    };
    let mut response = answer::of_kind(answer::PGN, body);
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    if let Ok(known) = HeaderValue::try_from(known) {
        response.headers_mut().insert(header::ETAG, known);
    }
    response
}

/// A running game.
struct Live {
    house: Arc<House>,
    running: RunningGame,
}

impl Live {
    /// What may be told of the game on a board by now, if it has a move, or players.
    fn of(house: &Arc<House>, board: &BoardHandle) -> Option<Self> {
        let running = RunningGame::told(&house.bus, board)?;
        running.has_begun().then(|| Self {
            house: house.clone(),
            running,
        })
    }

    fn pgn(&self) -> String {
        let running = &self.running;
        let (game, mut text) = (running.game(), String::new());
        let end = GameEnd::by_rules(game).or(running.told_end());
        let result = end.map_or(Outcome::Unknown, |end| end.outcome).to_string();
        let termination = end.and_then(Termination::of);
        let given = |text: Option<&String>| text.map_or("?", String::as_str).to_owned();
        let paired = running.paired.as_deref();
        let said = &self.house.broadcast;
        let event = paired.and_then(|paired| paired.event.as_ref());
        let event = given(said.event.as_ref().or(event));
        let site = paired.and_then(|paired| paired.site.as_ref());
        let own = self.house.kept().site;
        let site = given(site.or(own.as_ref()));
        let number = running.number(&self.house.bus);
        tag(&mut text, "Event", &event);
        tag(&mut text, "Site", &site);
        let began = paired
            .and_then(|paired| paired.began)
            .or(self.running.state.began);
        let date = |zone, format| began.map(|began| clock(began, &zone, format));
        let local = date(TimeZone::system(), "%Y.%m.%d");
        tag(&mut text, "Date", local.as_deref().unwrap_or("????.??.??"));
        tag(&mut text, "Round", &round(said.round.as_deref(), &number));
        let players = Color::ALL.map(|color| self.player(color));
        tag(&mut text, "White", &players[0].name);
        tag(&mut text, "Black", &players[1].name);
        tag(&mut text, "Result", &result);
        let tags = [("WhiteTitle", "WhiteElo"), ("BlackTitle", "BlackElo")];
        for (player, (title, elo)) in players.iter().zip(tags) {
            if let Some(known) = &player.title {
                tag(&mut text, title, known);
            }
            if let Some(rating) = player.rating {
                tag(&mut text, elo, &rating.to_string());
            }
        }
        start_tags(&mut text, game);
        for (name, format) in [("UTCDate", "%Y.%m.%d"), ("UTCTime", "%H:%M:%S")] {
            if let Some(utc) = date(TimeZone::UTC, format) {
                tag(&mut text, name, &utc);
            }
        }
        if let Some(termination) = termination {
            tag(&mut text, "Termination", termination.word());
        }
        tag(&mut text, "Board", &number);
        tag(&mut text, "GameId", &running.id());
        text.push('\n');
        movetext(&mut text, game, |ply| self.comment(ply));
        text.push_str(&result);
        text.push_str("\n\n");
        text
    }

    /// What the clock showed after a move, and how long the hand took for it.
    fn comment(&self, ply: usize) -> Option<String> {
        let clock = self.running.clock(ply);
        let known = self.running.game().common_plies(&self.running.state.game);
        let took = self.running.state.took.get(ply).copied().flatten();
        let took = took.filter(|_| known.is_some_and(|known| ply < known));
        let parts = [clock.map(left), took.map(elapsed)];
        let parts: String = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{{{parts}}}"))
    }

    /// A player, as far as is known. The name is one that a broadcast does not drop.
    fn player(&self, color: Color) -> Player {
        let named = |board: &BoardName| {
            let names = self.house.broadcast.players.get(board)?;
            names.get(color).clone()
        };
        let linked = || named(&self.running.linked(&self.house.bus)?.name);
        let named = named(&self.running.board.name).or_else(linked);
        let named = named.map(|name| Player {
            name,
            ..Player::default()
        });
        let paired = self.running.paired.as_ref();
        let paired = paired.and_then(|paired| paired.players.get(color).clone());
        let mut player = named.or(paired).unwrap_or_else(|| Player {
            name: self.name(color).unwrap_or_default(),
            ..Player::default()
        });
        if !is_name(&player.name) {
            player.name = name_of_board(&self.running.board.name, color);
        }
        player
    }

    /// A name for a player without one, by who makes the moves.
    fn name(&self, color: Color) -> Option<String> {
        let hand = |board: &str| format!("Hand on {board}");
        let holder = self.running.state.holders.first();
        match (self.by(color)?, self.by(color.other())) {
            // Both players are at the board: one name does not say which of them it is.
            (By::Hand | By::HandUnseen, Some(By::Hand | By::HandUnseen)) => None,
            (By::Hand | By::HandUnseen, _) => {
                let own = || hand(self.running.board.name.as_str());
                Some(self.house.kept().player.unwrap_or_else(own))
            }
            (By::Target, _) => Some(match holder {
                Some(ClientName::Link(with)) => hand(with),
                Some(ClientName::Program(_)) => "Chess program".to_owned(),
                Some(holder) => program(holder).to_string(),
                None => return None,
            }),
        }
    }

    /// Who makes the moves of a colour.
    fn by(&self, color: Color) -> Option<By> {
        if let Some(paired) = &self.running.paired {
            let by_hand = paired.hand.is_none_or(|hand| hand == color);
            return Some(if by_hand { By::Hand } else { By::Target });
        }
        self.seen(color)
            .or_else(|| match self.seen(color.other())? {
                By::Target => Some(By::Hand),
                _ if self.running.state.holders.is_empty() => Some(By::Hand),
                _ => Some(By::Target),
            })
    }

    /// Who made the last move of this colour that was seen.
    fn seen(&self, color: Color) -> Option<By> {
        let first = self.running.state.game.start().turn();
        let skipped = usize::from(first != color);
        let mine = self.running.state.by.iter().skip(skipped).step_by(2);
        mine.copied().flatten().last()
    }
}

/// The tag `Round`: the broadcast's round, and after it the game's number if the round is a number.
fn round(given: Option<&str>, number: &str) -> String {
    match given {
        Some(round) if round.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{round}.{number}")
        }
        Some(round) => round.to_owned(),
        None => "-".to_owned(),
    }
}
