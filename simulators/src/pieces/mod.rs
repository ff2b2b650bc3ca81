//! One table of pieces and one person at it, for the boards that sense which piece stands where.
//!
//! [`Pieces`] keeps the pieces as they really stand and the game that the people play. The person carries out
//! [`Order`]s one after the other, touch by touch, and follows what the board shows. A board asks for
//! [`Pieces::board`], or takes every [`Change`] with its time.

mod change;
mod order;
mod reading;
mod settings;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use shakmaty::{Board, Chess, Move, Position, Square, uci::UciMove};

pub use self::{change::Change, order::Order, settings::Settings};
use crate::{
    HandAction, Report,
    game::{Game, uci},
    gesture::{self, Deed, Script, Step, Style, Touch},
    nothing_to_take_back, only_a_citrine, random_move,
};

/// More moves than this taken back at once mean a new game, or a person who clears the board.
const MAX_TAKE_BACKS: usize = 8;
/// How long a piece that is carried to a wrong square is in the hand.
const CARRY: Duration = Duration::from_millis(600);

/// What the board shows to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sign {
    /// Lit squares.
    Squares(Vec<Square>),
    /// A text, as on a clock.
    Text(String),
    /// The person heard of this move elsewhere: a board without lamps and without a clock shows nothing.
    Told(Move),
}

/// What is known when a script has ended.
#[derive(Clone, Debug)]
enum Ending {
    /// What the pieces show.
    Learn,
    /// The person knows that it was wrong.
    Wrong(UciMove),
    /// The pieces stand for this game.
    Game(Box<Game>),
}

/// The pieces, and the person who touches them. See the module documentation.
#[derive(Debug)]
pub struct Pieces {
    settings: Settings,
    board: Board,
    game: Game,
    sign: Option<Sign>,
    shown: Option<Move>,
    executes_at: Option<Instant>,
    /// The person waits: motors move the pieces.
    held: bool,
    orders: VecDeque<Order>,
    script: VecDeque<(Instant, Step)>,
    ending: Option<Ending>,
    random: fastrand::Rng,
    changes: VecDeque<Change>,
    reports: VecDeque<Report>,
}

impl Pieces {
    /// The pieces on their starting squares.
    pub fn new(settings: Settings) -> Self {
        let game = Game::standard();
        Self {
            random: fastrand::Rng::with_seed(settings.seed),
            settings,
            board: board_of(&game),
            game,
            sign: None,
            shown: None,
            executes_at: None,
            held: false,
            orders: VecDeque::new(),
            script: VecDeque::new(),
            ending: None,
            changes: VecDeque::new(),
            reports: VecDeque::new(),
        }
    }

    /// Puts the pieces of a game on the board without a touch: a board that is found with a game on it.
    ///
    /// The board learns of it by no [`Change`].
    pub fn found(&mut self, game: Game) {
        self.board = board_of(&game);
        self.game = game;
        self.forget_sign();
    }

    /// The pieces as they really stand now.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The game that the people play.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The move that the board shows and the person has not executed yet.
    pub fn shown(&self) -> Option<Move> {
        self.shown
    }

    /// Whether the person is carrying out an order, or will be.
    pub fn is_at_work(&self) -> bool {
        !self.script.is_empty() || !self.orders.is_empty()
    }

    /// Whether the person has nothing to do, and the pieces stand as in [`Self::game`].
    pub fn is_settled(&self) -> bool {
        self.script.is_empty()
            && self.orders.is_empty()
            && self.executes_at.is_none()
            && self.board == board_of(&self.game)
    }

    /// The square under the board's own number for it, if the board lies the other way round; also the other way.
    pub fn numbered(&self, square: Square) -> Square {
        if self.settings.turned {
            square.rotate_180()
        } else {
            square
        }
    }

    /// The next change of a square, in the order of time.
    pub fn poll_change(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// The next observable event.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// When [`Self::timeout`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let step = self.script.front().map(|(at, _)| *at);
        step.into_iter().chain(self.executes_at).min()
    }

