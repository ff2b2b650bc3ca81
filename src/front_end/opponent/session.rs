//! The game at a board with an opponent, without I/O: snapshots of the board, the engine's moves, what the player says and
//! time go in; commands for the board, notices and a question for the engine come out.
//!
//! While no game is in progress, the start position is stated so that the hand can begin, and any other client that wants the
//! board gets it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Move, Position};

use super::{
    engine::{Answer, Question},
    notice::Notice,
    settings::Hand,
};
use crate::{
    bus::pairings::Saying,
    chess::game::{Game, MAX_PLIES, uci},
    front_end::seat::{SavedSeat, Seat, left_by_hand},
    state::Text,
    vocabulary::{
        Advice, BoardName, ClientId, ClientName, ClientPlace, Evaluation, Event, GameEnd,
        LinkState, Occasion, Opponent, Snapshot,
    },
};

/// How long the pieces have to stand at the start before the engine begins: the hand has left them.
pub const STANDS_WAIT: Duration = Duration::from_secs(3);
/// How long a position has to stand after a take-back before the engine answers: more may be taken back.
pub const TAKE_BACK_WAIT: Duration = Duration::from_secs(2);
/// The pause before the next game on a board that cannot tell that the pieces were set up.
pub const NEXT_WAIT: Duration = Duration::from_secs(10);
/// For how long after a board came back or was switched on its start position may only mean that it has forgotten the game.
pub const UNSETTLED: Duration = Duration::from_secs(30);
/// Before this many plies a game does not count: its colours are played again.
const BEGUN: usize = 2;

/// The board and the player of a session.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its number as a client of the board.
    pub client: ClientId,
    /// The board.
    pub board: BoardName,
    /// What the hand plays; `None`: both sides, without an engine.
    pub hand: Option<Hand>,
}

/// How far the game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// No game is in progress.
    Rests,
    /// The board is led to the start; the hand has not moved yet.
    Waits,
    /// It is being played.
    Plays,
}

/// The state that is needed after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedOpponent {
    /// Its seat at the board.
    #[serde(flatten)]
    pub seat: SavedSeat,
    games: u64,
    /// Games that counted.
    played: u64,
    hand: Option<Text<Color>>,
    phase: Phase,
    game: Game,
    over: Option<GameEnd>,
    has_begun: bool,
    put_to_start: u64,
}

impl SavedOpponent {
    /// Whether the saved game fits what the hand plays now.
    pub fn suits(&self, hand: Option<Hand>) -> bool {
        match (hand, self.hand) {
            (None, None) | (Some(Hand::Alternate), Some(_)) => true,
            (Some(Hand::White), Some(Text(color))) => color.is_white(),
            (Some(Hand::Black), Some(Text(color))) => color.is_black(),
            _ => false,
        }
    }
}

/// The game. See the module documentation.
#[derive(Debug)]
pub struct OpponentGame {
    seat: Seat,
    board: BoardName,
    /// What the hand plays, as in [`Place`].
    plays: Option<Hand>,
    games: u64,
    played: u64,
    hand: Option<Color>,
    phase: Phase,
    game: Game,
    over: Option<GameEnd>,
    /// The board has been seen in this game before it ended.
    has_begun: bool,
    /// How many times the hand had put all pieces at the start.
    put_to_start: u64,
    at_start: bool,
    /// The engine's answer, held back while the hand takes moves back.
    reply: Option<Answer>,
    /// What the engine made of a position of this game, and how many plies that had.
    judged: Option<(usize, Evaluation)>,
    /// The engine may make the first move.
    called: bool,
    begins_at: Option<Instant>,
    next_at: Option<Instant>,
    unsettled_until: Option<Instant>,
    /// The clients that have the board.
    occupied: Option<String>,
    notices: VecDeque<Notice>,
}

impl OpponentGame {
    /// A board whose first game is about to begin.
    pub fn new(place: Place, label: ClientName) -> Self {
        let mut session = Self {
            seat: Seat::new(place.client, label),
            board: place.board,
            plays: place.hand,
            games: 0,
            played: 0,
            hand: None,
            phase: Phase::Rests,
            game: Game::standard(),
            over: None,
            has_begun: false,
            put_to_start: 0,
            at_start: false,
            reply: None,
            judged: None,
            called: false,
            begins_at: None,
            next_at: None,
            unsettled_until: None,
            occupied: None,
            notices: VecDeque::new(),
        };
        session.begin(Game::standard());
        session
    }

