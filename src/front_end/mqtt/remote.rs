//! A board of another daemon, without I/O: what is heard of it becomes publications here, and what programs here say to it becomes
//! commands there.
//!
//! The daemon that has the board decides everything. Here is only what was heard last, and what each client here has stated, to be
//! said again when the other daemon may not know it.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant, SystemTime},
};

use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::{
    messages::{AWAY_AFTER, Answer, COMMAND_LIFE, Envelope, HEARTBEAT, Online, Ours, Turn},
    orders,
    outbox::Message,
    settings::FarBoard,
    standing::{Asked, Standing},
    state::{Numbers, Object, Reading},
    their_clock::TheirClock,
    topics::{Part, Topic},
};
use crate::{
    bus::{elsewhere::Pressed, pairings::Pairing},
    chess::game::{Game, uci},
    front_end::pgn_text::clock as local,
    system::clock::written,
    vocabulary::{
        Advice, BoardName, By, ClientId, ClientPlace, Command, Event, LinkState, Snapshot,
    },
};

/// A command that is not answered for this long was lost: what its client has stated is said again.
pub const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// Events that may wait for the state that has them.
const MAX_EVENTS: usize = 256;
/// Clients here whose statements are remembered: as many as the claims of a board.
const MAX_CLIENTS: usize = 512;
/// Commands without an answer that are remembered.
const MAX_UNANSWERED: usize = 1_024;
/// The longest words of another daemon, in characters.
const MAX_WORDS: usize = 200;

/// What to publish here.
#[derive(Debug)]
pub struct News {
    /// What happened.
    pub events: Vec<Event>,
    /// The state after it.
    pub state: Snapshot,
    /// Who plays whom there, if its daemon knows more than the board.
    pub pairing: Option<Pairing>,
}

/// Whether the other daemon is heard.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    Away {
        why: String,
        /// By our clock; `None` if it was never heard.
        since: Option<SystemTime>,
    },
}

#[derive(Debug)]
struct Unanswered {
    id: String,
    client: Option<ClientId>,
    /// Whether the client leaves by it.
    leaves: bool,
    /// The number of the client's game, if it ends that.
    ends: Option<u64>,
    /// Who waits for the answer to a button.
    pressed: Option<oneshot::Sender<Result<(), String>>>,
    since: Instant,
}

impl Unanswered {
    /// What nobody in particular has said now.
    fn new(now: Instant) -> Self {
        Self {
            id: String::new(),
            client: None,
            leaves: false,
            ends: None,
            pressed: None,
            since: now,
        }
    }

    /// Whether it was lost: whoever waits for the answer to a button knows how long.
    fn is_lost(&self, now: Instant) -> bool {
        match &self.pressed {
            Some(pressed) => pressed.is_closed(),
            None => now.saturating_duration_since(self.since) >= ANSWER_WAIT,
        }
    }
}

/// A board of another daemon. See the module documentation.
#[derive(Debug)]
pub struct Remote {
    name: BoardName,
    far: FarBoard,
    ours: Ours,
    presence: Presence,
    /// When the other daemon was last heard.
    heard: Option<Instant>,
    /// When its state was last heard or asked for.
    looked: Option<Instant>,
    their_clock: TheirClock,
    numbers: Numbers,
    games: [Reading; 2],
    /// The board as its daemon shows it.
    shown: Snapshot,
    /// Who plays whom there.
    pairing: Option<Pairing>,
    /// Whether its daemon has shown it since it started.
    is_shown: bool,
    /// Events whose state has not come yet, by their numbers.
    events: BTreeMap<u64, Event>,
    standing: BTreeMap<ClientId, Standing>,
    /// A new game that was asked for by a client that is gone.
    asked: Option<Asked>,
    unanswered: VecDeque<Unanswered>,
    /// Commands of ours, for their identifiers.
    counted: u64,
    /// Which series of commands this is, and how many it has.
    series: (u64, u64),
    refusals: Vec<String>,
}

