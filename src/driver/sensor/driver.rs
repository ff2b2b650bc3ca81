//! The driver of every board that senses its pieces: all but its bytes.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::{Bitboard, Board, Chess, Move, san::SanPlus};

use super::{
    Said, Shown, Wire,
    motor::{By, Motor},
};
use crate::{
    chess::{
        game::{Game, uci},
        recognise::Waits,
    },
    driver::{
        Driver, DriverEvent, Profile, Step,
        sensing::{Awaited, Orientation, Pieces, Report, Turn},
    },
    vocabulary::{Channel, GameEnd, Outgoing, Reply},
};

/// What a set-up costs besides its pieces, in shown moves: a move or two is better made, or taken back, than set up.
const SET_UP: usize = 2;

/// A position counts as put up by the player when it has stood for this long.
const PUT_UP_WAIT: Duration = Duration::from_secs(5);
/// How many pieces the hand would have to carry, at least, to come back from it: fewer are a mistake.
const PUT_UP_PIECES: usize = 3;
/// A mistake is left to the hand for this long before the board moves the pieces back itself.
const PUT_BACK_WAIT: Duration = Duration::from_secs(5);

/// A board that senses which piece stands where. Its own part is the [`Wire`].
pub struct Sensor<W> {
    wire: W,
    pieces: Pieces,
    turn: Turn,
    /// The board answers on this link.
    answers: bool,
    /// [`Driver::learn`] was called and not answered.
    asked: bool,
    /// A position that was put up by hand, and when it is reported: again and again, for a client may have the board.
    put_up: Option<(Board, Instant)>,
    motor: Motor,
    /// What the hand has left wrong, and when the board moves it back.
    put_back: Option<(Board, Instant)>,
    /// What the board was last told to show on this link.
    display: Option<Display>,
    events: VecDeque<DriverEvent>,
}

/// What a board shows the player.
#[derive(Clone, Copy, Debug)]
struct Display {
    /// The squares that are lit, as the board numbers them.
    lights: Bitboard,
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
}

impl<W: Wire> Sensor<W> {
    /// A driver that knows nothing about its board yet. A placement counts once it was unchanged for `settle`.
    pub fn new(wire: W, orientation: Orientation, settle: Duration) -> Self {
        Self {
            wire,
            pieces: Pieces::new(settle, Waits::default()),
            turn: Turn::new(orientation),
            answers: false,
            asked: false,
            put_up: None,
            motor: Motor::default(),
            put_back: None,
            display: None,
            events: VecDeque::new(),
        }
    }

    fn is_known(&self) -> bool {
        self.pieces.follower().is_known()
    }

    /// Takes what the board has said, and does everything that can be done now.
    fn work(&mut self, now: Instant) {
        while let Some(said) = self.wire.poll() {
            match said {
                Said::Answers { id } => {
                    self.answers = true;
                    self.display = None;
                    self.motor = Motor::default();
                    self.events.push_back(DriverEvent::Answers { id });
                }
                Said::Pieces(raw) => {
                    let wanted = self.pieces.wanted();
                    let board = self.turn.pieces(&raw, &wanted);
                    match self.motor.sees(&board) {
                        By::Hand => self.pieces.sense(now, &board),
                        By::Motor { arrived } => self.pieces.sense_motor(now, &board, arrived),
                        By::Passing => {}
                    }
                }
                Said::Stuck => {
                    if self.motor.gives_up() {
                        self.events.push_back(DriverEvent::Stuck);
                    }
                }
                Said::Key => self.key(),
                Said::Event(event) => {
                    self.answers &= !matches!(event, DriverEvent::Silent);
                    self.events.push_back(event);
                }
            }
        }
        self.pass_on();
        self.mind_position(now);
        self.answer();
        if self.answers {
            if self.wire.has_motor() {
                self.mind_mistake(now);
                self.drive(now);
            }
            self.show(now);
        }
    }

    /// Shows the player what to do, with what the board has for that.
    fn show(&mut self, now: Instant) {
        let lights = if self.motor.drives() {
            Bitboard::EMPTY
        } else {
            self.pieces.lights()
        };
        let game = self.pieces.follower().game();
        let awaited = self.pieces.follower().awaited_move();
        // The game has the move once the core follows it.
        let shown = awaited
            .filter(|m| game.last() == Some(*m))
            .map(|m| (game.len() - 1, m));
        let lights = self.turn.lights(lights);
        let before = self.display.replace(Display { lights, shown });
        if before.is_none_or(|before| before.lights != lights) {
            self.wire.light(now, lights);
        }
        if before.is_none_or(|before| before.shown != shown) {
            let shown = shown.map(|(plies, m)| Shown {
                san: SanPlus::from_move(game.position_at(plies), m).to_string(),
                squares: uci(m).to_string(),
            });
            self.wire.show(now, shown);
        }
    }

    /// Has the board move its pieces to where the hand would have to put them.
    fn drive(&mut self, now: Instant) {
        let follower = self.pieces.follower();
        if !follower.is_setting_up() && !follower.is_up_to_date() {
            return;
        }
        let wanted = self.to_drive(now);
        if wanted.as_ref() == self.motor.wanted() {
            return;
        }
        // What the hand has done has to be understood first, and it may hold a piece.
        if !self.motor.drives() && !self.pieces.is_settled() {
            return;
        }
        self.motor = match wanted {
            Some(wanted) if self.pieces.stand_as(&wanted) => Motor::Done(wanted),
            Some(wanted) => Motor::Drives(wanted),
            None if self.motor.drives() => Motor::Stopped,
            None => Motor::Rests,
        };
        if self.motor.drives() {
            self.pieces.set_out();
        }
        let to = self.motor.wanted().filter(|_| self.motor.drives());
        let to = to.map(|wanted| self.turn.placement(wanted));
        self.wire.drive(now, to.as_ref());
    }

