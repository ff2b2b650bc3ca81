//! The person at a Neo: carries out orders, piece by piece, and tracks the game.

use std::time::{Duration, Instant};

use shakmaty::{Chess, Piece, Position, Role, Square, uci::UciMove};

use super::{Drive, EVENTS, Neo, Peripheral, Spot, board_of};
use crate::{
    HandAction, Report,
    game::{Game, uci},
    garbage,
    gesture::{self, Deed, Script, Step, Style, Touch},
    random_to_queen,
};

/// More take-backs than this at once mean a new game, or a person who clears the board.
const MAX_TAKE_BACKS: usize = 8;
/// How long a piece is in the hand while it is carried.
const CARRY: Duration = Duration::from_millis(600);

/// What a person can do to a Neo.
#[derive(Clone, Debug, PartialEq)]
pub enum Hand {
    /// What a player can do to any board, in the tidiest way.
    Board(HandAction),
    /// Make a move in this style.
    Move(UciMove, Style),
    /// Execute the move that is shown, in this style.
    Execute(Style),
    /// Take the last move back in this style.
    TakeBack(Style),
    /// Lift a piece.
    Lift(Square),
    /// Put a piece on an empty square.
    Put(Square, Piece),
    /// Lift this piece and put it back.
    Adjust(Square),
    /// Put every piece on its square in the game.
    Restore,
    /// Set up the position of this game, and continue it.
    SetUp(Box<Game>),
    /// Put the kings on squares of the centre, as a sign that the game is over.
    KingsToCentre,
    /// Touch the board with this script.
    Touches(Script),
}

impl From<HandAction> for Hand {
    fn from(action: HandAction) -> Self {
        Self::Board(action)
    }
}

/// What is known when a script has ended.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// What the pieces show.
    Learn,
    /// Nothing: the person knows that it was wrong.
    Wrong,
    /// This game stands on the board.
    Game(Box<Game>),
}

impl Neo {
    /// Gives the person an order. Orders wait for the previous one, and for the motor.
    pub fn hand(&mut self, now: Instant, order: impl Into<Hand>) {
        self.timeout(now);
        match order.into() {
            Hand::Board(HandAction::Off) => {
                self.on = false;
                self.drive = None;
                self.silence();
                self.report(Report::Off);
            }
            Hand::Board(HandAction::On { forgetful }) => {
                self.on = true;
                self.report(Report::On { forgetful });
            }
            Hand::Board(HandAction::Garbage(length)) => self.notify(EVENTS, &garbage(length)),
            // The host controls the radio.
            Hand::Board(HandAction::Unplug | HandAction::Plug) => {}
            order => self.orders.push_back(order),
        }
        self.timeout(now);
    }

    /// Begins the next order, if the hands are free and the motor rests.
    pub(super) fn begin(&mut self, now: Instant) {
        while self.script.is_empty() && self.drive.is_none() {
            let Some(order) = self.orders.pop_front() else {
                return;
            };
            match self.script_of(order) {
                Ok((script, ending)) => {
                    self.ending = Some(ending);
                    self.script = script
                        .into_iter()
                        .map(|(offset, step)| (now + self.scaled(offset), step))
                        .collect();
                    if self.script.is_empty() {
                        self.end();
                    }
                }
                Err(why) => self.report(Report::Refused(why)),
            }
        }
    }