    /// A game that goes on after a restart, with the board as it was restored.
    pub fn restored(
        memory: SavedOpponent,
        place: Place,
        label: ClientName,
        board: &Snapshot,
    ) -> Self {
        let mut session = Self {
            seat: Seat::restored(memory.seat, label.clone()),
            games: memory.games,
            played: memory.played,
            hand: memory.hand.map(|Text(color)| color),
            phase: memory.phase,
            game: memory.game,
            over: memory.over,
            has_begun: memory.has_begun,
            // A board that has lost its count begins again at 0.
            put_to_start: memory.put_to_start.min(board.put_to_start),
            ..Self::new(place, label)
        };
        session.notices.clear();
        let is_known = session.seat.known(board).is_some();
        match (session.phase, session.over) {
            (Phase::Waits | Phase::Plays, _) => session.state(),
            // The board may not have been told the end yet.
            (Phase::Rests, Some(end)) if is_known => {
                session.state();
                session.seat.end(end);
            }
            (Phase::Rests, _) => {}
        }
        session
    }

    /// The state that it needs after a restart.
    pub fn memory(&self) -> SavedOpponent {
        SavedOpponent {
            seat: self.seat.saved(),
            games: self.games,
            played: self.played,
            hand: self.hand.map(Text),
            phase: self.phase,
            game: self.game.clone(),
            over: self.over,
            has_begun: self.has_begun,
            put_to_start: self.put_to_start,
        }
    }

