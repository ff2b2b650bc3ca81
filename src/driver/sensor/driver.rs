//! The driver of every board that senses its pieces or squares: all but its bytes.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Square, san::SanPlus, uci::UciMove};

use super::{
    Said, Shown, Side, Times, Wire,
    eyes::Eyes,
    motor::{By, Motor},
};
use crate::{
    chess::{
        game::{Game, uci},
        recognise::Waits,
    },
    driver::{
        Driver, DriverEvent, Greeting, Profile, Step,
        sensing::{Awaited, Known, Orientation, Pieces, Report, Squares, Turn},
    },
    vocabulary::{Channel, ClocksSince, GameEnd, Outgoing, Reply},
};

/// What a set-up costs besides its pieces, in shown moves: a move or two is better made, or taken back, than set up.
const SET_UP: usize = 2;

/// A position counts as put up by the player when it has stood for this long.
const PUT_UP_WAIT: Duration = Duration::from_secs(5);
/// How many pieces the hand would have to carry, at least, to come back from it: fewer are a mistake.
const PUT_UP_PIECES: usize = 3;
/// A mistake is left to the hand for this long before the board moves the pieces back itself.
const PUT_BACK_WAIT: Duration = Duration::from_secs(5);
/// In a set-up the board moves no piece before the hand has touched none for this long (chosen): the hand that clears the board or helps
/// is slower than one that makes a move.
const SET_UP_REST: Duration = Duration::from_secs(2);
/// A board that has not [shown its pieces again](Wire::look) after this long is asked once more. It answers within 0.6 s.
const LOOK_WAIT: Duration = Duration::from_secs(1);

/// A board that senses which piece stands where, or which squares are occupied. Its own part is the [`Wire`].
pub struct Sensor<W> {
    wire: W,
    eyes: Eyes,
    turn: Turn,
    /// The board was asked whether the pieces rest.
    looks: Option<Look>,
    /// The board answers on this link.
    answers: bool,
    /// [`Driver::learn`] was called and not answered.
    asked: bool,
    /// A position that was put up by hand, and when it is reported: again and again, for a client may have the board.
    put_up: Option<(Board, Instant)>,
    /// The clocks of the game, if it has any.
    clocks: Option<ClocksSince>,
    motor: Motor,
    /// When the hand has rested for long enough in a set-up.
    rested_at: Option<Instant>,
    /// See [`Driver::in_game`].
    in_game: bool,
    /// What the hand has left wrong, and when the board moves it back.
    put_back: Option<(Board, Instant)>,
    /// What the board was last told to show on this link.
    display: Option<Display>,
    events: VecDeque<DriverEvent>,
}

/// A board is asked to show its pieces again.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// When it was first asked.
    since: Instant,
    /// When it is asked again.
    again: Instant,
}

/// What a board shows the player.
#[derive(Clone, Copy, Debug)]
struct Display {
    /// The squares that are lit, as the board numbers them.
    lights: Bitboard,
    /// The times on the clock.
    times: Option<Times>,
    /// The move to make for the program, with the plies before it.
    shown: Option<(usize, Move)>,
}

/// What is kept through a restart.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedSensor {
    /// How the pieces stand after what was reported, as in a FEN, if that is known.
    placement: Option<String>,
    /// Whether the board lies the other way round, if that is known.
    turned: Option<bool>,
    /// The capture that a hand was making, from and to which square.
    begun: Option<(String, String)>,
}

impl<W: Wire> Sensor<W> {
    /// A board of pieces about which nothing is known yet. A placement counts once it was unchanged for `settle`.
    pub fn new(wire: W, orientation: Orientation, settle: Duration) -> Self {
        let pieces = Pieces::new(settle, Waits::default());
        Self::with(wire, orientation, Eyes::Pieces(Box::new(pieces)))
    }

    /// A board of squares about which nothing is known yet.
    pub fn of_squares(wire: W, orientation: Orientation, squares: Squares) -> Self {
        Self::with(wire, orientation, Eyes::Squares(Box::new(squares)))
    }

    fn with(wire: W, orientation: Orientation, eyes: Eyes) -> Self {
        Self {
            wire,
            eyes,
            turn: Turn::new(orientation),
            looks: None,
            answers: false,
            asked: false,
            put_up: None,
            clocks: None,
            motor: Motor::default(),
            rested_at: None,
            in_game: false,
            put_back: None,
            display: None,
            events: VecDeque::new(),
        }
    }

    fn is_known(&self) -> bool {
        self.eyes.follower().is_known()
    }

