//! One game: its script, how far it has come, and the judge of what each side says.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use shakmaty::{Chess, Move, Position, uci::UciMove};
use simulators::{
    HandAction,
    game::{Game, uci},
};
use tokio::sync::Notify;

use crate::score::Score;

/// The games that are played: those of the file that end on the board.
const GAMES: &str = include_str!("../../tests/games/lichess-428.uci");
/// The longest of them, in plies.
const LONGEST: usize = 110;
/// A player whose move has brought no answer for this long, and whose opponent was there, makes it again.
const PATIENCE: Duration = Duration::from_secs(12);
/// A game that has not moved for this long is lost.
const STUCK: Duration = Duration::from_mins(1);
/// The first moves are made this long after the boards are there.
const START: Duration = Duration::from_secs(3);
/// How long a hand thinks, in milliseconds.
const THINKS: Range<u64> = 20..200;
/// How long it takes to castle after the lamps came on: what a Citrine reports sooner was made by the words that lit them.
const CASTLES: Range<u64> = 550..750;
/// Lines of the record that are kept for a report.
const RECORD: usize = 60;
/// The end of a game on a board, to the beginning of the next.
const BETWEEN: Duration = Duration::from_millis(400);

/// Which sides the hands at the boards play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hands {
    /// One board: its hand has the last move of each game, for a program is not told of a move that ends it.
    One,
    /// One board: its hand has White, and the other side the last move, for an engine is not told of a move that ends it.
    White,
    /// One board: its hand makes the moves of both sides, and the front-end hears them.
    Both,
    /// Two boards: the first has White.
    Two,
}

impl Hands {
    /// Whether the hands wait at the beginning of a game until the front-end asks.
    fn wait(self) -> bool {
        matches!(self, Self::One | Self::Both)
    }
}

/// What a front-end heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The next move of the game, as its hand made it.
    Right,
    /// Anything else.
    Wrong,
}

#[derive(Debug)]
struct State {
    /// Counts the games.
    number: usize,
    script: Vec<UciMove>,
    positions: Vec<Chess>,
    /// Moves that both sides have.
    plies: usize,
    /// Where each board is in the script; `None`: somewhere else.
    at: Vec<Option<usize>>,
    /// When the move after `plies` was made.
    made: Option<Instant>,
    /// The move that its hand has tried to take back.
    taken_back: Option<Instant>,
    /// The one that it could not: the app is to be opened again.
    reopens: Option<Instant>,
    /// When the front-end heard the last move of a hand.
    heard: Option<Instant>,
    /// When each hand may act next.
    next: Vec<Instant>,
    /// When the game last moved.
    moved: Instant,
    /// The end of the last fault that the game has moved after.
    seen: Option<Instant>,
    /// When the front-end began it, and whether it has asked for a move.
    begun: Instant,
    asked: bool,
    /// Since when the front-end is there.
    there: Option<Instant>,
    /// The game was given up: the front-end begins another.
    given_up: bool,
    record: VecDeque<String>,
}

impl State {
    /// Whether the move after this ply is a castling.
    fn castles(&self, ply: usize) -> bool {
        let m = self.script.get(ply).zip(self.positions.get(ply));
        let m = m.and_then(|(m, position)| m.to_move(position).ok());
        m.is_some_and(Move::is_castle)
    }
}

/// One game after the other between the hands at one or two boards and a front-end.
#[derive(Debug)]
pub struct Seat {
    /// For reports.
    pub name: String,
    hands: Hands,
    score: Arc<Score>,
    began: Instant,
    state: Mutex<State>,
    /// Something changed.
    pub news: Notify,
}

/// The moves of the n-th game to be played, round and round.
fn script(hands: Hands, number: usize) -> Vec<UciMove> {
    let fitting = |line: &str| -> Option<Game> {
        let mut game = Game::standard();
        game.play_uci(line.split_whitespace()).ok()?;
        // A Neo's hand has queens only.
        let queens = game.moves().iter().all(|m| {
            m.promotion()
                .is_none_or(|role| role == shakmaty::Role::Queen)
        });
        let over = game.position().is_checkmate();
        let ends = hands != Hands::White || game.len().is_multiple_of(2);
        (queens && over && ends && game.len() <= LONGEST).then_some(game)
    };
    let games: Vec<Game> = GAMES.lines().filter_map(fitting).collect();
    let game = &games[number % games.len()];
    game.moves().iter().map(|m| uci(*m)).collect()
}