impl Remote {
    /// A board that has not been heard of.
    pub fn new(name: BoardName, far: FarBoard, ours: Ours) -> Self {
        let why = format!(
            "{} has not been heard yet: is BoardBridge running there, with the same broker?",
            far.daemon
        );
        let shown = Snapshot::new(name.clone());
        Self {
            name,
            far,
            // It grows with each start, and more slowly than the epoch does.
            series: (ours.epoch, 0),
            ours,
            presence: Presence::Away { why, since: None },
            heard: None,
            looked: None,
            their_clock: TheirClock::default(),
            numbers: Numbers::default(),
            games: <[Reading; 2]>::default(),
            shown,
            pairing: None,
            is_shown: false,
            events: BTreeMap::new(),
            standing: BTreeMap::new(),
            asked: None,
            unanswered: VecDeque::new(),
            counted: 0,
            refusals: Vec::new(),
        }
    }

    /// Which board it is.
    pub fn far(&self) -> &FarBoard {
        &self.far
    }

    /// What was asked for before a restart.
    pub fn goes_on(&mut self, asked: Option<Asked>) {
        self.asked = asked;
    }

    /// What has to be asked for after a restart.
    pub fn asked(&self) -> Option<Asked> {
        let mut standing = self.standing.values();
        standing.find_map(Standing::asked).or(self.asked)
    }

    /// The board's state here.
    pub fn snapshot(&self) -> Snapshot {
        let began = self.shown.began.map(|began| self.their_clock.date(began));
        let shown = Snapshot {
            began,
            ..self.shown.clone()
        };
        let why = match &self.presence {
            Presence::Here if self.is_shown => return shown,
            Presence::Here => format!(
                "{} is there, but shows no board `{}`: is it in its configuration?",
                self.far.daemon, self.far.board
            ),
            Presence::Away { why, since: None } => why.clone(),
            Presence::Away {
                why,
                since: Some(since),
            } => {
                let since = local(*since, &TimeZone::system(), "%Y-%m-%d %H:%M");
                format!("{why} (away since {since})")
            }
        };
        Snapshot {
            link: LinkState::Down(why.clone()),
            advice: Advice::NoLink(why),
            guidance: [].into(),
            // As of a board whose link is lost: what is known of its game is written now.
            sure: false,
            ..shown
        }
    }

    /// What the other daemon refused since this was last asked, in its words.
    pub fn refusals(&mut self) -> Vec<String> {
        std::mem::take(&mut self.refusals)
    }

    /// The broker is reached, and everything said before may be lost.
    pub fn reached(&mut self) {
        self.unanswered.clear();
        self.series = (self.series.0.saturating_add(1), 0);
        for standing in self.standing.values_mut() {
            standing.said = None;
        }
    }

    /// We have another epoch from now on: the other daemon takes the clients of before for lost.
    pub fn begins_anew(&mut self, ours: Ours) {
        self.series.0 = self.series.0.max(ours.epoch);
        self.ours = ours;
        self.reached();
    }

    /// The broker cannot be reached, for this reason.
    pub fn unreached(&mut self, at: SystemTime, why: &str) -> Option<News> {
        let was_here = self.presence == Presence::Here;
        self.leaves(why.to_owned(), was_here.then_some(at))
    }

    /// The other daemon says whether it is there.
    pub fn online(
        &mut self,
        now: Instant,
        at: SystemTime,
        online: &Online,
        live: bool,
    ) -> Option<News> {
        if online.epoch < self.numbers.epoch {
            return None;
        }
        if !online.online {
            let why = format!(
                "{} is away: its BoardBridge has stopped or lost the broker",
                self.far.daemon
            );
            return self.leaves(why, Some(at));
        }
        let kept_since = online.said_at().filter(|_| !live);
        let kept_since = kept_since.map(|theirs| self.their_clock.here(theirs));
        // What is heard now counts more than what the broker has kept.
        if self.presence != Presence::Here
            && let Some(since) = kept_since
            && at.duration_since(since).is_ok_and(|age| age >= AWAY_AFTER)
        {
            return self.leaves(self.silent(), Some(since));
        }
        let theirs = online.said_at().filter(|_| live);
        let is_news = theirs.is_some_and(|theirs| self.their_clock.shows(theirs, at));
        self.begins(online.epoch);
        self.comes(now)
            .or_else(|| is_news.then(|| self.news(Vec::new())))
    }

