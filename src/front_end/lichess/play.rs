//! One game on Lichess against the hand at a board, without I/O: what Lichess and the board say goes in, commands, requests and
//! notices come out.
//!
//! Lichess decides what the game is, and the board is led to it. Until Lichess shows the hand's move, that move is part of the
//! board's target, but not of the game.

use std::{
    collections::VecDeque,
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, CastlingMode, Color, Move, uci::UciMove};

use super::{
    notice::Notice,
    objects::{GameFull, GameInfo, Line, State, User},
    request::{InGame, color},
    settings::TakeBacks,
    status::Status,
};
use crate::{
    bus::pairings::{ClocksAt, Pairing, Player, Saying},
    chess::game::Game,
    front_end::seat::{Seat, left_by_hand},
    state::text,
    vocabulary::{ClientName, Clocks, GameEnd, Occasion, Opponent, Reason, Snapshot},
};

/// When a line arrived, and the state it applies to.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The time of arrival.
    pub now: Instant,
    /// The same as a time of day, for clients that count clocks down.
    pub wall: SystemTime,
    /// The number of the stream it came on.
    pub stream: u64,
    /// Whether all pieces stand at the start.
    pub at_start: bool,
    /// How the opponent's take-back proposals are answered.
    pub take_backs: TakeBacks,
}

/// What a game asks for.
#[derive(Debug)]
pub struct Out {
    /// The board's seat, with commands for the board.
    pub seat: Seat,
    /// Requests to Lichess, beside the hand's move and resignation: at most one of each kind.
    pub wishes: VecDeque<Wish>,
    /// Notices for the player.
    pub notices: VecDeque<Notice>,
}

/// A request from the board. It is only sent while what it was made for still holds: Lichess may have asked for a pause meanwhile.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The request.
    pub what: InGame,
    /// The game that it belongs to.
    id: String,
    /// That game at the time, with the hand's move.
    game: Game,
    /// The opponent's offer that it answers.
    answers: Option<Saying>,
}

impl Out {
    /// This wish was not looked at: it comes first again, unless there is a newer one of its kind.
    pub fn again(&mut self, wish: Wish) {
        if !self.wishes.iter().any(|newer| newer.what == wish.what) {
            self.wishes.push_front(wish);
        }
    }
}

/// How far the hand's move, or its resignation, has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// It has to be sent.
    Waits,
    /// It is being sent.
    Sending,
    /// It was sent, but whether it arrived is unknown: the game has to be read first.
    Unsure,
    /// Lichess has accepted it while the stream of this number was open, and has not shown it yet.
    Taken(u64),
}

/// The hand's move on its way to Lichess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Delivery {
    /// Castling as the king and its rook: the one form that Lichess takes in every variant.
    #[serde(with = "text")]
    m: UciMove,
    way: Way,
    /// Lichess has refused it once.
    refused: bool,
}

/// What must survive a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPlay {
    /// The game's name.
    id: String,
    #[serde(with = "text")]
    hand: Color,
    /// As Lichess has it.
    game: Game,
    delivery: Option<Delivery>,
    /// How far the hand's resignation has come.
    resigns: Option<Way>,
    end: Option<GameEnd>,
}

/// A game. See the module documentation.
#[derive(Debug)]
pub struct Play {
    kept: SavedPlay,
    /// Lichess has sent the game.
    known: bool,
    /// The current stream of the game has sent its state.
    synced: bool,
    /// What the API and the event stream show of the game.
    pairing: Pairing,
    /// The hand's colour is a guess: Lichess has not named it.
    guessed: bool,
    timed: bool,
    /// In a tournament: the time that each side begins with.
    tournament: Option<Duration>,
    /// Who has taken half of that.
    berserk: ByColor<bool>,
    /// How it ended according to the stream of events.
    announced: Option<GameEnd>,
    /// The ending that the kings in the centre signal.
    sign: Option<GameEnd>,
    /// When the win can be claimed, after the opponent has left.
    claim_at: Option<Instant>,
    told_to_claim: bool,
    told_to_wait: bool,
    told_to_begin: bool,
    told_unplayable: bool,
}