    /// Does what is due.
    pub fn timeout(&mut self, now: Instant) {
        self.begin(now);
        while let Some(at) = self.deadline().filter(|at| *at <= now) {
            if self.executes_at == Some(at) {
                self.executes_at = None;
                self.orders.push_back(Order::Do(HandAction::Execute));
            } else {
                self.step(at);
            }
            self.begin(at);
        }
    }

    /// Gives the person an order. Orders wait for the ones before.
    pub fn hand(&mut self, now: Instant, order: impl Into<Order>) {
        self.timeout(now);
        match order.into() {
            Order::Do(HandAction::Hear(m)) => self.hear(now, m),
            order => self.orders.push_back(order),
        }
        self.timeout(now);
    }

    /// The board lights these squares and no others. The person takes the squares of a legal move for that move.
    pub fn lit(&mut self, now: Instant, squares: Vec<Square>) {
        self.shows(now, Sign::Squares(squares));
    }

    /// The board shows this text. The person takes a legal move, in UCI notation or in SAN, for that move.
    pub fn reads(&mut self, now: Instant, text: &str) {
        self.shows(now, Sign::Text(text.to_owned()));
    }

    fn hear(&mut self, now: Instant, m: UciMove) {
        if let Ok(m) = m.to_move(self.game.position()) {
            self.told(now, m);
        } else {
            let why = format!("{m}: illegal");
            self.reports.push_back(Report::Refused(why));
        }
    }

    /// The person hears of a move that the board does not show, and executes it like a shown one.
    pub fn told(&mut self, now: Instant, m: Move) {
        self.shows(now, Sign::Told(m));
    }

    /// Sets the pieces at once, as a motor does, and lets the person see what that means.
    pub fn driven(&mut self, now: Instant, board: &Board) {
        for square in Square::ALL {
            let piece = board.piece_at(square);
            if piece != self.board.piece_at(square) {
                self.changes.push_back(Change {
                    at: now,
                    square,
                    piece,
                });
            }
        }
        self.board = board.clone();
        self.learn(now);
    }

    /// A hand touches a piece at once, whatever it was ordered.
    pub fn grab(&mut self, now: Instant, touch: Touch) {
        self.timeout(now);
        self.touch(now, touch);
    }

    /// The person begins nothing new while motors move the pieces.
    pub fn hold(&mut self, now: Instant, held: bool) {
        self.timeout(now);
        self.held = held;
        self.timeout(now);
    }

    fn shows(&mut self, now: Instant, sign: Sign) {
        self.timeout(now);
        self.sign = Some(sign);
        self.look(now);
    }

    /// The person looks at what the board shows, and understands it in the game as it is.
    fn look(&mut self, now: Instant) {
        let position = self.game.position();
        let shown = match &self.sign {
            Some(Sign::Squares(squares)) => reading::of_squares(position, squares),
            Some(Sign::Text(text)) => reading::of_text(position, text),
            Some(Sign::Told(m)) => Some(*m).filter(|m| position.is_legal(*m)),
            None => None,
        };
        if shown == self.shown {
            return;
        }
        self.shown = shown;
        self.executes_at = None;
        if let Some(m) = shown {
            self.executes_at = self.settings.hand_delay.map(|delay| now + delay);
            self.reports.push_back(Report::Shown(m));
        }
    }

    fn forget_sign(&mut self) {
        self.sign = None;
        self.shown = None;
        self.executes_at = None;
    }

    /// Begins the next order, if the hands are free.
    fn begin(&mut self, now: Instant) {
        while self.script.is_empty() && !self.held {
            let Some(order) = self.orders.pop_front() else {
                return;
            };
            match self.script_of(order) {
                Ok((script, ending)) => {
                    let speed = self.settings.speed;
                    self.ending = Some(ending);
                    self.script = script
                        .into_iter()
                        .map(|(offset, step)| (now + offset.div_f64(speed), step))
                        .collect();
                    if self.script.is_empty() {
                        self.end(now);
                    }
                }
                Err(why) => self.reports.push_back(why),
            }
        }
    }