    /// Takes what the board has said, and does everything that can be done now.
    fn work(&mut self, now: Instant) {
        while let Some(said) = self.wire.poll() {
            match said {
                Said::Answers { id } => {
                    self.answers = true;
                    self.display = None;
                    self.motor.stops();
                    self.events.push_back(DriverEvent::Answers { id });
                }
                Said::Pieces(raw) => {
                    let board = self.turn.pieces(&raw, &self.eyes.wanted());
                    match self.motor.sees(&board) {
                        // The hand may have replied before the board showed anything.
                        By::Motor { arrived: false } if self.eyes.is_reply(&board) => {
                            self.eyes.sense(now, &board);
                        }
                        By::Hand => self.eyes.sense(now, &board),
                        By::Motor { arrived } => self.eyes.sense_motor(now, &board, arrived),
                        By::Passing => {}
                    }
                }
                Said::Squares(raw) => {
                    if self.eyes.see_squares(now, &mut self.turn, raw) {
                        self.events.push_back(DriverEvent::Unplaced);
                    }
                    self.eyes.attend(now);
                }
                Said::Stuck => {
                    if self.motor.gives_up() {
                        self.events.push_back(DriverEvent::Stuck);
                    }
                }
                Said::Looked => {
                    if let Some(look) = self.looks.take() {
                        self.eyes.timeout(look.since);
                    }
                }
                Said::Key => self.key(),
                Said::Lever => self.says_ready(),
                Said::BackKey => self.events.push_back(DriverEvent::AsksTakeBack),
                Said::Event(event) => {
                    self.answers &= !matches!(event, DriverEvent::Silent);
                    self.events.push_back(event);
                }
            }
        }
        self.eyes.attend(now);
        self.pass_on(now);
        self.mind_position(now);
        self.answer();
        self.rested_at = None;
        if self.answers {
            if self.wire.has_motor() {
                self.mind_mistake(now);
                self.drive(now);
            }
            self.show(now);
        }
    }

    /// Lets the times of the eyes pass once the board has shown that nothing has happened meanwhile. On a busy machine, or a bad link, bytes
    /// come late and together: that none has come yet proves nothing.
    fn look(&mut self, now: Instant) {
        let due = self.eyes.deadline().is_some_and(|at| at <= now);
        if !due || self.looks.is_some_and(|look| now < look.again) {
            return;
        }
        if self.wire.look(now) {
            let since = self.looks.map_or(now, |look| look.since);
            let again = now + LOOK_WAIT;
            self.looks = Some(Look { since, again });
        } else {
            self.looks = None;
            self.eyes.timeout(now);
        }
    }

    /// Shows the player what to do, with what the board has for that.
    fn show(&mut self, now: Instant) {
        let lights = if self.motor.drives() {
            Bitboard::EMPTY
        } else {
            self.eyes.lights()
        };
        let game = self.eyes.follower().game();
        let awaited = self.eyes.follower().awaited_move();
        // The game has the move once the core follows it.
        let shown = awaited
            .filter(|m| game.last() == Some(*m))
            .map(|m| (game.len() - 1, m));
        let lights = self.turn.lights(lights);
        let times = self.clocks.map(|clocks| self.times(clocks));
        let display = Display {
            lights,
            times,
            shown,
        };
        let before = self.display.replace(display);
        // Also that there are none: a clock may count on since an earlier link.
        if before.is_none_or(|before| before.times != times) {
            self.wire.set_clock(now, times);
        }
        if before.is_none_or(|before| before.shown != shown) {
            let shown = shown.map(|(plies, m)| {
                let squares = uci(m);
                let ends = match squares {
                    UciMove::Normal { from, to, .. } => [from, to],
                    _ => [m.to(); 2],
                };
                Shown {
                    san: SanPlus::from_move(game.position_at(plies), m).to_string(),
                    squares: squares.to_string(),
                    lights: ends.map(|square| self.turn.square(square)),
                }
            });
            self.wire.show(now, shown);
        }
        if before.is_none_or(|before| before.lights != lights) {
            self.wire.light(now, lights);
        }
    }

    /// The clock stands so that its left side is White's where the board lies as it expects.
    fn times(&self, ClocksSince { clocks, since }: ClocksSince) -> Times {
        let is_left = |color: Color| color.is_white() != (self.turn.turned() == Some(true));
        let side = |color| {
            if is_left(color) {
                Side::Left
            } else {
                Side::Right
            }
        };
        let (left, right) = if is_left(Color::White) {
            (clocks.left.white, clocks.left.black)
        } else {
            (clocks.left.black, clocks.left.white)
        };
        Times {
            left,
            right,
            runs: clocks.runs.map(side),
            since,
        }
    }

