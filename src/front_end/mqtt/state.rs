//! A board as JSON: the object of the API, with what another daemon needs beside it to have the board as its own.
//!
//! What is only for daemons is in `peer`, and may be missing: then it is told from the rest.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shakmaty::{Move, uci::UciMove};

use super::{
    guests::Guest,
    messages::Ours,
    pairing::{self, PeerPairing, times},
};
use crate::{
    bus::{BoardHandle, Bus, pairings::Pairing},
    chess::{
        game::{Game, uci},
        guidance::Action,
    },
    front_end::objects,
    state::{is_default, text::Text},
    system::clock,
    text::durations::LONGEST,
    vocabulary::{
        Advice, BoardName, BoardResult, By, CORRECTION_WAIT, ClientId, ClientName, ClientPlace,
        Event, GameEnd, Judge, LinkState, Reason, Snapshot, rounded,
    },
};

/// Where in its daemon's publications a state stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbers {
    /// The start of the daemon.
    pub epoch: u64,
    /// The last event in it.
    pub sequence: u64,
    /// Counts states, also those without an event.
    pub revision: u64,
}

/// What is only for other daemons.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
struct Peer {
    tells_all: bool,
    /// Seconds.
    correction_wait: f64,
    remembered: bool,
    taken_back: bool,
    #[serde(skip_serializing_if = "is_default")]
    repeated: u64,
    put_to_start: u64,
    kept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<GameEnd>,
    by: Vec<Option<By>>,
    /// Seconds left after each move.
    left: Vec<Option<f64>>,
    /// RFC 3339, nanoseconds: the game's identity.
    since: Option<String>,
    began: Option<String>,
    places: Vec<Place>,
    /// The events that led to this state, up to its `sequence`: it may come before they do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairing: Option<PeerPairing>,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            tells_all: true,
            correction_wait: CORRECTION_WAIT.as_secs_f64(),
            remembered: false,
            taken_back: false,
            repeated: 0,
            put_to_start: 0,
            kept: false,
            sign: None,
            by: Vec::new(),
            left: Vec::new(),
            since: None,
            began: None,
            places: Vec::new(),
            events: Vec::new(),
            pairing: None,
        }
    }
}

/// The place of a client of another daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    daemon: String,
    /// Which start of that daemon; 0 if nobody says.
    #[serde(default)]
    epoch: u64,
    client: u64,
    number: u64,
    #[serde(default)]
    joined: bool,
    #[serde(default)]
    put_out: bool,
    #[serde(default)]
    answer: Vec<Text<UciMove>>,
}

/// The JSON of a board of ours, with the places of `guests` and the `events` that led to this state.
pub fn write(
    bus: &Bus,
    board: &BoardHandle,
    snapshot: &Snapshot,
    numbers: Numbers,
    events: &[Event],
    sans: &mut objects::Sans,
    guest: impl Fn(ClientId) -> Option<Guest>,
) -> Value {
    let mut object = objects::board_in_san(bus, board, snapshot, sans.of(&snapshot.game));
    let places = snapshot.places.iter().filter_map(|place| {
        let Guest {
            daemon,
            epoch,
            client,
        } = guest(place.client)?;
        Some(Place {
            daemon: daemon.to_string(),
            epoch,
            client: client.0,
            number: place.number,
            joined: place.joined,
            put_out: place.put_out,
            answer: place.answer.iter().map(|m| Text(uci(*m))).collect(),
        })
    });
    let peer = Peer {
        tells_all: snapshot.tells_all,
        correction_wait: rounded(snapshot.correction_wait),
        remembered: snapshot.remembered,
        taken_back: snapshot.taken_back,
        repeated: snapshot.repeated,
        put_to_start: snapshot.put_to_start,
        kept: snapshot.kept,
        sign: snapshot.sign,
        by: snapshot.by.to_vec(),
        left: snapshot.left.iter().map(|left| left.map(rounded)).collect(),
        since: snapshot.since.map(clock::exact),
        began: snapshot.began.map(clock::exact),
        places: places.collect(),
        events: events.iter().map(|event| json!(event)).collect(),
        pairing: bus
            .pairings()
            .at(&board.name)
            .map(|paired| PeerPairing::of(&paired, snapshot)),
    };
    if let Value::Object(object) = &mut object {
        object.insert("epoch".to_owned(), numbers.epoch.into());
        object.insert("sequence".to_owned(), numbers.sequence.into());
        object.insert("revision".to_owned(), numbers.revision.into());
        object.insert("peer".to_owned(), json!(peer));
    }
    object
}