    fn script_of(&mut self, order: Hand) -> Result<(Script, Ending), String> {
        let here = self.table.board().clone();
        let plain = Style::default();
        let learn = |script| Ok((script, Ending::Learn));
        match order {
            Hand::Board(HandAction::Move(m)) => learn(self.played(m, &plain)?),
            Hand::Move(m, style) => learn(self.played(m, &style)?),
            Hand::Board(HandAction::Random) => {
                let m = random_to_queen(&self.game, &mut self.rng).ok_or("the game is over")?;
                learn(self.played(uci(m), &plain)?)
            }
            Hand::Board(HandAction::Execute) => learn(self.executed(&plain)?),
            Hand::Execute(style) => learn(self.executed(&style)?),
            Hand::Board(HandAction::Wrong(m)) => {
                let script = match self.played(m, &plain) {
                    Ok(mut script) => {
                        script.retain(|(_, step)| matches!(step, Step::Touch(_)));
                        script
                    }
                    Err(why) => carried(&here, m).ok_or(why)?,
                };
                Ok((script, Ending::Wrong))
            }
            Hand::Board(HandAction::TakeBack) => learn(self.taken_back(&plain)?),
            Hand::TakeBack(style) => learn(self.taken_back(&style)?),
            Hand::Board(HandAction::NewGame) => {
                // Two queens may stand beside the board, and only one is needed.
                self.table.clear_beside();
                let game = Game::standard();
                let script = gesture::restored(&here, &board_of(&game), &mut self.rng);
                Ok((script, Ending::Game(Box::new(game))))
            }
            Hand::Lift(square) => learn(touches(&[Touch::Lift(square)])),
            Hand::Put(square, piece) => learn(touches(&[Touch::Put(square, piece)])),
            Hand::Adjust(square) => learn(gesture::reseated(&here, &[square], &mut self.rng)),
            Hand::Restore => {
                let there = board_of(&self.game);
                learn(gesture::restored(&here, &there, &mut self.rng))
            }
            Hand::Board(other) => Err(format!("{other:?} is nothing for a hand")),
            Hand::SetUp(game) => {
                let script = gesture::restored(&here, &board_of(&game), &mut self.rng);
                Ok((script, Ending::Game(game)))
            }
            Hand::KingsToCentre => {
                self.tidy()?;
                let position = self.game.position().clone();
                let script = gesture::kings_to_centre(&position, self.game.last(), &mut self.rng)
                    .ok_or("the kings' sign would be unclear here")?;
                Ok((script, Ending::Wrong))
            }
            Hand::Touches(script) => learn(script),
        }
    }

    /// Checks that the pieces stand as in the game.
    fn tidy(&self) -> Result<(), String> {
        if *self.table.board() == board_of(&self.game) {
            Ok(())
        } else {
            Err("the pieces do not stand as in the game".to_owned())
        }
    }

    fn played(&mut self, wanted: UciMove, style: &Style) -> Result<Script, String> {
        self.tidy()?;
        let position = self.game.position().clone();
        let m = wanted
            .to_move(&position)
            .map_err(|_| format!("{wanted}: illegal"))?;
        Ok(gesture::played(&position, m, style, &mut self.rng))
    }

    fn executed(&mut self, style: &Style) -> Result<Script, String> {
        self.tidy()?;
        let m = self.shown.ok_or("no move is shown")?;
        let position = self.game.position().clone();
        Ok(gesture::executed(&position, m, style, &mut self.rng))
    }

    fn taken_back(&mut self, style: &Style) -> Result<Script, String> {
        self.tidy()?;
        let m = self.game.last().ok_or("there is no move to take back")?;
        let before = self.game.position_at(self.game.len() - 1);
        Ok(gesture::taken_back(&before, m, style, &mut self.rng))
    }

    pub(super) fn step(&mut self) {
        match self.script.pop_front().map(|(_, step)| step) {
            Some(Step::Touch(touch)) => self.touch(touch),
            Some(Step::Made(deed)) => self.made(deed),
            Some(Step::Committed(_)) | None => {}
        }
        if self.script.is_empty() {
            self.end();
        }
    }

    fn touch(&mut self, touch: Touch) {
        // No person puts a piece where the motor is visibly bringing one.
        let to = Some(touch.square());
        let taken = |drive: &Drive| !drive.fails && drive.path.to.square() == to;
        let taken = matches!(touch, Touch::Put(..)) && self.drive.as_ref().is_some_and(taken);
        if taken || !self.table.touch(touch) {
            let square = touch.square();
            self.report(Report::Refused(format!("{square} cannot be touched so")));
            return;
        }
        self.stuck.discard(touch.square());
        let event = match touch {
            Touch::Lift(square) => format!("{square}u"),
            Touch::Put(square, _) => {
                if self.chance(self.settings.stuck_landing) {
                    self.stick(square);
                }
                format!("{square}d")
            }
        };
        // What a board reports of touches while its motor moves is unknown; the motor's own moves are not reported.
        self.notify(EVENTS, event.as_bytes());
    }

    fn made(&mut self, deed: Deed) {
        match deed {
            Deed::Played(m) => {
                self.game.push(m);
                self.report(Report::Made(m));
            }
            Deed::Executed(m) => {
                self.game.push(m);
                self.shown = None;
                self.executes_at = None;
                self.report(Report::Executed(m));
            }
            Deed::TookBack(m) => {
                self.game.pop();
                self.shown = None;
                self.executes_at = None;
                self.report(Report::TakeBack(m));
            }
        }
    }