fn positions(script: &[UciMove]) -> Vec<Chess> {
    let mut game = Game::standard();
    let mut all = vec![game.position().clone()];
    for m in script {
        if let Ok(m) = m.to_move(game.position()) {
            game.push(m);
        }
        all.push(game.position().clone());
    }
    all
}

impl Seat {
    /// A seat whose first game is this one of the file.
    pub fn new(name: &str, hands: Hands, first: usize, score: Arc<Score>) -> Self {
        let boards = if hands == Hands::Two { 2 } else { 1 };
        let script = script(hands, first);
        let now = Instant::now();
        Self {
            name: name.to_owned(),
            hands,
            score,
            began: now,
            state: Mutex::new(State {
                number: first,
                positions: positions(&script),
                script,
                plies: 0,
                at: vec![Some(0); boards],
                made: None,
                taken_back: None,
                reopens: None,
                heard: None,
                // The daemon greets its boards first.
                next: vec![now + START; boards],
                moved: now,
                seen: None,
                begun: now,
                asked: !hands.wait(),
                there: Some(now),
                given_up: false,
                record: VecDeque::new(),
            }),
            news: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes something for a report.
    pub fn note(&self, what: impl AsRef<str>) {
        let line = format!(
            "{:9.3} {}",
            self.began.elapsed().as_secs_f64(),
            what.as_ref()
        );
        let record = &mut self.state().record;
        if record.len() == RECORD {
            record.pop_front();
        }
        record.push_back(line);
    }

    fn complain(&self, what: &str) {
        let record: Vec<String> = self.state().record.iter().cloned().collect();
        eprintln!("{}: {what}\n    {}", self.name, record.join("\n    "));
    }

    /// A move that was made then is made again: worth a report if it was lost.
    fn again(&self, made: Instant, what: &str) {
        if self.score.again(made) {
            self.complain(what);
        }
    }

    /// The number of the game, the moves that both sides have, and all its moves.
    pub fn game(&self) -> (usize, usize, Vec<UciMove>) {
        let state = self.state();
        (state.number, state.plies, state.script.clone())
    }

    /// Whether the game was given up.
    pub fn is_given_up(&self) -> bool {
        self.state().given_up
    }

    /// Whether the hand of this board makes the move after `plies`.
    fn plays(&self, board: usize, plies: usize, whole: usize) -> bool {
        match self.hands {
            Hands::One => plies < whole && (whole - 1 - plies).is_multiple_of(2),
            Hands::White => plies.is_multiple_of(2),
            Hands::Both => true,
            Hands::Two => plies % 2 == board,
        }
    }

    /// Whether a hand makes the move after `plies`.
    pub fn is_hands(&self, plies: usize) -> bool {
        let whole = self.state().script.len();
        self.hands == Hands::Two || self.plays(0, plies, whole)
    }

    /// Whether the hand begins.
    pub fn hand_begins(&self) -> bool {
        self.is_hands(0)
    }

    fn settle(&self, state: &mut State, plies: usize) {
        while state.plies < plies {
            state.plies += 1;
            self.score.ply();
        }
        state.made = None;
        state.moved = Instant::now();
        let over = self.score.over();
        if let Some(over) = over
            && state.seen != Some(over)
            && state.moved >= over
        {
            state.seen = Some(over);
            self.score.recovered(state.moved - over);
        }
        if state.plies == state.script.len() {
            self.score.game();
        }
        self.news.notify_waiters();
    }

    /// Whether the game has moved since the last fault.
    pub fn has_moved(&self) -> bool {
        let state = self.state();
        match self.score.over() {
            Some(over) => state.moved >= over && state.seen == Some(over),
            None => false,
        }
    }

    /// The front-end asks for the hand's moves from now on.
    pub fn asks(&self) {
        self.state().asked = true;
    }

    /// The front-end is away, or does not know the board yet: a move would be lost.
    pub fn asks_nothing(&self) {
        self.state().asked = false;
    }

    /// The front-end is there, or away: what it is to be told waits.
    pub fn is_there(&self, there: bool) {
        self.state().there = there.then(Instant::now);
    }

    /// Since when a game has begun that its board does not know.
    pub fn is_unknown(&self) -> Option<Instant> {
        let over = self.score.over()?;
        let state = self.state();
        let unknown = state.plies == 0 && !matches!(state.at[0], Some(0 | 1));
        (unknown && state.begun.max(over).elapsed() > PATIENCE).then_some(state.begun)
    }

    /// The front-end begins the game again.
    pub fn begins_again(&self, begun: Instant) {
        self.again(begun, "the game is begun again");
        let mut state = self.state();
        state.begun = Instant::now();
        state.made = None;
    }

    /// What a side says cannot be.
    pub fn wrong(&self, what: &str) {
        self.state().given_up = true;
        self.score.doubled();
        self.complain(what);
        self.news.notify_waiters();
    }

    /// The front-end makes the next move.
    pub fn sends(&self) {
        self.note("the program moves");
        self.state().made = Some(Instant::now());
    }

    /// When the front-end's move is to be made again: the board has not shown it.
    pub fn is_unheard(&self) -> Option<Instant> {
        let made = self.state().made?;
        let over = self.score.over()?;
        (made.max(over).elapsed() > PATIENCE).then_some(made)
    }

    /// Whether the player opens the app again: it waits for a move that the hand can't take back.
    pub fn opens_again(&self) -> bool {
        let mut state = self.state();
        let refused = state.reopens.take();
        let made = refused.filter(|refused| state.made == Some(*refused));
        drop(state);
        if let Some(made) = made {
            self.note("the app is opened again");
            self.again(made, "the app is opened again");
        }
        made.is_some()
    }

    /// The front-end makes its move again.
    pub fn sends_again(&self, made: Instant) {
        self.again(made, "the program's move is sent again");
        self.state().made = Some(Instant::now());
    }

    /// The front-end was told a move of the board.
    pub fn hears(&self, m: &str) -> Heard {
        self.note(format!("heard {m}"));
        let mut state = self.state();
        let plies = state.plies;
        let wanted = state.script.get(plies).map(ToString::to_string);
        // The hand began to make it; the move before it has been settled then.
        let made = state.made.is_some() && self.plays(0, plies, state.script.len());
        if made && wanted.is_some_and(|wanted| wanted == m) {
            state.heard = Some(Instant::now());
            self.settle(&mut state, plies + 1);
            return Heard::Right;
        }
        drop(state);
        self.wrong(&format!("{m} came, and no hand had made it"));
        Heard::Wrong
    }

    /// The front-end was told its last move once more. Returns whether it came when a fault did, so that nobody could tell the daemon
    /// that it had: counted with the moves that were made again.
    pub fn hears_again(&self) -> bool {
        let heard = self.state().heard;
        let in_flight = heard.is_some_and(|heard| self.score.in_flight(heard));
        if in_flight {
            self.note("heard it again");
            self.score.told_again();
        }
        in_flight
    }

    /// The next game begins, at the front-end.
    pub fn begins(&self) {
        let mut state = self.state();
        state.number += 1;
        state.script = script(self.hands, state.number);
        state.positions = positions(&state.script);
        state.plies = 0;
        state.made = None;
        state.given_up = false;
        state.moved = Instant::now();
        state.begun = state.moved;
        state.asked = !self.hands.wait();
        state.at.fill(None);
        drop(state);
        self.note("the next game");
    }

    /// A board reports a new game. In the middle of one that is a loss, unless the board is then told its moves again.
    pub fn told_new_game(&self, rebuilt: bool) {
        let mut state = self.state();
        let mid = state.plies > 1 && state.plies < state.script.len() && !state.given_up;
        if !mid {
            return;
        }
        if rebuilt {
            self.score.rebuilt();
            return;
        }
        state.given_up = true;
        drop(state);
        self.score.game_lost();
        self.complain("a board was told a new game");
    }

    /// What the hand at a board does now. Its board stands like this; `shown`: a move is shown.
    pub fn hand(&self, board: usize, on_board: &Game, shown: bool) -> Option<HandAction> {
        let now = Instant::now();
        let mut state = self.state();
        let stands = on_board.position();
        let same = |ply: &usize| {
            let position = &state.positions[*ply];
            position.board() == stands.board() && position.turn() == stands.turn()
        };
        // The nearest one: positions repeat.
        let plies = state.plies;
        let near = [
            plies + 1,
            plies,
            plies + 2,
            plies.saturating_sub(1),
            0,
            plies.saturating_sub(2),
        ];
        let mut near = near.into_iter().filter(|ply| *ply < state.positions.len());
        let at = near.find(|ply| same(ply));
        let changed = state.at[board] != at;
        state.at[board] = at;
        if changed {
            let castles = at.is_some_and(|ply| state.castles(ply));
            let think = if castles { CASTLES } else { THINKS };
            state.next[board] = now + Duration::from_millis(fastrand::u64(think));
        }
        let whole = state.script.len();
        let hands = plies < whole && (self.hands == Hands::Two || self.plays(0, plies, whole));
        // All boards have it: a move of the program that was carried out, or one that the linked board has.
        let all = state.at.iter().all(|at| *at == Some(plies + 1));
        if all && plies < whole && (self.hands == Hands::Two || !hands) {
            self.settle(&mut state, plies + 1);
        } else if !state.given_up && self.stuck(&state) {
            state.given_up = true;
            drop(state);
            self.score.game_lost();
            self.complain("the game does not go on");
            self.news.notify_waiters();
            return None;
        }
        if self.hands != Hands::One && (state.plies == whole || state.given_up) {
            return self.next_game(state, board);
        }
        let plies = state.plies;
        let idle = state.given_up || plies == whole;
        if shown || now < state.next[board] || idle {
            return None;
        }
        let over = self.score.over();
        let waited = |since: Instant| over.is_some_and(|over| since.max(over).elapsed() > PATIENCE);
        if at == Some(plies) && state.asked && self.plays(board, plies, whole) {
            // The daemon led the board back to before it, or it was taken back.
            let before = state.made.replace(now);
            state.next[board] = now + BETWEEN;
            let m = state.script[plies];
            drop(state);
            if let Some(made) = before {
                self.again(made, "the hand's move is made again");
            }
            self.note(format!("board {board}: the hand plays {m}"));
            return Some(HandAction::Move(m));
        }
        if at == Some(plies + 1)
            && self.plays(board, plies, whole)
            && let (Some(made), Some(there)) = (state.made, state.there)
            && waited(made.max(there))
        {
            state.next[board] = now + PATIENCE;
            state.reopens = state
                .taken_back
                .replace(made)
                .filter(|before| *before == made);
            drop(state);
            self.note(format!("board {board}: the hand takes its move back"));
            return Some(HandAction::TakeBack);
        }
        None
    }

    /// How the pieces have to stand on a board on which they stand otherwise: as on the other board, or as the program has it.
    pub fn ought(&self, board: usize) -> Game {
        let state = self.state();
        let plies = state.plies;
        let mut others = state.at.iter().enumerate();
        let ahead = others.any(|(other, at)| other != board && *at == Some(plies + 1));
        let sent = state.made.is_some() && !self.plays(board, plies, state.script.len());
        let mut game = Game::standard();
        for m in state.script.iter().take(plies + usize::from(ahead || sent)) {
            if let Ok(m) = m.to_move(game.position()) {
                game.push(m);
            }
        }
        game
    }

    fn stuck(&self, state: &State) -> bool {
        let over = self.score.over();
        let since = |over: Instant| state.moved.max(over).elapsed() > STUCK;
        over.is_some_and(since)
    }

    /// Where only boards begin a game they are put to the start for the next.
    fn next_game(&self, mut state: MutexGuard<'_, State>, board: usize) -> Option<HandAction> {
        let now = Instant::now();
        if board == 0 && state.at[0] != Some(0) {
            if now < state.next[0] || state.moved.elapsed() < BETWEEN {
                return None;
            }
            state.next[0] = now + PATIENCE;
            return Some(HandAction::NewGame);
        }
        if state.at.iter().all(|at| *at == Some(0)) {
            drop(state);
            self.begins();
        } else if board == 1 && state.at[0] == Some(0) && now >= state.next[1] + PATIENCE {
            state.next[1] = now;
            return Some(HandAction::NewGame);
        }
        None
    }
}