impl Play {
    /// A game of which only this is known yet.
    pub fn new(id: String, hand: Option<Color>, opponent: String) -> Self {
        let kept = SavedPlay {
            id,
            hand: hand.unwrap_or(Color::White),
            game: Game::standard(),
            delivery: None,
            resigns: None,
            end: None,
        };
        let mut play = Self::restored(kept);
        play.known = false;
        play.guessed = hand.is_none();
        *play.pairing.players.get_mut(play.hand().other()) = Some(Player {
            name: opponent,
            ..Player::default()
        });
        play
    }

    /// A game after a restart.
    pub fn restored(mut kept: SavedPlay) -> Self {
        let move_way = kept.delivery.as_mut().map(|delivery| &mut delivery.way);
        for way in move_way.into_iter().chain(&mut kept.resigns) {
            *way = match *way {
                Way::Sending => Way::Unsure,
                // Streams are counted from the beginning again.
                Way::Taken(_) => Way::Taken(0),
                way => way,
            };
        }
        let mut play = Self {
            kept,
            known: true,
            synced: false,
            pairing: Pairing::default(),
            guessed: false,
            timed: false,
            tournament: None,
            berserk: ByColor::default(),
            announced: None,
            sign: None,
            claim_at: None,
            told_to_claim: false,
            told_to_wait: false,
            told_to_begin: false,
            told_unplayable: false,
        };
        play.pairing.client = Some(ClientName::Lichess);
        play.pairing.hand = Some(play.hand());
        play
    }

    /// What must survive a restart: a game that was not heard is found again.
    pub fn memory(&self) -> Option<&SavedPlay> {
        self.known.then_some(&self.kept)
    }

    /// Its identifier on Lichess.
    pub fn id(&self) -> &str {
        &self.kept.id
    }

    /// How it ended.
    pub fn end(&self) -> Option<GameEnd> {
        self.kept.end
    }

    /// Whether it has a clock, as far as is known.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// Who plays whom.
    pub fn pairing(&self) -> Option<&Pairing> {
        self.known.then_some(&self.pairing)
    }

    /// Takes over the pairing that was known before a restart.
    pub fn paired(&mut self, before: Pairing) {
        self.pairing = Pairing {
            client: Some(ClientName::Lichess),
            hand: Some(self.hand()),
            ..before
        };
    }

    fn hand(&self) -> Color {
        self.kept.hand
    }

    fn opponent(&self) -> String {
        let opponent = self.pairing.players.get(self.hand().other()).as_ref();
        opponent.map_or_else(|| "the opponent".to_owned(), |player| player.name.clone())
    }

    /// The hand's move that is on its way.
    fn on_its_way(&self) -> Option<Move> {
        let delivery = self.kept.delivery?;
        delivery.m.to_move(self.kept.game.position()).ok()
    }

    /// The game with the hand's move that is on its way.
    fn whole(&self) -> Game {
        let mut game = self.kept.game.clone();
        if let Some(m) = self.on_its_way() {
            game.push(m);
        }
        game
    }

    /// Whether Lichess waits for a move of the hand that has not been made.
    pub fn awaits(&self) -> bool {
        let kept = &self.kept;
        self.known
            && kept.end.is_none()
            && kept.delivery.is_none()
            && kept.game.turn() == self.hand()
    }

    /// States the game to the board.
    pub fn state(&mut self, out: &mut Out) {
        if !self.known {
            return;
        }
        let game = self.whole();
        let occasion = Occasion {
            opponent: Opponent::Lichess,
            hand_next: game.turn() == self.hand(),
            takes_back: true,
        };
        out.seat.state(&game, occasion, self.awaits());
        self.can();
    }