    /// Where the motors are to bring the pieces, or were and have not.
    fn to_drive(&self, now: Instant) -> Option<Board> {
        let follower = self.pieces.follower();
        let wanted = self.pieces.wanted();
        let hand = follower.is_awaited() || self.pieces.lag();
        let step = follower.is_setting_up() || follower.is_known() && hand;
        let mistake = follower.correction().is_told()
            && (self.motor.wanted() == Some(&wanted)
                || self.put_back.as_ref().is_some_and(|(_, at)| *at <= now));
        (step || mistake).then_some(wanted)
    }

    /// Notices how long the hand has left a mistake of its own that the motors can put right: no piece is missing.
    fn mind_mistake(&mut self, now: Instant) {
        let wanted = self.pieces.wanted();
        let mistake = self.pieces.foreign().filter(|board| {
            let carried = self.pieces.hand_cost(&wanted).unwrap_or_default();
            let over = self.pieces.follower().correction().guidance().is_empty();
            !over && carried < PUT_UP_PIECES && has_all(board, &wanted)
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
        let wanted = self.pieces.wanted();
        if !self.pieces.new_game_by_key() && self.pieces.stand_as(&wanted) {
            self.events.push_back(DriverEvent::Ready);
        }
    }

    /// Reports what was sensed.
    fn pass_on(&mut self) {
        while let Some(report) = self.pieces.poll() {
            let event = match report {
                Report::Moved { reported, .. } | Report::Executed(reported) => {
                    DriverEvent::Moved(reported)
                }
                Report::TookBack { reported, .. } => DriverEvent::TookBack(Some(reported)),
                Report::NewGame => DriverEvent::NewGame,
                Report::SetUp => {
                    self.pieces.begin();
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
            let back = self.pieces.hand_cost(&self.pieces.wanted());
            back.is_some_and(|pieces| pieces >= PUT_UP_PIECES)
        };
        let foreign = if self.is_known() {
            self.pieces.foreign().filter(far)
        } else {
            let waits = self.pieces.follower().is_free() && self.pieces.is_settled();
            self.pieces.picture().filter(|_| waits)
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
        if self.asked && self.pieces.is_settled() {
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
        self.pieces.set_up(now, game);
        self.work(now);
    }
}

impl<W: Wire> Driver for Sensor<W> {
    fn profile(&self) -> Profile {
        Profile::Pieces {
            motor: self.wire.has_motor() && !self.motor.has_given_up(),
        }
    }

    fn set_up_cost(&self, board: &Board) -> Option<usize> {
        let carried = self.pieces.hand_cost(board)?;
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
        self.work(now);
    }

    fn link_down(&mut self) {
        self.wire.link_down();
        self.pieces.link_down();
        self.answers = false;
        self.asked = false;
        self.put_up = None;
        self.motor = Motor::default();
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
        self.pieces.timeout(now);
        self.work(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let put_up = self.put_up.as_ref().map(|(_, at)| *at);
        let put_back = self.put_back.as_ref().map(|(_, at)| *at);
        let put_back = put_back.filter(|_| self.answers && self.motor.wanted().is_none());
        let waits = [
            self.wire.deadline(),
            self.pieces.deadline(),
            put_up,
            put_back,
        ];
        waits.into_iter().flatten().min()
    }

    fn idle(&self) -> bool {
        let follower = self.pieces.follower();
        let busy = follower.is_setting_up() || follower.is_awaited();
        self.answers && !busy && !self.asked
    }

    fn stepping(&self) -> bool {
        self.pieces.follower().is_setting_up()
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
            self.pieces.await_hand(awaited);
            DriverEvent::Accepted
        } else {
            DriverEvent::Unplaced
        });
        self.work(now);
    }

    fn confirm(&mut self, now: Instant) {
        self.pieces.confirm(now);
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
        self.events.push_back(match self.pieces.picture() {
            Some(board) => DriverEvent::Placed {
                board: Box::new(board.clone()),
                turn: None,
            },
            None => DriverEvent::NoPicture,
        });
    }

    fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) -> bool {
        self.pieces.follow(now, game, may_replace);
        self.work(now);
        !self.events.is_empty()
    }

    fn stands_as(&self, board: &Board) -> bool {
        self.pieces.stand_as(board)
    }

    fn game_ended(&mut self, now: Instant, _end: GameEnd) {
        self.pieces.game_ended();
        self.work(now);
    }

    fn abandon(&mut self, target: Option<&Game>) {
        if self.pieces.abandon(target) {
            self.events.push_back(DriverEvent::Unplaced);
        }
    }

    fn memory(&self) -> Option<serde_json::Value> {
        let placement = self.pieces.known();
        serde_json::to_value(SavedSensor {
            placement: placement.map(|board| board.board_fen().to_string()),
            turned: self.turn.turned(),
        })
        .ok()
    }

    fn recall(&mut self, memory: serde_json::Value) {
        let Ok(saved) = serde_json::from_value::<SavedSensor>(memory) else {
            return;
        };
        self.turn.recall(saved.turned);
        let placement = saved.placement.unwrap_or_default();
        if let Ok(board) = Board::from_ascii_board_fen(placement.as_bytes()) {
            self.pieces.recall(board);
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
