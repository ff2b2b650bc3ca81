//! The account and its game at the board, without I/O: lines of the streams, answers, snapshots and time go in; commands for the
//! board, requests and notices come out.
//!
//! One request at a time is under way; the hand's move comes first. After a refusal for too many requests nothing is asked for
//! [`PAUSE`].

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};
use shakmaty::Position as _;

use super::{
    challenges::{self, Challenges, Reaction, unfit},
    notice::Notice,
    objects::{self, Compat, Event, GameInfo, Line},
    play::{self, Heard, Out, Play, SendOutcome, Wish},
    request::{InGame, OfChallenge, Request, color, is_plain},
    settings::Settings,
};
use crate::{
    bus::{
        account::{self, Ask, NotDone, Running, Side, TimeControl},
        pairings::{Pairing, Saying},
    },
    chess::game::Game,
    front_end::seat::{SavedSeat, Seat},
    vocabulary::{BoardName, ClientId, ClientName, Snapshot},
};

/// How long nothing is asked after a refusal for too many requests (Lichess API: a full minute).
pub const PAUSE: Duration = Duration::from_mins(1);
/// Requests that may wait: a person presses one button at a time.
pub const MAX_REQUESTS: usize = 16;
/// Running games that are remembered: a player of correspondence may have some dozens.
pub const MAX_GAMES: usize = 128;
/// The most seconds for each move in a challenge; a seek may have more.
const MAX_INCREMENT: u32 = 60;

/// A person who waits for the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; the answer's text.
    Done(String),
    /// Lichess refuses it, in these words.
    Refused(String),
    /// The token is not accepted.
    NoToken,
    /// There were too many requests; it was not looked at.
    TooMany,
    /// No answer came, for this reason.
    Lost(String),
}

/// The state that a session needs after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAccount {
    /// Its seat at the board.
    #[serde(flatten)]
    pub seat: SavedSeat,
    play: Option<play::SavedPlay>,
    /// Who plays whom at the board, or played in the game that the board still holds.
    pairing: Option<Pairing>,
    /// Lichess wants fewer requests: how much of the pause has passed is not kept.
    is_quiet: bool,
}

/// How many times the connection of one search may be lost while the others stay.
const MAX_CUTS: u8 = 5;
/// How long after that it is opened again: by then the stream of events has told of a game that the search led to.
const CUT_WAIT: Duration = Duration::from_secs(5);

/// A search for an opponent.
#[derive(Debug)]
struct Sought {
    request: Request,
    time: TimeControl,
    /// The person who has asked for it.
    ticket: Ticket,
    stage: Stage,
    /// How many times its own connection was lost.
    cuts: u8,
}

impl Sought {
    /// Whether it stands on Lichess without a connection, and cannot be ended from here.
    fn stays(&self) -> bool {
        self.stage == Stage::Open && matches!(self.time, TimeControl::Days(_))
    }
}

/// How far the search for an opponent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Lichess has not accepted it yet; the person waits for the answer.
    Asked,
    /// Lichess has accepted it.
    Open,
    /// Its connection was lost. It is opened again: at this time, or else with the next stream of events.
    Cut(Option<Instant>),
}

/// A game that runs, and why it cannot be played on a board.
#[derive(Debug)]
struct Known {
    info: GameInfo,
    unfit: Option<String>,
}

impl Known {
    fn opponent(&self) -> String {
        let opponent = self.info.opponent.as_ref();
        let level = opponent.and_then(|opponent| opponent.ai);
        let name = opponent.and_then(|opponent| opponent.username.clone());
        match (level, name) {
            (_, Some(name)) => Notice::words(&name),
            (Some(level), None) => format!("Stockfish level {level}"),
            (None, None) => "the opponent".to_owned(),
        }
    }

    fn is_timed(&self) -> bool {
        self.info.speed.as_deref() != Some("correspondence")
    }
}

/// The account and its game. See the module documentation.
#[derive(Debug)]
pub struct LichessAccount {
    settings: Settings,
    user: Option<String>,
    asked_user: bool,
    connected: bool,
    problem: Option<Notice>,
    challenges: Challenges,
    games: Vec<Known>,
    play: Option<Play>,
    /// Who played whom in the previous game, while the board still holds it.
    left: Option<Pairing>,
    /// Counts the streams of games.
    stream: u64,
    at_start: bool,
    /// The game on the board: of several running games, the one in its position is preferred.
    held: Arc<Game>,
    out: Out,
    queue: VecDeque<(Request, Option<Ticket>)>,
    under_way: Option<(Request, Option<Ticket>)>,
    /// The wish of the board that the request under way carries out.
    wish: Option<Wish>,
    replies: VecDeque<(Ticket, Result<String, NotDone>)>,
    seek: Option<Sought>,
    quiet_until: Option<Instant>,
    last: Option<String>,
}