    /// Updates what the player can say now.
    fn can(&mut self) {
        let mut can = Vec::new();
        if self.kept.end.is_none() && self.known {
            can.push(Saying::Ready);
            let plies = self.kept.game.len();
            if plies >= 2 {
                can.extend([Saying::Draw, Saying::TakeBack, Saying::Resign]);
            } else {
                can.push(Saying::Abort);
            }
            // Before the hand's first move.
            let early = plies <= self.hand().fold_wb(0, 1);
            if early && self.tournament.is_some() && !self.berserk.get(self.hand()) {
                can.push(Saying::Berserk);
            }
            can.extend(self.pairing.offer.map(|_| Saying::Decline));
        }
        self.pairing.can = can;
    }

    /// Handles a line of the game's stream.
    pub fn line(&mut self, line: Line, heard: Heard, out: &mut Out) {
        let Heard {
            now,
            wall,
            stream,
            at_start,
            take_backs,
        } = heard;
        match line {
            Line::GameFull(full) => {
                let state = full.state.clone();
                if !self.full(*full, at_start, out) {
                    return;
                }
                self.stands(wall, &state, Some(stream), out);
                self.offers(&state, take_backs, out);
            }
            Line::GameState(state) if self.known => {
                self.stands(wall, &state, None, out);
                self.offers(&state, take_backs, out);
            }
            Line::ChatLine {
                room,
                username,
                text,
            } => {
                let (Some(name), Some(text)) = (username, text) else {
                    return;
                };
                if room.is_none_or(|room| room == "player") {
                    let words = Notice::words(&format!("{name}: {text}"));
                    self.pairing.chat.push(words.clone());
                    out.notices.push_back(Notice::Chat(words));
                }
            }
            Line::OpponentGone {
                gone,
                claim_win_in_seconds,
            } => {
                let opponent = self.opponent();
                self.told_to_claim = false;
                let notice = if gone {
                    self.claim_at = claim_win_in_seconds
                        .map(|seconds| now + Duration::from_secs(seconds.min(3600)));
                    Notice::Gone {
                        opponent,
                        claim: claim_win_in_seconds,
                    }
                } else {
                    self.claim_at = None;
                    Notice::Back(opponent)
                };
                self.pairing.notice = gone.then(|| notice.to_string());
                out.notices.push_back(notice);
            }
            Line::GameState(_) | Line::Unknown => {}
        }
    }

    /// Asks for something in this game.
    fn wishes(&self, what: InGame, out: &mut Out) {
        let kind = match what {
            InGame::Draw(_) => Some(Saying::Draw),
            InGame::TakeBack(_) => Some(Saying::TakeBack),
            _ => None,
        };
        out.wishes.retain(|before| before.what != what);
        out.wishes.push_back(Wish {
            what,
            id: self.kept.id.clone(),
            game: self.whole(),
            answers: kind.filter(|_| self.pairing.offer == kind),
        });
    }

    /// The next request from the board that can be sent now. Those that no longer fit the game are dropped.
    pub fn next_wish(&self, out: &mut Out) -> Option<Wish> {
        if !self.synced {
            return None;
        }
        let game = self.whole();
        let fits = |wish: &Wish| {
            let stands = wish.answers.is_none() || wish.answers == self.pairing.offer;
            let may = wish.what != InGame::ClaimVictory || self.claim_at.is_some();
            wish.id == self.kept.id && wish.game == game && stands && may
        };
        std::iter::from_fn(|| out.wishes.pop_front()).find(fits)
    }

    /// Takes the hand's colour from the players' names, if it is not known yet.
    pub fn finds_hand(&mut self, full: &GameFull, user: Option<&str>) {
        if !self.guessed {
            return;
        }
        let is = |player: &User, name: &str| {
            let names = [&player.id, &player.name].into_iter().flatten();
            names.into_iter().any(|own| own.eq_ignore_ascii_case(name))
        };
        let me = |player: &User| user.is_some_and(|user| is(player, user));
        let opponent = self.opponent();
        let other = |player: &User| player.ai_level.is_some() || is(player, &opponent);
        let black = me(&full.black) || !me(&full.white) && other(&full.white);
        self.kept.hand = Color::from_white(!black);
        self.pairing.hand = Some(self.hand());
        self.guessed = false;
    }