    fn script_of(&mut self, order: Order) -> Result<(Script, Ending), Report> {
        let style = self.settings.style;
        let learn = |script| Ok((script, Ending::Learn));
        match order {
            Order::Do(HandAction::Move(m)) => learn(self.played(m, &style)?),
            Order::Move(m, style) => learn(self.played(m, &style)?),
            Order::Do(HandAction::Random) => {
                let m = random_move(&self.game, &mut self.random)
                    .ok_or_else(|| Report::Refused("the game is over".to_owned()))?;
                learn(self.played(uci(m), &style)?)
            }
            Order::Do(HandAction::Execute) => learn(self.executed(&style)?),
            Order::Execute(style) => learn(self.executed(&style)?),
            Order::Do(HandAction::Wrong(m)) if self.shown.is_some_and(|shown| uci(shown) == m) => {
                learn(self.executed(&style)?)
            }
            Order::Do(HandAction::Wrong(m)) => Ok((self.wrong(m, &style)?, Ending::Wrong(m))),
            Order::Do(HandAction::TakeBack) => self.taken_back(&style),
            Order::TakeBack(style) => self.taken_back(&style),
            Order::Do(HandAction::NewGame) => Ok(self.set_up(Box::new(Game::standard()))),
            Order::Do(HandAction::SetUp(game)) => Ok(self.set_up(game)),
            Order::Touch(touch) => learn(vec![(Duration::ZERO, Step::Touch(touch))]),
            Order::Touches(script) => learn(script),
            Order::Restore => learn(self.restored()),
            Order::Do(HandAction::ForgetSettings | HandAction::LiftKing) => Err(only_a_citrine()),
            Order::Do(other) => Err(Report::Refused(format!("{other:?} is nothing for a hand"))),
        }
    }

    fn restored(&mut self) -> Script {
        let there = board_of(&self.game);
        gesture::restored(&self.board, &there, &mut self.random)
    }

    fn set_up(&mut self, game: Box<Game>) -> (Script, Ending) {
        let script = gesture::restored(&self.board, &board_of(&game), &mut self.random);
        (script, Ending::Game(game))
    }

    fn is_tidy(&self) -> bool {
        self.board == board_of(&self.game)
    }

    /// Checks that the pieces stand as in the game.
    fn tidy(&self) -> Result<(), Report> {
        let why = "the pieces do not stand as in the game";
        self.is_tidy()
            .then_some(())
            .ok_or_else(|| Report::Refused(why.to_owned()))
    }

    fn played(&mut self, wanted: UciMove, style: &Style) -> Result<Script, Report> {
        if let Some(m) = self.shown {
            let why = format!("{wanted}: {} is shown", uci(m));
            return Err(Report::Refused(why));
        }
        self.tidy()?;
        let position = self.game.position();
        let m = wanted
            .to_move(position)
            .map_err(|_| Report::Refused(format!("{wanted}: illegal")))?;
        Ok(gesture::played(position, m, style, &mut self.random))
    }

    fn executed(&mut self, style: &Style) -> Result<Script, Report> {
        let m = self
            .shown
            .ok_or_else(|| Report::Refused("no move is shown".to_owned()))?;
        self.tidy()?;
        let position = self.game.position();
        Ok(gesture::executed(position, m, style, &mut self.random))
    }

    /// The touches of a move that does not count: a legal one, or a piece carried to any square.
    fn wrong(&mut self, wanted: UciMove, style: &Style) -> Result<Script, Report> {
        self.tidy()?;
        let position = self.game.position();
        if let Ok(m) = wanted.to_move(position) {
            let mut script = gesture::played(position, m, style, &mut self.random);
            script.retain(|(_, step)| matches!(step, Step::Touch(_)));
            return Ok(script);
        }
        carried(&self.board, wanted)
            .ok_or_else(|| Report::Refused(format!("{wanted}: there is no piece")))
    }

    /// Takes back the last move; if the pieces do not stand as in the game, it takes back what is wrong.
    fn taken_back(&mut self, style: &Style) -> Result<(Script, Ending), Report> {
        if !self.is_tidy() {
            return Ok((self.restored(), Ending::Learn));
        }
        let m = self.game.last().ok_or_else(nothing_to_take_back)?;
        let before = self.game.position_at(self.game.len() - 1);
        let script = gesture::taken_back(&before, m, style, &mut self.random);
        Ok((script, Ending::Learn))
    }