    /// Its seat at the board.
    pub fn seat(&mut self) -> &mut Seat {
        &mut self.seat
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How it ended.
    pub fn over(&self) -> Option<GameEnd> {
        self.over
    }

    /// What the hand plays; `None` for both.
    pub fn hand(&self) -> Option<Color> {
        self.hand
    }

    /// Why the board cannot be played on now.
    pub fn occupied(&self) -> Option<Notice> {
        self.occupied.clone().map(|holders| Notice::Occupied {
            board: self.board.clone(),
            holders,
            in_game: self.phase == Phase::Plays,
        })
    }

    /// What the player can say now.
    pub fn can(&self) -> Vec<Saying> {
        match self.phase {
            Phase::Rests | Phase::Waits if self.occupied.is_some() => vec![],
            Phase::Rests => vec![Saying::NewGame],
            Phase::Waits => vec![Saying::Ready, Saying::NewGame],
            Phase::Plays if self.occupied.is_some() => vec![Saying::Resign],
            Phase::Plays => {
                let mut can = vec![Saying::Resign, Saying::NewGame];
                can.extend(self.before_last_move().map(|_| Saying::TakeBack));
                can.extend(self.hand.is_none().then_some(Saying::Draw));
                can
            }
        }
    }

    /// The next notice.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Whether the hand's move is awaited.
    pub fn awaits_hand(&self) -> bool {
        self.phase != Phase::Rests && self.is_hands_turn()
    }

    /// What the engine has to answer now.
    pub fn question(&self) -> Option<Question> {
        let begun = match self.phase {
            Phase::Rests => false,
            Phase::Waits => self.called,
            Phase::Plays => true,
        };
        let is_engines = begun && !self.is_hands_turn() && self.reply.is_none();
        is_engines.then(|| Question {
            number: self.seat.number(),
            game_number: self.games,
            game: self.game.clone(),
        })
    }

    /// When to call [`Self::timeout`].
    pub fn deadline(&self) -> Option<Instant> {
        [self.seat.deadline(), self.begins_at, self.next_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// The time returned by [`Self::deadline`] has come.
    pub fn timeout(&mut self, now: Instant) {
        if let Some(left) = self.seat.take_back_due(now) {
            self.take_back_to(left);
        }
        if self.begins_at.take_if(|at| *at <= now).is_some() {
            self.called = true;
        }
        if self.next_at.take_if(|at| *at <= now).is_some() {
            self.begin(Game::standard());
        }
    }

    /// The events of the board, and its state after them.
    pub fn snapshot(&mut self, now: Instant, events: &[Event], snapshot: &Snapshot) {
        self.note_unsettled(now, events, &snapshot.link);
        if events.contains(&Event::AsksTakeBack) {
            // Without a move to take back there is nothing to do.
            let _ = self.said(Saying::TakeBack);
        }
        let open = snapshot.link.is_open();
        let game = &snapshot.game;
        let stands = open && snapshot.sure && snapshot.ending.is_none();
        let before = std::mem::replace(&mut self.put_to_start, snapshot.put_to_start);
        let set_up = stands && before != self.put_to_start;
        // The hand may have set up another position than the start.
        let is_ours = game.start() == self.game.start();
        let is_start = game.is_standard() || set_up || is_ours;
        self.at_start = stands && is_start && game.is_empty();
        let put_to_start = set_up && (game.is_empty() || !is_ours);
        if self.phase == Phase::Rests {
            // The first move may have come with the set-up, or without it while nobody heard the board.
            self.at_start |= set_up || self.is_first_move(snapshot);
            self.rests(now, snapshot);
            return;
        }
        let Some(place) = self.seat.look(snapshot) else {
            return;
        };
        if self.phase == Phase::Waits {
            self.waits(now, snapshot, place, put_to_start);
        } else {
            self.plays(now, snapshot, place, put_to_start);
        }
    }

    /// What the engine makes of the game, since its last move.
    pub fn evaluation(&self) -> Option<Evaluation> {
        let (plies, evaluation) = self.judged?;
        let is_played = self.phase == Phase::Plays && plies < self.game.len();
        is_played.then_some(evaluation)
    }

    /// The engine's answer to its question.
    pub fn reply(&mut self, answer: Answer) {
        let number = answer.question.number;
        let wanted = self.question().is_some_and(|asked| asked.number == number);
        if !wanted {
            return;
        }
        if self.seat.is_taking_back() {
            self.reply = Some(answer);
        } else {
            self.replied(&answer);
        }
    }

    /// What the player says.
    ///
    /// # Errors
    /// Why not, in words with the remedy.
    pub fn said(&mut self, saying: Saying) -> Result<(), String> {
        let board = &self.board;
        let leaves = matches!(saying, Saying::Resign | Saying::Abort);
        if let Some(holders) = self.occupied.as_ref().filter(|_| !leaves) {
            return Err(format!(
                "the board is with {holders}: end that game first, or release it (`boardbridge release {board}`)"
            ));
        }
        let no_game =
            || Err("no game in progress: make the first move, or press 'new game'".to_owned());
        match (saying, self.phase) {
            (Saying::NewGame, Phase::Waits) => self.called = true,
            (Saying::NewGame, _) => {
                self.at_start = false;
                self.begin(Game::standard());
            }
            (Saying::Ready, Phase::Rests) => self.begin(Game::standard()),
            (Saying::Ready, _) => {
                self.called = true;
                self.seat.ready();
            }
            (Saying::Decline, _) => return Err("nothing is offered".to_owned()),
            (Saying::Berserk, _) => return Err("there is no clock here".to_owned()),
            (_, Phase::Rests | Phase::Waits) => return no_game(),
            (Saying::Resign, Phase::Plays) => {
                let by = self.hand.unwrap_or(self.game.turn());
                self.finish(GameEnd::resigned(by));
            }
            (Saying::Abort, Phase::Plays) if self.game.len() >= BEGUN => {
                return Err("the game is under way: resign it, or begin a new game".to_owned());
            }
            (Saying::Abort, Phase::Plays) => self.finish(GameEnd::ABORTED),
            (Saying::Draw, Phase::Plays) if self.hand.is_none() => self.finish(GameEnd::AGREED),
            (Saying::Draw, Phase::Plays) => {
                return Err(
                    "the engine declines: play on, or put the kings on a light and a dark square in the centre"
                        .to_owned(),
                );
            }
            (Saying::TakeBack, Phase::Plays) => match self.before_last_move() {
                Some(left) => self.take_back_to(left),
                None => return Err("you have made no move to take back".to_owned()),
            },
        }
        Ok(())
    }

    fn is_hands_turn(&self) -> bool {
        self.hand.is_none_or(|hand| hand == self.game.turn())
    }

    /// How many plies the game had before the hand's last move.
    fn before_last_move(&self) -> Option<usize> {
        let answered = self.hand.is_some() && self.is_hands_turn();
        self.game.len().checked_sub(1 + usize::from(answered))
    }

    /// A board that was switched off may have forgotten the game without any piece having moved.
    fn note_unsettled(&mut self, now: Instant, events: &[Event], link: &LinkState) {
        let comes = |event: &Event| {
            matches!(
                event,
                Event::Connected | Event::Restarted | Event::Answers { .. }
            )
        };
        if !link.is_open() || events.iter().any(comes) {
            self.unsettled_until = Some(now + UNSETTLED);
        }
    }

    /// How many games will have counted when the next one begins.
    fn next_played(&self) -> u64 {
        let counts = self.game.len() >= BEGUN;
        self.played.wrapping_add(counts.into())
    }

    /// What the hand plays in the next game; `None`: both sides.
    fn next_hand(&self) -> Option<Color> {
        self.plays.map(|hand| match hand {
            Hand::White => Color::White,
            Hand::Black => Color::Black,
            Hand::Alternate => Color::from_white(self.next_played().is_multiple_of(2)),
        })
    }

    /// A game can begin in this position.
    fn begin(&mut self, start: Game) {
        self.hand = self.next_hand();
        self.played = self.next_played();
        self.games = self.games.wrapping_add(1);
        self.phase = Phase::Waits;
        self.game = start;
        self.over = None;
        self.has_begun = false;
        self.judged = None;
        self.called = false;
        self.begins_at = None;
        self.next_at = None;
        self.occupied = None;
        self.seat.begin(self.at_start);
        self.state();
        let hand = self.hand;
        self.notices.push_back(Notice::NewGame { hand });
    }

    /// States the game to the board.
    fn state(&mut self) {
        self.reply = None;
        let occasion = Occasion {
            opponent: match self.plays {
                Some(_) => Opponent::Engine,
                None => Opponent::Nobody,
            },
            hand_next: self.is_hands_turn(),
            takes_back: true,
        };
        let awaits = self.is_hands_turn() && self.over.is_none();
        self.seat.state(&self.game, occasion, awaits);
        if self.phase == Phase::Waits {
            self.seat.make_way();
        }
    }

    /// Whether the hand seems to have begun a game, as on a board whose set-up was not heard.
    fn is_first_move(&self, snapshot: &Snapshot) -> bool {
        let game = &snapshot.game;
        let begins = !snapshot.sure && game.is_standard() && game.len() == 1;
        let is_hands = self.next_hand().is_none_or(Color::is_white);
        begins && is_hands && snapshot.link.is_open()
    }

    /// No game is in progress.
    fn rests(&mut self, now: Instant, snapshot: &Snapshot) {
        let client = self.seat.client();
        let ours = self.seat.known(snapshot);
        // A game that is over keeps the board until its last move is shown.
        let ends = ours.is_some_and(|place| place.joined && self.over.is_some());
        if ours.is_some() && !ends {
            // It has not been released yet.
            return;
        }
        let others = |place: &ClientPlace| place.client != client && place.joined;
        let is_free = snapshot.holders.is_empty() || ends && !snapshot.places.iter().any(others);
        let holders = || ClientName::join(&snapshot.holders, " and ");
        self.occupied = (!is_free).then(holders);
        if !is_free {
            self.next_at = None;
        } else if self.at_start {
            self.begin(snapshot.game.truncated(0));
        } else if snapshot.tells_all || snapshot.kept {
            self.next_at = None;
        } else if self.next_at.is_none() {
            self.next_at = Some(now + NEXT_WAIT);
        }
    }

    /// The board is led to the start.
    fn waits(
        &mut self,
        now: Instant,
        snapshot: &Snapshot,
        place: &ClientPlace,
        put_to_start: bool,
    ) {
        let others = |other: &ClientPlace| other.client != place.client && other.joined;
        if place.put_out || snapshot.places.iter().any(others) || !place.joined && !snapshot.kept {
            self.makes_way(snapshot);
            return;
        }
        if !place.joined {
            // Its turn comes when the program is back and has left, or has been away for long.
            let holders = ClientName::join(&snapshot.holders, " and ");
            if self.occupied.replace(holders).is_none() {
                self.notices.extend(self.occupied());
            }
            return;
        }
        if self.occupied.take().is_some() {
            // Its game has still to begin.
            self.seat.make_way();
        }
        self.has_begun |= snapshot.ending.is_none();
        let start = snapshot.game.truncated(0);
        if put_to_start && start != self.game {
            // The hand does not want the engine's first move, or begins elsewhere.
            self.begin(start);
            return;
        }
        self.answer(place);
        let calls = self.phase == Phase::Waits && self.game.is_empty() && !self.is_hands_turn();
        let rests = matches!(snapshot.advice, Advice::Nothing | Advice::YourMove(_));
        // A board that tells moves only cannot tell that the pieces are there.
        let is_there = !snapshot.tells_all || snapshot.guidance.is_empty() && rests;
        let stands = calls && !self.called && self.at_start && is_there;
        if !stands {
            self.begins_at = None;
        } else if self.begins_at.is_none() {
            self.begins_at = Some(now + STANDS_WAIT);
        }
    }

    /// Another client has the board, or it was released.
    fn makes_way(&mut self, snapshot: &Snapshot) {
        self.phase = Phase::Rests;
        self.game = Game::standard();
        self.begins_at = None;
        self.seat.leave();
        let is_ours = |name: &&ClientName| {
            // The engine's name may have changed since the game was stated.
            *name == self.seat.label() || matches!(name, ClientName::Engine(_))
        };
        let others = snapshot.holders.iter().filter(|name| !is_ours(name));
        let others: Vec<ClientName> = others.cloned().collect();
        if !others.is_empty() {
            self.occupied = Some(ClientName::join(&others, " and "));
            self.notices.extend(self.occupied());
        }
    }

    /// The game is being played.
    fn plays(
        &mut self,
        now: Instant,
        snapshot: &Snapshot,
        place: &ClientPlace,
        put_to_start: bool,
    ) {
        if place.put_out {
            self.phase = Phase::Rests;
            self.over = Some(GameEnd::ABORTED);
            self.reply = None;
            self.seat.leave();
            self.notices.push_back(Notice::PutOut);
            return;
        }
        if !place.joined {
            let holders = ClientName::join(&snapshot.holders, " and ");
            if holders.is_empty() {
                if self.seat.restates(now) {
                    self.state();
                }
                return;
            }
            if self.occupied.replace(holders).is_none() {
                self.notices.extend(self.occupied());
            }
            return;
        }
        self.occupied = None;
        self.has_begun |= snapshot.ending.is_none();
        let end = snapshot.ending.filter(|_| self.has_begun);
        if let Some(end) = end.filter(|_| *snapshot.game == self.game) {
            self.finish(end);
            return;
        }
        if put_to_start {
            let start = snapshot.game.truncated(0);
            let is_unsettled = self.unsettled_until.is_some_and(|until| now < until);
            if is_unsettled && start.is_standard() {
                self.notices.push_back(Notice::GoesOn);
                self.state();
            } else {
                self.begin(start);
            }
            return;
        }
        self.note_take_back(now, snapshot);
        self.answer(place);
    }

    /// Notes what the hand may have taken back.
    fn note_take_back(&mut self, now: Instant, snapshot: &Snapshot) {
        let left = left_by_hand(snapshot, &self.game);
        // Below the correction wait: the take-back counts before the board is led back.
        let wait = TAKE_BACK_WAIT.min(snapshot.correction_wait * 2 / 3);
        self.seat.note_take_back(now, left, snapshot, wait);
        if left.is_none()
            && let Some(answer) = self.reply.take()
        {
            self.replied(&answer);
        }
    }

    fn take_back_to(&mut self, left: usize) {
        let plies = self.game.len().saturating_sub(left);
        self.game = self.game.truncated(left);
        if left == 0 {
            self.phase = Phase::Waits;
        }
        self.state();
        self.notices.push_back(Notice::TookBack(plies));
    }

    /// Handles what the hand has played.
    fn answer(&mut self, place: &ClientPlace) {
        let Some(m) = self.seat.answer(place) else {
            return;
        };
        if !self.is_hands_turn() {
            self.seat.refuse();
            self.notices.push_back(Notice::OutOfTurn(uci(m)));
            return;
        }
        if !self.game.position().is_legal(m) {
            self.seat.refuse();
            return;
        }
        self.seat.answered(m);
        self.phase = Phase::Plays;
        self.moved(m);
    }

    /// This move was made in the game, by either side.
    fn replied(&mut self, answer: &Answer) {
        self.judged = answer.evaluation.map(|judged| (self.game.len(), judged));
        self.moved(answer.m);
    }

    fn moved(&mut self, m: Move) {
        if !self.game.push(m) {
            return;
        }
        // Set before the game is stated, so that no hand is awaited after the last move.
        self.over = GameEnd::by_rules(&self.game);
        if self.game.len() >= MAX_PLIES {
            self.over = self.over.or(Some(GameEnd::ABORTED));
        }
        self.state();
        if let Some(end) = self.over {
            self.finish(end);
        }
    }

    fn finish(&mut self, end: GameEnd) {
        self.over = Some(end);
        self.phase = Phase::Rests;
        self.reply = None;
        self.seat.end(end);
        self.notices.push_back(Notice::Over(end));
    }
}
