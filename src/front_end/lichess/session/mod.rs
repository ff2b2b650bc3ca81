//! The account and its game at the board, without I/O: lines of the streams, answers, snapshots and time go in; commands for the
//! board, requests and notices come out.
//!
//! One request at a time is under way; the hand's move comes first. After a refusal for too many requests nothing is asked for
//! [`PAUSE`].

mod asked;
mod games;
mod pause;
mod requests;
mod seek;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Instant, SystemTime},
};

use serde::{Deserialize, Serialize};

use self::{games::Known, pause::Pause, seek::Sought};
pub use self::{games::MAX_GAMES, pause::PAUSE, requests::MAX_REQUESTS};
use super::{
    challenges::{self, Challenges, Reaction, unfit},
    notice::Notice,
    objects::{self, Compat, Event, Line},
    play::{self, Heard, Out, Play, Wish},
    request::{OfChallenge, Request},
    settings::Settings,
};
use crate::{
    bus::{
        account::{self, NotDone, Running},
        pairings::Pairing,
    },
    chess::game::Game,
    front_end::seat::{SavedSeat, Seat},
    vocabulary::{BoardName, ClientId, ClientName, Snapshot},
};

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
    pause: Pause,
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
            pause: Pause::default(),
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
            is_quiet: self.pause.lasts(),
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
        let trouble = if self.pause.lasts() {
            Some(&Notice::Pause)
        } else {
            self.problem.as_ref()
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
        self.pause.is_over(now)
    }

    /// The game at the board, while it runs.
    fn running(&self) -> Option<&Play> {
        self.play.as_ref().filter(|play| play.end().is_none())
    }

    /// Lichess wants fewer requests.
    pub fn pause(&mut self, now: Instant) {
        self.pause.begins(now);
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

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        let claim = self.play.as_ref().and_then(Play::claims_at);
        let again = self.seek.as_ref().and_then(Sought::deadline);
        let deadlines = [
            self.out.seat.deadline(),
            self.pause.deadline(),
            claim,
            again,
        ];
        deadlines.into_iter().flatten().min()
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        self.pause.ends(now);
        if let Some(seek) = &mut self.seek {
            seek.timeout(now);
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