    fn step(&mut self, at: Instant) {
        match self.script.pop_front().map(|(_, step)| step) {
            Some(Step::Touch(touch)) => self.touch(at, touch),
            Some(Step::Made(deed)) => self.made(at, deed),
            Some(Step::Committed(_)) | None => {}
        }
        if self.script.is_empty() {
            self.end(at);
        }
    }

    fn touch(&mut self, at: Instant, touch: Touch) {
        let square = touch.square();
        let stands = self.board.piece_at(square).is_some();
        let (fits, piece) = match touch {
            Touch::Lift(_) => (stands, None),
            Touch::Put(_, piece) => (!stands, Some(piece)),
        };
        if !fits {
            let why = format!("{square} cannot be touched so");
            self.reports.push_back(Report::Refused(why));
            return;
        }
        touch.apply(&mut self.board);
        self.changes.push_back(Change { at, square, piece });
    }

    fn made(&mut self, at: Instant, deed: Deed) {
        match deed {
            Deed::Played(m) => {
                self.game.push(m);
                self.reports.push_back(Report::Made(m));
                // The program may have answered before the piece lay still.
                self.look(at);
            }
            Deed::Executed(m) => {
                self.game.push(m);
                self.forget_sign();
                self.reports.push_back(Report::Executed(m));
            }
            Deed::TookBack(m) => {
                self.game.pop();
                self.forget_sign();
                self.reports.push_back(Report::TookBack(m));
            }
        }
    }

    fn end(&mut self, at: Instant) {
        match self.ending.take() {
            Some(Ending::Learn) | None => self.learn(at),
            Some(Ending::Wrong(m)) => self.reports.push_back(Report::Wrong(m)),
            Some(Ending::Game(game)) => {
                let report = if game.is_standard() && game.is_empty() {
                    Report::NewGame
                } else {
                    Report::SetUp(game.fen().to_string())
                };
                self.game = *game;
                self.forget_sign();
                self.reports.push_back(report);
            }
        }
    }

    /// The person looks at the pieces and finds a legal move that was made, moves that were taken back, or a new game.
    fn learn(&mut self, at: Instant) {
        if self.is_tidy() {
            return;
        }
        let position = self.game.position();
        let made = position.legal_moves().into_iter().find(|m| {
            let mut board = position.board().clone();
            gesture::apply(&mut board, *m);
            board == self.board
        });
        if let Some(m) = made {
            let deed = if self.shown == Some(m) {
                Deed::Executed(m)
            } else {
                Deed::Played(m)
            };
            self.made(at, deed);
            return;
        }
        let len = self.game.len();
        let earlier = (len.saturating_sub(MAX_TAKE_BACKS)..len)
            .rev()
            .find(|plies| *self.game.position_at(*plies).board() == self.board);
        if let Some(plies) = earlier {
            while self.game.len() > plies
                && let Some(m) = self.game.last()
            {
                self.made(at, Deed::TookBack(m));
            }
        } else if self.board == *Chess::new().board() {
            self.ending = Some(Ending::Game(Box::new(Game::standard())));
            self.end(at);
        }
    }
}

fn board_of(game: &Game) -> Board {
    game.position().board().clone()
}

/// A piece carried to another square, whether or not that is legal; what stood there is taken off first.
fn carried(here: &Board, m: UciMove) -> Option<Script> {
    let UciMove::Normal { from, to, .. } = m else {
        return None;
    };
    let piece = here.piece_at(from).filter(|_| from != to)?;
    let mut script = vec![(Duration::ZERO, Step::Touch(Touch::Lift(from)))];
    if here.piece_at(to).is_some() {
        script.push((CARRY / 2, Step::Touch(Touch::Lift(to))));
    }
    script.push((CARRY, Step::Touch(Touch::Put(to, piece))));
    Some(script)
}

#[cfg(test)]
mod tests;