    /// The first line of a stream. `false` if the game cannot be played.
    fn full(&mut self, full: GameFull, at_start: bool, out: &mut Out) -> bool {
        self.synced = true;
        let start = match full.initial_fen.as_deref() {
            None | Some("startpos") => Ok(Game::standard()),
            Some(fen) => Game::from_fen(fen),
        };
        let Ok(start) = start else {
            self.unplayable(out);
            return false;
        };
        self.timed = full.clock.is_some();
        let initial = full.clock.and_then(|clock| clock.initial);
        let initial = initial.filter(|_| full.tournament_id.is_some());
        self.tournament = initial.map(Duration::from_millis);
        let speed = full.speed.unwrap_or_default();
        let rated = if full.rated == Some(true) {
            "rated"
        } else {
            "casual"
        };
        let kind = match full.clock {
            Some(clock) => format!(
                "{rated} {speed} {}+{}",
                clock.initial.unwrap_or(0) / 60_000,
                clock.increment.unwrap_or(0) / 1000
            ),
            None => format!("{rated} {speed}"),
        };
        self.pairing.players = ByColor {
            white: Some(player(&full.white)),
            black: Some(player(&full.black)),
        };
        self.pairing.hand = Some(self.hand());
        let created = full.created_at.map(Duration::from_millis);
        let created = created.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        self.pairing.began = created;
        // As Lichess itself names a game.
        self.pairing.event = Some(format!("{rated} {speed} game"));
        if self.known && self.kept.game.common_plies(&start).is_some() {
            return true;
        }
        self.known = true;
        self.kept.game = start;
        let opponent = self.opponent();
        let white = self.hand().is_white();
        let game = Notice::Game {
            opponent,
            kind,
            white,
        };
        out.notices.push_back(game);
        out.seat.begin(at_start);
        self.state(out);
        true
    }

    /// Sets the address of the game, for PGN.
    pub fn is_at(&mut self, site: String) {
        self.pairing.site = Some(site);
    }