    /// Has the board move its pieces to where the hand would have to put them.
    fn drive(&mut self, now: Instant) {
        let follower = self.eyes.follower();
        if !follower.is_setting_up() && !follower.is_up_to_date() {
            return;
        }
        let wanted = self.to_drive(now);
        if wanted.as_ref() == self.motor.wanted() {
            return;
        }
        // What the hand has done has to be understood first, and it may hold a piece.
        if !self.motor.drives() && (!self.eyes.is_settled() || self.hand_holds()) {
            return;
        }
        let moves = wanted
            .as_ref()
            .is_some_and(|wanted| !self.eyes.stand_as(wanted));
        if moves && !self.motor.drives() && self.eyes.follower().is_setting_up() {
            let rested_at = self.eyes.since().map(|since| since + SET_UP_REST);
            self.rested_at = rested_at.filter(|at| now < *at);
            if self.rested_at.is_some() {
                return;
            }
        }
        match wanted {
            Some(wanted) if self.eyes.stand_as(&wanted) => self.motor = Motor::Done(wanted),
            Some(wanted) => self.motor = Motor::Drives(wanted),
            None => self.motor.stops(),
        }
        if self.motor.drives() {
            self.eyes.set_out();
        }
        let to = self.motor.wanted().filter(|_| self.motor.drives());
        let to = to.map(|wanted| self.turn.placement(wanted));
        self.wire.drive(now, to.as_ref());
    }

    /// Whether a piece is missing that the program's move needs: a promoted one may stand beside the board, another is in the hand.
    fn hand_holds(&self) -> bool {
        let m = self.eyes.follower().awaited_move();
        let wanted = self.eyes.wanted();
        let lacks = |board: &Board| !has_all(board, &wanted);
        m.is_some_and(|m| !m.is_promotion()) && self.eyes.picture().is_some_and(lacks)
    }

    /// Where the motors are to bring the pieces, or were and have not.
    fn to_drive(&self, now: Instant) -> Option<Board> {
        let follower = self.eyes.follower();
        let wanted = self.eyes.wanted();
        let hand = follower.is_awaited() || self.eyes.lag();
        let step = follower.is_setting_up() || follower.is_known() && hand;
        let mistake = self.in_game
            && follower.correction().is_told()
            && (self.motor.wanted() == Some(&wanted)
                || self.put_back.as_ref().is_some_and(|(_, at)| *at <= now));
        (step || mistake).then_some(wanted)
    }

    /// Notices how long the hand has left a mistake of its own that the motors can put right: no piece is missing.
    fn mind_mistake(&mut self, now: Instant) {
        let wanted = self.eyes.wanted();
        let mistake = self.eyes.foreign().filter(|board| {
            let carried = self.eyes.hand_cost(&wanted).unwrap_or_default();
            let follower = self.eyes.follower();
            let over = !self.in_game
                || follower.correction().guidance().is_empty()
                || follower.game().position().is_game_over();
            // A pawn on its last rank is about to be replaced.
            let promotes = (board.pawns() & Bitboard::BACKRANKS).any();
            !over && !promotes && carried < PUT_UP_PIECES && has_all(board, &wanted)
        });
        match (&self.put_back, mistake) {
            (Some((before, _)), Some(board)) if before == board => {}
            (_, mistake) => {
                self.put_back = mistake.map(|board| (board.clone(), now + PUT_BACK_WAIT));
            }
        }
    }

    /// With the pieces at the start it means a new game, otherwise that they stand as they should: if the board shows that too.
    fn key(&mut self) {
        if !self.eyes.new_game_by_key() {
            self.says_ready();
        }
    }

    /// The player says that the pieces stand as they should: if the board shows that too.
    fn says_ready(&mut self) {
        if self.eyes.stand_as(&self.eyes.wanted()) {
            self.events.push_back(DriverEvent::Ready);
        }
    }

    /// Reports what was sensed.
    fn pass_on(&mut self, now: Instant) {
        while let Some(report) = self.eyes.poll() {
            let event = match report {
                Report::Moved { reported, .. } | Report::Executed(reported) => {
                    DriverEvent::Moved(reported)
                }
                Report::TookBack { reported, .. } => DriverEvent::TookBack(Some(reported)),
                Report::NewGame => {
                    self.wire.begins(now);
                    DriverEvent::NewGame
                }
                Report::SetUp => {
                    self.eyes.begin();
                    DriverEvent::Accepted
                }
                Report::Misplaced(misplaced) => DriverEvent::Misplaced(misplaced),
                Report::Stands => DriverEvent::Stands,
            };
            self.events.push_back(event);
        }
    }