impl LichessAccount {
    /// An account of which nothing is known yet.
    pub fn new(client: ClientId, settings: Settings) -> Self {
        Self {
            settings,
            user: None,
            asked_user: false,
            connected: false,
            problem: None,
            challenges: Challenges::default(),
            games: Vec::new(),
            play: None,
            left: None,
            stream: 0,
            at_start: false,
            held: Arc::default(),
            out: Out {
                seat: Seat::new(client, ClientName::Lichess),
                wishes: VecDeque::new(),
                notices: VecDeque::new(),
            },
            queue: VecDeque::new(),
            under_way: None,
            wish: None,
            replies: VecDeque::new(),
            seek: None,
            quiet_until: None,
            last: None,
        }
    }

    /// A session that goes on after a restart, with its board as that was restored.
    pub fn restored(
        now: Instant,
        memory: SavedAccount,
        settings: Settings,
        board: &Snapshot,
    ) -> Self {
        let mut session = Self {
            // Streams from now on count as newer than a move that was accepted before the restart.
            stream: 1,
            ..Self::new(memory.seat.client, settings)
        };
        if memory.is_quiet {
            session.pause(now);
        }
        session.out.seat = Seat::restored(memory.seat, ClientName::Lichess);
        let known = session.out.seat.known(board).is_some();
        match memory.play.map(Play::restored) {
            // A board that no longer knows the game has shown its end.
            Some(play) if play.end().is_some() && !known => session.left = memory.pairing,
            Some(mut play) => {
                play.paired(memory.pairing.unwrap_or_default());
                play.is_at(session.address(play.id()));
                play.resume(&mut session.out);
                session.play = Some(play);
            }
            None if known => session.out.seat.leave(),
            None => session.left = memory.pairing,
        }
        session
    }

    /// What it must know to go on after a restart.
    pub fn memory(&self) -> SavedAccount {
        SavedAccount {
            seat: self.out.seat.saved(),
            play: self.play.as_ref().and_then(Play::memory).cloned(),
            pairing: self.pairing().or(self.left()).cloned(),
            is_quiet: self.quiet_until.is_some(),
        }
    }

    /// The game at the board.
    pub fn play(&self) -> Option<&Play> {
        self.play.as_ref()
    }

    /// Who plays whom at the board.
    pub fn pairing(&self) -> Option<&Pairing> {
        self.play.as_ref()?.pairing()
    }

    /// The same as it is told: while nothing can be sent, the player knows why.
    pub fn told_pairing(&self) -> Option<Pairing> {
        let mut pairing = self.pairing()?.clone();
        let trouble = match self.quiet_until {
            Some(_) => Some(&Notice::Pause),
            None => self.problem.as_ref(),
        };
        if let Some(notice) = trouble.filter(|_| self.running().is_some()) {
            pairing.notice = Some(notice.to_string());
        }
        Some(pairing)
    }

    /// Why the account is not connected.
    fn problem(&self) -> Option<String> {
        Some(match self.problem.as_ref()? {
            Notice::Lost(why) => why.clone(),
            notice => notice.to_string(),
        })
    }

    /// Who played whom in a finished game that the board still holds.
    pub fn left(&self) -> Option<&Pairing> {
        self.left.as_ref()
    }

    /// The state of the account, for the API.
    pub fn standing(&self, board: BoardName) -> account::Standing {
        let on_board = |id: &str| self.running().is_some_and(|play| play.id() == id);
        account::Standing {
            board,
            url: self.settings.url.clone(),
            user: self.user.clone(),
            connected: self.connected,
            problem: self.problem(),
            seek: self.seek.as_ref().map(|seek| seek.time.to_string()),
            challenges: self.challenges.list().to_vec(),
            games: self
                .games
                .iter()
                .map(|known| Running {
                    id: known.info.game_id.clone(),
                    opponent: known.opponent(),
                    speed: known.info.speed.clone().unwrap_or_default(),
                    on_board: on_board(&known.info.game_id),
                    unfit: known.unfit.clone(),
                })
                .collect(),
            last: self.last.clone(),
        }
    }