    fn unplayable(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.told_unplayable, true) {
            out.notices.push_back(Notice::Unplayable);
        }
    }

    /// Handles the state of the game; `stream` is given for the first line of a stream.
    fn stands(&mut self, wall: SystemTime, state: &State, stream: Option<u64>, out: &mut Out) {
        if self.kept.end.is_some() {
            return;
        }
        let mut game = self.kept.game.truncated(0);
        if game.play_uci(state.moves.split_whitespace()).is_ok() {
            self.clocks(wall, state, &game, out);
            self.follows(game, stream, out);
            self.show_clocks(out);
        } else {
            self.unplayable(out);
        }
        let status = state.status.unwrap_or(Status::Started);
        let winner = state.winner.as_deref().and_then(color);
        if let Some(end) = status.end(winner, &self.kept.game) {
            self.finish(end, out);
            return;
        }
        let first = state
            .expiration
            .filter(|_| self.kept.game.turn() == self.hand());
        if let Some(first) = first
            && !std::mem::replace(&mut self.told_to_begin, true)
        {
            let (idle, allowed) = (first.idle_millis, first.millis_to_move);
            let left = allowed.unwrap_or(0).saturating_sub(idle.unwrap_or(0)) / 1000;
            out.notices.push_back(Notice::Expires(left));
        }
        if stream.is_some() && self.kept.resigns == Some(Way::Unsure) {
            // The game was read after the request: if it is still running, the request did not arrive.
            self.kept.resigns = Some(Way::Waits);
        }
    }

    /// The stream of events says that the game is over. The game's own stream has its last moves, and decides how it ended.
    pub fn finishes(&mut self, info: &GameInfo) {
        let winner = info.winner.as_deref().and_then(color);
        let end = info
            .status
            .and_then(|status| status.end(winner, &self.kept.game));
        self.announced = end.or(self.announced);
    }

    /// Lichess does not have the game any more.
    pub fn is_gone(&mut self, out: &mut Out) {
        let unknown = GameEnd::without_result(Reason::Unknown);
        self.finish(self.announced.unwrap_or(unknown), out);
    }

    /// Follows the game as Lichess has it now.
    fn follows(&mut self, game: Game, stream: Option<u64>, out: &mut Out) {
        let (whole, ours) = (self.whole(), self.on_its_way());
        if game == self.kept.game {
            // It may not have our move yet.
            let Some(delivery) = &mut self.kept.delivery else {
                return;
            };
            match (stream, delivery.way) {
                // The game was read after the request: the move did not arrive.
                (Some(_), Way::Unsure) => delivery.way = Way::Waits,
                // It had the move and has it no longer.
                (Some(stream), Way::Taken(then)) if stream > then => {
                    self.kept.delivery = None;
                    self.state(out);
                    out.notices.push_back(Notice::TakenBack(1));
                }
                _ => {}
            }
            return;
        }
        self.kept.delivery = None;
        if game.continues(&whole) {
            let same = game == whole;
            self.kept.game = game;
            if !same {
                self.state(out);
            }
            return;
        }
        let shorter = whole.len().saturating_sub(game.len());
        let taken_back = whole.continues(&game);
        self.kept.game = game;
        match ours {
            Some(m) if !taken_back => out.notices.push_back(Notice::Overtaken(m)),
            _ if taken_back => out.notices.push_back(Notice::TakenBack(shorter)),
            _ => {}
        }
        self.state(out);
    }

    /// The clocks at this moment, from which clients count down.
    fn clocks(&mut self, wall: SystemTime, state: &State, game: &Game, out: &mut Out) {
        if !self.timed {
            return;
        }
        let (Some(white), Some(black)) = (state.wtime, state.btime) else {
            return;
        };
        let left = ByColor {
            white: Duration::from_millis(white),
            black: Duration::from_millis(black),
        };
        let plies = game.len();
        // Only the clocks show that a player has gone berserk.
        for color in Color::ALL {
            let half = |all: Duration| plies <= 2 && *left.get(color) <= all / 2;
            if self.tournament.is_some_and(half)
                && !std::mem::replace(self.berserk.get_mut(color), true)
            {
                let player = self.pairing.players.get(color).as_ref();
                let name = player.map(|player| player.name.clone()).unwrap_or_default();
                out.notices.push_back(Notice::Berserk(name));
            }
        }
        let times = &mut self.pairing.clock_times;
        if times.len() + 1 == plies {
            times.push(Some(*left.get(game.turn().other())));
        } else {
            times.resize(plies, None);
        }
        // No clock runs before both have moved.
        let is_over = state.status.is_some_and(Status::is_over);
        let runs = (plies >= 2 && !is_over).then_some(game.turn());
        self.pairing.clocks = Some(ClocksAt {
            clocks: Clocks { left, runs },
            at: wall,
        });
    }

    /// Shows the clocks on the board, if it can.
    fn show_clocks(&self, out: &mut Out) {
        if let Some(shown) = &self.pairing.clocks {
            out.seat.clocks(Some(shown.clocks));
        }
    }

    fn offers(&mut self, state: &State, take_backs: TakeBacks, out: &mut Out) {
        let of = |white, black| self.hand().fold_wb(black, white);
        let offer = if of(state.wdraw, state.bdraw) {
            Some(Saying::Draw)
        } else if of(state.wtakeback, state.btakeback) {
            Some(Saying::TakeBack)
        } else {
            None
        };
        let offer = offer.filter(|_| self.kept.end.is_none());
        let before = std::mem::replace(&mut self.pairing.offer, offer);
        self.can();
        if offer == before {
            return;
        }
        let opponent = self.opponent();
        match (offer, take_backs) {
            (Some(Saying::TakeBack), TakeBacks::Yes) => {
                self.wishes(InGame::TakeBack(true), out);
            }
            (Some(Saying::TakeBack), TakeBacks::No) => {
                self.wishes(InGame::TakeBack(false), out);
            }
            (Some(Saying::TakeBack), TakeBacks::Ask) => {
                out.notices.push_back(Notice::TakeBackProposed(opponent));
            }
            (Some(_), _) => out.notices.push_back(Notice::DrawOffered(opponent)),
            (None, _) => {}
        }
    }

    /// The game is over.
    fn finish(&mut self, end: GameEnd, out: &mut Out) {
        self.kept.end = Some(end);
        self.kept.delivery = None;
        self.kept.resigns = None;
        self.pairing.over = Some(self.kept.game.clone());
        self.pairing.offer = None;
        if let Some(shown) = &mut self.pairing.clocks {
            shown.clocks.runs = None;
        }
        let notice = Notice::Over {
            end,
            hand: self.hand(),
        };
        self.shows(notice, out);
        self.state(out);
        self.show_clocks(out);
        out.seat.end(end);
    }

    /// Tells a board after a restart what it may have missed.
    pub fn resume(&mut self, out: &mut Out) {
        self.state(out);
        if let Some(end) = self.kept.end {
            out.seat.end(end);
        }
    }

    /// The board has a new snapshot.
    pub fn snapshot(&mut self, now: Instant, snapshot: &Snapshot, out: &mut Out) {
        let Some(place) = out.seat.look(snapshot) else {
            return;
        };
        if self.kept.end.is_some() {
            return;
        }
        if !place.joined {
            if !std::mem::replace(&mut self.told_to_wait, true) {
                out.notices.push_back(if place.put_out {
                    Notice::PutOut
                } else {
                    Notice::Waits(snapshot.holders.clone())
                });
            }
            return;
        }
        self.told_to_wait = false;
        self.kings(now, snapshot, out);
        let left = left_by_hand(snapshot, &self.whole());
        // At half the wait: the take-back counts before the board is led back.
        let wait = snapshot.correction_wait / 2;
        out.seat.note_take_back(now, left, snapshot, wait);
        let made = out.seat.answer(place);
        if let Some(m) = made.filter(|_| self.awaits()) {
            self.hand_moved(m, out);
        }
    }

    /// The hand has made its move.
    fn hand_moved(&mut self, m: Move, out: &mut Out) {
        out.seat.answered(m);
        // The hand plays on: an unsent resignation is withdrawn.
        self.kept.resigns.take_if(|way| *way == Way::Waits);
        self.kept.delivery = Some(Delivery {
            m: m.to_uci(CastlingMode::Chess960),
            way: Way::Waits,
            refused: false,
        });
        self.state(out);
    }

    /// The kings in the centre: the hand's resignation, its offer of a draw, or its claim of a win.
    fn kings(&mut self, now: Instant, snapshot: &Snapshot, out: &mut Out) {
        let before = std::mem::replace(&mut self.sign, snapshot.sign);
        if before == self.sign {
            return;
        }
        let opponent = self.opponent();
        let Some(sign) = self.sign else {
            // What was asked of the player is done.
            self.pairing.notice.take_if(|_| self.claim_at.is_none());
            return;
        };
        match sign.loser() {
            Some(loser) if loser == self.hand() => {
                self.kept.resigns.get_or_insert(Way::Waits);
                if !self.synced {
                    out.notices.push_back(Notice::ResignsLater);
                }
            }
            Some(_) if self.claim_at.is_some_and(|at| at <= now) => {
                self.wishes(InGame::ClaimVictory, out);
            }
            Some(_) => self.shows(Notice::NotTheirs(opponent), out),
            None => {
                self.wishes(InGame::Draw(true), out);
                self.shows(Notice::OffersDraw(opponent), out);
            }
        }
    }

    /// Tells the player this, for as long as it matters.
    fn shows(&mut self, notice: Notice, out: &mut Out) {
        self.pairing.notice = Some(notice.to_string());
        out.notices.push_back(notice);
    }

    /// When to call [`Self::may_claim`].
    pub fn claims_at(&self) -> Option<Instant> {
        self.claim_at.filter(|_| !self.told_to_claim)
    }

    /// Says that the win can be claimed now, if it can.
    pub fn may_claim(&mut self, now: Instant, out: &mut Out) {
        if self.end().is_none() && self.claims_at().is_some_and(|at| at <= now) {
            let notice = Notice::Gone {
                opponent: self.opponent(),
                claim: Some(0),
            };
            self.shows(notice, out);
        }
        self.told_to_claim |= self.claim_at.is_some_and(|at| at <= now);
    }

    /// The hand has taken back all but `left` plies.
    pub fn hand_took_back(&mut self, left: usize, out: &mut Out) {
        let plies = self.kept.game.len();
        let unsent = self
            .kept
            .delivery
            .is_some_and(|delivery| delivery.way == Way::Waits);
        if unsent && left == plies {
            // It was not sent yet.
            self.kept.delivery = None;
            self.state(out);
        } else if self.kept.end.is_none() {
            self.wishes(InGame::TakeBack(true), out);
            if self.pairing.offer != Some(Saying::TakeBack) {
                let opponent = self.opponent();
                out.notices.push_back(Notice::ProposesTakeBack(opponent));
            }
        }
    }

    /// The hand's move, or else its resignation, if it is to be sent now.
    pub fn next_request(&mut self) -> Option<InGame> {
        if !self.synced {
            return None;
        }
        if let Some(delivery) = &mut self.kept.delivery {
            match delivery.way {
                Way::Waits => {
                    delivery.way = Way::Sending;
                    return Some(InGame::Move(delivery.m));
                }
                Way::Sending | Way::Unsure => return None,
                Way::Taken(_) => {}
            }
        }
        let way = self.kept.resigns.as_mut();
        let way = way.filter(|way| **way == Way::Waits)?;
        *way = Way::Sending;
        Some(if self.kept.game.len() < 2 {
            InGame::Abort
        } else {
            InGame::Resign
        })
    }

    /// The request to resign had this result. `true` if the game has to be read again.
    pub fn resigned(&mut self, result: SendOutcome, stream: u64) -> bool {
        let way = self.kept.resigns.as_mut();
        let Some(way) = way.filter(|way| **way == Way::Sending) else {
            return false;
        };
        match result {
            SendOutcome::Taken => *way = Way::Taken(stream),
            SendOutcome::NotSent => *way = Way::Waits,
            SendOutcome::Unsure => *way = Way::Unsure,
            SendOutcome::Refused => self.kept.resigns = None,
        }
        result == SendOutcome::Unsure
    }

    /// The request with the hand's move had this result. `true` if the game has to be read again.
    pub fn sent(&mut self, m: UciMove, result: SendOutcome, stream: u64, out: &mut Out) -> bool {
        let delivery = self.kept.delivery.as_mut();
        let Some(delivery) = delivery.filter(|d| d.m == m && d.way == Way::Sending) else {
            // The stream has shown it already.
            return false;
        };
        match result {
            SendOutcome::Taken => delivery.way = Way::Taken(stream),
            SendOutcome::NotSent => delivery.way = Way::Waits,
            SendOutcome::Unsure => delivery.way = Way::Unsure,
            SendOutcome::Refused if !delivery.refused => {
                delivery.refused = true;
                delivery.way = Way::Unsure;
            }
            SendOutcome::Refused => {
                out.notices.extend(self.on_its_way().map(Notice::NotTaken));
                self.kept.delivery = None;
                self.state(out);
            }
        }
        matches!(result, SendOutcome::Unsure | SendOutcome::Refused)
    }

    /// The stream of the game is closed.
    pub fn lost_stream(&mut self) {
        self.synced = false;
    }

    /// What the opponent offers.
    pub fn offer(&self) -> Option<Saying> {
        self.pairing.offer
    }
}

/// The outcome of a move that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// Lichess has accepted it.
    Taken,
    /// It was not looked at: too many requests.
    NotSent,
    /// No answer came.
    Unsure,
    /// Lichess has refused it.
    Refused,
}

fn player(user: &User) -> Player {
    let name = user.name.as_ref().or(user.id.as_ref()).cloned();
    let computer = |level| format!("Stockfish level {level}");
    Player {
        name: name
            .or(user.ai_level.map(computer))
            .unwrap_or_else(|| "Anonymous".to_owned()),
        title: user.title.clone(),
        rating: user.rating,
    }
}