    /// Reports a position that has stood for a while and is none of the game: the player has put it up.
    fn mind_position(&mut self, now: Instant) {
        let far = |_: &&Board| {
            let back = self.eyes.hand_cost(&self.eyes.wanted());
            back.is_some_and(|pieces| pieces >= PUT_UP_PIECES)
        };
        let foreign = if self.is_known() {
            self.eyes.foreign().filter(far)
        } else {
            let waits = self.eyes.follower().is_free() && self.eyes.is_settled();
            self.eyes.picture().filter(|_| waits)
        };
        let Some(board) = foreign else {
            self.put_up = None;
            return;
        };
        match &mut self.put_up {
            Some((before, at)) if before == board => {
                if *at <= now {
                    *at = now + PUT_UP_WAIT;
                    let board = Box::new(board.clone());
                    self.events.push_back(DriverEvent::PutUp(board));
                }
            }
            other => *other = Some((board.clone(), now + PUT_UP_WAIT)),
        }
    }

    /// Answers [`Driver::learn`] once a placement has settled: moves made meanwhile were reported before.
    fn answer(&mut self) {
        if self.asked && self.eyes.is_settled() {
            self.asked = false;
            self.events.push_back(if self.is_known() {
                DriverEvent::NoList
            } else {
                DriverEvent::Unplaced
            });
        }
    }

    /// The player is to set up the last position of this game.
    fn set_up(&mut self, now: Instant, game: Game) {
        self.wire.begins(now);
        self.eyes.set_up(now, game);
        self.work(now);
    }
}

impl<W: Wire> Driver for Sensor<W> {
    fn profile(&self) -> Profile {
        match self.eyes {
            Eyes::Pieces(_) => Profile::Pieces {
                motor: self.wire.has_motor() && !self.motor.has_given_up(),
            },
            Eyes::Squares(_) => Profile::Squares { motor: false },
        }
    }

    fn set_up_cost(&self, board: &Board) -> Option<usize> {
        let carried = self.eyes.hand_cost(board)?;
        // The motors carry any number at once.
        let carried = if self.profile().sets_up_itself() {
            carried.min(1)
        } else {
            carried
        };
        Some(if carried == 0 { 0 } else { carried + SET_UP })
    }

    fn link_up(&mut self, now: Instant) {
        self.wire.link_up(now);
        self.eyes.link_up();
        self.work(now);
    }