/// The JSON of a board of another daemon.
#[derive(Clone, Debug, Deserialize)]
pub struct Object {
    epoch: u64,
    sequence: u64,
    #[serde(default)]
    revision: u64,
    link: String,
    #[serde(default)]
    why: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    battery: Option<u8>,
    #[serde(default)]
    game: String,
    #[serde(default)]
    sure: bool,
    #[serde(default)]
    ending: Option<Reason>,
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    ended_by: Option<Judge>,
    #[serde(default)]
    result: Option<BoardResult>,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    awaiting: bool,
    #[serde(default)]
    advice: String,
    #[serde(default)]
    make: Option<Text<UciMove>>,
    #[serde(default)]
    guidance: Vec<Action>,
    #[serde(default)]
    took: Vec<Option<f64>>,
    #[serde(default)]
    holders: Vec<ClientName>,
    #[serde(default)]
    waiting: Vec<ClientName>,
    /// Read by itself: what a newer version says there must not cost the board.
    #[serde(default)]
    pairing: Value,
    #[serde(default)]
    peer: Option<Peer>,
}

/// A game as it was read last: the next one is usually the same, one move longer.
#[derive(Debug, Default)]
pub struct Reading {
    text: String,
    game: Game,
}

impl Reading {
    /// Reads a game. `None` if it is none.
    fn game(&mut self, text: &str) -> Option<Game> {
        if text == self.text && !text.is_empty() {
            return Some(self.game.clone());
        }
        let rest = text
            .strip_prefix(&self.text)
            .filter(|_| self.text.contains(" moves "));
        let rest = rest.and_then(|rest| rest.strip_prefix(' '));
        let game = match rest {
            Some(rest) => {
                let mut game = self.game.clone();
                game.play_uci(rest.split_whitespace()).ok()?;
                game
            }
            None => Game::from_words(&text.split_whitespace().collect::<Vec<_>>()).ok()?,
        };
        text.clone_into(&mut self.text);
        self.game = game.clone();
        Some(game)
    }
}

/// Why the state of a board is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has no game that can be played")]
pub struct NoState;

impl Object {
    /// The state of the board that this daemon calls `board`, for the clients of `ours`; with their statements, their places can be
    /// told where the other daemon does not say them.
    ///
    /// # Errors
    /// [`NoState`].
    pub fn snapshot(
        &self,
        board: &BoardName,
        ours: &Ours,
        games: &mut [Reading; 2],
        stated: impl Fn(&Game, Option<&Game>) -> Vec<ClientPlace>,
    ) -> Result<Snapshot, NoState> {
        let [held, led] = games;
        let game = held.game(&self.game).ok_or(NoState)?;
        let target = match &self.target {
            Some(target) => Some(led.game(target).ok_or(NoState)?),
            None => None,
        };
        let places = match &self.peer {
            Some(peer) => places(peer, ours, &game, target.as_ref()),
            None => stated(&game, target.as_ref()),
        };
        let peer = self.peer.clone().unwrap_or_default();
        let link = self.link();
        let read = |at: &Option<String>| {
            let at = at.as_ref()?;
            humantime::parse_rfc3339(at).ok()
        };
        let outcome = self
            .outcome
            .as_ref()
            .and_then(|outcome| outcome.parse().ok());
        let ending = self.ending.zip(outcome);
        Ok(Snapshot {
            advice: self.advice(&link, &game, target.as_ref()),
            link,
            id: self.id.clone(),
            tells_all: peer.tells_all,
            correction_wait: correction_wait(peer.correction_wait),
            sure: self.sure,
            remembered: peer.remembered,
            awaiting: self.awaiting,
            taken_back: peer.taken_back,
            repeated: peer.repeated,
            put_to_start: peer.put_to_start,
            kept: peer.kept,
            sign: peer.sign,
            guidance: self.guidance.clone().into(),
            by: fitting(peer.by.into_iter(), game.len()),
            took: fitting(times(&self.took).iter().copied(), game.len()),
            left: times(&peer.left),
            since: read(&peer.since),
            began: read(&peer.began),
            ending: ending.map(|(reason, outcome)| GameEnd { reason, outcome }),
            judge: self.ended_by,
            result: self.result,
            battery: self.battery,
            places,
            holders: self.holders.clone(),
            waiting: self.waiting.clone(),
            game: Arc::new(game),
            target: target.map(Arc::new),
            ..Snapshot::new(board.clone())
        })
    }