    fn end(&mut self) {
        self.table.let_go();
        match self.ending.take() {
            Some(Ending::Learn) => self.learn(),
            Some(Ending::Wrong) | None => self.report(Report::Arranged),
            Some(Ending::Game(game)) => {
                self.game = *game;
                self.shown = None;
                self.executes_at = None;
                self.report(Report::Arranged);
            }
        }
    }

    /// The person looks at the pieces and finds a legal move that was made, or moves that were taken back.
    pub(super) fn learn(&mut self) {
        let board = self.table.board();
        if *board == board_of(&self.game) {
            return;
        }
        let position = self.game.position();
        let played = position.legal_moves().into_iter().find(|m| {
            let mut next = position.clone();
            next.play_unchecked(*m);
            next.board() == board
        });
        if let Some(m) = played {
            self.game.push(m);
            self.shown = None;
            self.executes_at = None;
            self.report(Report::Executed(m));
            return;
        }
        let len = self.game.len();
        let earliest = len.saturating_sub(MAX_TAKE_BACKS);
        let earlier = (earliest..len)
            .rev()
            .find(|plies| self.game.position_at(*plies).board() == board);
        if let Some(plies) = earlier {
            for _ in plies..len {
                if let Some(m) = self.game.pop() {
                    self.report(Report::TakeBack(m));
                }
            }
        } else if board == Chess::new().board() {
            self.game = Game::standard();
            self.report(Report::Arranged);
        }
    }

    /// Lamps on the two squares of a legal move (in castling: the king's, or all four) show that move; on those of the
    /// last one they ask to take it back. This is not in the document: it is how a person understands them.
    pub(super) fn lit(&mut self, now: Instant, squares: Vec<Square>) {
        let set: shakmaty::Bitboard = squares.iter().copied().collect();
        self.lamps.clone_from(&squares);
        self.report(Report::Lit(squares));
        let means = |m: shakmaty::Move| {
            let legs = gesture::legs(m);
            let all: shakmaty::Bitboard = legs.iter().flat_map(|(a, b)| [*a, *b]).collect();
            let first: shakmaty::Bitboard =
                legs.iter().take(1).flat_map(|(a, b)| [*a, *b]).collect();
            set == all || set == first
        };
        let is_queen = |m: &shakmaty::Move| m.promotion().is_none_or(|role| role == Role::Queen);
        let legal = self.game.position().legal_moves();
        let shown = legal.into_iter().filter(is_queen).find(|m| means(*m));
        if shown.is_some() && shown == self.shown {
            return;
        }
        self.shown = shown;
        self.executes_at = None;
        if let Some(m) = shown {
            self.executes_at = self.settings.hand_delay.map(|delay| now + delay);
            self.report(Report::Shown(m));
        }
    }

    /// The board asked for a piece: the person puts a queen where a pawn of the side to move has gone to promote, or
    /// the piece that the game has there.
    pub(super) fn put_missing(&mut self) {
        let Some((_, square)) = self.missing.take() else {
            return;
        };
        let (board, position) = (self.table.board(), self.game.position());
        // The piece may be in the hand just now; if not, it is asked for again.
        let is_busy = !self.script.is_empty() || !self.orders.is_empty();
        if is_busy || board.piece_at(square).is_some() {
            return;
        }
        let promoting = position.legal_moves().into_iter().any(|m| {
            let left = m.from().is_some_and(|from| board.piece_at(from).is_none());
            m.is_promotion() && m.to() == square && left
        });
        let piece = if promoting {
            Some(position.turn().queen())
        } else {
            position.board().piece_at(square)
        };
        if let Some(piece) = piece {
            self.orders.push_back(Hand::Put(square, piece));
        }
    }

    /// Where the motor parked a piece, for a person who looks for one.
    pub fn parked(&self, piece: Piece) -> Option<Spot> {
        self.table
            .parked()
            .iter()
            .find(|(_, other)| **other == piece)
            .map(|(spot, _)| *spot)
    }
}

/// A piece carried to an empty square, whether or not that is legal.
fn carried(here: &shakmaty::Board, m: UciMove) -> Option<Script> {
    let UciMove::Normal { from, to, .. } = m else {
        return None;
    };
    let piece = here.piece_at(from)?;
    let put = (CARRY, Step::Touch(Touch::Put(to, piece)));
    let lift = (Duration::ZERO, Step::Touch(Touch::Lift(from)));
    here.piece_at(to)
        .is_none()
        .then(|| [lift, put].into_iter().collect())
}

fn touches(all: &[Touch]) -> Script {
    all.iter()
        .map(|touch| (Duration::ZERO, Step::Touch(*touch)))
        .collect()
}