    fn link_down(&mut self) {
        self.wire.link_down();
        self.eyes.link_down();
        self.answers = false;
        self.asked = false;
        self.looks = None;
        self.put_up = None;
        self.motor.stops();
        self.rested_at = None;
        self.put_back = None;
        self.events.clear();
    }

    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        self.wire.received(now, channel, bytes);
        self.work(now);
    }

    fn answered(&mut self, now: Instant, channel: Channel, outcome: Reply) {
        self.wire.answered(now, channel, outcome);
        self.work(now);
    }

    fn timeout(&mut self, now: Instant) {
        self.wire.timeout(now);
        self.look(now);
        self.work(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let put_up = self.put_up.as_ref().map(|(_, at)| *at);
        let put_back = self.put_back.as_ref().map(|(_, at)| *at);
        let rests = self.eyes.is_settled() && self.motor.wanted().is_none();
        let put_back = put_back.filter(|_| self.answers && rests);
        let again = self.looks.map(|look| look.again);
        let eyes = self.eyes.deadline();
        let waits = [
            self.wire.deadline(),
            eyes.map(|at| again.map_or(at, |again| at.max(again))),
            put_up,
            put_back,
            self.rested_at,
        ];
        waits.into_iter().flatten().min()
    }

    fn idle(&self) -> bool {
        let follower = self.eyes.follower();
        let hand = follower.is_setting_up() || follower.is_awaited();
        let busy = hand || self.eyes.is_gesture_awaited();
        self.answers && !busy && !self.asked
    }

    fn stepping(&self) -> bool {
        self.eyes.follower().is_setting_up()
    }

    fn start(&mut self, now: Instant, step: Step) {
        if !self.idle() {
            return;
        }
        let awaited = match step {
            Step::Show(m) => Awaited::Move(m),
            Step::TakeBack(_) => Awaited::TakeBack,
            Step::NewGame(_) => return self.set_up(now, Game::standard()),
            Step::SetUp(game) => return self.set_up(now, *game),
        };
        self.events.push_back(if self.is_known() {
            self.eyes.await_hand(awaited);
            DriverEvent::Accepted
        } else {
            DriverEvent::Unplaced
        });
        self.work(now);
    }

    fn confirm(&mut self, now: Instant) {
        self.eyes.confirm(now);
        self.work(now);
    }

    fn tell_position(&mut self, _now: Instant, _position: &Chess, _new_to_board: bool) {}

    fn learn(&mut self, now: Instant) {
        self.asked = true;
        self.work(now);
    }

    fn is_asked(&self) -> bool {
        self.asked
    }

    fn look(&mut self, _now: Instant) {
        self.events.push_back(match self.eyes.picture() {
            Some(board) => DriverEvent::Placed {
                board: Box::new(board.clone()),
                turn: None,
            },
            None => DriverEvent::NoPicture,
        });
    }

    fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) -> bool {
        self.eyes.follow(now, game, may_replace);
        self.work(now);
        !self.events.is_empty()
    }

    fn light_again(&mut self, now: Instant, _game: &Game) -> bool {
        let unmade = self.answers && self.eyes.await_again();
        if unmade {
            self.show(now);
        }
        unmade
    }

    fn ask_take_back_again(&mut self, now: Instant, next: Option<Move>) -> Option<Move> {
        if !self.answers || self.profile().moves_itself() {
            return None;
        }
        let m = self.eyes.await_take_back_again(next)?;
        self.show(now);
        Some(m)
    }

    fn stands_as(&self, board: &Board) -> bool {
        self.eyes.stand_as(board)
    }

    fn assume(&mut self, board: Option<&Board>) {
        self.eyes.assume(board);
    }

    fn signal(&mut self, now: Instant, squares: Bitboard) -> bool {
        let can = self.wire.has_lamps();
        if can {
            self.wire.light(now, squares);
        }
        can
    }

    fn greet(&mut self, now: Instant, on: bool) -> Greeting {
        self.wire.greet(now, on)
    }

    fn clocks(&mut self, now: Instant, clocks: Option<ClocksSince>) {
        self.clocks = clocks;
        if self.answers {
            self.show(now);
        }
    }

    fn in_game(&mut self, now: Instant, on: bool) {
        if std::mem::replace(&mut self.in_game, on) != on {
            if on {
                self.wire.begins(now);
            }
            self.work(now);
        }
    }

    fn game_ended(&mut self, now: Instant, _end: GameEnd) {
        self.eyes.game_ended();
        self.work(now);
    }

    fn abandon(&mut self, target: Option<&Game>) {
        if self.eyes.abandon(target) {
            self.events.push_back(DriverEvent::Unplaced);
        }
    }

    fn memory(&self) -> Option<serde_json::Value> {
        let known = self.eyes.known();
        let name = |square: Square| square.to_string();
        serde_json::to_value(SavedSensor {
            placement: known
                .as_ref()
                .map(|known| known.placement.board_fen().to_string()),
            turned: self.turn.turned(),
            begun: known
                .and_then(|known| known.begun)
                .map(|(from, to)| (name(from), name(to))),
        })
        .ok()
    }

    fn recall(&mut self, memory: serde_json::Value) {
        let Ok(saved) = serde_json::from_value::<SavedSensor>(memory) else {
            return;
        };
        self.turn.recall(saved.turned);
        let placement = saved.placement.unwrap_or_default();
        let square = |name: &str| Square::from_ascii(name.as_bytes()).ok();
        if let Ok(placement) = Board::from_ascii_board_fen(placement.as_bytes()) {
            self.eyes.recall(Known {
                placement,
                dim: Bitboard::EMPTY,
                begun: saved
                    .begun
                    .and_then(|(from, to)| square(&from).zip(square(&to))),
            });
        }
    }

    fn poll_hang_up(&mut self) -> Option<String> {
        self.wire.poll_hang_up()
    }

    fn pause_between_links(&self) -> Duration {
        self.wire.pause_between_links()
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        self.wire.poll_transmit(now)
    }

    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.events.pop_front()
    }
}

/// Whether `board` has every piece of `wanted`, on whatever square.
fn has_all(board: &Board, wanted: &Board) -> bool {
    let count = |board: &Board, piece| board.by_piece(piece).count();
    let mut pieces = wanted.occupied().into_iter();
    pieces.all(|square| {
        let piece = wanted.piece_at(square);
        piece.is_none_or(|piece| count(board, piece) >= count(wanted, piece))
    })
}