    /// The state of the board, as JSON.
    pub fn state(
        &mut self,
        now: Instant,
        payload: &[u8],
        live: bool,
    ) -> Result<Option<News>, String> {
        self.looked = Some(now);
        if payload.is_empty() {
            let was_up = self.is_up();
            self.is_shown = false;
            let why = self.snapshot().link.why();
            let gone = why.filter(|_| was_up);
            let gone = gone.map(|why| Event::Disconnected { why });
            return Ok(Some(self.news(gone.into_iter().collect())));
        }
        let object: Object = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        let numbers = object.numbers();
        if self.is_stale(numbers) {
            return Ok(None);
        }
        let standing = &self.standing;
        let stated = |game: &Game, target: Option<&Game>| places(standing, game, target);
        let shown = object
            .snapshot(&self.name, &self.ours, &mut self.games, stated)
            .map_err(|error| error.to_string())?;
        // The first state that is heard in an epoch has what happened before.
        if live && self.is_shown && numbers.epoch == self.numbers.epoch {
            let known = self.numbers.sequence;
            let new = object.events().take(MAX_EVENTS);
            let new = new.filter(|(number, _)| *number > known);
            self.events.extend(new);
        }
        self.begins(numbers.epoch);
        let was_up = self.is_up();
        let first = !std::mem::replace(&mut self.is_shown, true);
        let events = self.events_until(numbers.sequence, &shown, first);
        self.numbers = numbers;
        self.pairing = object.pairing(&shown);
        self.shown = shown;
        self.games_begun(first);
        if live {
            self.heard = Some(now);
        }
        let mut events = events;
        if live {
            self.presence = Presence::Here;
        }
        if !was_up && self.is_up() {
            events.insert(0, Event::Connected);
        }
        Ok(Some(self.news(events)))
    }