    /// Where it stands in the daemon's publications.
    pub fn numbers(&self) -> Numbers {
        Numbers {
            epoch: self.epoch,
            sequence: self.sequence,
            revision: self.revision,
        }
    }

    /// The events that led to this state, with their numbers. Those of a newer version that mean nothing here are passed over.
    pub fn events(&self) -> impl Iterator<Item = (u64, Event)> {
        let events = self.peer.iter().flat_map(|peer| peer.events.iter().rev());
        let numbered = (1..=self.sequence).rev().zip(events);
        numbered.filter_map(|(number, event)| Some((number, Event::deserialize(event).ok()?)))
    }

    /// Who plays whom there, on the board in this state.
    pub fn pairing(&self, board: &Snapshot) -> Option<Pairing> {
        let known = self.peer.as_ref().and_then(|peer| peer.pairing.as_ref());
        pairing::read(&self.pairing, known, board)
    }

    fn link(&self) -> LinkState {
        let why = || self.why.clone().unwrap_or_default();
        match self.link.as_str() {
            "up" => LinkState::Up,
            "asking" => LinkState::Asking {
                why: self.why.clone(),
            },
            "unheard" => LinkState::Unheard { garbled: false },
            "silent" => LinkState::Silent { garbled: false },
            _ => LinkState::Down(why()),
        }
    }

    /// A move that is to be made counts as such for programs; anything else is told as the daemon words it.
    fn advice(&self, link: &LinkState, game: &Game, target: Option<&Game>) -> Advice {
        if let LinkState::Down(why) | LinkState::Asking { why: Some(why) } = link {
            return Advice::NoLink(why.clone());
        }
        let ahead = target.filter(|target| target.continues(game));
        let make = self.make.as_ref().and_then(|make| {
            let next = ahead.and_then(|target| target.moves().get(game.len()).copied());
            let is_it = |m: &Move| uci(*m) == make.0;
            next.filter(is_it)
                .or_else(|| make.0.to_move(game.position()).ok())
        });
        match make {
            Some(m) if !self.advice.starts_with("shown") => Advice::Make(m),
            _ if self.advice.is_empty() => Advice::Nothing,
            _ => Advice::Told(self.advice.clone()),
        }
    }
}

/// What another daemon says of its board, unless no configuration could say it.
fn correction_wait(seconds: f64) -> Duration {
    let wait = Duration::try_from_secs_f64(seconds).ok();
    wait.filter(|wait| *wait <= LONGEST)
        .unwrap_or(CORRECTION_WAIT)
}

/// The places of the clients of this daemon. Its clients have the same numbers at each start.
fn places(peer: &Peer, ours: &Ours, game: &Game, target: Option<&Game>) -> Vec<ClientPlace> {
    let is_ours = |place: &&Place| {
        place.daemon == ours.daemon.as_str() && (place.epoch == 0 || place.epoch == ours.epoch)
    };
    let places = peer.places.iter().filter(is_ours);
    let places = places.map(|place| ClientPlace {
        client: ClientId(place.client),
        number: place.number,
        joined: place.joined,
        put_out: place.put_out,
        answer: answer(&place.answer, game, target),
    });
    places.collect()
}

/// The moves of an answer: the last such moves of the game on the board, or of the game it is led to.
fn answer(answer: &[Text<UciMove>], game: &Game, target: Option<&Game>) -> Vec<Move> {
    let Some(plies) = std::num::NonZeroUsize::new(answer.len()) else {
        return Vec::new();
    };
    let within = |game: &Game| {
        let same = |moves: &&[Move]| moves.iter().zip(answer).all(|(m, said)| uci(*m) == said.0);
        let mut found = game.moves().windows(plies.get());
        found.rfind(same).map(<[Move]>::to_vec)
    };
    within(game).or_else(|| within(target?)).unwrap_or_default()
}

/// As many values as there are moves.
fn fitting<T: Clone>(values: impl Iterator<Item = Option<T>>, plies: usize) -> Arc<[Option<T>]> {
    values.chain(std::iter::repeat(None)).take(plies).collect()
}