    /// Whether the server is connected.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Its seat at the board.
    pub fn seat(&mut self) -> &mut Seat {
        &mut self.out.seat
    }

    /// The next notice for the player.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        let notice = self.out.notices.pop_front()?;
        self.last = Some(notice.to_string());
        Some(notice)
    }

    /// The next answer for a person.
    pub fn poll_reply(&mut self) -> Option<(Ticket, Result<String, NotDone>)> {
        self.replies.pop_front()
    }

    /// Whether anything may be asked now.
    pub fn may_ask(&self, now: Instant) -> bool {
        self.quiet_until.is_none_or(|until| until <= now)
    }

    /// The next request; [`Self::answered`] has to follow before there is another.
    pub fn poll_request(&mut self, now: Instant) -> Option<Request> {
        if self.under_way.is_some() || !self.may_ask(now) {
            return None;
        }
        self.quiet_until = None;
        let next = match self.of_play().or_else(|| self.of_board()) {
            Some(request) => (request, None),
            None => self.queue.pop_front()?,
        };
        self.under_way = Some(next.clone());
        Some(next.0)
    }

    /// The hand's move or resignation: it goes before all other requests.
    fn of_play(&mut self) -> Option<Request> {
        let play = self.play.as_mut()?;
        let what = play.next_request()?;
        Some(Request::InGame(play.id().to_owned(), what))
    }

    /// What else the board asks for in its game.
    fn of_board(&mut self) -> Option<Request> {
        let play = self.play.as_ref().filter(|play| play.end().is_none())?;
        let wish = play.next_wish(&mut self.out)?;
        let request = Request::InGame(play.id().to_owned(), wish.what);
        self.wish = Some(wish);
        Some(request)
    }

    /// A person asks something in the game at the board.
    fn in_game(&mut self, what: InGame, ticket: Ticket) {
        match self.running().map(|play| play.id().to_owned()) {
            Some(id) => self.ask_for(Request::InGame(id, what), Some(ticket)),
            None => self.refuse(Some(ticket), "there is no game at the board"),
        }
    }

    fn ask_for(&mut self, request: Request, ticket: Option<Ticket>) {
        if ticket.is_some() && self.quiet_until.is_some() {
            // Its person does not wait for a minute.
            self.refuse(ticket, &Notice::Pause.to_string());
        } else if self.queue.len() < MAX_REQUESTS {
            self.queue.push_back((request, ticket));
        } else {
            self.refuse(ticket, "too much was asked at once: try again");
        }
    }

    fn reply(&mut self, ticket: Option<Ticket>, answer: Result<String, NotDone>) {
        match (ticket, answer) {
            (Some(ticket), answer) => self.replies.push_back((ticket, answer)),
            (None, Err(why)) => self.out.notices.push_back(Notice::Refused(why.to_string())),
            (None, Ok(_)) => {}
        }
    }

    /// Answers that it cannot be done now.
    fn refuse(&mut self, ticket: Option<Ticket>, words: &str) {
        self.reply(ticket, Err(words.to_owned().into()));
    }

    /// The game at the board, while it runs.
    fn running(&self) -> Option<&Play> {
        self.play.as_ref().filter(|play| play.end().is_none())
    }

    /// The request under way has this result.
    pub fn answered(&mut self, now: Instant, outcome: Outcome) {
        let Some((request, ticket)) = self.under_way.take() else {
            return;
        };
        let wish = self.wish.take();
        if outcome == Outcome::TooMany {
            self.pause(now);
        }
        if outcome == Outcome::NoToken {
            self.no_token();
        }
        let sent = match &outcome {
            Outcome::Done(_) => SendOutcome::Taken,
            Outcome::TooMany => SendOutcome::NotSent,
            Outcome::Refused(_) => SendOutcome::Refused,
            Outcome::Lost(_) | Outcome::NoToken => SendOutcome::Unsure,
        };
        let stream = self.stream;
        let play = match &request {
            Request::InGame(id, _) => self.play.as_mut().filter(|play| play.id() == id),
            _ => None,
        };
        match (&request, ticket) {
            (Request::InGame(_, InGame::Move(m)), _) => {
                if play.is_some_and(|play| play.sent(*m, sent, stream, &mut self.out)) {
                    self.lost_stream();
                }
                return;
            }
            // The hand resigned by the kings.
            (Request::InGame(_, InGame::Resign | InGame::Abort), None) => {
                if play.is_some_and(|play| play.resigned(sent, stream)) {
                    self.lost_stream();
                }
                if sent != SendOutcome::Refused {
                    return;
                }
            }
            _ => {}
        }
        match (request, outcome) {
            (Request::Account, Outcome::Done(text)) => {
                let me = objects::read::<objects::Me>(text.as_bytes());
                self.user = me.ok().map(|me| Notice::words(&me.username));
            }
            (Request::Account, _) => self.asked_user = false,
            (Request::Challenge { .. }, Outcome::Done(_)) => {
                self.reply(
                    ticket,
                    Ok("challenged: the game begins when they accept".to_owned()),
                );
            }
            (request, Outcome::Done(_)) => {
                if let Request::OfChallenge(id, _) = &request {
                    self.challenges.is_gone(id);
                }
                self.reply(ticket, Ok("done".to_owned()));
            }
            (request, Outcome::Refused(words)) => {
                self.reply(ticket, Err(request.refused(&Notice::words(&words))));
            }
            (_, Outcome::NoToken) => self.refuse(ticket, &Notice::NoToken.to_string()),
            // A request by a button is not repeated after the pause; one from the board is.
            (request, Outcome::TooMany) if ticket.is_none() => match wish {
                Some(wish) => self.out.again(wish),
                None => self.queue.push_front((request, None)),
            },
            (_, Outcome::TooMany) => self.refuse(ticket, &Notice::Pause.to_string()),
            (_, Outcome::Lost(why)) => self.refuse(ticket, &lost(&why)),
        }
    }

    /// Lichess wants fewer requests.
    pub fn pause(&mut self, now: Instant) {
        self.quiet_until = Some(now + PAUSE);
        self.out.notices.push_back(Notice::Pause);
    }

    /// Lichess does not accept the token.
    pub fn no_token(&mut self) {
        self.connected = false;
        self.seek_is_cut(&Notice::NoToken.to_string());
        if self.problem != Some(Notice::NoToken) {
            self.problem = Some(Notice::NoToken);
            self.out.notices.push_back(Notice::NoToken);
        }
    }

    /// The stream of events is open.
    pub fn connected(&mut self) {
        // The stream begins with all running games and open challenges.
        self.games.clear();
        self.challenges.clear();
        if !std::mem::replace(&mut self.connected, true) {
            self.out.notices.push_back(Notice::Connected);
        }
        self.problem = None;
        if !std::mem::replace(&mut self.asked_user, true) {
            self.ask_for(Request::Account, None);
        }
    }

    /// The stream of events is closed, or cannot be opened.
    pub fn disconnected(&mut self, why: &str) {
        let why = Notice::words(why);
        self.seek_is_cut(&lost(&why));
        let was = std::mem::take(&mut self.connected);
        if was || self.problem.is_none() {
            let notice = Notice::Lost(why);
            self.out.notices.push_back(notice.clone());
            self.problem = Some(notice);
        }
    }

    /// Something happened to the account.
    pub fn event(&mut self, event: Event) {
        match event {
            Event::GameStart { game } => self.game_starts(game),
            Event::GameFinish { game } => {
                self.games
                    .retain(|known| known.info.game_id != game.game_id);
                let play = self.play.as_mut().filter(|play| play.end().is_none());
                if let Some(play) = play.filter(|play| play.id() == game.game_id) {
                    play.finishes(&game);
                    self.lost_stream();
                }
                self.choose();
            }
            Event::Challenge { challenge, compat } => self.challenged(&challenge, compat),
            Event::ChallengeCanceled { challenge } => {
                self.challenges.is_gone(&challenge.id);
            }
            Event::ChallengeDeclined { challenge } => {
                self.challenges.is_gone(&challenge.id);
                let player = challenge.dest_user.and_then(|user| user.name);
                self.out.notices.push_back(Notice::Declined {
                    player: Notice::words(&player.unwrap_or_default()),
                    reason: challenge.decline_reason.as_deref().map(Notice::words),
                });
            }
            Event::Unknown => {}
        }
    }

    fn game_starts(&mut self, info: GameInfo) {
        // A game has the identifier of the challenge it comes from, which is no longer open.
        self.challenges.is_gone(&info.game_id);
        if !is_plain(&info.game_id) {
            return;
        }
        let new = !self
            .games
            .iter()
            .any(|known| known.info.game_id == info.game_id);
        if !new || self.games.len() >= MAX_GAMES {
            return;
        }
        let unfit = unfit(info.compat, info.variant.as_ref(), info.speed.as_deref());
        self.games.push(Known { info, unfit });
        if let Some(known) = self.games.last()
            && let Some(why) = known.unfit.clone()
        {
            let opponent = known.opponent();
            self.out.notices.push_back(Notice::Unfit { opponent, why });
            return;
        }
        self.choose();
    }

    /// Chooses a game for the board if it has none, or if a game with a clock waits and the board's game has none.
    fn choose(&mut self) {
        let on = self.running();
        if on.is_some_and(|play| {
            let known = |known: &&Known| known.info.game_id == play.id();
            let known = self.games.iter().find(known);
            known.is_none_or(Known::is_timed) || play.is_timed()
        }) {
            return;
        }
        let has = on.is_some();
        let ours = on.map(|play| play.id().to_owned());
        let fits =
            |known: &&Known| known.unfit.is_none() && Some(&known.info.game_id) != ours.as_ref();
        // Games with a clock first, then the one in the board's position.
        let placed = self.held.position().board().board_fen().to_string();
        let stands = |known: &Known| {
            let fen = known.info.fen.as_deref().unwrap_or_default();
            fen.split(' ').next() == Some(placed.as_str())
        };
        let best = self.games.iter().filter(fits);
        let best = best.min_by_key(|known| (!known.is_timed(), !stands(known)));
        let Some(known) = best.filter(|known| known.is_timed() || !has) else {
            return;
        };
        let hand = known.info.color.as_deref().and_then(color);
        let (id, opponent) = (known.info.game_id.clone(), known.opponent());
        let mut play = Play::new(id, hand, opponent);
        play.is_at(self.address(play.id()));
        self.play = Some(play);
        self.seek_is_answered("a game has begun");
        self.seek = None;
        self.lost_stream();
    }

    fn address(&self, id: &str) -> String {
        format!("{}/{id}", self.settings.url)
    }

    fn challenged(&mut self, challenge: &objects::Challenge, compat: Option<Compat>) {
        let Some(challenge) = challenges::read(challenge, compat, self.user.as_deref()) else {
            return;
        };
        let accepts = |(request, _): &(Request, _)| {
            matches!(request, Request::OfChallenge(_, OfChallenge::Accept))
        };
        let mut asked = self.queue.iter().chain(&self.under_way);
        let is_free = self.running().is_none() && !asked.any(accepts);
        let id = challenge.id.clone();
        match self
            .challenges
            .comes(challenge, self.settings.accept, is_free)
        {
            Some(Reaction::Answers(what)) => self.ask_for(Request::OfChallenge(id, what), None),
            Some(Reaction::Tells(notice)) => self.out.notices.push_back(notice),
            None => {}
        }
    }

    /// The game whose stream should be open, and a number: a new number asks for a new stream.
    pub fn game_stream(&self) -> Option<(String, u64)> {
        let play = self.running()?;
        Some((play.id().to_owned(), self.stream))
    }

    /// The game's stream is closed, or has to be opened again so that the game is read.
    pub fn lost_stream(&mut self) {
        self.stream += 1;
        if let Some(play) = &mut self.play {
            play.lost_stream();
        }
    }

    /// Lichess does not know the game.
    pub fn no_game(&mut self) {
        // Not while the stream of events lists the game: the answer may come from a proxy on the way.
        let id = self.running().map(Play::id);
        if self.connected
            && self
                .games
                .iter()
                .any(|known| Some(known.info.game_id.as_str()) == id)
        {
            self.lost_stream();
            return;
        }
        if let Some(play) = self.play.as_mut().filter(|play| play.end().is_none()) {
            play.is_gone(&mut self.out);
        }
    }

    /// A line of the game's stream.
    pub fn line(&mut self, now: Instant, wall: SystemTime, line: Line) {
        let heard = Heard {
            now,
            wall,
            stream: self.stream,
            at_start: self.at_start,
            take_backs: self.settings.take_backs,
        };
        if let Line::GameFull(full) = &line
            && let Some(why) = unfit(None, full.variant.as_ref(), None)
        {
            self.is_unfit(why);
            return;
        }
        if let Some(play) = &mut self.play {
            if let Line::GameFull(full) = &line {
                play.finds_hand(full, self.user.as_deref());
            }
            play.line(line, heard, &mut self.out);
        }
        if self.play.as_ref().is_some_and(|play| play.end().is_some()) {
            let over = self.play.as_ref().map(|play| play.id().to_owned());
            self.games
                .retain(|known| Some(&known.info.game_id) != over.as_ref());
            self.drop_needless();
        }
    }

    /// The game that was chosen for the board cannot be played there, for this reason.
    fn is_unfit(&mut self, why: String) {
        let Some(play) = self.play.take() else { return };
        let known = |known: &&mut Known| known.info.game_id == play.id();
        if let Some(known) = self.games.iter_mut().find(known) {
            known.unfit = Some(why.clone());
            let opponent = known.opponent();
            self.out.notices.push_back(Notice::Unfit { opponent, why });
        }
        self.choose();
    }

    /// Requests of a game that is over are dropped.
    fn drop_needless(&mut self) {
        let Some(play) = &self.play else { return };
        let id = play.id().to_owned();
        let (gone, rest): (VecDeque<_>, _) = self
            .queue
            .drain(..)
            .partition(|(request, _)| matches!(request, Request::InGame(of, _) if *of == id));
        self.queue = rest;
        self.out.wishes.clear();
        for (_, ticket) in gone {
            if ticket.is_some() {
                self.refuse(ticket, "the game is over");
            }
        }
    }

    /// The board has a new snapshot.
    pub fn snapshot(&mut self, now: Instant, snapshot: &Snapshot) {
        let game = &snapshot.game;
        self.at_start =
            snapshot.link.is_open() && snapshot.sure && game.is_standard() && game.is_empty();
        self.held = game.clone();
        self.left.take_if(|left| left.over.as_ref() != Some(game));
        if let Some(play) = &mut self.play {
            play.snapshot(now, snapshot, &mut self.out);
            let ended = play.end().is_some();
            let seat = &self.out.seat;
            // The board has shown the end.
            if ended && !seat.has_commands() && seat.known(snapshot).is_none() {
                self.left = self.pairing().cloned();
                self.play = None;
                self.choose();
            }
        }
    }

    /// The player says something to the opponent.
    pub fn said(&mut self, saying: Saying, ticket: Ticket) {
        let offer = self.running().and_then(Play::offer);
        match saying {
            Saying::Ready => {
                self.out.seat.ready();
                self.reply(Some(ticket), Ok("done".to_owned()));
            }
            Saying::NewGame => {
                let words =
                    "to start a Lichess game, seek or challenge: `boardbridge lichess seek 15+10`";
                self.refuse(Some(ticket), words);
            }
            Saying::Draw => self.in_game(InGame::Draw(true), ticket),
            Saying::TakeBack => self.in_game(InGame::TakeBack(true), ticket),
            Saying::Decline => match offer {
                Some(Saying::Draw) => self.in_game(InGame::Draw(false), ticket),
                Some(_) => self.in_game(InGame::TakeBack(false), ticket),
                None => self.refuse(Some(ticket), "nothing is offered"),
            },
            Saying::Resign => self.in_game(InGame::Resign, ticket),
            Saying::Abort => self.in_game(InGame::Abort, ticket),
            Saying::Berserk => self.in_game(InGame::Berserk, ticket),
        }
    }

    /// The player asks something of the account.
    pub fn asked(&mut self, ask: Ask, ticket: Ticket) {
        if let Some(why) = self.refusal(&ask) {
            self.reply(Some(ticket), Err(why));
            return;
        }
        match ask {
            Ask::Seek { time, rated, side } => {
                let request = Request::Seek { time, rated, side };
                self.seeks(request, time, ticket);
            }
            Ask::Withdraw => {
                let own = self
                    .challenges
                    .list()
                    .iter()
                    .filter(|challenge| challenge.own);
                let own: Vec<String> = own.map(|challenge| challenge.id.clone()).collect();
                let ends = |seek: &Sought| matches!(seek.time, TimeControl::Clock { .. });
                let seeks = self.seek.as_ref().is_some_and(ends);
                if !seeks && own.is_empty() {
                    let words = "nothing here can be withdrawn. A correspondence search stands on Lichess until somebody takes it: withdraw it there";
                    self.refuse(Some(ticket), words);
                    return;
                }
                if seeks {
                    self.unanswered_seek_ends("withdrawn");
                    self.seek = None;
                }
                for id in own {
                    self.ask_for(Request::OfChallenge(id, OfChallenge::Cancel), None);
                }
                self.reply(Some(ticket), Ok("withdrawn".to_owned()));
            }
            Ask::Challenge {
                user,
                time,
                rated,
                side,
            } => {
                let request = Request::Challenge {
                    user,
                    time,
                    rated,
                    side,
                };
                self.ask_for(request, Some(ticket));
            }
            Ask::Computer { level, time, side } => {
                self.ask_for(Request::Computer { level, time, side }, Some(ticket));
            }
            Ask::Accept(id) => self.of_challenge(id.as_deref(), OfChallenge::Accept, ticket),
            Ask::Decline(id) => {
                self.of_challenge(id.as_deref(), OfChallenge::Decline("generic"), ticket);
            }
        }
    }

    /// Why this cannot be asked, in words with the remedy.
    fn refusal(&self, ask: &Ask) -> Option<NotDone> {
        let refused = |words: String| Some(NotDone::Refused(words));
        let (time, is_seek) = match ask {
            Ask::Seek {
                time: TimeControl::Days(_),
                side: Side::White | Side::Black,
                ..
            } => {
                let words = "Lichess draws the colour of a correspondence game that anyone may join: leave it out, or challenge someone";
                return refused(words.to_owned());
            }
            Ask::Seek { time, .. } => (time, true),
            Ask::Challenge { user, .. } if !is_plain(user) => {
                return refused(format!("`{}` is not a player's name", Notice::words(user)));
            }
            Ask::Challenge { time, .. } | Ask::Computer { time, .. } => (time, false),
            Ask::Withdraw | Ask::Accept(_) | Ask::Decline(_) => return None,
        };
        if let TimeControl::Clock { increment, .. } = time
            && !is_seek
            && *increment > MAX_INCREMENT
        {
            return refused(format!(
                "Lichess adds at most {MAX_INCREMENT} s for each move in a challenge, and {time} adds {increment}"
            ));
        }
        // A challenge could become a game that the board may not play; a seek is judged by the server.
        if !is_seek && time.is_bullet() {
            return refused(format!(
                "Lichess lets boards play no bullet, and {time} is bullet: take 3+2 or longer"
            ));
        }
        if self.running().is_some_and(Play::is_timed) {
            let words = "a game runs at the board: finish it first";
            return Some(NotDone::NotNow(words.to_owned()));
        }
        None
    }

    /// Looks for an opponent; the requester is answered when Lichess has accepted it.
    fn seeks(&mut self, request: Request, time: TimeControl, ticket: Ticket) {
        if self.quiet_until.is_some() {
            self.refuse(Some(ticket), &Notice::Pause.to_string());
            return;
        }
        if !self.connected {
            let why = self.problem();
            let why = why.unwrap_or_else(|| "it has not answered yet".to_owned());
            self.refuse(Some(ticket), &format!("Lichess is not connected: {why}"));
            return;
        }
        self.unanswered_seek_ends("another search has taken its place");
        let known = self.seek.take();
        let is_open =
            known.is_some_and(|known| known.request == request && known.stage == Stage::Open);
        self.seek = Some(Sought {
            request,
            time,
            ticket,
            stage: Stage::Asked,
            cuts: 0,
        });
        if is_open {
            self.seek_opened();
        }
    }

    /// Gives up a search that Lichess has not accepted yet, for this reason.
    fn unanswered_seek_ends(&mut self, why: &str) {
        let unanswered = self.seek.take_if(|seek| seek.stage == Stage::Asked);
        if let Some(Sought { ticket, .. }) = unanswered {
            self.refuse(Some(ticket), why);
        }
    }

    /// The connection is lost, and the search with it, for this reason.
    fn seek_is_cut(&mut self, why: &str) {
        self.unanswered_seek_ends(why);
        self.seek.take_if(|seek| seek.stays());
        if let Some(seek) = &mut self.seek
            && seek.stage == Stage::Open
        {
            seek.stage = Stage::Cut(None);
        }
    }

    /// Answers the person who waits for the search.
    fn seek_is_answered(&mut self, words: &str) {
        let waits = self.seek.as_ref().filter(|seek| seek.stage == Stage::Asked);
        if let Some(ticket) = waits.map(|seek| seek.ticket) {
            self.reply(Some(ticket), Ok(words.to_owned()));
        }
    }

    /// Lichess has accepted the search.
    pub fn seek_opened(&mut self) {
        let Some(Sought { time, .. }) = &self.seek else {
            return;
        };
        let words = match time {
            TimeControl::Clock { .. } => format!("looking for an opponent ({time})"),
            // It outlives the connection, and the API cannot end it.
            TimeControl::Days(_) => format!(
                "looking for an opponent ({time}): it stands on Lichess until somebody takes it; withdraw it there"
            ),
        };
        self.seek_is_answered(&words);
        if let Some(seek) = &mut self.seek {
            seek.stage = Stage::Open;
        }
    }

    /// The person with this ticket no longer waits for the answer. Their request is dropped if it has not begun, and their
    /// search is withdrawn: a game must not begin with nobody there.
    pub fn has_left(&mut self, ticket: Ticket) {
        self.queue.retain(|(_, of)| *of != Some(ticket));
        self.seek.take_if(|seek| seek.ticket == ticket);
    }

    fn of_challenge(&mut self, id: Option<&str>, what: OfChallenge, ticket: Ticket) {
        let chosen = self.challenges.meant(id);
        let chosen = chosen.and_then(|challenge| match (what, &challenge.unfit) {
            (OfChallenge::Accept, Some(why)) => Err(why.clone()),
            _ => Ok(challenge.id.clone()),
        });
        match chosen {
            Ok(id) => self.ask_for(Request::OfChallenge(id, what), Some(ticket)),
            Err(words) => self.refuse(Some(ticket), &words),
        }
    }

    /// The seek whose answer has to stay open: Lichess searches for as long.
    pub fn seek(&self) -> Option<&Request> {
        let waits = |seek: &&Sought| matches!(seek.stage, Stage::Cut(Some(_)));
        let seek = self.seek.as_ref().filter(|seek| !waits(seek));
        seek.map(|seek| &seek.request)
    }

    /// The search has ended, with an opponent or without.
    pub fn seek_ended(&mut self, now: Instant, outcome: Outcome) {
        match outcome {
            Outcome::TooMany => self.pause(now),
            Outcome::NoToken => self.no_token(),
            _ => {}
        }
        let Some(mut seek) = self.seek.take() else {
            return;
        };
        let is_cut = seek.stage != Stage::Asked && matches!(outcome, Outcome::Lost(_));
        if is_cut && seek.stays() {
            return;
        }
        if is_cut && seek.cuts < MAX_CUTS {
            seek.stage = Stage::Cut(Some(now + CUT_WAIT));
            seek.cuts += 1;
            self.seek = Some(seek);
            return;
        }
        let why = match outcome {
            Outcome::Refused(words) => seek.request.refused(&Notice::words(&words)),
            Outcome::Lost(why) => lost(&why).into(),
            Outcome::TooMany => Notice::Pause.to_string().into(),
            Outcome::NoToken => Notice::NoToken.to_string().into(),
            Outcome::Done(_) => return,
        };
        if seek.stage == Stage::Asked {
            self.reply(Some(seek.ticket), Err(why));
        } else {
            let notice = Notice::NoLongerSought(why.to_string());
            self.out.notices.push_back(notice);
        }
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        let claim = self.play.as_ref().and_then(Play::claims_at);
        let again = self.seek.as_ref().and_then(|seek| match seek.stage {
            Stage::Cut(again) => again,
            Stage::Asked | Stage::Open => None,
        });
        let deadlines = [self.out.seat.deadline(), self.quiet_until, claim, again];
        deadlines.into_iter().flatten().min()
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        self.quiet_until.take_if(|until| *until <= now);
        if let Some(Sought {
            stage: Stage::Cut(again),
            ..
        }) = &mut self.seek
        {
            again.take_if(|again| *again <= now);
        }
        if let Some(play) = &mut self.play {
            play.may_claim(now, &mut self.out);
        }
        if let Some(left) = self.out.seat.take_back_due(now)
            && let Some(play) = &mut self.play
        {
            play.hand_took_back(left, &mut self.out);
        }
    }
}

/// The message that Lichess does not answer, with the reason.
fn lost(why: &str) -> String {
    format!(
        "Lichess does not answer ({}): try again",
        Notice::words(why)
    )
}