    /// Something happened on the board, as JSON.
    pub fn event(&mut self, now: Instant, payload: &[u8]) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Numbered {
            epoch: u64,
            sequence: u64,
            #[serde(flatten)]
            event: Value,
        }
        let numbered: Numbered =
            serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        if numbered.epoch < self.numbers.epoch {
            return Ok(());
        }
        self.heard = Some(now);
        self.begins(numbered.epoch);
        if numbered.sequence <= self.numbers.sequence {
            return Ok(());
        }
        // Events of a newer version that mean nothing here are passed over.
        if let Ok(event) = Event::deserialize(&numbered.event) {
            self.events.entry(numbered.sequence).or_insert(event);
            if self.events.len() > MAX_EVENTS {
                self.events.pop_first();
            }
        }
        Ok(())
    }

    /// The other daemon answers a command. `false` if it was none of this board's.
    pub fn answered(&mut self, at: SystemTime, answer: &Answer) -> bool {
        let Some(found) = self.unanswered.iter().position(|one| one.id == answer.id) else {
            return false;
        };
        let mut answered = self.unanswered.remove(found);
        // It was dated by a clock that the other one is far from: then it is said again at once, if it matters still.
        let theirs = answer.said_at();
        if theirs.is_some_and(|theirs| self.their_clock.shows(theirs, at))
            && let Some(client) = answered.as_ref().and_then(|one| one.client)
            && let Some(standing) = self.standing.get_mut(&client)
        {
            standing.said = None;
        }
        if let Some(pressed) = answered.as_mut().and_then(|one| one.pressed.take()) {
            let words = |error: &String| error.chars().take(MAX_WORDS).collect();
            // Nobody may wait for it any more.
            let _ = pressed.send(
                answer
                    .error
                    .as_ref()
                    .map_or(Ok(()), |error| Err(words(error))),
            );
        } else if let Some(error) = &answer.error {
            self.refusals.push(error.chars().take(MAX_WORDS).collect());
            // It is said again with all that stands: without it the board would wait for ever.
            let client = answered.and_then(|one| one.client);
            if let Some(standing) = client.and_then(|client| self.standing.get_mut(&client)) {
                standing.is_refused = true;
            }
        } else if let Some(Unanswered {
            client: Some(client),
            leaves,
            ends,
            ..
        }) = answered
            && let Some(standing) = self.standing.get_mut(&client)
        {
            if let Some(number) = ends {
                standing.is_over(number);
            }
            if leaves && standing.leaves() {
                self.standing.remove(&client);
            }
        }
        true
    }

    /// A client here says something to the board.
    pub fn command(&mut self, now: Instant, at: SystemTime, command: &Command) -> Vec<Message> {
        let takes_over = command
            .client()
            .is_some_and(|client| self.note(now, client, command));
        if takes_over {
            return self.again(now, at);
        }
        // What is said to it before it is seen is said then.
        if !self.is_up() {
            return Vec::new();
        }
        let standing = command
            .client()
            .and_then(|client| self.standing.get(&client));
        let said = orders::write(command, standing.and_then(Standing::number));
        vec![self.message(now, at, command, &said)]
    }

    /// A button is pressed here.
    pub fn press(&mut self, now: Instant, at: SystemTime, pressed: Pressed) -> Option<Message> {
        if let LinkState::Down(why) = self.snapshot().link
            && !self.is_up()
        {
            // Nobody may wait for it any more.
            let _ = pressed.answer.send(Err(why));
            return None;
        }
        let unanswered = Unanswered {
            pressed: Some(pressed.answer),
            ..Unanswered::new(now)
        };
        Some(self.envelope(at, unanswered, &orders::button(pressed.button)))
    }

    /// What has to be said again now.
    pub fn again(&mut self, now: Instant, at: SystemTime) -> Vec<Message> {
        if self.presence != Presence::Here || !self.is_shown {
            return Vec::new();
        }
        let mut again: Vec<ClientId> = Vec::new();
        self.unanswered.retain(|one| {
            let lost = one.is_lost(now);
            let client = one.client.filter(|client| lost && !again.contains(client));
            again.extend(client);
            !lost
        });
        for (client, standing) in &self.standing {
            let knows = |number| self.shown.place(*client, number).is_some();
            if standing.is_due(now, ANSWER_WAIT, knows) && !again.contains(client) {
                again.push(*client);
            }
        }
        let mut messages = Vec::new();
        for client in again {
            let Some(standing) = self.standing.get_mut(&client) else {
                continue;
            };
            standing.said = Some(now);
            standing.is_refused = false;
            for (command, said) in standing.again() {
                messages.push(self.message(now, at, &command, &said));
            }
        }
        messages
    }

    /// Notes the time: a daemon that has not been heard for long is away.
    pub fn timeout(&mut self, now: Instant, at: SystemTime) -> Option<News> {
        let silence = now.saturating_duration_since(self.heard?);
        if self.presence != Presence::Here || silence < AWAY_AFTER {
            return None;
        }
        let since = at.checked_sub(silence);
        self.leaves(self.silent(), since)
    }

    /// Whether the broker has to be asked for the state that it has kept: none was heard for a heartbeat, and the last one may be lost,
    /// for a broker passes no more on to a client for which too much waits.
    pub fn looks(&mut self, now: Instant) -> bool {
        let lately = |at: Instant| now.saturating_duration_since(at) < HEARTBEAT;
        let looks = self.presence == Presence::Here && !self.looked.is_some_and(lately);
        if looks {
            self.looked = Some(now);
        }
        looks
    }

    /// Why a daemon that says nothing counts as away.
    fn silent(&self) -> String {
        format!(
            "{} has not been heard for {} s: has it lost power, or the network?",
            self.far.daemon,
            AWAY_AFTER.as_secs()
        )
    }

    /// Notes what a client says. `true` if it takes a new game over that was asked for before, and all has to be said.
    fn note(&mut self, now: Instant, client: ClientId, command: &Command) -> bool {
        match command {
            // Nothing else counts any more; it is said until the other daemon has answered it.
            Command::Release { .. } | Command::Lost { .. } => {
                if let Some(left) = self.standing.remove(&client) {
                    self.asked = left.asked().or(self.asked);
                    self.standing.insert(client, left.left());
                }
            }
            Command::Ready { .. } => return false,
            // Where no game is, no other begins by it: said again, it could only undo the hand's first move.
            Command::NewGame { .. } if self.shows_no_game() => return false,
            _ => {}
        }
        if self.standing.len() >= MAX_CLIENTS && !self.standing.contains_key(&client) {
            let gone = self.standing.iter().find(|(_, standing)| standing.leaves());
            let Some(gone) = gone.map(|(gone, _)| *gone) else {
                return false;
            };
            self.standing.remove(&gone);
        }
        let is_up = self.is_up();
        // What is said to a board that is there is said at once.
        let said = is_up.then_some(now);
        let new = || Standing::said_at(said);
        let standing = self.standing.entry(client).or_insert_with(new);
        standing.states(command, self.shown.since);
        let asked = self
            .asked
            .take_if(|_| matches!(command, Command::Target { .. }));
        if let Some(asked) = asked {
            standing.takes_over(client, asked);
        }
        asked.is_some()
    }

    /// Whether its daemon is there and shows it.
    fn is_up(&self) -> bool {
        self.presence == Presence::Here && self.is_shown
    }

    /// Whether the board is known to have no game now.
    fn shows_no_game(&self) -> bool {
        self.is_up() && self.shown.game.is_empty()
    }

    /// The message of a command, which is `said` so.
    fn message(
        &mut self,
        now: Instant,
        at: SystemTime,
        command: &Command,
        said: &Value,
    ) -> Message {
        if let Some(client) = command.client()
            && (matches!(command, Command::Target { .. }) || command.leaves())
            && let Some(standing) = self.standing.get_mut(&client)
        {
            standing.said = Some(now);
        }
        let unanswered = Unanswered {
            client: command.client(),
            leaves: command.leaves(),
            ends: command
                .client()
                .filter(|_| matches!(command, Command::Ended { .. }))
                .and_then(|client| self.standing.get(&client)?.number()),
            ..Unanswered::new(now)
        };
        self.envelope(at, unanswered, said)
    }

    /// What is `said`, in an envelope that is waited for.
    fn envelope(&mut self, at: SystemTime, unanswered: Unanswered, said: &Value) -> Message {
        self.counted += 1;
        self.series.1 += 1;
        let Ours { daemon, epoch } = &self.ours;
        let id = format!("{epoch}-{}-{}", self.name, self.counted);
        self.unanswered.push_back(Unanswered {
            id: id.clone(),
            ..unanswered
        });
        if self.unanswered.len() > MAX_UNANSWERED {
            self.unanswered.pop_front();
        }
        // By the clock of the daemon that has to judge it.
        let until = written(self.their_clock.there(at)) + COMMAND_LIFE;
        let (series, number) = self.series;
        let turn = Turn {
            of: self.name.clone(),
            series,
            number,
        };
        let payload = Envelope::write(&id, daemon, *epoch, until, &turn, said);
        let topic = Topic::board(&self.far.daemon, &self.far.board, Part::Commands);
        Message::once(&topic, payload).within(COMMAND_LIFE)
    }

    /// New games that the board has begun are not said again.
    fn games_begun(&mut self, first: bool) {
        for place in &*self.shown.places {
            if let Some(standing) = self.standing.get_mut(&place.client) {
                standing.is_known(place.number);
            }
        }
        let since = self.shown.since;
        if first {
            for standing in self.standing.values_mut() {
                standing.sees(since);
            }
        }
        self.asked
            .take_if(|asked| since.is_some() && since != asked.after);
    }

    fn is_stale(&self, numbers: Numbers) -> bool {
        let known = self.numbers;
        let older = (numbers.epoch, numbers.sequence) < (known.epoch, known.sequence);
        let again = self.is_shown
            && numbers.epoch == known.epoch
            && numbers.revision != 0
            && numbers.revision <= known.revision;
        older || again
    }

    /// The other daemon has started again, if this is a new epoch.
    fn begins(&mut self, epoch: u64) {
        if epoch <= self.numbers.epoch {
            return;
        }
        self.numbers = Numbers {
            epoch,
            ..Numbers::default()
        };
        self.events.clear();
        self.reached();
        for standing in self.standing.values_mut() {
            standing.is_forgotten();
        }
    }

    fn comes(&mut self, now: Instant) -> Option<News> {
        self.heard = Some(now);
        if self.presence == Presence::Here {
            return None;
        }
        self.presence = Presence::Here;
        let events = if self.is_shown {
            vec![Event::Connected]
        } else {
            Vec::new()
        };
        Some(self.news(events))
    }

    fn leaves(&mut self, why: String, since: Option<SystemTime>) -> Option<News> {
        let (was_here, since) = match &self.presence {
            Presence::Away { why: known, .. } if *known == why => return None,
            // It is away since then, whatever the reason is now.
            Presence::Away { since: known, .. } => (false, known.or(since)),
            Presence::Here => (true, since),
        };
        self.presence = Presence::Away {
            why: why.clone(),
            since,
        };
        self.reached();
        let events = if was_here {
            vec![Event::Disconnected { why }]
        } else {
            Vec::new()
        };
        Some(self.news(events))
    }

    fn news(&self, events: Vec<Event>) -> News {
        News {
            events,
            state: self.snapshot(),
            pairing: self.pairing.clone().map(|mut pairing| {
                if let Some(clocks) = &mut pairing.clocks {
                    clocks.at = self.their_clock.here(clocks.at);
                }
                pairing
            }),
        }
    }

    /// The events up to this number. Where some are missing, the moves are told from the games before and after.
    fn events_until(&mut self, sequence: u64, shown: &Snapshot, first: bool) -> Vec<Event> {
        let later = self.events.split_off(&sequence.saturating_add(1));
        let come = std::mem::replace(&mut self.events, later);
        if first && self.numbers.sequence == 0 && come.is_empty() {
            return Vec::new();
        }
        // What happened before its daemon started again has no number any more.
        let is_new = self.numbers.revision == 0 && self.numbers.sequence == 0;
        let missing = is_new || sequence.saturating_sub(self.numbers.sequence) != come.len() as u64;
        let mut events: Vec<Event> = come.into_values().collect();
        if missing {
            let of_game = |event: &Event| {
                matches!(
                    event,
                    Event::Moved { .. }
                        | Event::TookBack { .. }
                        | Event::NewGame { .. }
                        | Event::SetUp { .. }
                        | Event::Executed { .. }
                )
            };
            events.retain(|event| !of_game(event));
            events.extend(between(&self.shown, shown));
        }
        events
    }
}

/// What has happened between one state and a later one. Two games may begin with the same moves: `since` tells them apart.
fn between(before: &Snapshot, after: &Snapshot) -> Vec<Event> {
    let is_known = before.since.is_some() && after.since.is_some();
    let is_another = is_known && before.since != after.since && before.game != after.game;
    let (before, game) = (&*before.game, &*after.game);
    let mut events = Vec::new();
    let common = match before.common_plies(game).filter(|_| !is_another) {
        Some(common) if common > 0 || before.is_empty() || game.is_empty() => common,
        _ => {
            events.push(Event::NewGame { by: By::HandUnseen });
            0
        }
    };
    if events.is_empty() {
        for ply in (common..before.len()).rev() {
            events.extend(before.moves().get(ply).map(|m| Event::TookBack {
                uci: uci(*m),
                ply: ply + 1,
                by: By::HandUnseen,
            }));
        }
    }
    for (ply, m) in game.moves().iter().enumerate().skip(common) {
        events.push(Event::Moved {
            uci: uci(*m),
            ply: ply + 1,
            by: after
                .by
                .get(ply)
                .copied()
                .flatten()
                .unwrap_or(By::HandUnseen),
            took: after.took.get(ply).copied().flatten(),
        });
    }
    events
}

/// The places of the clients here, told from the games: for a daemon that does not say them.
fn places(
    standing: &BTreeMap<ClientId, Standing>,
    game: &Game,
    target: Option<&Game>,
) -> Vec<ClientPlace> {
    let place = |(client, standing): (&ClientId, &Standing)| match standing.target()? {
        Command::Target {
            number,
            game: stated,
            ..
        } => {
            let joined = target.is_some_and(|target| target.continues(stated));
            let answers = joined && game.continues(stated);
            Some(ClientPlace {
                client: *client,
                number: *number,
                joined,
                put_out: false,
                answer: game
                    .moves()
                    .get(stated.len()..)
                    .filter(|_| answers)
                    .unwrap_or_default()
                    .to_vec(),
            })
        }
        _ => None,
    };
    standing.iter().filter_map(place).collect()
}
